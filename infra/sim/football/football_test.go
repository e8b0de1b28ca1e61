package football

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/openfootball"
	"matchday/infra/sim/samples"
)

const ofCup = "/api/v1/unique-tournament/17/season/61/"

// small is a season of two rounds of a league with four teams, and a cup after it.
const small = `{"name": "Cup 2026", "matches": [
	{"round": "Matchday 1", "date": "2026-08-14", "time": "18:00", "team1": "Ayr", "team2": "Ely", "group": "Group A", "score": {"ht": [1, 0], "ft": [2, 1]}},
	{"round": "Matchday 1", "date": "2026-08-14", "time": "20:00", "team1": "Rye", "team2": "Wem", "group": "Group A", "score": {"ft": [0, 0]}},
	{"round": "Matchday 2", "date": "2026-08-21", "time": "18:00", "team1": "Ely", "team2": "Rye", "group": "Group A", "score": {"ft": [0, 3]}},
	{"round": "Matchday 2", "date": "2026-08-21", "team1": "Wem", "team2": "Ayr", "group": "Group A", "score": {}, "status": "cancelled"},
	{"round": "Semi-finals", "date": "2026-08-22", "time": "18:00", "team1": "Rye", "team2": "Ely", "score": {"ht": [0, 0], "ft": [1, 1], "et": [3, 2]}},
	{"round": "Semi-finals", "date": "2026-08-22", "time": "20:00", "team1": "Ayr", "team2": "Wem", "score": {"ht": [0, 1], "ft": [1, 1], "et": [1, 1], "p": [4, 5]}},
	{"round": "Match for third place", "date": "2026-08-28", "time": "18:00", "team1": "Ely", "team2": "Ayr", "score": {"ft": [4, 2]}},
	{"round": "Final", "date": "2026-08-29", "time": "18:00", "team1": "Rye", "team2": "Wem", "score": {"ft": [1, 0]}},
	{"round": "Relegation, Round of 16", "date": "2026-08-29", "time": "16:00", "team1": "Ayr", "team2": "Ely"}
]}`

// The matches of small.
const (
	league = iota
	_
	_
	void
	extra
	shootout
	third
	final
	unplayed
)

func parse(t testing.TB, data string) openfootball.Season {
	t.Helper()

	s, err := openfootball.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// rig is a server with a free clock that only the test moves.
type rig struct {
	testing.TB
	*Server
	clock *clock.Clock
}

// newRig returns a server that covers a season, with faults by match.
func newRig(t testing.TB, seed uint64, tournament Tournament) *rig {
	t.Helper()

	if tournament.ID == 0 {
		tournament.ID, tournament.SeasonID = 17, 61
	}

	c := clock.New(tournament.Season.Matches[0].KickOff.Add(tournament.Shift-30*24*time.Hour), clock.Free)
	t.Cleanup(c.Stop)

	s := New(c, seed)
	if err := s.Add(tournament); err != nil {
		t.Fatal(err)
	}

	return &rig{t, s, c}
}

func faulty(t testing.TB, seed uint64, match int, kinds ...Kind) *rig {
	return newRig(t, seed, Tournament{Season: parse(t, small), Faults: map[int][]Kind{match: kinds}})
}

// to moves the clock, forwards only.
func (r *rig) to(at time.Time) {
	r.Helper()

	if !at.After(r.clock.Now()) {
		return
	}

	reached := make(chan struct{})

	r.clock.At(at, func() { close(reached) })
	<-reached
}

func (r *rig) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))

	return w
}

// read gets and decodes a body.
func read[T any](r *rig, path string) (v T) {
	r.Helper()

	w := r.get(path)
	if w.Code != http.StatusOK {
		r.Fatalf("%s at %v is answered with %d %s", path, r.clock.Now(), w.Code, w.Body)
	}

	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		r.Fatalf("%s: %v in %.200s", path, err, w.Body)
	}

	return v
}

func (r *rig) eventInfo(id int64) eventInfo {
	r.Helper()
	return read[struct{ Event eventInfo }](r, fmt.Sprint("/api/v1/event/", id)).Event
}

// of returns the event of a match, and the event that replaces it.
func (r *rig) of(match int) (id, replacement int64) {
	for _, e := range r.Finals(17, 61) {
		if e.Match == match && id == 0 {
			id, replacement = e.ID, e.ReplacedBy
		}
	}

	return id, replacement
}

// seen is an answer of the API with what is compared of it.
type seen struct {
	At      time.Time
	Code    int
	Home    string
	Away    string
	Winner  int
	Start   time.Time
	Changes string
}

// history gets an event at each time it changes.
func (r *rig) history(id int64) (all []seen) {
	r.Helper()

	e := r.events[id]
	for i, v := range e.views {
		if i > 0 {
			r.to(v.at)
		} else {
			r.to(e.visible)
		}

		in := r.eventInfo(id)
		if want := max(v.at.Unix(), 0); in.Changes.At != want {
			r.Fatalf("changeTimestamp is %d, want %d", in.Changes.At, want)
		}

		all = append(all, seen{
			v.at, in.Status.Code, text(in.HomeScore), text(in.AwayScore), in.WinnerCode,
			time.Unix(in.StartTimestamp, 0).UTC(), strings.Join(in.Changes.Changes, " "),
		})
	}

	return all
}

// text returns a score as JSON without quotes.
func text(s score) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}

	return strings.ReplaceAll(string(b), `"`, "")
}

// codes returns the statuses without repetitions.
func codes(all []seen) (list []int) {
	for _, v := range all {
		if len(list) == 0 || list[len(list)-1] != v.Code {
			list = append(list, v.Code)
		}
	}

	return list
}

// when returns the first answer with a status.
func when(t testing.TB, all []seen, code int) seen {
	t.Helper()

	i := slices.IndexFunc(all, func(v seen) bool { return v.Code == code })
	if i < 0 {
		t.Fatalf("no answer has the status %d: %v", code, codes(all))
	}

	return all[i]
}

func TestMatchFromKickOffToFinish(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		match      int
		codes      []int
		home, away string
		winner     int
		from, to   time.Duration // of the finish after the kick-off
	}{
		"league": {
			league, []int{0, 6, 31, 7, 100},
			"{current:2,display:2,period1:1,period2:1,normaltime:2}", "{current:1,display:1,period1:0,period2:1,normaltime:1}", 1,
			108 * time.Minute, 123 * time.Minute,
		},
		"penalties": {
			shootout, []int{0, 6, 31, 7, 41, 42, 50, 120},
			"{current:5,display:1,period1:0,period2:1,normaltime:1,extra1:0,extra2:0,overtime:0,penalties:4}",
			"{current:6,display:1,period1:1,period2:0,normaltime:1,extra1:0,extra2:0,overtime:0,penalties:5}", 2,
			154 * time.Minute, 185 * time.Minute,
		},
		"final": {final, []int{0, 6, 31, 7, 100}, "", "", 1, 108 * time.Minute, 123 * time.Minute},
		"third": {third, []int{0, 6, 31, 7, 100}, "", "", 1, 108 * time.Minute, 123 * time.Minute},
		"extra": {extra, []int{0, 6, 31, 7, 41, 42, 110}, "", "", 1, 143 * time.Minute, 165 * time.Minute},
		"void":  {void, []int{0, 70}, "{}", "{}", 0, -12 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for seed := range uint64(5) {
				r := newRig(t, seed, Tournament{Season: parse(t, small)})
				id, _ := r.of(c.match)

				all := r.history(id)
				if diff := cmp.Diff(c.codes, codes(all)); diff != "" {
					t.Errorf("statuses (-want +got)\n%s", diff)
				}

				last := all[len(all)-1]
				if c.home != "" && (last.Home != c.home || last.Away != c.away) || last.Winner != c.winner {
					t.Errorf("the last answer is %+v", last)
				}

				if after := last.At.Sub(last.Start); after < c.from || after > c.to {
					t.Errorf("it was over %v after the kick-off, want %v to %v", after, c.from, c.to)
				}

				if !strings.HasPrefix(last.Changes, "status.code status.description status.type") {
					t.Errorf("the finish changed %q", last.Changes)
				}

				if all[0].Home != "{}" || all[0].Away != "{}" {
					t.Errorf("the score before the kick-off is %s %s", all[0].Home, all[0].Away)
				}
			}
		})
	}
}

// TestGoalsFallDuringThePeriods checks that scores never decrease, and that half time shows
// the score of the recording.
func TestGoalsFallDuringThePeriods(t *testing.T) {
	t.Parallel()

	for seed := range uint64(50) {
		r := newRig(t, seed, Tournament{Season: parse(t, small)})
		for _, e := range r.season().events {
			at := map[int]openfootball.Goals{}

			var before openfootball.Goals

			for _, v := range e.views {
				goals, scored := v.result()
				if goals[0] < before[0] || goals[1] < before[1] {
					t.Fatalf("seed %d, event %d: the score falls from %v to %v", seed, e.id, before, goals)
				}

				if scored {
					before, at[v.status.Code] = goals, goals
				}
			}

			if h := e.match.Score.HalfTime; h != nil && at[31] != *h {
				t.Fatalf("seed %d, event %d: half time shows %v, want %v", seed, e.id, at[31], *h)
			}

			want, _ := e.match.Result()
			if before != want {
				t.Fatalf("seed %d, event %d: the result is %v, want %v", seed, e.id, before, want)
			}
		}
	}
}

// season returns the season of the rig.
func (r *rig) season() *season { return r.seasons[[2]int64{17, 61}] }

// TestFaultsOfEvents checks what each fault does, for several seeds each.
func TestFaultsOfEvents(t *testing.T) {
	t.Parallel()

	const hour, day = time.Hour, 24 * time.Hour

	kickOff := parse(t, small).Matches[league].KickOff
	between := func(t *testing.T, what string, got, from, to time.Duration) {
		t.Helper()

		if got < from || got > to {
			t.Errorf("%s %v, want %v to %v", what, got, from, to)
		}
	}

	played := []int{0, 6, 31, 7, 100}
	for _, c := range []struct {
		kind  Kind
		codes []int
		check func(*testing.T, []seen)
	}{
		{LateScore, played, func(t *testing.T, all []seen) {
			end, last := when(t, all, 100), all[len(all)-1]
			if strings.Contains(end.Home+end.Away, "display") || end.Winner != 0 {
				t.Errorf("the finish shows %s %s", end.Home, end.Away)
			}

			between(t, "the score is late by", last.At.Sub(end.At), 3*time.Minute, 90*time.Minute)

			if strings.Contains(last.Changes, "status") || !strings.Contains(last.Changes, "homeScore.display") {
				t.Errorf("the late score changed %q", last.Changes)
			}
		}},
		{Corrected, played, func(t *testing.T, all []seen) {
			end, last := when(t, all, 100), all[len(all)-1]
			if end.Home+end.Away == last.Home+last.Away {
				t.Errorf("the score at the finish is right: %s %s", end.Home, end.Away)
			}

			between(t, "the correction is after", last.At.Sub(end.At), 5*time.Minute, 324*time.Minute)

			if strings.Contains(last.Changes, "status") || !strings.Contains(last.Changes, "Score.display") {
				t.Errorf("the correction changed %q", last.Changes)
			}
		}},
		{Overwritten, played, func(t *testing.T, all []seen) {
			end, last := when(t, all, 100), all[len(all)-1]
			if last.Changes != "providerLock.status providerLock.statusSource" {
				t.Errorf("the last changes are %q", last.Changes)
			}

			between(t, "they are after", last.At.Sub(end.At), 20*time.Second, 5*hour)
		}},
		{Reopened, []int{0, 6, 31, 7, 100, 7, 100}, func(t *testing.T, all []seen) {
			n := len(all)
			between(t, "it is open after", all[n-2].At.Sub(all[n-3].At), time.Minute, 15*time.Minute)
			between(t, "it is open for", all[n-1].At.Sub(all[n-2].At), 2*time.Minute, 10*time.Minute)

			if all[n-2].Winner != 0 || all[n-1].Winner != 1 {
				t.Errorf("the winners are %d and %d", all[n-2].Winner, all[n-1].Winner)
			}
		}},
		{MovedMinutes, played, moved(kickOff, 4*time.Minute)},
		{MovedHours, played, moved(kickOff, 3*hour)},
		{MovedDay, played, moved(kickOff, day)},
		{Postponed, []int{0, 60, 0, 6, 31, 7, 100}, func(t *testing.T, all []seen) {
			between(t, "announced before the kick-off by", kickOff.Sub(when(t, all, 60).At), time.Minute, 12*hour)

			if off := when(t, all, 60); off.Home != "{}" || off.Away != "{}" || !off.Start.Equal(kickOff) {
				t.Errorf("postponed: %+v", off)
			}

			between(t, "dated after", all[2].At.Sub(all[1].At), hour, 12*hour)
			between(t, "postponed by", all[2].Start.Sub(kickOff), 3*day, 20*day)

			if all[2].Changes != "status.code status.description status.type startTimestamp" {
				t.Errorf("the new date changed %q", all[2].Changes)
			}
		}},
		{Replaced, []int{0, 60}, nil},
		{Cancelled, []int{0, 70}, func(t *testing.T, all []seen) {
			between(t, "before the kick-off by", kickOff.Sub(all[1].At), time.Minute, 12*hour)

			if all[1].Home != "{}" || all[1].Winner != 0 {
				t.Errorf("cancelled: %+v", all[1])
			}
		}},
		{Interrupted, []int{0, 6, 31, 7, 80, 7, 100}, func(t *testing.T, all []seen) {
			from := slices.IndexFunc(all, func(v seen) bool { return v.Code == 80 })
			between(t, "interrupted for", all[from+1].At.Sub(all[from].At), 20*time.Minute, 90*time.Minute)

			if all[from].Home != all[from-1].Home || all[from+1].Home != all[from].Home || !strings.Contains(all[from].Home, "normaltime") {
				t.Errorf("the scores are %s, %s, %s", all[from-1].Home, all[from].Home, all[from+1].Home)
			}
		}},
		{StartedEarly, played, func(t *testing.T, all []seen) {
			between(t, "it starts early by", all[1].Start.Sub(all[1].At), -time.Minute, 20*time.Minute)
		}},
		{StartedLate, played, func(t *testing.T, all []seen) {
			between(t, "it starts late by", all[1].At.Sub(all[1].Start), 5*time.Minute, 43*time.Minute)
		}},
		{StartedTwice, []int{0, 6, 0, 6, 31, 7, 100}, func(t *testing.T, all []seen) {
			between(t, "it is in play for", all[2].At.Sub(all[1].At), 2*time.Minute, 12*time.Minute)
			between(t, "it starts again after", all[3].At.Sub(all[2].At), time.Minute, 28*time.Minute)

			if all[1].Home == "{}" || all[2].Home != "{}" || all[2].Away != "{}" {
				t.Errorf("it shows %s in play, and %s %s then", all[1].Home, all[2].Home, all[2].Away)
			}
		}},
		{Walkover, []int{0, 91}, func(t *testing.T, all []seen) {
			if last := all[1]; last.Home != "{}" || last.Away != "{}" || last.Winner < 1 || last.Winner > 2 {
				t.Errorf("walkover: %+v", last)
			}
		}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()

			for seed := range uint64(8) {
				r := faulty(t, seed, league, c.kind)
				id, _ := r.of(league)

				all := r.history(id)
				if diff := cmp.Diff(c.codes, codes(all)); diff != "" {
					t.Fatalf("statuses (-want +got)\n%s", diff)
				}

				if c.check != nil {
					c.check(t, all)
				}

				last := all[len(all)-1]
				if last.Code == 100 && (!strings.HasPrefix(last.Home, "{current:2,display:2,") ||
					!strings.HasPrefix(last.Away, "{current:1,display:1,") || last.Winner != 1) {
					t.Errorf("in the end it is %+v", last)
				}

				if diff := cmp.Diff(map[Kind]int{c.kind: 1}, r.Counts()); diff != "" {
					t.Errorf("counts (-want +got)\n%s", diff)
				}
			}
		})
	}
}

// moved checks that the kick-off moves before the match, and nothing else changes then.
func moved(from time.Time, by time.Duration) func(*testing.T, []seen) {
	return func(t *testing.T, all []seen) {
		want := seen{At: all[1].At, Home: "{}", Away: "{}", Start: from.Add(by), Changes: "startTimestamp"}
		if diff := cmp.Diff(want, all[1]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}

		if before := from.Sub(all[1].At); before < time.Minute || before > 12*time.Hour {
			t.Errorf("it was announced %v before the kick-off", before)
		}

		if played := all[len(all)-1]; played.At.Before(played.Start.Add(time.Hour)) {
			t.Errorf("it was over at %v, kick-off %v", played.At, played.Start)
		}
	}
}

// TestReplacedEvent checks that the fixture has a new id and date, in the same round.
func TestReplacedEvent(t *testing.T) {
	t.Parallel()
	r := faulty(t, 1, league, Replaced, Corrected)

	old, id := r.of(league)
	if id == 0 {
		t.Fatal("no event replaces it")
	}

	round := func() (ids []int64) {
		for _, e := range read[struct{ Events []eventInfo }](r, ofCup+"events/round/1").Events {
			ids = append(ids, e.ID)
		}

		return ids
	}
	if w := r.get(fmt.Sprint("/api/v1/event/", id)); w.Code != http.StatusNotFound || slices.Contains(round(), id) {
		t.Errorf("the replacement is there too early: %d %v", w.Code, round())
	}

	all := r.history(id)
	if diff := cmp.Diff([]int{0, 6, 31, 7, 100}, codes(all)); diff != "" {
		t.Errorf("statuses (-want +got)\n%s", diff)
	}

	if ids := round(); !slices.Contains(ids, old) || !slices.Contains(ids, id) || len(ids) != 3 {
		t.Errorf("the round has %v, want %d and %d and another", ids, old, id)
	}

	was, _ := r.Final(old)

	is, _ := r.Final(id)
	if was.Code != 60 || was.Scored || was.ReplacedBy != id || was.Match != league {
		t.Errorf("the old event ends as %+v", was)
	}

	if is.Code != 100 || is.Score != (openfootball.Goals{2, 1}) || !is.KickOff.After(was.KickOff.Add(24*time.Hour)) || is.Match != league {
		t.Errorf("the new event ends as %+v", is)
	}

	if got := r.eventInfo(old).Status; got != postponed {
		t.Errorf("the old event has the status %v", got)
	}
}

// TestFinalsAgreeWithTheRecording plays seasons with every fault, and compares what is said
// in the end with the recording.
func TestFinalsAgreeWithTheRecording(t *testing.T) {
	t.Parallel()

	rates := map[Kind]float64{}
	for _, k := range OfEvents() {
		rates[k] = 0.15
	}

	check := func(t *testing.T, s openfootball.Season, seeds uint64) {
		for seed := range seeds {
			r := newRig(t, seed, Tournament{Season: s, Rates: rates})
			if all := r.Finals(17, 61); !slices.IsSortedFunc(all, func(a, b Event) int { return a.Match - b.Match }) {
				t.Fatalf("seed %d: the events are not in the order of the matches", seed)
			}

			counts := map[Kind]int{}

			for _, e := range r.season().events {
				final, _ := r.Final(e.id)
				if last, ok := r.At(e.id, final.Changed); ok {
					if diff := cmp.Diff(final, last); diff != "" {
						t.Fatalf("Final differs from At (-at +final)\n%s", diff)
					}
				}

				want, played := e.match.Result()
				switch {
				case final.Code == 60 && final.ReplacedBy != 0:
					counts[Replaced]++
				case final.Code == 70 && !final.Scored:
					if !e.match.Void {
						counts[Cancelled]++
					}
				case final.Code == 91 && !final.Scored:
					counts[Walkover]++
				case final.Code >= 100 && final.Scored && played && final.Score == want:
				case final.Code == 0 && !played && !final.Scored:
				default:
					t.Fatalf("seed %d: match %+v ends as %+v", seed, e.match, final)
				}
			}

			for k, n := range counts {
				if n != r.Counts()[k] {
					t.Errorf("%s: %d events, but %d counted", k, n, r.Counts()[k])
				}
			}
		}
	}
	t.Run("small", func(t *testing.T) { t.Parallel(); check(t, parse(t, small), 200) })
	t.Run("reversed", func(t *testing.T) {
		t.Parallel()
		s := parse(t, small)
		slices.Reverse(s.Matches)
		check(t, s, 20)
	})
	t.Run("recordings", func(t *testing.T) {
		t.Parallel()

		for _, path := range samples.Glob(t, "openfootball/*.json") {
			check(t, parse(t, string(samples.Read(t, "openfootball/"+filepath.Base(path)))), 3)
		}
	})
}

// TestViewsAreInOrder checks, for many seeds and all faults at once, that no two views have
// one time, that nothing precedes the announcement, that periods begin when they are shown,
// and that the final is known after the semi-finals, half a day before it begins.
func TestViewsAreInOrder(t *testing.T) {
	t.Parallel()
	s := parse(t, small)

	for seed := range uint64(300) {
		rates := map[Kind]float64{}
		for _, k := range OfEvents() {
			rates[k] = 0.4
		}

		r := newRig(t, seed, Tournament{Season: s, Rates: rates})

		var semis time.Time

		for _, e := range r.season().events {
			for i, v := range e.views[1:] {
				if !v.at.After(e.views[i].at) || v.at.Before(e.visible) || v.at.Nanosecond() != 0 {
					t.Fatalf("seed %d: the views of match %d are at %v, %v; it is visible from %v", seed, e.index, e.views[i].at, v.at, e.visible)
				}

				if !v.period.Equal(e.views[i].period) && !v.period.Equal(v.at) && v.status != notStarted {
					t.Fatalf("seed %d: a period of match %d began at %v, but is shown at %v", seed, e.index, v.period, v.at)
				}

				if v.status.Type == ended.Type && e.views[i].status.Type != ended.Type && (e.index == extra || e.index == shootout) {
					semis = later(semis, v.at)
				}
			}

			if start := e.views[0].kickOff; start.Before(e.visible.Add(notice)) {
				t.Fatalf("seed %d: match %d begins at %v and is known at %v", seed, e.index, start, e.visible)
			}

			if e.index == final && !e.visible.After(semis) {
				t.Fatalf("seed %d: the semi-finals end at %v, but the final is known at %v", seed, semis, e.visible)
			}
		}
	}
}

// TestFaultsTogether checks faults that meet in one event.
func TestFaultsTogether(t *testing.T) {
	t.Parallel()

	for seed := range uint64(20) {
		r := faulty(t, seed, shootout, Corrected)

		id, _ := r.of(shootout)
		for _, v := range r.events[id].views {
			if goals, _ := v.result(); v.status == afterPens && (v.winner != 2 || goals[0] != goals[1]) {
				t.Errorf("seed %d: after penalties the score is %v, the winner %d", seed, goals, v.winner)
			}
		}

		r = faulty(t, seed, league, LateScore, Corrected)
		id, _ = r.of(league)
		wrong := false

		for _, v := range r.events[id].views {
			goals, scored := v.result()
			wrong = wrong || v.status == ended && scored && goals != openfootball.Goals{2, 1}
		}

		if !wrong {
			t.Errorf("seed %d: the score is late and never wrong", seed)
		}
	}
}

func TestEventsOfARoundAreOrderedByKickOff(t *testing.T) {
	t.Parallel()
	r := faulty(t, 1, league, MovedDay)

	order := func() (home []string) {
		for _, e := range read[struct{ Events []eventInfo }](r, ofCup+"events/round/1").Events {
			home = append(home, e.HomeTeam.Name)
		}

		return home
	}
	if diff := cmp.Diff([]string{"Ayr", "Rye"}, order()); diff != "" {
		t.Errorf("at first (-want +got)\n%s", diff)
	}

	r.to(parse(t, small).Matches[league].KickOff)

	if diff := cmp.Diff([]string{"Rye", "Ayr"}, order()); diff != "" {
		t.Errorf("after the move (-want +got)\n%s", diff)
	}
}

func TestKnockoutRoundsAppearWhenTheirPairingsAreKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, Tournament{Season: parse(t, small)})

	type round struct {
		Round            int
		Name, Slug, Pref string
	}

	type list struct {
		Current round `json:"currentRound"`
		Rounds  []round
	}

	groups := []round{{Round: 1}, {Round: 2}}
	semis := append(slices.Clone(groups), round{Round: 28, Name: "Semifinals", Slug: "semifinals"})
	thirdPlace := round{Round: 50, Name: "Match for 3rd place", Slug: "match-for-3rd-place"}
	all := append(slices.Clone(semis), thirdPlace, round{Round: 29, Name: "Final", Slug: "final"},
		round{Round: 5, Name: "Round of 16", Slug: "round-of-16"})
	get := func() list { return read[list](r, ofCup+"rounds") }
	finish := func(match int) time.Time { id, _ := r.of(match); e, _ := r.Final(id); return e.Changed }

	if diff := cmp.Diff(list{groups[0], groups}, get()); diff != "" {
		t.Errorf("at first (-want +got)\n%s", diff)
	}

	r.to(parse(t, small).Matches[void].KickOff.Add(time.Hour))

	if diff := cmp.Diff(list{groups[0], groups}, get()); diff != "" {
		t.Errorf("after the kick-off of a cancelled match (-want +got)\n%s", diff)
	}

	semi, _ := r.of(extra)
	r.to(finish(2))

	for _, path := range []string{ofCup + "events/round/28/slug/semifinals", fmt.Sprint("/api/v1/event/", semi)} {
		if w := r.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s is answered with %d before the groups are over", path, w.Code)
		}
	}

	r.to(finish(2).Add(time.Hour))

	if diff := cmp.Diff(list{groups[1], semis}, get()); diff != "" {
		t.Errorf("after the groups (-want +got)\n%s", diff)
	}

	if got := read[struct{ Events []eventInfo }](r,
		ofCup+"events/round/28/slug/semifinals").Events; len(got) != 2 || got[0].RoundInfo.CupRoundType != 2 || got[0].HomeTeam.Name != "Rye" {
		t.Errorf("the semi-finals are %+v", got)
	}

	r.to(finish(shootout))

	if diff := cmp.Diff(list{semis[2], semis}, get()); diff != "" {
		t.Errorf("when the semi-finals end (-want +got)\n%s", diff)
	}

	r.to(finish(shootout).Add(time.Hour))

	if diff := cmp.Diff(list{semis[2], all}, get()); diff != "" {
		t.Errorf("after the semi-finals (-want +got)\n%s", diff)
	}

	r.to(finish(final).Add(time.Hour))

	last := get()
	if diff := cmp.Diff(all[4], last.Current); diff != "" || len(last.Rounds) != 6 {
		t.Errorf("at the end there are %d rounds, the current one (-want +got)\n%s", len(last.Rounds), diff)
	}

	const relegation = ofCup + "events/round/5/slug/round-of-16"
	if w := r.get(relegation); w.Code != http.StatusNotFound {
		t.Errorf("a round with a prefix is found without it: %d", w.Code)
	}

	if got := read[struct{ Events []eventInfo }](r, relegation+"/prefix/Relegation").Events; len(got) != 1 || got[0].Status != notStarted ||
		got[0].RoundInfo.Prefix != "Relegation" {
		t.Errorf("the round with a prefix has %+v", got)
	}

	if id, _ := r.of(unplayed); id == 0 {
		t.Error("the match without a score is missing")
	}
}

// TestRoundWaitsForALateOne checks that a postponed semi-final moves the final.
func TestRoundWaitsForALateOne(t *testing.T) {
	t.Parallel()
	s := parse(t, small)
	s.Matches[final].KickOff = s.Matches[extra].KickOff.Add(26 * time.Hour)
	r := newRig(t, 1, Tournament{Season: s, Faults: map[int][]Kind{extra: {Postponed}}})
	semi, _ := r.of(extra)
	id, _ := r.of(final)
	over, _ := r.Final(semi)

	e := r.events[id]
	if e.visible.Before(over.Changed) || e.match.KickOff.Before(e.visible.Add(notice)) {
		t.Errorf("the semi-final ends at %v, the final is known at %v and begins at %v", over.Changed, e.visible, e.match.KickOff)
	}

	if by := over.KickOff.Sub(r.events[semi].match.KickOff); by < 2*24*time.Hour || by > 4*24*time.Hour {
		t.Errorf("the semi-final is postponed by %v", by)
	}

	if hour := e.match.KickOff.Hour(); hour != s.Matches[final].KickOff.Hour() {
		t.Errorf("the final begins at %d o'clock, want %d", hour, s.Matches[final].KickOff.Hour())
	}
}

func TestUnplayedMatchStopsWhatDependsOnIt(t *testing.T) {
	t.Parallel()

	const semiScore, finalScore = `"score": {"ht": [0, 0], "ft": [1, 1], "et": [3, 2]}`, `"score": {"ft": [1, 0]}`

	unplayed := strings.Replace(small, semiScore, `"score": {}`, 1)
	for name, c := range map[string]struct {
		data  string
		match int
		known bool
	}{
		"the semi-final itself":    {unplayed, extra, true},
		"a final with a result":    {unplayed, final, true},
		"a final without a result": {strings.Replace(unplayed, finalScore, `"score": {}`, 1), final, false},
		"a final after an unplayed third place": {
			strings.Replace(strings.Replace(small, `"score": {"ft": [4, 2]}`, `"score": {}`, 1), finalScore, `"score": {}`, 1), final, true},
		"a final after an unplayed match of a group": {
			strings.Replace(strings.Replace(small, `"score": {"ft": [0, 3]}`, `"score": {}`, 1), finalScore, `"score": {}`, 1), final, false},
		"a final after an unplayed match of another group": {
			strings.Replace(strings.Replace(small, `"matches": [`, `"matches": [
	{"round": "Matchday 1", "date": "2026-08-14", "team1": "Ems", "team2": "Usk", "group": "Group B"},`, 1), finalScore, `"score": {}`, 1),
			final + 1, true},
	} {
		r := newRig(t, 1, Tournament{Season: parse(t, c.data)})
		if id, _ := r.of(c.match); (id != 0) != c.known {
			t.Errorf("%s: the id is %d, want known: %v", name, id, c.known)
		}
	}
}

// TestEveryResultHasAnEvent plays a league in two parts at one time, with a match that was not
// played, and play-offs. A round of one part does not wait for the other.
func TestEveryResultHasAnEvent(t *testing.T) {
	t.Parallel()
	s := parse(t, `{"name": "Liga 2024/25", "matches": [
		{"round": "Matchday 1", "date": "2025-03-01", "team1": "Ayr", "team2": "Ely", "score": {"ft": [2, 1]}},
		{"round": "Matchday 1", "date": "2025-03-01", "team1": "Rye", "team2": "Wem"},
		{"round": "Championship, Matchday 3", "date": "2025-03-15", "team1": "Ayr", "team2": "Ely", "score": {"ft": [0, 0]}},
		{"round": "Championship, Matchday 2", "date": "2025-03-08", "team1": "Ely", "team2": "Ayr", "score": {"ft": [1, 0]}},
		{"round": "Relegation, Matchday 2", "date": "2025-03-08", "team1": "Rye", "team2": "Wem", "score": {"ft": [1, 3]}},
		{"round": "Relegation, Matchday 3", "date": "2025-03-15", "team1": "Wem", "team2": "Rye", "score": {"ft": [1, 1]}},
		{"round": "Play-off, Final", "date": "2025-03-22", "team1": "Ely", "team2": "Wem", "score": {"ft": [2, 0]}}
	]}`)

	r := newRig(t, 1, Tournament{Season: s})
	for i, m := range s.Matches {
		id, _ := r.of(i)
		if id == 0 {
			t.Errorf("%s - %s of %+v has no event", m.Home, m.Away, m.Round)
			continue
		}

		if got := r.events[id].match.KickOff; !got.Equal(m.KickOff) {
			t.Errorf("%s - %s of %+v begins at %v, want %v", m.Home, m.Away, m.Round, got, m.KickOff)
		}
	}

	if got := len(openfootball.Tables(s.Matches)); got != 1 {
		t.Errorf("there are %d tables, want 1", got)
	}
}

// standing is a row of the standings.
type standing struct {
	Name                                                 string
	Position, Matches, Wins, Draws, Losses, For, Against int
	Points                                               int
	Diff                                                 string
}

func (r *rig) rows() map[string][]standing {
	r.Helper()

	all := map[string][]standing{}

	for _, t := range read[struct{ Standings []tableInfo }](r, ofCup+"standings/total").Standings {
		for _, row := range t.Rows {
			all[t.Name] = append(all[t.Name], standing{row.Team.Name, row.Position, row.Matches, row.Wins, row.Draws, row.Losses, row.ScoresFor,
				row.ScoresAgainst, row.Points, row.Difference})
		}
	}

	return all
}

func TestStandingsLag(t *testing.T) {
	t.Parallel()
	r := faulty(t, 1, league, Corrected)

	start := map[string][]standing{"Group A": {
		{Name: "Ayr", Position: 1, Diff: "0"}, {Name: "Ely", Position: 2, Diff: "0"},
		{Name: "Rye", Position: 3, Diff: "0"}, {Name: "Wem", Position: 4, Diff: "0"},
	}}
	if diff := cmp.Diff(start, r.rows()); diff != "" {
		t.Errorf("before the season (-want +got)\n%s", diff)
	}

	id, _ := r.of(league)
	all := r.history(id)
	end, corrected := when(t, all, 100).At, all[len(all)-1].At
	other, _ := r.of(1)
	draw, _ := r.Final(other)
	r.to(later(corrected, draw.Changed).Add(12 * time.Minute))

	want := map[string][]standing{"Group A": {
		{"Ayr", 1, 1, 1, 0, 0, 2, 1, 3, "+1"}, {"Rye", 2, 1, 0, 1, 0, 0, 0, 1, "0"},
		{"Wem", 3, 1, 0, 1, 0, 0, 0, 1, "0"}, {"Ely", 4, 1, 0, 0, 1, 1, 2, 0, "-1"},
	}}
	if diff := cmp.Diff(want, r.rows()); diff != "" {
		t.Errorf("after the first round (-want +got)\n%s", diff)
	}

	lag := r.season().lag
	if lag < 2*time.Minute || lag > 12*time.Minute {
		t.Errorf("the lag is %v", lag)
	}

	again := faulty(t, 1, league, Corrected)
	again.to(end.Add(lag - time.Second))

	if diff := cmp.Diff(start, again.rows()); diff != "" {
		t.Errorf("just before the lag is over (-want +got)\n%s", diff)
	}

	again.to(end.Add(lag))

	if got := again.rows()["Group A"]; got[0].Matches != 1 || cmp.Equal(got, want["Group A"]) {
		t.Errorf("when the lag is over, with the wrong score: %+v", got)
	}
}

// TestStandingsEndAsTheTable checks the standings of real seasons, with faults.
func TestStandingsEndAsTheTable(t *testing.T) {
	t.Parallel()

	for _, path := range samples.Glob(t, "openfootball/*.json") {
		s := parse(t, string(samples.Read(t, "openfootball/"+filepath.Base(path))))
		r := newRig(t, 9, Tournament{
			Season: s,
			Rates:  map[Kind]float64{Corrected: 0.3, Postponed: 0.2, Replaced: 0.2, LateScore: 0.2, Reopened: 0.2, Interrupted: 0.2, MovedDay: 0.2},
		})

		tables := openfootball.Tables(s.Matches)
		if len(tables) == 0 {
			if w := r.get(ofCup + "standings/total"); w.Code != http.StatusNotFound {
				t.Errorf("%s has standings", s.Name)
			}

			continue
		}

		var end time.Time
		for _, e := range r.Finals(17, 61) {
			end = later(end, e.Changed)
		}

		r.to(end.Add(12 * time.Minute))

		var updated time.Time

		for _, e := range r.season().events {
			if v := e.views[len(e.views)-1]; !e.match.Round.Knockout() && v.home.Display != nil {
				updated = later(updated, v.at)
			}
		}

		all := read[struct{ Standings []tableInfo }](r, ofCup+"standings/total").Standings
		if got, want := all[0].UpdatedAt, updated.Add(r.season().lag).Unix(); got != want {
			t.Errorf("%s: the standings are of %d, want %d", s.Name, got, want)
		}

		want := map[string][]standing{}

		for _, table := range tables {
			name := table.Group
			if name == "" {
				name = s.Name
			}

			for i, row := range table.Rows {
				want[name] = append(want[name], standing{row.Team, i + 1, row.Played, row.Won, row.Drawn, row.Lost, row.For, row.Against, row.Points,
					difference(row.For - row.Against)})
			}
		}

		if diff := cmp.Diff(want, r.rows()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", s.Name, diff)
		}
	}
}

func TestAnswersAndCacheHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, Tournament{Season: parse(t, small)})
	id, _ := r.of(league)

	const jsonType, notFound = "application/json; charset=utf-8", `{"error":{"code":404,"message":"Not Found"}}`
	for _, c := range []struct {
		path        string
		code        int
		kind, cache string
		body        string // its beginning
	}{
		{fmt.Sprint("/api/v1/event/", id), 200, jsonType, "max-age=10, s-maxage=172800", `{"event":{"id":`},
		{ofCup + "rounds", 200, jsonType, "max-age=3600", `{"currentRound":{"round":1},"rounds":[{"round":1},`},
		{ofCup + "events/round/1", 200, jsonType, "max-age=10, s-maxage=172800", `{"events":[{"id":`},
		{ofCup + "standings/total", 200, jsonType, "max-age=60, s-maxage=7200", `{"standings":[{"id":`},
		{"/api/v1/team/2001/image", 200, "image/png", "max-age=86400", "\x89PNG"},
		{"/api/v1/team/2004/image", 200, "image/png", "max-age=86400", "\x89PNG"},
		{"/api/v1/unique-tournament/17/image", 200, "image/png", "max-age=86400", "\x89PNG"},
		{"/api/v1/event/1", 404, jsonType, "", notFound},
		{"/api/v1/event/x", 404, jsonType, "", notFound},
		{"/api/v1/event/99999999999999999999", 404, jsonType, "", notFound},
		{"/api/v1/team/2005/image", 404, jsonType, "", notFound},
		{"/api/v1/unique-tournament/18/image", 404, jsonType, "", notFound},
		{"/api/v1/unique-tournament/17/season/62/rounds", 404, jsonType, "", notFound},
		{ofCup + "events/round/3", 404, jsonType, "", notFound},
		{ofCup + "events/round/1/slug/final", 404, jsonType, "", notFound},
		{ofCup + "cuptrees", 404, jsonType, "", notFound},
		{"/", 404, jsonType, "", notFound},
	} {
		w := r.get(c.path)
		if w.Code != c.code || w.Header().Get("Content-Type") != c.kind || w.Header().Get("Cache-Control") != c.cache ||
			!strings.HasPrefix(w.Body.String(), c.body) {
			t.Errorf("%s: %d %v %.60s", c.path, w.Code, w.Header(), w.Body)
		}

		if c.kind == "image/png" {
			if _, err := png.Decode(bytes.NewReader(w.Body.Bytes())); err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
		}
	}

	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, ofCup+"rounds", nil))

	if w.Code != http.StatusNotFound {
		t.Errorf("POST is answered with %d", w.Code)
	}
}

func TestShiftAndNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, Tournament{Season: parse(t, strings.Replace(small, "Cup 2026", "Grand Cup 2026", 1)), Shift: 140 * 24 * time.Hour})
	id, _ := r.of(league)
	got := r.eventInfo(id)

	want := eventInfo{
		ID: id, Slug: "ely-ayr", StartTimestamp: time.Date(2027, 1, 1, 18, 0, 0, 0, time.UTC).Unix(),
		Tournament: tournamentInfo{
			named{17001, "Grand Cup, Group A", "grand-cup-group-a"}, named{17, "Grand Cup", "grand-cup"}, true, "Group A", "A",
		},
		Season:    seasonInfo{61, "Grand Cup 2026", "2027"},
		RoundInfo: roundInfo{Round: 1}, Status: notStarted,
		HomeTeam: teamInfo{named{2001, "Ayr", "ayr"}, "Ayr", "AYR"}, AwayTeam: teamInfo{named{2002, "Ely", "ely"}, "Ely", "ELY"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tournamentInfo{}, teamInfo{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	for name, want := range map[string]string{"World Cup 2022": "World Cup", "Liga 2022/23": "Liga", "Cup": "Cup", "2022": "2022"} {
		if got := tournamentName(name); got != want {
			t.Errorf("the tournament of %q is %q, want %q", name, got, want)
		}
	}
}

func TestFaultsOfRequests(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		kind  Kind
		check func(w *httptest.ResponseRecorder) bool
	}{
		{Forbidden, func(w *httptest.ResponseRecorder) bool { return w.Code == 403 && json.Valid(w.Body.Bytes()) }},
		{TooManyRequests, func(w *httptest.ResponseRecorder) bool {
			var seconds int

			n, err := fmt.Sscan(w.Header().Get("Retry-After"), &seconds)

			return w.Code == 429 && n == 1 && err == nil && seconds >= 1 && seconds <= 60
		}},
		{ServerError, func(w *httptest.ResponseRecorder) bool { return w.Code == 500 }},
		{Truncated, func(w *httptest.ResponseRecorder) bool {
			return w.Code == 200 && !json.Valid(w.Body.Bytes()) && strings.HasPrefix(w.Body.String(), `{"currentRound"`)
		}},
		{HTML, func(w *httptest.ResponseRecorder) bool {
			return w.Code == 200 && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") &&
				strings.HasPrefix(w.Body.String(), "<!DOCTYPE html>")
		}},
		{TooLarge, func(w *httptest.ResponseRecorder) bool {
			return w.Code == 200 && w.Body.Len() > 5<<20 && json.Valid(w.Body.Bytes())
		}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()

			r := newRig(t, 1, Tournament{Season: parse(t, small)})
			if err := r.Misbehave(map[Kind]float64{c.kind: 1}); err != nil {
				t.Fatal(err)
			}

			for i := range 3 {
				if w := r.get(ofCup + "rounds"); !c.check(w) {
					t.Errorf("answer %d is %d %v %s", i+1, w.Code, w.Header(), w.Body)
				}
			}

			if err := r.Misbehave(nil); err != nil {
				t.Fatal(err)
			}

			if w := r.get(ofCup + "rounds"); w.Code != 200 {
				t.Errorf("after the end: %d", w.Code)
			}

			if diff := cmp.Diff(map[Kind]int{c.kind: 3}, r.Counts()); diff != "" {
				t.Errorf("counts (-want +got)\n%s", diff)
			}
		})
	}
}

// TestTimeoutDoesNotHoldTheClock checks that no answer comes, and that the simulated clock
// moves meanwhile.
func TestTimeoutDoesNotHoldTheClock(t *testing.T) {
	t.Parallel()

	r := newRig(t, 1, Tournament{Season: parse(t, small)})
	if err := r.Misbehave(map[Kind]float64{Timeout: 1}); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	w := httptest.NewRecorder()

	done := make(chan struct{})
	go func() {
		defer close(done)

		r.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, ofCup+"rounds", nil))
	}()

	for r.Counts()[Timeout] == 0 {
		select {
		case <-done:
			t.Fatal("the request was answered")
		default:
			runtime.Gosched()
		}
	}

	r.to(r.clock.Now().Add(time.Hour))

	select {
	case <-done:
		t.Error("the request was answered")
	default:
	}

	cancel()
	<-done

	if w.Body.Len() > 0 {
		t.Errorf("the answer is %s", w.Body)
	}
}

// TestRepeatedRequestsMayFail checks that the rates hold, and that requests at one time
// differ.
func TestRepeatedRequestsMayFail(t *testing.T) {
	t.Parallel()

	r := newRig(t, 4, Tournament{Season: parse(t, small)})
	if err := r.Misbehave(map[Kind]float64{Forbidden: 0.1, ServerError: 0.3}); err != nil {
		t.Fatal(err)
	}

	got := map[int]int{}
	for range 1000 {
		got[r.get(ofCup+"rounds").Code]++
	}

	if got[403] < 60 || got[403] > 140 || got[500] < 240 || got[500] > 360 || got[200]+got[403]+got[500] != 1000 {
		t.Errorf("the answers are %v", got)
	}
}

func TestSameSeedSameAnswers(t *testing.T) {
	t.Parallel()

	rates := map[Kind]float64{}
	for _, k := range OfEvents() {
		rates[k] = 0.3
	}

	run := func(seed uint64) (all []string) {
		r := newRig(t, seed, Tournament{Season: parse(t, small), Rates: rates})
		if err := r.Misbehave(map[Kind]float64{Forbidden: 0.1, TooManyRequests: 0.1, ServerError: 0.1, Truncated: 0.1, HTML: 0.1}); err != nil {
			t.Fatal(err)
		}

		start := parse(t, small).Matches[0].KickOff
		for at := -24 * time.Hour; at < 40*24*time.Hour; at += 2 * time.Hour {
			r.to(start.Add(at))

			for _, path := range []string{ofCup + "rounds", ofCup + "events/round/1", ofCup + "events/round/28/slug/semifinals",
				ofCup + "events/round/29/slug/final", ofCup + "standings/total"} {
				w := r.get(path)
				all = append(all, fmt.Sprint(at, path, w.Code, w.Header(), w.Body))
			}
		}

		return append(all, fmt.Sprint(r.Counts()))
	}

	first := run(1)
	if diff := cmp.Diff(first, run(1)); diff != "" {
		t.Errorf("two runs differ\n%s", diff)
	}

	if slices.Equal(first, run(2)) {
		t.Error("two seeds give the same answers")
	}
}

func TestAddAndFaultsRefuse(t *testing.T) {
	t.Parallel()
	s := parse(t, small)

	r := newRig(t, 1, Tournament{Season: s})
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"twice":         {r.Add(Tournament{ID: 17, SeasonID: 61, Season: s}), "added once"},
		"no id":         {r.Add(Tournament{SeasonID: 61, Season: s}), "positive ids"},
		"no matches":    {r.Add(Tournament{ID: 1, SeasonID: 1}), "must have matches"},
		"unknown match": {r.Add(Tournament{ID: 1, SeasonID: 1, Season: s, Faults: map[int][]Kind{99: nil}}), "no match 99"},
		"unknown fault": {r.Add(Tournament{ID: 1, SeasonID: 1, Season: s, Faults: map[int][]Kind{0: {"x"}}}), `unknown fault "x" of an event`},
		"unknown rate": {r.Add(Tournament{ID: 1, SeasonID: 1, Season: s, Rates: map[Kind]float64{Forbidden: 1}}),
			`unknown fault "403" of an event`},
		"misbehave": {r.Misbehave(map[Kind]float64{Corrected: 1}), `unknown fault "corrected" of a request`},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, c.err, c.want)
		}
	}

	if _, ok := r.Final(1); ok {
		t.Error("an unknown event has an end")
	}

	if _, ok := r.At(1, time.Now()); ok {
		t.Error("an unknown event is known")
	}

	if all := r.Finals(17, 62); all != nil {
		t.Errorf("an unknown season has %v", all)
	}
}
