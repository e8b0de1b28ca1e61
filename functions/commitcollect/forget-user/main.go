// Command forget-user ends the connection to Strava of a user who has deleted the account, and deletes all that is kept of the user.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(profile.ForgetUserFunction, profile.OpenForgetter, (*profile.Forgetter).ForgetUser)
}
