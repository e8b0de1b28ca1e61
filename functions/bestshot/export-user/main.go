// Command export-user hands out what the room has of a user.
package main

import (
	"matchday/pkg/bestshot/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(profile.ExportUserFunction, profile.OpenForgetter, (*profile.Forgetter).ExportUser)
}
