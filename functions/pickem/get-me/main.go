// Command get-me answers with the caller.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.API(member.GetMeFunction, member.OpenMembers, (*member.Members).GetMe) }
