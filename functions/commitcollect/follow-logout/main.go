// Command follow-logout ends a session as logout does, for a link.
package main

import (
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/kit/app"
)

func main() { app.API(signin.FollowLogoutFunction, signin.Open, (*signin.Service).Logout) }
