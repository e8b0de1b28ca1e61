// Command finish-sign-in signs in the browser that has the token of a link, once.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/signin"
)

func main() {
	app.API(signin.CompleteFunction, signin.Open, (*signin.Service).Complete)
}
