// Package smoke checks a deployed pick'em API: the list of events, and the answer
// for an event that does not exist. Both need a member's token. The token of another user
// is refused as that of no member.
package smoke

import (
	"context"
	"net/http"
	"strings"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	if s.Token == "" {
		return // all routes but /health are for members
	}

	a := s.GetSigned(ctx, "/app/events")
	if a.Status == http.StatusForbidden {
		wrong := ""
		if !strings.Contains(string(a.Body), "not_a_member") {
			wrong = "want the events, or not_a_member"
		}

		s.Report("events", a, wrong, "the user of the token is not a member")

		return
	}

	var events map[string]any
	s.Report("events", a, a.Decode(&events), "")
	a = s.GetSigned(ctx, "/app/events/1999-12-31-none")
	s.Report("an event that does not exist", a, a.ExpectNotFound(), "")
}
