// Command finish-connect connects the athlete of a browser that returns from Strava, and has the activities fetched.
package main

import (
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/kit/app"
)

func main() { app.API(link.FinishConnectFunction, link.Open, (*link.Service).FinishConnect) }
