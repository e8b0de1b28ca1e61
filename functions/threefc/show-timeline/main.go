// Command show-timeline returns the goals of a game to everybody.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.GetTimelineFunction, public.Open, (*public.Service).GetTimeline)
}
