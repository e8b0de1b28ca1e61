// Command get-session returns whose session a cookie is.
package main

import (
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/kit/app"
)

func main() { app.API(signin.GetSessionFunction, signin.Open, (*signin.Service).GetSession) }
