package bestshot_test

import (
	"errors"
	"testing"
	"time"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/idem"
)

// createLeague creates a league with an Idempotency-Key, and returns its id.
func createLeague(w *bestshottest.World, env app.Env, user, key, name string) (string, error) {
	in := &league.CreateLeague{User: auth.User{UserID: user}, Key: idem.Key{IdempotencyKey: key}}
	in.Body.Name = name

	out, err := testkit.OpenWith(w.World, env, league.Open).CreateLeague(w.NewContext(), in)
	if err != nil {
		return "", err
	}

	return out.Body.ID, nil
}

// TestRepeatedRequestCreatesOneLeague: within a day, for the same member and body.
func TestRepeatedRequestCreatesOneLeague(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	w.Register("bob")

	env := w.Env(league.CreateLeagueFunction())

	first, err := createLeague(w, env, "ann", "k", "Office")
	testkit.Must(t, err)

	for _, c := range []struct {
		name, user, key, league string
		after                   time.Duration
		same                    bool
		err                     error
	}{
		{name: "at once", user: "ann", key: "k", league: "Office", same: true},
		{name: "another body", user: "ann", key: "k", league: "Family", err: idem.ErrConflict},
		{name: "another key", user: "ann", key: "l", league: "Office"},
		{name: "another member", user: "bob", key: "k", league: "Office"},
		{name: "without a key", user: "ann", league: "Office"},
		{name: "within the day", user: "ann", key: "k", league: "Office", after: idem.Lifetime - time.Minute, same: true},
		{name: "a day later", user: "ann", key: "k", league: "Office", after: 2 * time.Minute},
	} {
		w.MoveClock(w.Clock.Now().Add(c.after))

		id, err := createLeague(w, env, c.user, c.key, c.league)
		if !errors.Is(err, c.err) || (id == first) != c.same {
			t.Errorf("%s: the league %s, %v; want the first, %s: %t, %v", c.name, id, err, first, c.same, c.err)
		}
	}
}

// TestRequestsAtOnceCreateOneLeague: the second waits for the first, and gets its answer.
func TestRequestsAtOnceCreateOneLeague(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")

	ids := make(chan string)

	for range 4 {
		go func() {
			id, err := createLeague(w, w.Env(league.CreateLeagueFunction()), "ann", "k", "Office")
			if err != nil {
				t.Error(err)
			}

			ids <- id
		}()
	}

	first := <-ids
	for range 3 {
		if id := <-ids; id != first {
			t.Errorf("the leagues %s and %s, want one", first, id)
		}
	}
}

// TestCrashedRequestCreatesOneLeague: a member who repeats a request that was lost has one league.
func TestCrashedRequestCreatesOneLeague(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := bestshottest.New(t)
		w.Register("ann")

		fn := league.CreateLeagueFunction()
		_, err := createLeague(w, w.CrashingEnv(fn, p), "ann", "k", "Office")
		p.Ended(err)

		_, err = createLeague(w, w.Env(fn), "ann", "k", "Office")
		testkit.Must(t, err)

		var names []string
		for _, l := range testkit.Decode[struct{ Data []league.League }](w.World, w.Do("ann", "GET", "/leagues", nil)).Data {
			names = append(names, l.Name)
		}

		return names
	})
}
