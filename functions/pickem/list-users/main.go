// Command list-users lists the members.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() {
	app.API(member.ListUsersFunction, member.OpenMembers, (*member.Members).ListUsers)
}
