// Command list-audit returns what happened to the caller's account.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() { app.API(profile.ListAuditFunction, profile.Open, (*profile.Service).ListAudit) }
