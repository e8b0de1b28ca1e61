package main

import "matchday/pkg/bestshot/asset"

func main() { asset.GetAssetFunction().Start() }
