// Command get-asset returns a badge of a team or a logo of a tournament.
package main

import (
	"matchday/pkg/bestshot/asset"
	"matchday/pkg/kit/app"
)

func main() { app.API(asset.GetAssetFunction, asset.Open, (*asset.Assets).GetAsset) }
