// Command forget-user deletes what the room has of a user.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.Queue(member.ForgetUserFunction, member.OpenMembers, (*member.Members).ForgetUser) }
