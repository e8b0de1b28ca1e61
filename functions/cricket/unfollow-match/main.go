// Command unfollow-match ends the caller's following of a match.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.UnfollowMatchFunction, cricket.OpenFollows, (*cricket.Follows).UnfollowMatch)
}
