// Command get-user answers with another member.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.API(member.GetUserFunction, member.OpenMembers, (*member.Members).GetUser) }
