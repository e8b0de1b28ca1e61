// Command forget-user deletes what the room has of a user.
package main

import (
	"matchday/pkg/cricket/userdata"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(userdata.ForgetUserFunction, userdata.Open, (*userdata.Service).ForgetUser) }
