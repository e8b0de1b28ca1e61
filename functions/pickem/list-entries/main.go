// Command list-entries answers with who takes part in an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.ListEntriesFunction, pickem.OpenEvents, (*pickem.Events).ListEntries) }
