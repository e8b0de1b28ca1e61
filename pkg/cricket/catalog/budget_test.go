package catalog_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// TestRequestsShareABudget: concurrent requests for fixtures by several clients never exceed
// the budget, each client stops at its own share, and all start again when the period is over.
// Requests for something else are not counted.
func TestRequestsShareABudget(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var mu sync.Mutex

	sent := 0
	w.Override = func(path string) (int, string) {
		mu.Lock()
		defer mu.Unlock()

		if path != "/teams" {
			sent++
		}

		return http.StatusOK, `{"data":[]}`
	}
	budget := spec.Budget{Name: "fixtures", Max: 12, Per: time.Hour}
	limited := func(upTo int) (n int, wait time.Duration) {
		c, err := catalog.OpenProvider(w.NewContext(), w.Env(live.FinishMatchFunction()), spec.Share{Budget: budget, UpTo: upTo})
		testkit.Must(t, err)

		var g sync.WaitGroup
		for range 8 {
			g.Go(func() {
				_, err := c.Fixture(w.NewContext(), "7")
				if e, ok := errors.AsType[*sportmonks.Error](err); ok && e.Kind == sportmonks.Limited {
					mu.Lock()
					n, wait = n+1, e.RetryAfter
					mu.Unlock()
				}
			})
		}

		g.Wait()

		if _, err := c.Teams(w.NewContext()); err != nil {
			t.Errorf("a request for teams: %v", err)
		}

		return n, wait
	}

	var got []string

	round := func(upTo int) {
		n, wait := limited(upTo)

		got = append(got, fmt.Sprintf("up to %d: %d refused, %d sent in all", upTo, n, sent))
		if n > 0 && (wait <= 0 || wait > time.Hour) {
			t.Errorf("a refused request is to wait %v, want the rest of the hour", wait)
		}
	}
	round(6)
	round(6)
	round(10)
	round(12)
	w.MoveClock(w.Clock.Now().Add(time.Hour + time.Minute))

	sent = 0

	round(6)

	want := []string{
		"up to 6: 2 refused, 6 sent in all", "up to 6: 8 refused, 6 sent in all", "up to 10: 4 refused, 10 sent in all",
		"up to 12: 6 refused, 12 sent in all", "up to 6: 2 refused, 6 sent in all",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestFunctionsListTheirShares: what requests fixtures of the provider has a share of their
// budget, within it, and may count.
func TestFunctionsListTheirShares(t *testing.T) {
	t.Parallel()

	got := map[string]int{}

	for _, f := range cricket.Room().Functions {
		for _, s := range f.Budgets {
			got[f.Name] = s.UpTo

			counts := slices.ContainsFunc(f.Uses, func(a spec.Access) bool { return a.ID() == tables.CountRequest.ID() })
			if s.Budget != tables.FixturesBudget || s.UpTo > s.Budget.Max || !counts {
				t.Errorf("%s has the share %+v and counts: %v", f.Name, s, counts)
			}
		}
	}

	want := map[string]int{
		"cricket/detect-toss":   tables.TossShare.UpTo,
		"cricket/sync-fixtures": tables.SyncShare.UpTo,
		"cricket/finish-match":  tables.FinishShare.UpTo,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}
