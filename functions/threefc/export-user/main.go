// Command export-user hands out all that is kept of a user.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/profile"
)

func main() {
	app.Queue(profile.ExportUserFunction, profile.OpenForgetter, (*profile.Forgetter).ExportUser)
}
