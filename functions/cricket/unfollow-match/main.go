// Command unfollow-match ends the caller's following of a match.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.UnfollowMatchFunction, follower.OpenFollows, (*follower.Follows).UnfollowMatch)
}
