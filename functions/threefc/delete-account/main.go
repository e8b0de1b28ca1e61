// Command delete-account has the caller's account deleted, with all that is kept of the user in all rooms.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/profile"
)

func main() {
	app.API(profile.DeleteAccountFunction, profile.Open, (*profile.Service).DeleteAccount)
}
