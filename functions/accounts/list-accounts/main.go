// Command list-accounts lists the accounts.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() { app.API(accounts.ListAccountsFunction, accounts.Open, (*accounts.Service).ListAccounts) }
