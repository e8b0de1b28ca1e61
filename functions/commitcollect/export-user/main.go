// Command export-user hands out all that is kept of a user.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(profile.ExportUserFunction, profile.OpenExporter, (*profile.Forgetter).ExportUser)
}
