// Command keep-letters keeps the messages that could not be settled.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.Letters(settlement.KeepLettersFunction, settlement.OpenOffice, (*settlement.Office).KeepLetter)
}
