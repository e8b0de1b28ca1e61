// Command show-calendar returns the games of a season to calendar apps.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/public"
)

func main() {
	app.API(public.ShowCalendarFunction, public.Open, (*public.Service).ShowCalendar)
}
