// Command update-me names the caller.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.API(member.UpdateMeFunction, member.OpenMembers, (*member.Members).UpdateMe) }
