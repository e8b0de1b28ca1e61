// Command update-follow changes whose fan the caller is in a match.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.UpdateFollowFunction, follower.OpenFollows, (*follower.Follows).UpdateFollow)
}
