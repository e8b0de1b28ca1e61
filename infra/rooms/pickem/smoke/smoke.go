// Package smoke checks a deployed pick'em API: the list of events, and the answer
// for an event that does not exist. Both need a member's token.
package smoke

import (
	"context"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	if s.Token == "" {
		return // all routes but /health are for members
	}
	a := s.GetSigned(ctx, "/app/events")
	var events map[string]any
	s.Report("events", a, a.Decode(&events), "")
	a = s.GetSigned(ctx, "/app/events/1999-12-31-none")
	s.Report("an event that does not exist", a, a.ExpectNotFound(), "")
}
