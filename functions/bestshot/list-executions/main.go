// Command list-executions returns what administrators have asked the provider for.
package main

import (
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(ingest.ListExecutionsFunction, ingest.OpenOffice, (*ingest.Office).ListExecutions)
}
