// Command correct-match corrects the result of a match.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(settlement.CorrectMatchFunction, settlement.OpenOffice, (*settlement.Office).CorrectMatch)
}
