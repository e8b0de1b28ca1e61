// Command delete-user removes a member.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.DeleteUserFunction, pickem.OpenMembers, (*pickem.Members).DeleteUser) }
