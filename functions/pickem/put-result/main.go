// Command put-result says how a match ended.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.PutResultFunction, pickem.OpenEvents, (*pickem.Events).PutResult) }
