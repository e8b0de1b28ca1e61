// Command get-health answers, if the room does.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/profile"
)

func main() {
	app.API(profile.GetHealthFunction, profile.Open, (*profile.Service).GetHealth)
}
