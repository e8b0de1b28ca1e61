// Command start-sign-in mails a link that signs in to the owner of an address.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/signin"
)

func main() {
	app.API(signin.StartFunction, signin.OpenMailer, (*signin.Mailer).Start)
}
