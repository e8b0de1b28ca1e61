package league_test

import (
	"errors"
	"testing"
	"time"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/idem"
	"matchday/pkg/pickem/league"
)

// create creates a league with an Idempotency-Key, and returns its id.
func create(w *pickemtest.Room, env app.Env, user, key, name string) (string, error) {
	in := &league.CreateLeague{User: auth.User{UserID: user}, Key: idem.Key{IdempotencyKey: key}}
	in.Body.Name = name

	out, err := testkit.OpenWith(w.World, env, league.OpenLeagues).CreateLeague(w.NewContext(), in)
	if err != nil {
		return "", err
	}

	return out.Body.LeagueID, nil
}

// TestRepeatedRequestCreatesOneLeague: within a day, for the same member and body.
func TestRepeatedRequestCreatesOneLeague(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")

	env := w.Env(league.CreateLeagueFunction())

	first, err := create(w, env, "ann", "k", "Office")
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
		{name: "within the day", user: "ann", key: "k", league: "Office", after: idem.Lifetime - time.Second, same: true},
		{name: "a day later", user: "ann", key: "k", league: "Office", after: time.Second},
	} {
		w.MoveClock(w.Clock.Now().Add(c.after))

		id, err := create(w, env, c.user, c.key, c.league)
		if !errors.Is(err, c.err) || (id == first) != c.same {
			t.Errorf("%s: the league %s, %v; want the first, %s: %t, %v", c.name, id, err, first, c.same, c.err)
		}
	}
}

// TestCrashedRequestCreatesOneLeague: a member who repeats a request that was lost has one league.
func TestCrashedRequestCreatesOneLeague(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := pickemtest.New(t)
		w.AddMembers("ann")

		fn := league.CreateLeagueFunction()
		_, err := create(w, w.CrashingEnv(fn, p), "ann", "k", "Office")
		p.Ended(err)

		_, err = create(w, w.Env(fn), "ann", "k", "Office")
		testkit.Must(t, err)

		var names []string
		for _, l := range testkit.Decode[struct{ Leagues []league.Membership }](w.World,
			w.Ask(league.ListLeaguesFunction(), "/app/leagues", "ann", "")).Leagues {
			names = append(names, l.Name)
		}

		return names
	})
}
