package bestshot_test

import (
	"net/http"
	"strings"
	"testing"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/pg"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(t, bestshot.Room())
}

// TestFullLeague: a league takes no member beyond its limit.
func TestFullLeague(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Admin"}))
	_, err := pg.Do(t.Context(), w.DB, `UPDATE league SET members = 10000 WHERE id = $1`, l.ID)
	testkit.Must(t, err)

	out := w.Ask("bob", "POST", "/api/v2/leagues/invitation", map[string]string{"code": l.Code})
	if out.StatusCode != http.StatusConflict || !strings.Contains(out.Body, "league_full") {
		t.Errorf("got %d %s", out.StatusCode, out.Body)
	}
}
