// Command sign-out ends the caller's session.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/signin"
)

func main() {
	app.API(signin.EndFunction, signin.Open, (*signin.Service).End)
}
