package member

// What the tests of this package look at beside what it exports.

const KeepDeleted = keepDeleted
const NoName = noName
