// Command get-dashboard returns the matches of a day.
package main

import (
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(tournament.GetDashboardFunction, tournament.Open, (*tournament.Tournaments).GetDashboard)
}
