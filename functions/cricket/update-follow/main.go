// Command update-follow changes whose fan the caller is in a match.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(cricket.UpdateFollowFunction, cricket.OpenFollows, (*cricket.Follows).UpdateFollow)
}
