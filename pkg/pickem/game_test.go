package pickem_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// trial is a try of a property, as the test that a world is of.
type trial struct {
	testing.TB
	rt *rapid.T
}

func (t trial) Cleanup(f func()) { t.rt.Cleanup(f) }

func (t trial) Context() context.Context { return t.rt.Context() }

func (t trial) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }

func (t trial) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }

func (t trial) Fatal(args ...any) { t.rt.Fatal(args...) }

// game is a world, and what its tables hold by what was written to them.
type game struct {
	*pickemtest.Room
	events  []*booking
	users   []string
	names   map[string]string
	leagues map[string][]string // users by league
	begun   time.Time
	sides   int // named so far

	crashes bool // happen
	written bool // since the rows were looked at
	crashed bool // since it was quiet
	amid    int  // of how many acts it is

	mu    sync.Mutex
	wrong []error // writes that should not have been
}

// booking is an event.
type booking struct {
	id      string
	state   string
	lockAt  time.Time
	bonus   int
	card    []*bout
	off     []string // ids of matches that were taken off the card
	entered bool     // a result was
	asked   bool     // for points
	picks   map[string]map[string]int
}

// bout is a match.
type bout struct {
	id     string
	points int
	sides  []string
	result *int
}

func (e *booking) open(now time.Time) bool { return e.state == item.Upcoming && now.Before(e.lockAt) }

func (e *booking) year() string { return e.id[:4] }

func (e *booking) match(id string) *bout {
	i := slices.IndexFunc(e.card, func(m *bout) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return e.card[i]
}

// forget voids the picks of a match.
func (e *booking) forget(id string) {
	for _, picks := range e.picks {
		delete(picks, id)
	}
}

// newGame begins on the last day of a year, with three events of two years, four
// members, most of whom have picked, and leagues of some of them.
func newGame(t trial) *game {
	w := &pickemtest.Room{World: testkit.New(t, pickem.Room, pickemtest.Noon)}
	w.Routes = map[string]testkit.Route{
		event.GetEventFunction.Name:      testkit.Serve(w.World, event.GetEventFunction, event.OpenEvents, (*event.Events).GetEvent),
		event.GetResultsFunction.Name:    testkit.Serve(w.World, event.GetResultsFunction, event.OpenEvents, (*event.Events).GetResults),
		league.GetStandingsFunction.Name: testkit.Serve(w.World, league.GetStandingsFunction, league.OpenLeagues, (*league.Leagues).GetStandings),
		member.GetUserFunction.Name:      testkit.Serve(w.World, member.GetUserFunction, member.OpenMembers, (*member.Members).GetUser),
	}
	g := &game{Room: w, users: []string{"u-ann", "u-bob", "u-cat", "u-dan"}, names: map[string]string{}, leagues: map[string][]string{}}
	g.crashes = rapid.IntRange(0, 2).Draw(t.rt, "with crashes") > 0
	g.begun = time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC)
	g.To(g.begun)
	g.AddMembers(g.users...)
	var rows []any
	for _, u := range g.users {
		g.names[u] = u
		for _, id := range []string{"l-one", "l-two"} {
			if rapid.Bool().Draw(t.rt, "joins") {
				g.leagues[id] = append(g.leagues[id], u)
				rows = append(rows, item.Membership{
					Row:      item.Row{PK: item.UserRef(u), SK: item.LeagueRef(id), GSIPK: item.LeagueRef(id), GSISK: league.LeagueMemberRef(u), Type: item.MembershipType},
					LeagueID: id, BelongsTo: item.UserRef(u), Name: u,
				})
			}
		}
	}
	for _, id := range []string{"2026-12-31-alpha", "2026-12-31-beta", "2027-01-01-gamma"} {
		e := &booking{
			id: id, state: item.Upcoming, lockAt: g.begun.Add(minutesDrawn(t.rt, "locks in", 1, 12)), picks: map[string]map[string]int{},
			bonus: rapid.SampledFrom([]int{0, 25}).Draw(t.rt, "bonus"),
		}
		g.events = append(g.events, e)
		rows = append(rows, item.Event{
			Row: item.Row{PK: item.EventTag, SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: item.EventTag, Type: item.EventType},
			ID:  id, Name: id, Date: strings.ReplaceAll(id[:10], "-", "/"), StartsAt: item.FormatTime(g.begun.Add(20 * time.Hour)), LockAt: item.FormatTime(e.lockAt),
			State: item.Upcoming, Bonus: e.bonus, CardRev: 1,
		})
		for n := range rapid.IntRange(1, 3).Draw(t.rt, "matches") {
			m := g.bout(t.rt, e)
			e.card = append(e.card, m)
			f := m.fields()
			rows = append(rows, item.Match{
				Row: item.Row{PK: item.EventRef(id), SK: item.MatchSK(m.id), GSIPK: item.EventRef(id), GSISK: fmt.Sprintf("MATCH#%02d", n+1), Type: item.MatchType}, ID: m.id, Since: 1,
				Name: f.Name, Points: f.Points, Teams: f.Teams,
			})
		}
		for _, u := range g.users {
			if rapid.IntRange(0, 3).Draw(t.rt, "plays") == 0 {
				continue
			}
			e.picks[u] = e.guess(t.rt)
			rows = append(rows, item.Prediction{
				Row:     item.Row{PK: item.UserRef(u), SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: "SCORE#000#" + u, Type: item.PredictionType},
				EventID: id, BelongsTo: item.UserRef(u), Predictions: e.picks[u], CardRev: 1, SavedAt: item.FormatTime(g.begun),
			})
		}
	}
	testkit.Put(g.World, tables.Pickem, rows...)
	return g
}

// guess are picks of some matches of the card.
func (e *booking) guess(rt *rapid.T) map[string]int {
	picks := map[string]int{}
	for _, m := range e.card {
		if team := rapid.IntRange(-1, len(m.sides)-1).Draw(rt, "team"); team >= 0 {
			picks[m.id] = team
		}
	}
	return picks
}

// bout is a match for the card of an event.
func (g *game) bout(rt *rapid.T, e *booking) *bout {
	m := &bout{id: pickemtest.MatchID(100*slices.Index(g.events, e) + len(e.card) + len(e.off) + 1000), points: rapid.IntRange(1, 30).Draw(rt, "points")}
	m.sides = g.teams(rt)
	return m
}

// teams are sides that no match had before.
func (g *game) teams(rt *rapid.T) (names []string) {
	for range rapid.IntRange(2, 3).Draw(rt, "sides") {
		g.sides++
		names = append(names, fmt.Sprint("Side ", g.sides))
	}
	return names
}

func (m *bout) fields() event.MatchFields {
	f := event.MatchFields{Name: "Match", Points: m.points}
	for _, s := range m.sides {
		f.Teams = append(f.Teams, item.Team{Members: []string{s}})
	}
	return f
}

func minutesDrawn(rt *rapid.T, label string, from, to int) time.Duration {
	return time.Duration(rapid.IntRange(from, to).Draw(rt, label)) * time.Minute
}

// must fails the try for what is wrong.
func (g *game) must(rt *rapid.T, what string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := errors.Join(append(g.wrong, err)...); err != nil {
		rt.Fatalf("%s: %v", what, err)
	}
}

// act is one run of a function.
type act struct {
	what  string
	fn    spec.Function
	do    func(app.Env) error
	wrote func(pickemtest.Write) error // takes note of a write that has come to the tables, and says why it must not be
	wants func() string                // the code of its error, if nothing comes between
	whole bool                         // it is not disturbed
}

// whatever is the code of an error that may be any.
const whatever = "whatever"

// by has a use case do something.
func by[S, In, Out any](g *game, opener app.Opener[S], do func(S, context.Context, *In) (*Out, error), in *In) func(app.Env) error {
	return func(env app.Env) error {
		_, err := do(testkit.OpenWith(g.World, env, opener), g.Ctx(), in)
		return err
	}
}

// course is what happens to an act: before a call, others are done; and it may
// crash. Calls count from 1.
type course struct {
	at        int
	meanwhile []act
	crash     int
	after     bool
}

// course lets half of the acts go well.
func (g *game) course(rt *rapid.T, a act) (c course) {
	if a.whole || rapid.Bool().Draw(rt, "goes well") {
		return c
	}
	if rapid.Bool().Draw(rt, "overtaken") {
		c.at, c.meanwhile = rapid.IntRange(1, 5).Draw(rt, "before call"), []act{g.any(rt)}
	}
	if g.crashes && (c.at == 0 || rapid.Bool().Draw(rt, "crashes")) {
		c.crash, c.after = c.at+rapid.IntRange(1, 5).Draw(rt, "crashes at"), rapid.Bool().Draw(rt, "after it")
	}
	return c
}

// perform does an act, and says what is wrong with its end.
func (g *game) perform(a act, c course) error {
	disturbed := c.at > 0 || c.crash > 0
	g.crashed = g.crashed || c.crash > 0
	want := whatever
	if a.wants != nil && !disturbed {
		want = a.wants()
	}
	env, _ := g.Wired(a.fn, c.at, func() {
		g.amid++
		defer func() { g.amid-- }()
		for _, other := range c.meanwhile {
			if err := g.perform(other, course{}); err != nil {
				g.blame(fmt.Errorf("%s during %s: %w", other.what, a.what, err))
			}
		}
	}, func(w pickemtest.Write) {
		g.written = true
		if a.wrote != nil {
			if err := a.wrote(w); err != nil {
				g.blame(fmt.Errorf("%s: %w", a.what, err))
			}
		}
	})
	if c.crash > 0 {
		env.AWS = dynamotest.CrashAt(c.crash, c.after).AWS(env.AWS)
	}
	err := a.do(env)
	if got := code(err); want != whatever && got != want {
		return fmt.Errorf("%q came of it, not %q: %w", got, want, cmp.Or(err, errors.New("no error")))
	}
	return nil
}

func (g *game) blame(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wrong = append(g.wrong, err)
}

// code is that of an error, "" for none.
func code(err error) string {
	f, ok := errors.AsType[*problem.Error](err)
	switch {
	case err == nil:
		return ""
	case !ok:
		return err.Error()
	}
	return cmp.Or(f.Code, f.Kind.Code())
}
