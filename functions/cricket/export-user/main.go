// Command export-user hands out what the room has of a user.
package main

import (
	"matchday/pkg/cricket/userdata"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(userdata.ExportUserFunction, userdata.Open, (*userdata.Service).ExportUser) }
