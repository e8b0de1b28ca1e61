// Command list-sessions returns the sessions of a season.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.ListSessionsFunction, season.Open, (*season.Service).ListSessions)
}
