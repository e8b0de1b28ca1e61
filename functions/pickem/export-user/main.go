// Command export-user hands out what the room has of a user.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/member"
)

func main() { app.Queue(member.ExportUserFunction, member.OpenMembers, (*member.Members).ExportUser) }
