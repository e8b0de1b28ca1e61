// Command list-entries answers with who takes part in an event.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

func main() { app.API(event.ListEntriesFunction, event.OpenEvents, (*event.Events).ListEntries) }
