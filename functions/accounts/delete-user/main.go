// Command delete-user deletes the account of a user who has asked for it in a room with sessions.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(accounts.DeleteUserFunction, accounts.Open, (*accounts.Service).DeleteUser) }
