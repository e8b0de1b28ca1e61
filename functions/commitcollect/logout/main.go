// Command logout ends a session, and redirects the browser to the end of that of the sign-in page.
package main

import (
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/kit/app"
)

func main() { app.API(signin.LogoutFunction, signin.Open, (*signin.Service).Logout) }
