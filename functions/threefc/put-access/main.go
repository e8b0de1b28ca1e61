// Command put-access gives a user a role in a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.PutAccessFunction, league.Open, (*league.Service).PutAccess)
}
