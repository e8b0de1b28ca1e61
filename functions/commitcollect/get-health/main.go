// Command get-health answers, if the room does.
package main

import (
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/kit/app"
)

func main() { app.API(profile.GetHealthFunction, profile.OpenAuditor, (*profile.Auditor).GetHealth) }
