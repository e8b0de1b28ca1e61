// Command sweep-channels deletes the broadcast channels that are no match's any more.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(cricket.SweepChannelsFunction, cricket.OpenPusher, (*cricket.Pusher).SweepChannels)
}
