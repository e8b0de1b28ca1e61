// Command tick polls the provider once and deals with every match that changed.
package main

import (
	"matchday/pkg/cricket"
	"matchday/pkg/kit/app"
)

func main() { app.Task(cricket.TickFunction, cricket.OpenTicker, (*cricket.Ticker).Tick) }
