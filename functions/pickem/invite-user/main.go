// Command invite-user invites somebody.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.InviteUserFunction, pickem.OpenMembers, (*pickem.Members).InviteUser) }
