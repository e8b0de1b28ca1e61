// Package smoke checks a deployed Best Shot API: that it answers, and that routes for members and
// admin routes refuse requests without a token. With the token of a user it checks that the
// tournaments are read, for which the function reaches the database, and that an admin route
// refuses the token: administrators have a user pool of their own, so API Gateway answers 401
// before a function could answer 403.
package smoke

import (
	"context"
	"net/http"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	const tournaments, settlements = "/api/v2/tournaments", "/api/v2/admin/settlements"

	a := s.Get(ctx, "/api/v2/health")
	s.Report("health", a, a.Expect(http.StatusOK), "")
	a = s.Get(ctx, tournaments)
	s.Report("tournaments without a token", a, a.Expect(http.StatusUnauthorized), "")
	a = s.Get(ctx, settlements)
	s.Report("settlements without a token", a, a.Expect(http.StatusUnauthorized), "")

	if s.Token == "" {
		return
	}

	a = s.GetSigned(ctx, tournaments)

	var list struct{ Data []any }

	wrong := a.Decode(&list)
	if wrong == "" && list.Data == nil {
		wrong = "want a list of tournaments"
	}

	s.Report("tournaments", a, wrong, "")
	a = s.GetSigned(ctx, settlements)
	s.Report("settlements with a user's token", a, a.Expect(http.StatusUnauthorized), "")
}
