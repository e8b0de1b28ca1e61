// Command on-user-confirmed makes whoever has signed up a member.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() {
	app.Task(member.OnUserConfirmedFunction, member.OpenMembers, (*member.Members).OnUserConfirmed)
}
