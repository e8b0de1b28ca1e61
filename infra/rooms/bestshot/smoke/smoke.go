// Package smoke checks a deployed Best Shot API: that it answers, that a route for members
// refuses who is not signed in, and that the office refuses who is no administrator.
package smoke

import (
	"context"
	"net/http"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	a := s.Get(ctx, "/api/v2/health")
	s.Report("health", a, a.Expect(http.StatusOK), "")
	a = s.Get(ctx, "/api/v2/tournaments")
	s.Report("tournaments without a token", a, a.Expect(http.StatusUnauthorized), "")
	a = s.Get(ctx, "/api/v2/admin/settlements")
	s.Report("settlements without a token", a, a.Expect(http.StatusUnauthorized), "")
}
