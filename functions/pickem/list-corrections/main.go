// Command list-corrections answers with the log of an event's results.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() {
	app.API(pickem.ListCorrectionsFunction, pickem.OpenEvents, (*pickem.Events).ListCorrections)
}
