// Command get-user answers with another member.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.GetUserFunction, pickem.OpenMembers, (*pickem.Members).GetUser) }
