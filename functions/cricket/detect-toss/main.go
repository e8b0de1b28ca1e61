// Command detect-toss asks the provider for the toss of the matches that are
// about to start.
package main

import (
	"matchday/pkg/cricket/alert"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(alert.DetectTossFunction, alert.OpenTossDetector, (*alert.TossDetector).DetectToss)
}
