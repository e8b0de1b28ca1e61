// Command list-letters returns the messages that could not be settled.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(settlement.ListLettersFunction, settlement.OpenOffice, (*settlement.Office).ListLetters)
}
