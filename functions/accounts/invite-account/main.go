// Command invite-account invites a person.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(accounts.InviteAccountFunction, accounts.Open, (*accounts.Service).InviteAccount)
}
