// Command sweep-channels deletes the broadcast channels that are no match's any more.
package main

import (
	"matchday/pkg/cricket/activity"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(activity.SweepChannelsFunction, activity.OpenPusher, (*activity.Pusher).SweepChannels)
}
