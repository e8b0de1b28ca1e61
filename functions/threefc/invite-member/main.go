// Command invite-member gives the owner of an address a role in a league.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/league"
)

func main() {
	app.API(league.InviteFunction, league.OpenInviter, (*league.Inviter).Invite)
}
