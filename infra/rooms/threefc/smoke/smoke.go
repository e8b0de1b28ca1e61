// Package smoke checks a deployed 3FC API: that it answers, that a route for users refuses
// who has no session, that a page that does not exist is not found, and that a link that
// nobody got signs nobody in.
package smoke

import (
	"context"
	"net/http"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	a := s.Get(ctx, "/health")
	s.Report("health", a, a.Expect(http.StatusOK), "")
	a = s.Get(ctx, "/v1/leagues")
	s.Report("leagues without a session", a, a.Expect(http.StatusUnauthorized), "")
	a = s.Get(ctx, "/v1/public/leagues/no-such-league/seasons/none/games/none")
	s.Report("a game that does not exist", a, a.Expect(http.StatusNotFound), "")
}
