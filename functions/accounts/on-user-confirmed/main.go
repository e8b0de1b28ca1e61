// Command on-user-confirmed creates the profile of a new user.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() {
	app.Task(accounts.OnUserConfirmedFunction, accounts.Open, (*accounts.Service).OnUserConfirmed)
}
