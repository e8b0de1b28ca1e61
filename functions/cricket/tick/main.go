// Command tick polls the provider once and deals with every match that changed.
package main

import (
	"matchday/pkg/cricket/live"
	"matchday/pkg/kit/app"
)

func main() { app.Task(live.TickFunction, live.OpenTicker, (*live.Ticker).Tick) }
