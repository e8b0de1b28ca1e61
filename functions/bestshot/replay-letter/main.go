// Command replay-letter sends a message that could not be settled again.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(settlement.ReplayLetterFunction, settlement.OpenOffice, (*settlement.Office).ReplayLetter)
}
