// Command get-follow answers whether the caller follows a match.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.GetFollowFunction, cricket.OpenFollows, (*cricket.Follows).GetFollow)
}
