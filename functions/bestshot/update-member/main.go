// Command update-member changes the caller's nickname.
package main

import (
	"matchday/pkg/bestshot/member"
	"matchday/pkg/kit/app"
)

func main() { app.API(member.UpdateMemberFunction, member.Open, (*member.Members).UpdateMember) }
