// Command get-sign-in returns who is signed in.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/signin"
)

func main() {
	app.API(signin.GetFunction, signin.Open, (*signin.Service).Get)
}
