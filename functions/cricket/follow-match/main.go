// Command follow-match has the caller follow a match.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.FollowMatchFunction, cricket.OpenFollows, (*cricket.Follows).FollowMatch)
}
