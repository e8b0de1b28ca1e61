// Command delete-access takes a user's role in a league away, or the caller's own.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.DeleteAccessFunction, league.Open, (*league.Service).DeleteAccess)
}
