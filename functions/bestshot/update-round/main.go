// Command update-round changes what the points of a round are multiplied by.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() { app.API(ingest.UpdateRoundFunction, ingest.OpenOffice, (*ingest.Office).UpdateRound) }
