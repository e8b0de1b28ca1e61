// Command finish-login signs a browser in that returns from the sign-in page, and redirects it to the app.
package main

import (
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/kit/app"
)

func main() { app.API(signin.FinishLoginFunction, signin.Open, (*signin.Service).FinishLogin) }
