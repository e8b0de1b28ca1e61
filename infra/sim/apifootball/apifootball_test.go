package apifootball_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/apifootball"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/football"
	"matchday/infra/sim/openfootball"
)

const season = `{"name": "Cup 2026", "matches": [
	{"round": "Matchday 1", "date": "2026-08-14", "time": "18:00",
		"team1": "Ayr", "team2": "Ely", "group": "Group A", "score": {"ht": [1, 0], "ft": [2, 1]}},
	{"round": "Matchday 1", "date": "2026-08-14", "time": "20:00",
		"team1": "Rye", "team2": "Wem", "group": "Group A", "score": {"ht": [1, 0], "ft": [2, 1]}},
	{"round": "Semi-finals", "date": "2026-08-22", "time": "18:00",
		"team1": "Rye", "team2": "Ely", "score": {"ht": [0, 0], "ft": [1, 1], "et": [1, 2]}},
	{"round": "Semi-finals", "date": "2026-08-22", "time": "20:00",
		"team1": "Ayr", "team2": "Wem", "score": {"ht": [0, 1], "ft": [1, 1], "et": [2, 2], "p": [2, 3]}},
	{"round": "Match for third place", "date": "2026-08-28", "time": "18:00",
		"team1": "Ely", "team2": "Ayr", "score": {"ft": [4, 2]}},
	{"round": "Final", "date": "2026-08-29", "time": "18:00",
		"team1": "Rye", "team2": "Wem", "score": {"ft": [1, 0]}},
	{"round": "Qualifiés, Étape 1", "date": "2026-08-30", "time": "18:00",
		"team1": "Ayr", "team2": "Wem", "score": {"ft": [1, 1]}}
]}`

// The matches of the season.
const (
	plain    = 0
	other    = 1 // its id is even
	extra    = 2
	shootout = 3
)

var end = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

const key = "secret"

// rig is a simulator at one time.
type rig struct {
	*testing.T
	*apifootball.Server
	events *football.Server
	now    time.Time
}

// at returns a simulator at a time, with faults by match.
func at(t *testing.T, now time.Time, faults map[int][]football.Kind, plan apifootball.Plan) *rig {
	t.Helper()

	s, err := openfootball.Parse([]byte(season))
	if err != nil {
		t.Fatal(err)
	}

	c := clock.New(now, clock.Free)
	t.Cleanup(c.Stop)

	events := football.New(c, 1)
	if err := events.Add(football.Tournament{ID: 39, SeasonID: 2026, Season: s, Faults: faults}); err != nil {
		t.Fatal(err)
	}

	return &rig{t, apifootball.New(c, events, key, plan), events, now}
}

// when returns a simulator at the first time at which an event of a match is so, and the event.
func when(t *testing.T, match int, faults map[int][]football.Kind, is func(football.Detail) bool) (*rig, football.Detail) {
	t.Helper()

	events := at(t, end, faults, apifootball.Plan{}).events

	times := []time.Time{time.Date(2026, 8, 13, 0, 0, 0, 0, time.UTC)}
	for _, e := range events.Finals(39, 2026) {
		for !e.Changed.IsZero() {
			times = append(times, e.Changed)
			e, _ = events.At(e.ID, e.Changed.Add(-time.Nanosecond))
		}
	}

	slices.SortFunc(times, time.Time.Compare)

	for _, now := range times {
		all, _ := events.Snapshot(39, 2026, now)
		for _, d := range all.Details {
			if d.Match == match && is(d) {
				return at(t, now, faults, apifootball.Plan{}), d
			}
		}
	}

	t.Fatalf("no event of the match %d is so", match)

	return nil, football.Detail{}
}

func code(n int) func(football.Detail) bool {
	return func(d football.Detail) bool { return d.Code == n }
}

// get answers a request with the key.
func (r *rig) get(path string) *httptest.ResponseRecorder {
	in := httptest.NewRequest(http.MethodGet, path, nil)
	in.Header.Set("X-Apisports-Key", key)

	out := httptest.NewRecorder()
	r.ServeHTTP(out, in)

	return out
}

// body is the answer to a request, as JSON.
type body struct {
	Get        string
	Parameters json.RawMessage
	Errors     json.RawMessage
	Results    int
	Paging     struct{ Current, Total int }
	Response   json.RawMessage
}

func (r *rig) read(path string) (b body) {
	r.Helper()

	w := r.get(path)
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		r.Fatalf("%s: %d %v", path, w.Code, w.Header())
	}

	if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil {
		r.Fatal(err)
	}

	return b
}

// fixture returns what the API says of an event: "2H 46 1:0 | 1:0 -:- -:- -:-" are the status, the
// elapsed time, the goals, and the parts of the score.
func (r *rig) fixture(id int64) string {
	r.Helper()

	type pair struct{ Home, Away *int }

	var all []struct {
		Fixture struct {
			ID     int64
			Status struct {
				Short          string
				Elapsed, Extra *int
			}
			Periods struct{ First, Second *int64 }
		}
		Teams struct{ Home, Away struct{ Winner *bool } }
		Goals pair
		Score struct{ HalfTime, FullTime, ExtraTime, Penalty pair }
	}

	if err := json.Unmarshal(r.read("/fixtures?league=39&season=2026").Response, &all); err != nil {
		r.Fatal(err)
	}

	for _, f := range all {
		if f.Fixture.ID != id {
			continue
		}

		show := func(p pair) string { return text(p.Home) + ":" + text(p.Away) }
		out := f.Fixture.Status.Short + " " + text(f.Fixture.Status.Elapsed)

		if f.Fixture.Status.Extra != nil {
			out += "+" + text(f.Fixture.Status.Extra)
		}

		out += " " + show(f.Goals) + " |"
		for _, p := range []pair{f.Score.HalfTime, f.Score.FullTime, f.Score.ExtraTime, f.Score.Penalty} {
			out += " " + show(p)
		}

		if h, a := f.Teams.Home.Winner, f.Teams.Away.Winner; h != nil && a != nil {
			out += fmt.Sprint(" winner ", *h, *a)
		}

		return out
	}

	r.Fatalf("there is no fixture %d", id)

	return ""
}

func text(n *int) string {
	if n == nil {
		return "-"
	}

	return fmt.Sprint(*n)
}

// TestFixtures: the shape of a fixture at each stage, as recorded answers have it. The half-time score
// mirrors the running score during the first half, the full-time score is null until 90 minutes are
// over, extra time is apart, and goals never have those of a shoot-out.
func TestFixtures(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		match  int
		faults []football.Kind
		is     func(football.Detail) bool
		want   string
	}{
		"to be played":     {plain, nil, code(0), "NS - -:- | -:- -:- -:- -:-"},
		"first half":       {plain, nil, code(6), "1H 1 0:0 | 0:0 -:- -:- -:-"},
		"half time":        {plain, nil, code(31), "HT 45 1:0 | 1:0 -:- -:- -:-"},
		"second half":      {plain, nil, code(7), "2H 46 1:0 | 1:0 -:- -:- -:-"},
		"90 minutes":       {plain, nil, code(100), "FT 90 2:1 | 1:0 2:1 -:- -:- winner true false"},
		"extra time":       {extra, nil, code(41), "ET 91 1:1 | 0:0 1:1 0:0 -:-"},
		"second extra":     {extra, nil, code(42), "ET 106 1:2 | 0:0 1:1 0:1 -:-"},
		"after extra time": {extra, nil, code(110), "AET 120 1:2 | 0:0 1:1 0:1 -:- winner false true"},
		"shoot-out":        {shootout, nil, code(50), "P 120 2:2 | 0:1 1:1 1:1 -:-"},
		"penalties":        {shootout, nil, code(120), "PEN 120 2:2 | 0:1 1:1 1:1 2:3 winner false true"},
		"postponed":        {plain, []football.Kind{football.Postponed}, code(60), "PST - -:- | -:- -:- -:- -:-"},
		"cancelled":        {plain, []football.Kind{football.Cancelled}, code(70), "CANC - -:- | -:- -:- -:- -:-"},
		"walkover":         {plain, []football.Kind{football.Walkover}, code(91), "WO - -:- | -:- -:- -:- -:- winner false true"},
		"technical loss":   {other, []football.Kind{football.Walkover}, code(91), "AWD - -:- | -:- -:- -:- -:- winner true false"},
		"late score":       {plain, []football.Kind{football.LateScore}, code(100), "FT 90 -:- | -:- -:- -:- -:-"},
		"late score shown": {plain, []football.Kind{football.LateScore}, func(d football.Detail) bool { return d.Code == 100 && d.Scored },
			"FT 90 2:1 | 1:0 2:1 -:- -:- winner true false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, d := when(t, c.match, map[int][]football.Kind{c.match: c.faults}, c.is)
			if got := r.fixture(d.ID); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}

	// In the minute of a goal, which is drawn, the half-time score is the running one.
	r, d := when(t, plain, nil, func(d football.Detail) bool { return d.Score == openfootball.Goals{1, 0} })
	minute := min(1+int(r.now.Sub(d.Began)/time.Minute), 45)

	if got, want := r.fixture(d.ID), fmt.Sprintf("1H %d 1:0 | 1:0 -:- -:- -:-", minute); got != want {
		t.Errorf("a goal: got %q, want %q", got, want)
	}

	for match, want := range map[int]string{plain: "INT", other: "SUSP"} {
		r, d := when(t, match, map[int][]football.Kind{match: {football.Interrupted}}, code(80))
		if got := r.fixture(d.ID); !strings.HasPrefix(got, want+" ") || strings.HasPrefix(got, want+" -") {
			t.Errorf("interrupted: %s", got)
		}
	}
}

// TestEnvelope: errors is an empty list in an answer, and an object in a refusal with the status 200.
func TestEnvelope(t *testing.T) {
	t.Parallel()

	r := at(t, end, nil, apifootball.Plan{})

	for path, want := range map[string]string{
		"/fixtures/rounds?league=39&season=2026": `fixtures/rounds [] 5 ` +
			`["Group Stage - 1","Semi-finals","3rd Place Final","Final","qualifies - etape 1"]`,
		"/fixtures/rounds?league=39&season=2025":        `fixtures/rounds [] 0 []`,
		"/standings?league=39&season=2025":              `standings [] 0 []`,
		"/fixtures?league=39":                           `fixtures {"season":"The season field is required."} 0 []`,
		"/fixtures?league=39&season=2026&round=Final+2": `fixtures [] 0 []`,
	} {
		b := r.read(path)
		if got := fmt.Sprintf("%s %s %d %s", b.Get, b.Errors, b.Results, b.Response); got != want || b.Paging.Total != 1 {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}

	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/standings?league=39&season=2026", nil))

	if w.Code != 200 || !strings.Contains(w.Body.String(), `"errors":{"token":"Error/Missing application key.`) ||
		!strings.Contains(w.Body.String(), `"response":[]`) {
		t.Errorf("without a key: %d %s", w.Code, w.Body)
	}

	if w := r.get("/odds?league=39"); w.Code != 404 {
		t.Errorf("what is not simulated: %d", w.Code)
	}
}

// TestRoundOfFixtures: a round has its fixtures by their kick-off.
func TestRoundOfFixtures(t *testing.T) {
	t.Parallel()

	r := at(t, end, map[int][]football.Kind{0: {football.MovedDay}}, apifootball.Plan{})

	var all []struct {
		League struct{ Round string }
		Teams  struct{ Home struct{ Name, Logo string } }
	}

	if err := json.Unmarshal(r.read("/fixtures?league=39&season=2026&round=Group+Stage+-+1").Response, &all); err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, f := range all {
		got = append(got, f.League.Round+": "+f.Teams.Home.Name)
	}

	if diff := cmp.Diff([]string{"Group Stage - 1: Rye", "Group Stage - 1: Ayr"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStandings: a list of rows for each group.
func TestStandings(t *testing.T) {
	t.Parallel()

	got := string(at(t, end, nil, apifootball.Plan{}).read("/standings?league=39&season=2026").Response)
	want := `"standings":[[{"rank":1,"team":{"id":2001,"name":"Ayr","logo":"https://media.api-sports.io/football/teams/2001.png"},` +
		`"points":3,"goalsDiff":1,"group":"Group A","form":null,"status":"same","description":null,` +
		`"all":{"played":1,"win":1,"draw":0,"lose":0,"goals":{"against":1,"for":2}},"update":"2026-08-1`

	if !strings.Contains(got, want) || strings.Count(got, `"rank"`) != 4 {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBudgets: answers say what remains of the minute and of the day. Beyond that they are refused, and
// the next window begins anew. What has no key, and images, cost nothing.
func TestBudgets(t *testing.T) {
	t.Parallel()

	const path = "/standings?league=39&season=2026"

	r := at(t, end, nil, apifootball.Plan{Minute: 2, Day: 3})
	r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	r.get("/football/leagues/39.png")

	var got []string
	for range 4 {
		w := r.get(path)

		var b body
		if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil {
			t.Fatal(err)
		}

		h := w.Header()
		got = append(got, fmt.Sprint(w.Code, " ", h.Get("X-RateLimit-Remaining"), "/", h.Get("X-RateLimit-Limit"), " ",
			h.Get("x-ratelimit-requests-remaining"), "/", h.Get("x-ratelimit-requests-limit"), " ", string(b.Errors)[:min(len(b.Errors), 14)]))
	}

	want := []string{`200 1/2 2/3 []`, `200 0/2 1/3 []`, `200 0/2 0/3 {"rateLimit":"`, `200 0/2 0/3 {"requests":"Y`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFaultsOfRequests: what is shaped otherwise than at the other provider.
func TestFaultsOfRequests(t *testing.T) {
	t.Parallel()

	const path = "/standings?league=39&season=2026"

	r := at(t, end, nil, apifootball.Plan{})
	misbehave := func(k football.Kind) {
		t.Helper()

		if err := r.events.Misbehave(map[football.Kind]float64{k: 1}); err != nil {
			t.Fatal(err)
		}
	}

	misbehave(football.Forbidden)

	if w := r.get(path); w.Code != 403 || !strings.Contains(w.Body.String(), `"errors":{"token":`) {
		t.Errorf("403: %d %s", w.Code, w.Body)
	}

	misbehave(football.TooManyRequests)

	seen := map[int]int{}
	for range 40 {
		w := r.get(path)
		seen[w.Code]++

		if !strings.Contains(w.Body.String(), `"errors":{"rateLimit":"Too many requests. Your rate limit is 10 requests per minute."}`) ||
			w.Header().Get("Retry-After") != "" {
			t.Fatalf("429: %v %s", w.Header(), w.Body)
		}
	}

	if seen[200]+seen[429] != 40 || seen[200] < 8 || seen[429] < 8 {
		t.Errorf("the statuses of a limit are %v", seen)
	}

	misbehave(football.ServerError)

	if w := r.get(path); w.Code != 500 {
		t.Errorf("500: %d", w.Code)
	}

	if got := r.events.Counts(); got[football.TooManyRequests] != 40 || got[football.ServerError] != 1 {
		t.Errorf("the counts are %v", got)
	}
}

// TestImages: pictures without a key, and 404 for what there is not.
func TestImages(t *testing.T) {
	t.Parallel()

	r := at(t, end, nil, apifootball.Plan{})

	for path, want := range map[string]int{
		"/football/leagues/39.png": 200, "/football/teams/2001.png": 200, "/football/leagues/40.png": 404, "/football/teams/1.png": 404,
		"/football/teams/2001.jpg": 404, "/football/teams/x.png": 404, "/football/teams/02001.png": 404,
	} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))

		if w.Code != want || want == 200 && (w.Header().Get("Content-Type") != "image/png" || w.Body.Len() < 1000) {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
}
