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
	"matchday/pkg/pickem/tables"
)

// rapidTB is the testing.TB of one check of a property: it fails and cleans up the check.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (t rapidTB) Cleanup(f func()) { t.rt.Cleanup(f) }

func (t rapidTB) Context() context.Context { return t.rt.Context() }

func (t rapidTB) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }

func (t rapidTB) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }

func (t rapidTB) Fatal(args ...any) { t.rt.Fatal(args...) }

// game is a test world and the model of it: the state that follows from the writes.
type game struct {
	*pickemtest.Room
	events  []*modelEvent
	users   []string
	names   map[string]string
	renamed map[string]renames
	leagues map[string][]string // user ids by league id
	begun   time.Time
	sides   int // number of sides named so far

	crashes bool // whether crashes are injected
	written bool // whether a write followed the last check of the rows
	crashed bool // whether a crash followed the last settle
	depth   int  // number of operations that the present one interrupts

	mu       sync.Mutex
	failures []error // invalid writes
}

// renames are the new names of a member within a day.
type renames struct {
	since time.Time
	n     int
}

// modelEvent is the model of an event.
type modelEvent struct {
	id        string
	state     string
	lockAt    time.Time
	bonus     int
	card      []*modelMatch
	off       []string                     // ids of removed matches
	lastTeam  map[string]int               // the number in the latest id of a side, by id of a removed match
	entered   bool                         // whether there is a result
	withdrawn bool                         // whether points were withdrawn after a result was cleared
	cleared   bool                         // whether a result was cleared since scoring was requested
	asked     bool                         // whether scoring was requested
	picks     map[string]map[string]string // id of a team by match id, by user id
}

// modelMatch is the model of a match.
type modelMatch struct {
	id     string
	points int
	sides  []modelSide
	last   int // the number in the latest id of a side
	result *int
}

// modelSide is the model of a team.
type modelSide struct{ id, name string }

// place returns the place of the side with an id, -1 if there is none.
func (m *modelMatch) place(id string) int {
	return slices.IndexFunc(m.sides, func(s modelSide) bool { return s.id == id })
}

// identify returns sides with ids: a side without one has that of the same name, or a new
// one. It returns unknown_team for an id that no side of the match has.
func (m *modelMatch) identify(sides []modelSide) (to []modelSide, last int, code string) {
	last = m.last
	for _, s := range sides {
		if s.id == "" {
			if i := slices.IndexFunc(m.sides, func(o modelSide) bool { return o.name == s.name }); i >= 0 {
				s.id = m.sides[i].id
			} else {
				last++
				s.id = fmt.Sprint("t", last)
			}
		} else if m.place(s.id) < 0 {
			return nil, 0, "unknown_team"
		}

		to = append(to, s)
	}

	return to, last, ""
}

// number gives new ids to the sides of a match, beginning after last.
func (m *modelMatch) number(last int) {
	for i := range m.sides {
		m.sides[i].id = fmt.Sprint("t", last+1+i)
	}

	m.last = last + len(m.sides)
}

// competitors returns the ids of sides, sorted.
func competitors(sides []modelSide) (ids []string) {
	for _, s := range sides {
		ids = append(ids, s.id)
	}

	slices.Sort(ids)

	return ids
}

func (e *modelEvent) isOpen(now time.Time) bool {
	return e.state == item.Upcoming && now.Before(e.lockAt)
}

func (e *modelEvent) year() string { return e.id[:4] }

func (e *modelEvent) match(id string) *modelMatch {
	i := slices.IndexFunc(e.card, func(m *modelMatch) bool { return m.id == id })
	if i < 0 {
		return nil
	}

	return e.card[i]
}

// voidPicks deletes all picks of a match.
func (e *modelEvent) voidPicks(id string) {
	for _, picks := range e.picks {
		delete(picks, id)
	}
}

// newGame returns a game that begins on the last day of a year: four members, leagues of
// some of them, and three events in two years, with predictions of most members.
func newGame(t rapidTB) *game {
	w := &pickemtest.Room{World: testkit.New(t, pickem.Room(), pickemtest.Noon)}
	w.Routes = w.ServeRoutes()
	g := &game{
		Room:    w,
		users:   []string{"u-ann", "u-bob", "u-cat", "u-dan"},
		names:   map[string]string{},
		renamed: map[string]renames{},
		leagues: map[string][]string{},
	}
	g.crashes = rapid.IntRange(0, 2).Draw(t.rt, "with crashes") > 0
	g.begun = time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC)
	g.MoveClock(g.begun)
	g.AddMembers(g.users...)

	var rows []any
	for _, id := range []string{"l-one", "l-two"} {
		rows = append(rows, item.League{Row: item.Row{PK: item.LeagueRef(id), SK: "LEAGUE", Type: item.LeagueType}, ID: id})
	}

	for _, u := range g.users {
		g.names[u] = u

		for _, id := range []string{"l-one", "l-two"} {
			if rapid.Bool().Draw(t.rt, "joins") {
				g.leagues[id] = append(g.leagues[id], u)
				m := item.Membership{
					Row:       item.Row{PK: item.UserRef(u), SK: item.LeagueRef(id), Type: item.MembershipType},
					LeagueID:  id,
					BelongsTo: item.UserRef(u),
				}
				rows = append(rows, m, m.Seat(u))
			}
		}
	}

	for _, id := range []string{"2026-12-31-alpha", "2026-12-31-beta", "2027-01-01-gamma"} {
		e := &modelEvent{
			id: id, state: item.Upcoming, lockAt: g.begun.Add(minutesDrawn(t.rt, "locks in", 1, 12)), picks: map[string]map[string]string{},
			bonus: rapid.SampledFrom([]int{0, 25}).Draw(t.rt, "bonus"),
		}
		g.events = append(g.events, e)

		rows = append(rows, item.Event{
			Row:      item.Row{PK: item.EventTag, SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: item.EventTag, Type: item.EventType},
			ID:       id,
			Name:     id,
			Date:     strings.ReplaceAll(id[:10], "-", "/"),
			StartsAt: item.FormatTime(g.begun.Add(20 * time.Hour)),
			LockAt:   item.FormatTime(e.lockAt),
			State:    item.Upcoming,
			Bonus:    e.bonus,
			CardRev:  1,
		})
		for n := range rapid.IntRange(1, 3).Draw(t.rt, "matches") {
			m := g.drawMatch(t.rt, e)
			e.card = append(e.card, m)
			f := m.fields()
			rows = append(rows, item.Match{
				Row: item.Row{
					PK:    item.EventRef(id),
					SK:    item.MatchSK(m.id),
					GSIPK: item.EventRef(id),
					GSISK: fmt.Sprintf("MATCH#%02d", n+1),
					Type:  item.MatchType,
				},
				ID:       m.id,
				Since:    1,
				Name:     f.Name,
				Points:   f.Points,
				Teams:    f.Teams,
				LastTeam: m.last,
			})
		}

		for _, u := range g.users {
			if rapid.IntRange(0, 3).Draw(t.rt, "plays") == 0 {
				continue
			}

			e.picks[u] = e.drawPicks(t.rt)
			rows = append(rows, item.Prediction{
				Row: item.Row{
					PK:    item.UserRef(u),
					SK:    item.EventRef(id),
					GSIPK: item.EventRef(id),
					GSISK: "SCORE#000#" + u,
					Type:  item.PredictionType,
				},
				EventID: id, BelongsTo: item.UserRef(u), Predictions: e.picks[u], CardRev: 1, SavedAt: item.FormatTime(g.begun),
			})
		}
	}

	testkit.PutRows(g.World, tables.Pickem, rows...)

	return g
}

// drawPicks draws picks of some matches of the card.
func (e *modelEvent) drawPicks(rt *rapid.T) map[string]string {
	picks := map[string]string{}

	for _, m := range e.card {
		if team := rapid.IntRange(-1, len(m.sides)-1).Draw(rt, "team"); team >= 0 {
			picks[m.id] = m.sides[team].id
		}
	}

	return picks
}

// drawMatch draws a new match for an event.
func (g *game) drawMatch(rt *rapid.T, e *modelEvent) *modelMatch {
	m := &modelMatch{
		id:     pickemtest.MatchID(100*slices.Index(g.events, e) + len(e.card) + len(e.off) + 1000),
		points: rapid.IntRange(1, 30).Draw(rt, "points"),
	}
	m.sides, m.last, _ = m.identify(g.drawSides(rt))

	return m
}

// drawSides draws sides with new names.
func (g *game) drawSides(rt *rapid.T) (sides []modelSide) {
	for range rapid.IntRange(2, 3).Draw(rt, "sides") {
		sides = append(sides, modelSide{name: g.newName()})
	}

	return sides
}

func (g *game) newName() string {
	g.sides++
	return fmt.Sprint("Side ", g.sides)
}

func (m *modelMatch) fields() event.MatchFields {
	f := event.MatchFields{Name: "Match", Points: m.points}
	for _, s := range m.sides {
		f.Teams = append(f.Teams, item.Team{ID: s.id, Members: []string{s.name}})
	}

	return f
}

func minutesDrawn(rt *rapid.T, label string, from, to int) time.Duration {
	return time.Duration(rapid.IntRange(from, to).Draw(rt, label)) * time.Minute
}

// failOn fails the check if err is not nil or there were invalid writes.
func (g *game) failOn(rt *rapid.T, what string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	if err := errors.Join(append(g.failures, err)...); err != nil {
		rt.Fatalf("%s: %v", what, err)
	}
}

// operation is one call of a function.
type operation struct {
	what          string
	fn            app.Function
	do            func(app.Env) error
	onWrite       func(pickemtest.Write) error // updates the model by a write; an error means that the write is invalid
	wantCode      func() string                // the expected error code if nothing interrupts it
	uninterrupted bool                         // no interruption is drawn for it
}

// anyCode matches any error code, and no error.
const anyCode = "anyCode"

// call returns a call of a use case.
func call[S, In, Out any](g *game, opener app.Opener[S], do func(S, context.Context, *In) (*Out, error), in *In) func(app.Env) error {
	return func(env app.Env) error {
		_, err := do(testkit.OpenWith(g.World, env, opener), g.NewContext(), in)
		return err
	}
}

// interruption is what interrupts an operation: other operations before one of its calls
// to AWS, and a crash before or after one. Calls count from 1; 0 is none.
type interruption struct {
	at        int
	meanwhile []operation
	crash     int
	after     bool
}

// drawInterruption draws an interruption, for half of the operations none.
func (g *game) drawInterruption(rt *rapid.T, a operation) (c interruption) {
	if a.uninterrupted || rapid.Bool().Draw(rt, "goes well") {
		return c
	}

	if rapid.Bool().Draw(rt, "overtaken") {
		c.at, c.meanwhile = rapid.IntRange(1, 5).Draw(rt, "before call"), []operation{g.drawOperation(rt)}
	}

	if g.crashes && (c.at == 0 || rapid.Bool().Draw(rt, "crashes")) {
		c.crash, c.after = c.at+rapid.IntRange(1, 5).Draw(rt, "crashes at"), rapid.Bool().Draw(rt, "after it")
	}

	return c
}

// perform runs an operation. It returns an error if the error code is not the expected
// one.
func (g *game) perform(a operation, c interruption) error {
	disturbed := c.at > 0 || c.crash > 0
	g.crashed = g.crashed || c.crash > 0

	want := anyCode
	if a.wantCode != nil && !disturbed {
		want = a.wantCode()
	}

	env, _ := g.Observe(a.fn, c.at, func() {
		g.depth++
		defer func() { g.depth-- }()

		for _, other := range c.meanwhile {
			if err := g.perform(other, interruption{}); err != nil {
				g.addFailure(fmt.Errorf("%s during %s: %w", other.what, a.what, err))
			}
		}
	}, func(w pickemtest.Write) {
		g.written = true

		if a.onWrite != nil {
			if err := a.onWrite(w); err != nil {
				g.addFailure(fmt.Errorf("%s: %w", a.what, err))
			}
		}
	})
	if c.crash > 0 {
		env.AWS = dynamotest.CrashAt(c.crash, c.after).AWS(env.AWS)
	}

	err := a.do(env)
	if got := code(err); want != anyCode && got != want {
		return fmt.Errorf("error code %q, want %q: %w", got, want, cmp.Or(err, errors.New("no error")))
	}

	return nil
}

// addFailure records an invalid write.
func (g *game) addFailure(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.failures = append(g.failures, err)
}

// code returns the code of an error, "" for nil.
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
