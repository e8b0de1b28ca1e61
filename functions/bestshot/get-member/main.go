// Command get-member returns the caller's member.
package main

import (
	"matchday/pkg/bestshot/member"
	"matchday/pkg/kit/app"
)

func main() { app.API(member.GetMemberFunction, member.Open, (*member.Members).GetMember) }
