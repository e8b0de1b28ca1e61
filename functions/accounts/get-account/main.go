// Command get-account returns the caller's account.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() { app.API(accounts.GetAccountFunction, accounts.Open, (*accounts.Service).GetAccount) }
