// Command update-match changes a match.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.UpdateMatchFunction, pickem.OpenEvents, (*pickem.Events).UpdateMatch) }
