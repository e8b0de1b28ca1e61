// Command start-login redirects a browser to the sign-in page.
package main

import (
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/kit/app"
)

func main() { app.API(signin.StartLoginFunction, signin.Open, (*signin.Service).StartLogin) }
