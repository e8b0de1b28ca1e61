// Command detect-toss asks the provider for the toss of the matches that are
// about to start.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() {
	app.Job(cricket.DetectTossFunction, cricket.OpenTossDetector, (*cricket.TossDetector).DetectToss)
}
