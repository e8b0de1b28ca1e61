package cost

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"matchday/infra/tools/cost/price"
	"matchday/infra/tools/cost/usage"
)

// sample returns counters of two sizes. A guess of the larger takes 50 µs of a core in a settlement, and two cores
// store 800 guesses a second.
func sample() counters {
	return counters{
		Page:    2500,
		Seconds: map[string]float64{cachedPage: 0.01},
		Sizes: []size{
			{Members: 1000, Settled: settling{1, 1e-3}, Corrected: settling{1, 1e-3}, Void: settling{1, 1e-3}, Guesses: 8000, Cached: 1000},
			{Members: 1e6, Settled: settling{50, 5e-5}, Corrected: settling{100, 1e-4}, Void: settling{40, 4e-5}, Guesses: 800, Cached: 2500},
		},
	}
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()

	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestMonth: what a month uses, worked out by hand for 2,000,000 members, of whom 1,000,000 guess a match.
func TestMonth(t *testing.T) {
	t.Parallel()

	const n = 2e6

	c := sample()
	s := c.of(n)

	// 120 matches of 50 s, 6 corrected of 100 s, 1.2 void of 40 s, each in two messages of 500,000 guesses.
	u := s.settling(n)
	near(t, "time of the functions", u.LambdaGBSeconds, (120*50+6*100+1.2*40)/4)
	near(t, "messages", u.LambdaRequests, 127.2*2)
	near(t, "requests of the queue", u.SQSRequests, 127.2*2*4)
	// Of 20,000 pages all are read, beside the first: 166,667 views are of others. A page has 3 KB.
	near(t, "units of the cache", u.CacheUnits, 127.2*20_001*3)

	// A settlement takes 4 ACU for each second of a core. The least capacity is billed anyway.
	acuSeconds := 120*(200-25.0) + 6*(400-50.0) + 1.2*(160-20.0)
	statements := 24*296*40 + n*120 + 127.2*20_001*3
	noticeHours := n * (12*13e-6 + 48*28e-6) * 4 / 3600
	// 800 a second on 8 ACU are 100 for an ACU.
	v := s.database(n)
	near(t, "hours of ACU", v.SQLHours, acuSeconds/3600+noticeHours+(statements/72_000/100-0.5)*20)
	near(t, "pages of the storage", v.SQLPages, (statements+127.2*1e6*4)*0.02)

	w := guessing(n)
	near(t, "guesses", w.APIRequests, n*60)
	near(t, "checks of guesses", w.WriteUnits, n*60*2)
	near(t, "reads of guesses", w.ReadUnits, 0)

	y := notifying(n)
	near(t, "messages with notices", y.LambdaRequests, n*30/100)
	near(t, "time of notices", y.LambdaGBSeconds, n*30/100*0.6/4)
	near(t, "reads of phones", y.ReadUnits, n*15)

	x := c.viewing(10) // of the smaller size
	near(t, "time of views", x.LambdaGBSeconds, 10*(200*0.02+60*0.03)/4)
	near(t, "units of views", x.CacheUnits, 10*200*1)
	near(t, "bytes of views", x.EgressGB, 10*200*2500.0/(1<<30))
}

// TestFinal: the ACUs of a final, worked out by hand.
func TestFinal(t *testing.T) {
	t.Parallel()

	s := sample().of(1e6)
	// 100,000 guesses in 60 s, 100 a second for each ACU.
	near(t, "before the kick-off", s.kickOff(1e6), 100_000/60.0/100)
	// 2,000,000 statements in 300 s, and 1,000,000 guesses of 200 µs of an ACU.
	near(t, "after the result", s.result(1e6), 2e6/300.0/100+200/300.0)
}

// TestSizes: a number of members is that of the smallest size that has it, and of the largest beyond.
func TestSizes(t *testing.T) {
	t.Parallel()

	for members, want := range map[float64]float64{1: 1000, 1000: 1000, 1001: 1e6, 1e6: 1e6, 5e6: 1e6} {
		if got := sample().of(members).Members; got != want {
			t.Errorf("%v members: got the size of %v, want %v", members, got, want)
		}
	}
}

// TestReport: the report has a row for each number of members up to a million, its columns add up, and a final of
// a million members needs more than the 4 ACU to which a cluster grows.
func TestReport(t *testing.T) {
	t.Parallel()

	r, err := report(usage.Input{Counters: kept, Prices: price.Listed()})
	if err != nil {
		t.Fatal(err)
	}

	var members []string

	for _, row := range r.Rows[1:] {
		members = append(members, row[0])

		var v []float64

		for _, cell := range row {
			n, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
			if err != nil {
				t.Fatalf("the cell %q of %q is not a number", cell, row)
			}

			v = append(v, n)
		}

		sum := 0.0
		for _, part := range v[1:9] {
			sum += part
		}

		if math.Abs(sum-v[9]) > 0.05+0.005*v[9] || math.Abs(v[9]/v[0]-v[10]) > 1e-4 {
			t.Errorf("the columns of %q do not add up", row)
		}

		if more := v[11] > 4; more != (v[0] == 1e6) {
			t.Errorf("%s members: %v ACU at a final", row[0], v[11])
		}
	}

	if got, want := strings.Join(members, " "), "100 10,000 100,000 1,000,000"; got != want {
		t.Errorf("rows of %s, want %s", got, want)
	}
}

// TestCountersAreChecked: the error of a missing counter names the command that counts it.
func TestCountersAreChecked(t *testing.T) {
	t.Parallel()

	if _, err := parse(kept); err != nil {
		t.Errorf("the counters of the repository: %v", err)
	}

	const (
		noPage = "the counters lack a page: run `make bench`"
		noSize = "the counters lack a size, or a part of one: run `make bench ROOM=bestshot MEMBERS=1000000`"
		page   = `"page":5,"seconds":{"a page from the cache":1}`
	)

	for text, want := range map[string]string{
		`{}`:                          noPage,
		`{"page":5}`:                  noPage,
		`{` + page + `}`:              noSize,
		`{` + page + `,"sizes":[{}]}`: noSize,
		strings.Replace(string(kept), `"cached"`, `"other"`, 1): noSize,
		strings.Replace(string(kept), `"cpu"`, `"other"`, 1):    noSize,
	} {
		if _, err := parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
