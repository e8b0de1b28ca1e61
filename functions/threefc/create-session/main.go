// Command create-session creates a session of a season: a day on which games are played.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.CreateSessionFunction, season.Open, (*season.Service).CreateSession)
}
