package pickem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"matchday/infra/local/fleet"
	pickemsim "matchday/infra/rooms/pickem"
	"matchday/infra/rooms/pickem/seasontest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/score"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// start is a Saturday evening.
var start = time.Date(2026, 6, 6, 18, 41, 0, 0, time.UTC)

const (
	firstShow  = "2026-06-06-amberwick"
	secondShow = "2026-06-06-brackwater"
)

// world is a season with helpers for the tests.
type world struct{ *seasontest.World }

func newWorld(t *testing.T) world {
	t.Helper()
	return world{seasontest.New(t, start)}
}

// prepared returns a world with a prepared season whose galas are scored.
func prepared(t *testing.T) world {
	t.Helper()
	w := newWorld(t)
	testkit.Must(t, w.Season.Prepare(t.Context()))
	w.MoveClock(start.Add(time.Second))

	return w
}

// get calls the API as a user.
func get[T any](w world, user, path string) (out T) {
	w.T.Helper()
	testkit.Must(w.T, w.Season.Call(w.T.Context(), user, http.MethodGet, "/pickem"+path, nil, &out))

	return out
}

type screen struct {
	event.Event
	Card       []event.Match
	Prediction *event.Prediction
}

func (w world) show(id string) screen {
	w.T.Helper()
	return get[screen](w, pickemsim.Visitor, "/app/events/"+id)
}

func (w world) log(id string) []event.Correction {
	w.T.Helper()
	return get[struct{ Corrections []event.Correction }](w, pickemsim.Visitor, "/app/events/"+id+"/corrections").Corrections
}

func (w world) events() []event.Event {
	w.T.Helper()
	return get[struct{ Events []event.Event }](w, pickemsim.Visitor, "/app/events").Events
}

// standings returns the standings of the year, a line for each member.
func (w world) standings() (all []string) {
	w.T.Helper()

	for _, s := range get[struct{ Standings []league.Standing }](w, pickemsim.Visitor, "/app/standings/2026").Standings {
		all = append(all, fmt.Sprint(s.Rank, s.Name, s.Points, s.Correct, s.Played))
	}

	return all
}

// look returns the view of the console.
func (w world) look() string {
	w.T.Helper()
	v, err := w.Season.Look(w.T.Context())
	testkit.Must(w.T, err)
	text, err := json.Marshal(v)
	testkit.Must(w.T, err)

	return string(text)
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	w := prepared(t)

	var states []string
	for _, e := range w.events() {
		states = append(states, e.ID+" "+e.State)
	}

	if want := []string{
		firstShow + " upcoming", "2026-05-30-saltstorm scored", "2026-05-23-kingfisher-crown scored",
		"2026-05-16-the-last-ferry scored", "2026-05-09-fog-bell scored",
	}; !slices.Equal(states, want) {
		t.Errorf("the shows are %q, want %q", states, want)
	}

	next := w.show(firstShow)
	if len(next.Card) != 5 || !next.LockAt.Equal(start.Add(4*time.Minute)) || !next.StartsAt.Equal(start.Add(5*time.Minute)) ||
		next.Prediction != nil {
		t.Errorf("the next show is %+v", next)
	}

	gala := w.show("2026-05-30-saltstorm")
	if len(gala.Card) != 7 || !gala.StartsAt.Equal(time.Date(2026, 5, 30, 19, 0, 0, 0, time.UTC)) || !gala.LockAt.Before(gala.StartsAt) ||
		gala.Prediction == nil || gala.Prediction.Score == nil {
		t.Errorf("the last gala is %+v", gala)
	}

	points := map[string]int{}

	for _, e := range w.events()[1:] {
		for _, entry := range get[struct{ Entries []score.Entry }](w, "ada", "/app/events/"+e.ID+"/results").Entries {
			points[entry.Name] += entry.Points
		}
	}

	got := map[string]int{}
	for _, s := range get[struct{ Standings []league.Standing }](w, "ada", "/app/standings/2026").Standings {
		got[s.Name] = s.Points
	}

	if len(got) != 10 || got["You"] == 0 || !maps.Equal(got, points) {
		t.Errorf("the standings are %v, the shows brought %v", got, points)
	}

	mine := get[struct{ Leagues []league.Membership }](w, pickemsim.Visitor, "/app/leagues").Leagues
	if len(mine) != 1 || mine[0].Name != "The Back Row" {
		t.Fatalf("the visitor's leagues are %+v", mine)
	}

	if l := get[league.League](w, pickemsim.Visitor, "/app/leagues/"+mine[0].LeagueID); l.Count != 5 || l.OwnerID != "ada" || l.Code == "" {
		t.Errorf("the league is %+v", l)
	}
}

// TestPrepareAgain: a second start changes nothing, and a start on the next day continues.
func TestPrepareAgain(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	before := w.look()

	writes := w.CountCalls(func() { testkit.Must(t, w.Season.Prepare(t.Context())) })
	for operation, n := range writes {
		if operation != "GetItem" && operation != "Query" && operation != "BatchGetItem" {
			t.Errorf("a second start makes %d calls of %s", n, operation)
		}
	}

	w.MoveClock(start.Add(2 * time.Second))

	if after := w.look(); after != before {
		t.Errorf("a second start changes\n%s to\n%s", before, after)
	}

	w.MoveClock(start.AddDate(0, 0, 1))
	testkit.Must(t, w.Season.Prepare(t.Context()))
	w.MoveClock(start.AddDate(0, 0, 1).Add(time.Second))

	if e := w.show("2026-06-06-clash-of-tides"); e.State != "scored" {
		t.Errorf("on Sunday Saturday's gala is %+v", e)
	}

	if e := w.show(firstShow); e.State != "broadcast" {
		t.Errorf("the show that was left open is %+v", e)
	}
}

// TestPrepareBreaksOff fails the first call of each kind, once before and once after its
// effect. The next start completes the same season.
func TestPrepareBreaksOff(t *testing.T) {
	t.Parallel()
	want := prepared(t).standings()
	kinds := regexp.MustCompile(`[0-9a-f-]{36}|2026-[a-z0-9-]+`)
	broken := map[string]bool{}
	w := newWorld(t)
	call, off := w.Season.Call, errors.New("broken off")
	w.Season.Call = func(ctx context.Context, user, method, path string, in, out any) error {
		kind := method + " " + kinds.ReplaceAllString(path, "…")
		if before := kind + " before"; !broken[before] {
			broken[before] = true
			return off
		}

		if err := call(ctx, user, method, path, in, out); err != nil {
			return err
		}

		if after := kind + " after"; !broken[after] {
			broken[after] = true
			return off
		}

		return nil
	}

	starts := 1
	for ; w.Season.Prepare(t.Context()) != nil; starts++ {
		if starts > 100 {
			t.Fatal("it never ends")
		}
	}

	w.Season.Call = call
	w.MoveClock(w.Clock.Now().Add(time.Second))

	if got := w.standings(); !slices.Equal(got, want) {
		t.Errorf("after %d starts the standings are %q, want %q", starts, got, want)
	}

	if e := w.show(firstShow); len(e.Card) != 5 || e.State != "upcoming" {
		t.Errorf("the next show is %+v", e)
	}

	if starts < 20 {
		t.Errorf("it broke off %d times", starts-1)
	}
}

// TestPrepareWithoutSome prepares a season after members were deleted, also the owner of the
// league.
func TestPrepareWithoutSome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := w.Season.Call
	w.Season.Call = func(ctx context.Context, user, method, path string, in, out any) error {
		if user == "ada" && (method != http.MethodGet || path == "/pickem/app/me") {
			return &fleet.Refusal{Status: http.StatusForbidden}
		}

		return call(ctx, user, method, path, in, out)
	}
	testkit.Must(t, w.Season.Prepare(t.Context()))
	w.MoveClock(start.Add(time.Second))

	if n := len(w.standings()); n != 9 {
		t.Errorf("%d members have points, want 9", n)
	}
}

// play runs the season from the next move of the clock until stop.
func play(w world) (stop func()) {
	ctx, cancel := context.WithCancel(w.T.Context())
	over := make(chan struct{})

	w.Clock.After(0, func() {
		defer close(over)

		w.Season.Run(ctx)
	})

	return func() {
		cancel()
		<-over
	}
}

// moment is the visible state of a show.
type moment struct {
	state             string
	entries, results  int
	corrected, scored bool
}

// watch runs the season until the show after next is announced, and returns the visible states
// of the first show by time.
func watch(t *testing.T, w world) (seen []moment, at []time.Time) {
	t.Helper()

	defer play(w)()

	for now := start; now.Before(start.Add(15 * time.Minute)); now = now.Add(2 * time.Second) {
		w.MoveClock(now)
		e := w.show(firstShow)
		m := moment{state: e.State, scored: e.State == "scored"}
		m.entries = get[struct{ Count int }](w, fleet.Administrator, "/admin/events/"+firstShow+"/entries").Count

		for _, match := range e.Card {
			if match.Result != nil {
				m.results++
			}
		}

		for _, c := range w.log(firstShow) {
			m.corrected = m.corrected || c.From != ""
		}

		if len(seen) == 0 || m != seen[len(seen)-1] {
			seen, at = append(seen, m), append(at, now)
		}

		if w.events()[0].ID != firstShow {
			return seen, at
		}
	}

	t.Fatalf("no show follows the first, which had the states %+v", seen)

	return nil, nil
}

// TestRun plays a show from its announcement to that of the next show.
func TestRun(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	before := w.standings()
	seen, at := watch(t, w)

	last := seen[0]
	for i, m := range seen[1:] {
		switch now := at[i+1]; {
		case m.entries < last.entries || m.results < last.results || last.corrected && !m.corrected || last.scored && !m.scored:
			t.Errorf("at %s it goes back to %+v", now, m)
		case m.entries > last.entries && !now.Before(start.Add(4*time.Minute)):
			t.Errorf("somebody picks at %s", now)
		case m.results > last.results && (m.results > last.results+1 || now.Before(start.Add(5*time.Minute))):
			t.Errorf("at %s there are %d results", now, m.results)
		case m.scored && (m.results < 5 || !m.corrected):
			t.Errorf("at %s it is scored, with %+v", now, m)
		}

		last = m
	}
	// One of the nine members does not pick.
	if want := (moment{"scored", 8, 5, true, true}); last != want {
		t.Errorf("at last it is %+v, want %+v", last, want)
	}

	if n := len(slices.CompactFunc(slices.Clone(seen), func(a, b moment) bool { return a.entries == b.entries })); n < 6 {
		t.Errorf("members pick %d times, all at once", n)
	}

	corrections := slices.DeleteFunc(w.log(firstShow), func(c event.Correction) bool { return c.From == "" })
	if len(corrections) != 1 || corrections[0].Reason == "" {
		t.Errorf("the corrections are %+v", corrections)
	}

	if slices.Equal(w.standings(), before) {
		t.Error("the standings are as before")
	}

	next := w.show(secondShow)
	if next.State != "upcoming" || len(next.Card) != 5 || !next.LockAt.After(at[len(at)-1].Add(3*time.Minute)) {
		t.Errorf("then comes %+v", next)
	}

	for _, m := range w.show(firstShow).Card {
		for _, title := range m.Championships {
			i := slices.IndexFunc(next.Card, func(n event.Match) bool { return slices.Contains(n.Championships, title) })
			if holder := next.Card[i].Teams[0]; !holder.Champion || *m.Result >= 0 && !slices.Equal(holder.Members, m.Teams[*m.Result].Members) {
				t.Errorf("%s is defended by %+v, after %+v", title, holder, m)
			}
		}
	}

	other := prepared(t)
	if again, when := watch(t, other); !slices.Equal(again, seen) || !slices.Equal(when, at) ||
		!slices.Equal(other.standings(), w.standings()) {
		t.Errorf("played again, the show is\n%+v, want\n%+v", again, seen)
	}
}

// TestRunGoesOn makes the API fail for a while at each stage of a show.
func TestRunGoesOn(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	call := w.Season.Call

	var down bool

	w.Season.Call = func(ctx context.Context, user, method, path string, in, out any) error {
		if down {
			return &fleet.Refusal{Status: http.StatusInternalServerError}
		}

		return call(ctx, user, method, path, in, out)
	}
	stop := play(w)

	for now := start; now.Before(start.Add(11 * time.Minute)); now = now.Add(20 * time.Second) {
		down = false

		w.MoveClock(now)

		down = true

		w.MoveClock(now.Add(5 * time.Second))
	}

	down = false

	w.MoveClock(start.Add(12 * time.Minute))
	stop()

	if e := w.show(firstShow); e.State != "scored" || len(w.show(secondShow).Card) != 5 {
		t.Errorf("the show is %+v", e)
	}
}

// TestEmptyCard: a show that locks before its interrupted announcement is completed is deleted.
func TestEmptyCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := w.Season.Call

	w.Season.Call = func(ctx context.Context, user, method, path string, in, out any) error {
		if path == "/pickem/admin/events/"+firstShow+"/matches" && w.Clock.Now().Before(start.Add(7*time.Minute)) {
			return errors.New("down")
		}

		return call(ctx, user, method, path, in, out)
	}
	if w.Season.Prepare(t.Context()) == nil {
		t.Fatal("it does not fail")
	}

	if e := w.show(firstShow); len(e.Card) != 0 {
		t.Fatalf("the card is %+v", e.Card)
	}

	stop := play(w)
	again := start.Add(22 * time.Minute) // its id is free 15 minutes after the deletion
	w.MoveClock(again)
	stop()

	if e := w.show(firstShow); len(e.Card) != 5 || e.State != "upcoming" || !e.LockAt.After(again) {
		t.Errorf("the show is %+v", e)
	}
}

// TestOffice performs the steps of an administrator: picks, lock, results and corrections.
func TestOffice(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	s, ctx := w.Season, t.Context()
	enter := func() string {
		t.Helper()

		text, err := s.EnterResult(ctx, firstShow)
		testkit.Must(t, err)

		return text
	}
	refuses := func(err error, status int) {
		t.Helper()

		if r, ok := errors.AsType[*fleet.Refusal](err); !ok || r.Status != status {
			t.Errorf("the answer is %v, want %d", err, status)
		}
	}
	card := w.show(firstShow).Card
	picks := map[string]string{card[0].ID: "t2", card[4].ID: "t1"}
	testkit.Must(t, s.Pick(ctx, pickemsim.Visitor, firstShow, picks))

	if p := w.show(firstShow).Prediction; p == nil || !maps.Equal(p.Predictions, picks) {
		t.Errorf("the visitor's picks are %+v", p)
	}

	_, err := s.EnterResult(ctx, firstShow)
	refuses(err, http.StatusConflict) // it is not locked

	if _, err := s.Correct(ctx, firstShow); err == nil {
		t.Error("there is a result to correct")
	}

	w.MoveClock(start.Add(time.Minute))
	testkit.Must(t, s.Lock(ctx, firstShow))
	if e := w.show(firstShow); e.State != "broadcast" || !e.LockAt.Equal(w.Clock.Now()) || !e.StartsAt.After(e.LockAt) {
		t.Errorf("locked, it is %+v", e)
	}

	refuses(s.Pick(ctx, pickemsim.Visitor, firstShow, picks), http.StatusConflict)
	refuses(s.Score(ctx, firstShow), http.StatusConflict)

	for i, m := range card {
		if text := enter(); text[:len(m.Name)+1] != m.Name+":" {
			t.Errorf("result %d is %q", i, text)
		}
	}

	if _, err := s.EnterResult(ctx, firstShow); err == nil || status(err) != 0 {
		t.Errorf("there is another result: %v", err)
	}

	testkit.Must(t, s.Score(ctx, firstShow))
	w.MoveClock(w.Clock.Now().Add(time.Second))
	scored := w.standings()
	_, err = s.Correct(ctx, firstShow)
	testkit.Must(t, err)
	w.MoveClock(w.Clock.Now().Add(time.Second))

	if e := w.show(firstShow); e.State != "scored" || e.Updating || slices.Equal(w.standings(), scored) {
		t.Errorf("corrected, it is %+v with %q", e, w.standings())
	}
}

// TestLockedByTheClock enters a result before the job has locked the show.
func TestLockedByTheClock(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	w.MoveClock(start.Add(4*time.Minute + time.Second)) // the job is due in full minutes
	testkit.Must(t, w.Season.Call(t.Context(), fleet.Administrator, http.MethodPatch, "/pickem/admin/events/"+firstShow,
		map[string]any{"lockAt": start.Add(4*time.Minute + 10*time.Second), "startsAt": start.Add(5 * time.Minute), "state": "upcoming"}, nil))
	w.MoveClock(start.Add(4*time.Minute + 11*time.Second))

	if _, err := w.Season.EnterResult(t.Context(), firstShow); err != nil {
		t.Error(err)
	}
}

func status(err error) int {
	if r, ok := errors.AsType[*fleet.Refusal](err); ok {
		return r.Status
	}

	return 0
}
