// Command invite-user invites somebody.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.API(member.InviteUserFunction, member.OpenMembers, (*member.Members).InviteUser) }
