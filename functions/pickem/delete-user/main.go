// Command delete-user removes a member.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.API(member.DeleteUserFunction, member.OpenMembers, (*member.Members).DeleteUser) }
