// Command delete-session deletes a session without games.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/season"
)

func main() {
	app.API(season.DeleteSessionFunction, season.Open, (*season.Service).DeleteSession)
}
