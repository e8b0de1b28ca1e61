// Command follow-match has the caller follow a match.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.FollowMatchFunction, follower.OpenFollows, (*follower.Follows).FollowMatch)
}
