// Command delete-account deletes the caller's account.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(accounts.DeleteAccountFunction, accounts.Open, (*accounts.Service).DeleteAccount)
}
