// Command forget-user deletes what the room has of a user.
package main

import (
	"matchday/pkg/bestshot/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(profile.ForgetUserFunction, profile.OpenForgetter, (*profile.Forgetter).ForgetUser)
}
