package sportmonks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
)

// playing returns a rig with a match that is at its n-th delivery.
func playing(t *testing.T, n int) (*rig, *script.Match) {
	r := newRig(t)
	m := script.Generate(11, cricsheet.T20)
	r.Play(m, r.start, tick)

	for i := range m.Frames {
		if m.Frames[i].Deliveries == n {
			r.to(tick.Every * time.Duration(i-2))
			break
		}
	}

	return r, m
}

func (r *rig) inject(f Fault) {
	r.Helper()

	if err := r.Inject(f); err != nil {
		r.Fatal(err)
	}
}

// wait moves the clock on.
func (r *rig) wait(d time.Duration) { r.to(r.clock.Now().Sub(r.start) + d) }

func TestErrorsOfResponses(t *testing.T) {
	t.Parallel()

	const path = "livescores"

	query := "include=" + all

	for kind, check := range map[Kind]func(w *httptest.ResponseRecorder) bool{
		TooManyRequests: func(w *httptest.ResponseRecorder) bool {
			return w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "5"
		},
		ServerError: func(w *httptest.ResponseRecorder) bool { return w.Code == http.StatusInternalServerError },
		Truncated: func(w *httptest.ResponseRecorder) bool {
			return w.Code == http.StatusOK && w.Body.Len() > 100 && !json.Valid(w.Body.Bytes())
		},
		HTML: func(w *httptest.ResponseRecorder) bool {
			return w.Code == http.StatusOK && strings.HasPrefix(w.Body.String(), "<!DOCTYPE")
		},
		WrongTypes: func(w *httptest.ResponseRecorder) bool {
			return json.Valid(w.Body.Bytes()) && strings.Contains(w.Body.String(), `"runs":"`)
		},
		UnknownStatus: func(w *httptest.ResponseRecorder) bool {
			return strings.Contains(w.Body.String(), `"status":"Review"`)
		},
		ShortBalls: func(w *httptest.ResponseRecorder) bool {
			return strings.Count(w.Body.String(), `"resource":"balls"`) == 10
		},
		DuplicateBalls: func(w *httptest.ResponseRecorder) bool {
			return strings.Count(w.Body.String(), `"resource":"balls"`) == 23
		},
	} {
		r, _ := playing(t, 20)
		good := r.get(path, query).Body.Bytes()
		r.inject(Fault{Kind: kind, Resource: path})

		if w := r.get("teams", ""); w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: another endpoint got status %d", kind, w.Code)
		}

		if w := r.get(path, query); !check(w) {
			t.Errorf("%s: got %d %.300s", kind, w.Code, w.Body)
		}

		if w := r.get(path, query); !bytes.Equal(w.Body.Bytes(), good) {
			t.Errorf("%s: the error happens more often than requested", kind)
		}

		r.inject(Fault{Kind: kind, For: time.Second})

		for range 3 {
			if w := r.get(path, query); bytes.Equal(w.Body.Bytes(), good) {
				t.Errorf("%s: the error ends early", kind)
			}
		}

		r.wait(time.Second)

		if w := r.get(path, query); !bytes.Equal(w.Body.Bytes(), good) {
			t.Errorf("%s: the error lasts longer than requested", kind)
		}

		if n := r.Counts()[kind]; n != 4 {
			t.Errorf("%s: counted %d times, want 4", kind, n)
		}
	}
}

func TestWrongTypesOfEveryKind(t *testing.T) {
	t.Parallel()
	r, m := playing(t, 5)
	r.inject(Fault{Kind: WrongTypes, Count: 3})

	query := "include=runs,localteam"

	get := func() (out struct{ Data map[string]any }) {
		if err := json.Unmarshal(r.get(fmt.Sprint("fixtures/", m.ID), query).Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}

		return out
	}
	if v := get(); v.Data["id"] != fmt.Sprint(m.ID) {
		t.Errorf("numbers are %v", v.Data["id"])
	}

	if v, ok := get().Data["runs"]; !ok || v != nil {
		t.Errorf("lists are %v", v)
	}

	v := get()
	runs, _ := v.Data["runs"].(map[string]any)

	team, _ := v.Data["localteam"].(map[string]any)
	if runs["data"] == nil || team["data"] == nil {
		t.Errorf("includes are %v, %v", runs, team)
	}
}

func TestTimeoutLastsUntilTheCallerDisconnects(t *testing.T) {
	t.Parallel()
	r, _ := playing(t, 5)
	arrived, ended := make(chan struct{}, 2), make(chan struct{}, 2)

	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		arrived <- struct{}{}

		defer func() { ended <- struct{}{} }()

		r.ServeHTTP(w, req)
	}))
	defer srv.Close()

	r.inject(Fault{Kind: Timeout})

	ctx, cancel := context.WithCancel(t.Context())

	go func() { <-arrived; cancel() }()

	get := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/v2.0/livescores?api_token=secret", nil)
		if err != nil {
			t.Fatal(err)
		}

		res, err := srv.Client().Do(req)
		if err == nil {
			res.Body.Close()
		}

		return err
	}
	if get(ctx) == nil {
		t.Error("the call was answered")
	}

	<-ended
	r.wait(time.Second) // the clock moves although a call is open

	if err := get(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWrongBallIsCorrected(t *testing.T) {
	t.Parallel()
	r, m := playing(t, 30)
	r.inject(Fault{Kind: WrongBall, Match: m.ID, Count: 2})
	r.wait(tick.Every)
	was := r.fixture(m.ID)

	id, truth := was.Balls[30].ID, m.Deliveries[30].Score
	if got := was.Balls[30].Score; got.Name == truth.Name || len(was.Balls) != 31 {
		t.Errorf("the feed has the correct ball at once: %+v", got)
	}

	sum := 0
	for _, b := range was.Balls {
		sum += b.Score.Runs + b.Score.Bye + b.Score.LegBye
	}

	if sum != was.Runs[0].Score {
		t.Errorf("the total is %d, the sum of the balls is %d", was.Runs[0].Score, sum)
	}

	r.wait(10 * time.Second)

	is := r.fixture(m.ID)
	if got := is.Balls[30]; got.ID != id || got.Score.Name != truth.Name {
		t.Errorf("the ball is not corrected: %+v", got)
	}

	if r.Counts()[WrongBall] != 2 {
		t.Errorf("counted %v", r.Counts())
	}
}

func TestInventedBallIsDeleted(t *testing.T) {
	t.Parallel()
	r, m := playing(t, 30)
	r.inject(Fault{Kind: DeletedBall, Match: m.ID, Ball: 35, For: 2 * time.Second})

	for n := 31; n <= 36; n++ {
		r.wait(tick.Every)
		f := r.fixture(m.ID)

		want := n
		if n == 35 {
			want++
		}

		sorted := slices.IsSortedFunc(f.Balls, func(a, b wireBall) int { return cmp.Compare(a.ID, b.ID) })
		if !sorted || len(f.Balls) != want {
			t.Errorf("after %d deliveries the feed lists %d", n, len(f.Balls))
		}
	}

	r.inject(Fault{Kind: DeletedBall, Match: m.ID, For: 2 * time.Second})
	r.wait(tick.Every)

	most := len(r.fixture(m.ID).Balls)
	if r.wait(2 * time.Second); len(r.fixture(m.ID).Balls) != most-1 {
		t.Error("the invented ball is not deleted")
	}

	if r.Inject(Fault{Kind: DeletedBall, Match: m.ID, Ball: 3}) == nil {
		t.Error("a fault for a past delivery is accepted")
	}
}

func TestLateBall(t *testing.T) {
	t.Parallel()
	r, m := playing(t, 30)
	r.inject(Fault{Kind: Late, Match: m.ID, For: 6 * time.Second})

	var got []int

	for range 5 {
		r.wait(tick.Every)
		got = append(got, len(r.fixture(m.ID).Balls))
	}

	if want := []int{30, 30, 30, 34, 35}; !slices.Equal(got, want) {
		t.Errorf("got %v balls after each tick, want %v", got, want)
	}
}

func TestVanish(t *testing.T) {
	t.Parallel()
	r, m := playing(t, 30)
	r.inject(Fault{Kind: Vanish, Match: m.ID})

	if len(r.live()) != 0 || r.fixture(m.ID).Status != "1st Innings" {
		t.Error("the match is still in livescores, or its fixture has changed")
	}

	if r.wait(30 * time.Second); len(r.live()) != 1 {
		t.Error("the match does not return to livescores")
	}
}

func TestFinishedBeforeTheWinner(t *testing.T) {
	t.Parallel()

	for kind, check := range map[Kind]func(m *script.Match, winner *int64) bool{
		EarlyFinish: func(_ *script.Match, winner *int64) bool { return winner == nil },
		WrongWinner: func(m *script.Match, winner *int64) bool { return winner != nil && *winner != m.Outcome.WinnerID },
	} {
		r, m := playing(t, 30)
		r.inject(Fault{Kind: kind, Match: m.ID})
		r.to(time.Duration(len(m.Frames)-3) * tick.Every)

		if f := r.fixture(m.ID); f.Status != "Finished" || *f.Note != "" || !check(m, f.Winner) {
			t.Errorf("%s: at first the feed has the note %q, winner %v", kind, *f.Note, f.Winner)
		}

		r.wait(10 * time.Second)

		if f := r.fixture(m.ID); *f.Note != m.Outcome.Note || f.Winner == nil || *f.Winner != m.Outcome.WinnerID {
			t.Errorf("%s: in the end the feed has the note %q, winner %v", kind, *f.Note, f.Winner)
		}
	}
}

func TestInjectRejectsInvalidFaults(t *testing.T) {
	t.Parallel()

	r, _ := playing(t, 1)
	if r.Inject(Fault{Kind: "no such kind"}) == nil || r.Inject(Fault{Kind: WrongBall, Match: 5}) == nil {
		t.Error("an invalid fault is accepted")
	}
}

// The errors of a response depend on the time and the request, not on earlier requests.
func TestChaosOfResponsesIgnoresEarlierRequests(t *testing.T) {
	t.Parallel()

	ask := func(paths ...string) (codes map[string][]int) {
		r, m := playing(t, 20)
		r.Chaos(Chaos{Seed: 4, Rates: map[Kind]float64{ServerError: 0.5, TooManyRequests: 0.1}})

		codes = map[string][]int{}

		for range 20 {
			for _, p := range paths {
				codes[p] = append(codes[p], r.get(strings.ReplaceAll(p, "ID", fmt.Sprint(m.ID)), "").Code)
			}

			r.wait(time.Second)
		}

		return codes
	}

	one, other := ask("livescores", "fixtures/ID", "leagues"), ask("leagues", "livescores", "teams", "fixtures/ID")
	for _, p := range []string{"livescores", "fixtures/ID", "leagues"} {
		if !slices.Equal(one[p], other[p]) {
			t.Errorf("%s answers %v, and between other calls %v", p, one[p], other[p])
		}

		if seen := slices.Compact(slices.Sorted(slices.Values(one[p]))); len(seen) < 4 {
			t.Errorf("%s answers only %v", p, seen)
		}
	}
}

func TestChaosDuration(t *testing.T) {
	t.Parallel()
	r, m := playing(t, 20)
	r.Chaos(Chaos{Seed: 1, Rates: map[Kind]float64{DeletedBall: 1}, Lasting: map[Kind]time.Duration{DeletedBall: tick.Every}})
	r.wait(tick.Every)

	if n := len(r.fixture(m.ID).Balls); n != 22 {
		t.Errorf("%d balls with the invented one, want 22", n)
	}

	r.Chaos(Chaos{})
	r.wait(tick.Every)

	if n := len(r.fixture(m.ID).Balls); n != 22 {
		t.Errorf("%d balls after its deletion, want 22 that were bowled", n)
	}
}

func TestChaosEndsWithCorrectData(t *testing.T) {
	t.Parallel()

	rates := map[Kind]float64{}

	for _, k := range Kinds() {
		if k != Timeout {
			rates[k] = 0.15
		}
	}

	run := func(chaos bool) (final []byte, seen []int, counts map[Kind]int) {
		r := newRig(t)
		m := script.Generate(12, cricsheet.T20)

		if chaos {
			r.Chaos(Chaos{Seed: 3, Rates: rates})
		}

		r.Play(m, r.start, tick)

		for at := time.Duration(0); at < time.Duration(len(m.Frames)+20)*tick.Every; at += tick.Every {
			r.to(at)
			w := r.get("livescores", "include="+all)
			seen = append(seen, w.Code, w.Body.Len())
		}

		counts = r.Counts()
		r.Chaos(Chaos{})

		return r.get(fmt.Sprint("fixtures/", m.ID), "include="+all).Body.Bytes(), seen, counts
	}
	truth, _, _ := run(false)

	got, seen, counts := run(true)
	if !bytes.Equal(got, truth) {
		t.Error("the final data differs from the match without chaos")
	}

	for k := range rates {
		if counts[k] == 0 && !k.atEnd() {
			t.Errorf("no error of the kind %s happened", k)
		}
	}

	again, seenAgain, countsAgain := run(true)
	if !bytes.Equal(got, again) || !slices.Equal(seen, seenAgain) || fmt.Sprint(counts) != fmt.Sprint(countsAgain) {
		t.Error("two runs with the same seed have different errors")
	}
}
