// Command get-me answers with the caller.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.GetMeFunction, pickem.OpenMembers, (*pickem.Members).GetMe) }
