// Command list-audit-events returns the entries of the audit trail of a type and a month.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() {
	app.API(profile.ListAuditEventsFunction, profile.OpenAuditor, (*profile.Auditor).ListAuditEvents)
}
