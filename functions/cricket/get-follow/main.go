// Command get-follow answers whether the caller follows a match.
package main

import (
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(follower.GetFollowFunction, follower.OpenFollows, (*follower.Follows).GetFollow)
}
