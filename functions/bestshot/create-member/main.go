// Command create-member registers the caller as a member.
package main

import (
	"matchday/pkg/bestshot/member"
	"matchday/pkg/kit/app"
)

func main() { app.API(member.CreateMemberFunction, member.Open, (*member.Members).CreateMember) }
