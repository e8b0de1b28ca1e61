// Command forget-user deletes what is kept of a user who has deleted the account.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/profile"
)

func main() {
	app.Queue(profile.ForgetUserFunction, profile.OpenForgetter, (*profile.Forgetter).ForgetUser)
}
