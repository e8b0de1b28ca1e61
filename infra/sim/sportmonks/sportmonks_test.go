package sportmonks

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/samples"
	"matchday/infra/sim/sportmonks/script"
)

func noon() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

// all lists the includes that a whole match needs.
const all = "league,season,stage,venue,localteam,visitorteam,tosswon,winnerteam,lineup,balls,batting,bowling,runs,scoreboards"

// rig is a server with a free clock that only the test moves.
type rig struct {
	testing.TB
	*Server
	clock *clock.Clock
	start time.Time
}

func newRig(t testing.TB) *rig {
	start := noon()
	c := clock.New(start.Add(-time.Hour), clock.Free)
	t.Cleanup(c.Stop)

	return &rig{t, New(c, "secret"), c, start}
}

// to moves the clock to d after the start of the match.
func (r *rig) to(d time.Duration) {
	r.Helper()

	reached := make(chan struct{})

	r.clock.At(r.start.Add(d), func() { close(reached) })
	<-reached
}

func (r *rig) get(path, query string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v2.0/"+path+"?api_token=secret&"+query, nil))

	return w
}

// data gets a body and decodes its data.
func data[T any](r *rig, path, query string) T {
	r.Helper()

	w := r.get(path, query)
	if w.Code != http.StatusOK {
		r.Fatalf("%s?%s answers %d %s", path, query, w.Code, w.Body)
	}

	var v struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		r.Fatalf("%s?%s: %v in %.200s", path, query, err, w.Body)
	}

	return v.Data
}

type wireFixture struct {
	ID       int64
	Status   string
	Note     *string
	Starting string `json:"starting_at"`
	Winner   *int64 `json:"winner_team_id"`
	Toss     *int64 `json:"toss_won_team_id"`
	Runs     []struct {
		Inning, Score, Wickets int
		Overs                  float64
	}
	Balls  []wireBall
	Lineup []struct{ Fullname string }
}

type wireBall struct {
	ID         int64
	Ball       float64
	Scoreboard string
	Out        *int64 `json:"batsmanout_id"`
	Score      struct {
		Name      string
		Runs, Bye int
		LegBye    int `json:"leg_bye"`
	}
}

func (r *rig) fixture(id int64) wireFixture {
	r.Helper()
	return data[wireFixture](r, fmt.Sprint("fixtures/", id), "include=runs,balls,lineup")
}

func (r *rig) live() []wireFixture {
	r.Helper()
	return data[[]wireFixture](r, "livescores", "include=runs,balls")
}

var tick = Pace{Every: 2500 * time.Millisecond, Linger: 10 * time.Second}

func TestAMatchFromTossToResult(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := script.Generate(1, cricsheet.T20)
	r.Play(m, r.start, tick)

	if f := r.fixture(m.ID); f.Status != "NS" || f.Toss != nil || f.Note != nil || len(f.Lineup) != 0 {
		t.Errorf("an hour before the start the feed has %+v", f)
	}

	r.to(-30 * time.Minute)

	if f := r.fixture(m.ID); f.Status != "NS" || f.Toss == nil || len(f.Lineup) != 22 {
		t.Errorf("no toss half an hour before the start: %+v", f)
	}

	if n := len(r.live()); n != 0 {
		t.Errorf("%d matches are live before the start", n)
	}

	r.to(-2 * time.Minute)

	if n := len(r.live()); n != 1 {
		t.Errorf("%d matches are live shortly before the start", n)
	}

	for i := range len(m.Frames) - 2 {
		at := time.Duration(i) * tick.Every
		if r.to(at); i > 20 && i%7 != 0 && i < len(m.Frames)-20 {
			continue // a few snapshots are enough
		}

		live := r.live()

		want := m.Frames[i+2]
		if len(live) != 1 || live[0].Status != want.Status || len(live[0].Balls) != want.Deliveries {
			t.Fatalf("at %v the feed has %d balls, want %+v", at, len(live[0].Balls), want)
		}

		if want.Deliveries > m.Frames[i+1].Deliveries+1 {
			t.Errorf("at %v two balls came at once", at)
		}

		p, err := r.Progress(m.ID)
		if err != nil || p.Shown != i+3 || p.Total != len(m.Frames) {
			t.Fatalf("progress %+v, %v", p, err)
		}

		if due := r.start.Add(at + tick.Every); p.Shown < p.Total && !p.NextDue.Equal(due) {
			t.Errorf("the next frame is due %v, want %v", p.NextDue, due)
		}
	}

	end := time.Duration(len(m.Frames)-3) * tick.Every
	r.to(end + tick.Linger)

	if n := len(r.live()); n != 0 {
		t.Error("the match is still live after its end")
	}

	if f := r.fixture(m.ID); *f.Note != m.Outcome.Note || f.Status != "Finished" {
		t.Errorf("the final state is %q, want %q", *f.Note, m.Outcome.Note)
	}
}

func readMatch(t testing.TB, data []byte, id int64) *script.Match {
	t.Helper()

	m, err := script.Read(data, id)
	if err != nil {
		t.Fatal(err)
	}

	return m
}

func TestRealMatchesOverTheWire(t *testing.T) {
	t.Parallel()
	r := newRig(t)

	files := slices.Sorted(maps.Keys(samples.Matches(t)))
	for i, name := range files {
		r.Play(readMatch(t, samples.Matches(t)[name], int64(i+1)), r.start, Pace{Every: time.Millisecond})
	}

	r.to(time.Minute)

	for i, name := range files {
		file, err := cricsheet.Parse(samples.Matches(t)[name])
		if err != nil {
			t.Fatal(err)
		}

		f := r.fixture(int64(i + 1))
		balls := 0

		for k, inn := range file.Innings {
			runs := inn.PenaltyRuns.Pre + inn.PenaltyRuns.Post
			for _, ov := range inn.Overs {
				for _, d := range ov.Deliveries {
					runs += d.Runs.Total
					balls++
				}
			}

			if got := f.Runs[k]; got.Inning != k+1 || got.Score != runs {
				t.Errorf("%s: innings %d ends with %+v, the file with %d", name, k+1, got, runs)
			}
		}

		if len(f.Balls) != balls || len(f.Runs) != len(file.Innings) || f.Status != "Finished" {
			t.Errorf("%s: %s with %d balls, the file has %d", name, f.Status, len(f.Balls), balls)
		}
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()

	c := clock.New(noon(), 600)
	t.Cleanup(c.Stop)
	r := &rig{t, New(c, "secret"), c, noon()}
	m := script.Generate(8, cricsheet.T20)
	r.Play(m, r.start, tick)
	r.Chaos(Chaos{Seed: 1, Rates: map[Kind]float64{WrongBall: 0.5, DeletedBall: 0.2, ShortBalls: 0.1, DuplicateBalls: 0.1}})

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				w := httptest.NewRecorder()
				r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v2.0/livescores?api_token=secret&include="+all, nil))

				if !json.Valid(w.Body.Bytes()) {
					t.Errorf("not JSON: %.100s", w.Body)
				}
			}
		})
	}

	wg.Wait()
}

func TestPauseAndRate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := script.Generate(2, cricsheet.T20)
	r.Play(m, r.start, tick)

	shown := func() int {
		p, err := r.Progress(m.ID)
		if err != nil {
			t.Fatal(err)
		}

		return p.Shown
	}

	r.to(25 * time.Second)

	was := shown()

	if err := r.Pause(m.ID, true); err != nil {
		t.Fatal(err)
	}

	r.to(time.Hour)

	if shown() != was {
		t.Error("a paused match continued")
	}

	if err := r.Pause(m.ID, false); err != nil {
		t.Fatal(err)
	}

	if err := r.SetRate(m.ID, 10); err != nil {
		t.Fatal(err)
	}

	r.to(time.Hour + 5*time.Second)

	if got := shown() - was; got != 20 {
		t.Errorf("ten times as fast, %d frames appeared, want 20", got)
	}

	if r.SetRate(m.ID, 0) == nil || r.Pause(5, true) == nil {
		t.Error("an invalid rate is accepted")
	}

	st, err := r.State(m.ID)
	if err != nil || st.Rate != 10 || len(st.Scores) != 1 || !st.Live || st.Scores[0].Overs == "" {
		t.Errorf("state %+v, %v", st, err)
	}
}

func TestRealisticPace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := script.Generate(3, cricsheet.T20)
	r.Play(m, r.start, Pace{Speed: 10})
	p := r.fixtures[m.ID].playback

	length := p.at[len(p.at)-1]
	if length < 15*time.Minute || length > 30*time.Minute {
		t.Errorf("a T20 at ten times its pace lasts %v", length)
	}

	if !slices.IsSorted(p.at[1:]) {
		t.Error("frames are not in order of time")
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := script.Generate(4, cricsheet.ODI)
	r.Play(m, r.start, tick)
	r.AnnounceMore(1, 250, r.start)

	for path, want := range map[string]int{
		"livescores": 200, "fixtures": 200, fmt.Sprint("fixtures/", m.ID): 200, "fixtures/5": 404, "fixtures/x": 404,
		"leagues": 200, fmt.Sprint("leagues/", m.League.ID): 200, "leagues/99": 404,
		"seasons": 200, fmt.Sprint("seasons/", m.Season.ID): 200, "teams": 200, fmt.Sprint("teams/", m.Local.ID): 200,
		"scores": 200, "scores/54": 200, "venues": 200, fmt.Sprint("venues/", m.Venue.ID): 200,
		"stages": 200, fmt.Sprint("stages/", m.Stage.ID): 200, "scoreboards": 404, "livescores/7": 404,
	} {
		w := r.get(path, "")
		if w.Code != want || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: got status %d %.100s, want %d", path, w.Code, w.Body, want)
		}
	}

	for query, want := range map[string]int{
		"include=balls,odds2": 400, "filter[nothing]=1": 400, "sort=name": 400, "filter[starts_between]=x": 400,
		"include=batting.batsman,runs.team,firstumpire,manofmatch": 200,
	} {
		if w := r.get("fixtures", query); w.Code != want {
			t.Errorf("%s: got status %d, want %d", query, w.Code, want)
		}
	}

	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v2.0/leagues?api_token=guess", nil))

	if w.Code != http.StatusUnauthorized {
		t.Errorf("a wrong token got status %d, want 401", w.Code)
	}

	list := func(query string) []wireFixture { return data[[]wireFixture](r, "fixtures", query) }

	var env struct {
		Links map[string]*string
		Meta  map[string]any
	}
	if err := json.Unmarshal(r.get("fixtures", "page=3").Body.Bytes(), &env); err != nil {
		t.Fatal(err)
	}

	if env.Links["next"] != nil || env.Links["prev"] == nil || env.Meta["last_page"] != 3.0 || env.Meta["total"] != 251.0 ||
		env.Meta["from"] != 201.0 || env.Meta["to"] != 251.0 {
		t.Errorf("page 3 has the metadata %v", env)
	}

	if got := list("page=3"); len(got) != 51 {
		t.Errorf("page 3 has %d fixtures", len(got))
	}

	if got := list(fmt.Sprintf("filter[league_id]=%d&filter[localteam_id]=%d,%d", m.League.ID, m.Local.ID, m.Visitor.ID)); len(got) == 0 ||
		len(got) > 200 {
		t.Errorf("%d fixtures of the teams", len(got))
	}

	day := r.start.Format(time.DateOnly)

	got := list("filter[starts_between]=" + day + "," + r.start.AddDate(0, 0, 2).Format("2006-01-02T15:04:05") + "&sort=-starting_at")
	if len(got) != 10 || got[0].Starting <= got[9].Starting {
		t.Errorf("%d fixtures in two days", len(got))
	}

	if got := list("filter[status]=1st+Innings,2nd+Innings"); len(got) != 0 {
		t.Errorf("%d fixtures in play", len(got))
	}

	r.to(time.Minute)

	if got := list("filter[status]=1st+Innings,2nd+Innings"); len(got) != 1 {
		t.Errorf("%d fixtures in play", len(got))
	}
}

func TestCallsAreLimitedByTheHour(t *testing.T) {
	t.Parallel()

	r := newRig(t)
	for i := range callsPerHour {
		if w := r.get("scores", ""); w.Code != http.StatusOK {
			t.Fatalf("call %d got status %d", i, w.Code)
		}
	}

	w := r.get("scores/54", "")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "3600" ||
		w.Body.String() != `{"message":"Too Many Attempts."}` {
		t.Errorf("the call over the limit got %d %v %s", w.Code, w.Header(), w.Body)
	}

	if w := r.get("teams", ""); w.Code != http.StatusOK {
		t.Errorf("another endpoint got status %d", w.Code)
	}

	r.to(0) // one hour later

	if w := r.get("scores", ""); w.Code != http.StatusOK {
		t.Errorf("a call in the next hour got status %d", w.Code)
	}
}

// shape maps the paths of a JSON value to their types; nulls fit anything.
func shape(v any, path string, into map[string]map[string]bool) {
	kind := ""

	switch x := v.(type) {
	case map[string]any:
		kind = "object"

		for k, e := range x {
			shape(e, path+"."+k, into)
		}
	case []any:
		kind = "list"

		for _, e := range x {
			shape(e, path+"[]", into)
		}
	case string:
		kind = "string"
	case float64:
		kind = "number"
	case bool:
		kind = "bool"
	case nil:
		kind = "null"
	}

	if into[path] == nil {
		into[path] = map[string]bool{}
	}

	into[path][kind] = true
}

// keys lists the keys of the object at a path.
func keys(s map[string]map[string]bool, path string) (out []string) {
	for k := range s {
		if rest, ok := strings.CutPrefix(k, path+"."); ok && !strings.ContainsAny(rest, ".[") {
			out = append(out, rest)
		}
	}

	slices.Sort(out)

	return out
}

func TestShapesAreTheProviders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := script.Generate(5, cricsheet.T20)
	r.Play(m, r.start, tick)
	r.to(9 * time.Minute)

	for file, path := range map[string]string{
		"livescores-71344-71010.assembled.json":       "livescores?include=" + all,
		"fixture-71344-live-2nd-innings.partial.json": fmt.Sprint("fixtures/", m.ID, "?include=", all),
		"fixture-3-finished.json":                     fmt.Sprint("fixtures/", m.ID, "?"),
		"fixtures-page-envelope-24915.json":           "fixtures?",
		"league-3.json":                               fmt.Sprint("leagues/", m.League.ID, "?"),
		"league-441-include-season.json":              fmt.Sprint("leagues/", m.League.ID, "?include=season"),
		"leagues-2024.json":                           "leagues?",
		"season-1715.json":                            fmt.Sprint("seasons/", m.Season.ID, "?"),
		"seasons.json":                                "seasons?",
		"stage-6695.json":                             fmt.Sprint("stages/", m.Stage.ID, "?"),
		"stages-docs.json":                            "stages?",
		"teams.json":                                  "teams?",
		"team-1-pakistan.json":                        fmt.Sprint("teams/", m.Local.ID, "?"),
		"venue-84.json":                               fmt.Sprint("venues/", m.Venue.ID, "?"),
		"scores-observed.json":                        "scores?",
	} {
		var theirs, ours any
		if err := json.Unmarshal(samples.Read(t, "sportmonks/"+file), &theirs); err != nil {
			t.Fatal(err)
		}

		resource, query, _ := strings.Cut(path, "?")

		body := r.get(resource, query).Body.Bytes()
		if err := json.Unmarshal(body, &ours); err != nil {
			t.Fatalf("%s: %v", path, err)
		}

		want, got := map[string]map[string]bool{}, map[string]map[string]bool{}
		shape(theirs, "", want)
		shape(ours, "", got)

		for p, kinds := range want {
			if !kinds["object"] || p == ".data[].localteam_dl_data" {
				continue
			}

			wantKeys, gotKeys := keys(want, p), keys(got, p)

			gotKeys = slices.DeleteFunc(gotKeys, func(k string) bool { return k == "scoreboards" }) // not in the captured payloads
			if !slices.Equal(wantKeys, gotKeys) {
				t.Errorf("%s: %s has the keys %q, the provider's %q", file, p, gotKeys, wantKeys)
			}
		}

		for p, kinds := range got {
			for k := range kinds {
				if theirs := want[p]; theirs != nil && k != "null" && !theirs[k] && !maps.Equal(theirs, map[string]bool{"null": true}) {
					t.Errorf("%s: %s is a %s, the provider's %v", file, p, k, theirs)
				}
			}
		}

		if strings.Contains(strings.ReplaceAll(string(body), `\/`, ``), `/`) {
			t.Errorf("%s: slashes are not escaped as the provider does", file)
		}
	}
}

func TestEveryBallAddsUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)

	for i, f := range []cricsheet.Format{cricsheet.T20, cricsheet.ODI, cricsheet.Hundred, cricsheet.Test} {
		m := script.Generate(int64(i), f)
		r.Play(m, r.start, Pace{Every: time.Millisecond})
	}

	r.to(time.Minute)

	for _, id := range r.Playing() {
		f := r.fixture(id)
		for _, row := range f.Runs {
			sum, wickets := 0, 0

			last := int64(0)
			for _, b := range f.Balls {
				if b.ID <= last {
					t.Fatalf("ball %d follows %d", b.ID, last)
				}

				if last = b.ID; b.Scoreboard == fmt.Sprint("S", row.Inning) {
					sum += b.Score.Runs + b.Score.Bye + b.Score.LegBye
					if b.Out != nil {
						wickets++
					}
				}
			}

			if sum != row.Score || wickets != row.Wickets {
				t.Errorf("match %d, innings %d: the balls sum to %d/%d, the runs rows hold %d/%d", id, row.Inning, sum, wickets, row.Score, row.Wickets)
			}
		}
	}
}

func BenchmarkLivescoresOfATest(b *testing.B) {
	r := newRig(b)

	m := script.Generate(6, cricsheet.Test)
	if samples.Exist() {
		m = readMatch(b, samples.Matches(b)["1239544"], 7)
	}

	r.Play(m, r.start, Pace{Every: time.Second, Linger: 100 * time.Hour})
	r.to(time.Hour)
	r.to(2 * time.Hour)

	req := httptest.NewRequest(http.MethodGet, "/api/v2.0/livescores?api_token=secret&include="+all, nil)
	size := 0

	for b.Loop() {
		clear(r.calls)

		w := discard{header: http.Header{}}
		r.ServeHTTP(&w, req)
		size = w.n
	}

	b.ReportMetric(float64(size)/1e6, "MB")
}

type discard struct {
	header http.Header
	n      int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Write(p []byte) (int, error) {
	d.n += len(p)
	return io.Discard.Write(p)
}
