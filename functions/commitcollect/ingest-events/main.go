// Command ingest-events fetches the activities that Strava's events name, and stores them.
package main

import (
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

func main() {
	app.Queue(workout.IngestEventsFunction, workout.OpenIngester, (*workout.Ingester).IngestEvent)
}
