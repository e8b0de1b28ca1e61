// Command settle-matches turns the results of matches into points.
package main

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(settlement.SettleMatchesFunction, settlement.Open, (*settlement.Worker).SettleMatch)
}
