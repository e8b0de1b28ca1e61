// Command update-me names the caller.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.UpdateMeFunction, pickem.OpenMembers, (*pickem.Members).UpdateMe) }
