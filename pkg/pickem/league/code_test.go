package league_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/tables"
)

// TestWrongCodesAreLimited: after ten wrong codes a user cannot try others for the rest
// of the hour, not even a right one. Right codes and repetitions do not count.
func TestWrongCodesAreLimited(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")

	var leagues []league.League
	for i := range league.MaxCodes {
		leagues = append(leagues, w.CreateLeague("ann", fmt.Sprint("League ", i)))
	}

	for _, l := range leagues {
		w.JoinLeague(l, "bob")
	}

	wrong := func(i int) string { return fmt.Sprintf("2222%04d", i) }

	check := func(when, code string, status int, of string) {
		t.Helper()

		if err := testkit.CheckProblemCode(w.RequestJoin("bob", code), status, of); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	for i := range league.MaxCodes {
		check("a wrong code", wrong(i), 404, "code_not_found")
		w.MoveClock(w.Clock.Now().Add(time.Minute))
	}

	check("a repetition", wrong(0), 404, "code_not_found")
	check("one too many", wrong(99), 429, "too_many_codes")
	check("a right code", leagues[0].Code, 429, "too_many_codes")

	if got := testkit.Header(w.RequestJoin("bob",
		wrong(99))).Get("Retry-After"); got != fmt.Sprint((time.Hour - time.Duration(league.MaxCodes)*time.Minute).Seconds()) {
		t.Errorf("Retry-After is %q, want the rest of the hour since the first", got)
	}

	if err := testkit.CheckProblemCode(w.RequestJoin("ann", wrong(99)), 404, "code_not_found"); err != nil {
		t.Errorf("another user: %v", err)
	}

	w.MoveClock(w.Clock.Now().Add(time.Hour))
	check("after the hour", wrong(99), 404, "code_not_found")
	w.JoinLeague(leagues[0], "bob")
}

// TestConcurrentWrongCodes: of many concurrent attempts at most ten look up their code.
func TestConcurrentWrongCodes(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("bob")

	var mu sync.Mutex

	answers := map[string]int{}

	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			code := ""
			for code = "changed"; code == "changed"; { // as the app does
				in := &league.JoinLeague{User: auth.User{UserID: "bob"}}
				in.Body.Code = fmt.Sprintf("2222%04d", i)

				_, err := testkit.Open(w.World, league.JoinLeagueFunction(), league.OpenLeagues).JoinLeague(w.NewContext(), in)
				if p, ok := errors.AsType[*problem.Error](err); ok {
					code = p.Code
				} else {
					code = fmt.Sprint(err)
				}
			}

			mu.Lock()
			defer mu.Unlock()

			answers[code]++
		})
	}

	wg.Wait()

	if diff := cmp.Diff(map[string]int{"code_not_found": 10, "too_many_codes": 30}, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestJoinCountsOnceAfterACrash: whatever a crash interrupts, a second run with a wrong
// code counts it once, and one with a right code does not count it.
func TestJoinCountsOnceAfterACrash(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]error{"wrong": league.ErrNoCode, "right": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) int {
				w := pickemtest.New(t)
				w.AddMembers("ann", "bob")

				in := &league.JoinLeague{User: auth.User{UserID: "bob"}}

				in.Body.Code = "22222222"
				if want == nil {
					in.Body.Code = w.CreateLeague("ann", "Office").Code
				}

				_, err := testkit.OpenWith(w.World, w.CrashingEnv(league.JoinLeagueFunction(), p), league.OpenLeagues).JoinLeague(w.NewContext(), in)
				if errors.Is(err, league.ErrNoCode) {
					err = nil
				}

				p.Ended(err)

				_, err = testkit.Open(w.World, league.JoinLeagueFunction(), league.OpenLeagues).JoinLeague(w.NewContext(), in)
				if !errors.Is(err, want) {
					t.Errorf("the second run returned %v, want %v", err, want)
				}

				tried, _, err := dynamo.Get[league.TriedCodes](w.NewContext(), w.DB(), tables.TryCode, "USER#bob", "CODES")
				testkit.Must(t, err)

				return len(tried.Codes)
			})
		})
	}
}
