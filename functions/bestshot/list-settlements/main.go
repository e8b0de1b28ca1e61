// Command list-settlements returns what was settled, or what is to be.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(settlement.ListSettlementsFunction, settlement.OpenOffice, (*settlement.Office).ListSettlements)
}
