// Command list-correlation returns the entries of the audit trail that one cause joins.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(profile.ListCorrelationFunction, profile.OpenAuditor, (*profile.Auditor).ListCorrelation)
}
