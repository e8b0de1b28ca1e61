// swift-tools-version: 5.9

import PackageDescription

let package = Package(
    name: "matchday-client",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8)],
    products: [.library(name: "Matchday", targets: ["Matchday"])],
    targets: [.target(name: "Matchday")]
)
