// Command on-user-confirmed makes whoever has signed up a member.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.Task(pickem.OnUserConfirmedFunction, pickem.OpenMembers, (*pickem.Members).OnUserConfirmed)
}
