package budget_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/budget"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

var (
	table = spec.Table{Name: "main", Key: spec.Key{Partition: "PK"}, TTL: "expiresAt"}
	count = table.On("Count requests", "PK", spec.Rate{}, spec.UpdateItem)
	noon  = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

	hour    = spec.Budget{Name: "fixtures", Max: 12, Per: time.Hour}
	quarter = spec.Budget{Name: "reads", Max: 5, Per: 15 * time.Minute, Aligned: true}
	day     = spec.Budget{Name: "reads", Max: 8, Per: 24 * time.Hour, Aligned: true}
)

// one is a row with one period, which begins with a request.
type one struct {
	PK        string `dynamodbav:"PK"`
	StartedAt int64  `dynamodbav:"startedAt,omitempty"`
	Calls     int    `dynamodbav:"calls"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// two is a row with two aligned periods.
type two struct {
	PK      string `dynamodbav:"PK"`
	Quarter int64  `dynamodbav:"quarter,omitempty"`
	Day     int64  `dynamodbav:"day"`
	Used    int    `dynamodbav:"used"`
	UsedDay int    `dynamodbav:"usedDay"`
}

func open(t *testing.T) dynamo.DB {
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{table})
	return dynamo.Open(cfg, prefix)
}

func counterOfOne(db dynamo.DB, upTo int, now func() time.Time) budget.Counter[one] {
	return budget.Counter[one]{
		DB: db, Access: count, Key: dynamo.Key(count, "x"), Expires: "expiresAt", Now: now,
		Periods: []budget.Period{{Share: spec.Share{Budget: hour, UpTo: upTo}, Begins: "startedAt", Used: "calls"}},
	}
}

func counterOfTwo(db dynamo.DB, now func() time.Time) budget.Counter[two] {
	return budget.Counter[two]{
		DB: db, Access: count, Key: dynamo.Key(count, "x"), Now: now,
		Periods: []budget.Period{
			{Share: spec.Share{Budget: quarter, UpTo: 5}, Begins: "quarter", Used: "used"},
			{Share: spec.Share{Budget: day, UpTo: 8}, Begins: "day", Used: "usedDay"},
		},
	}
}

// wait returns how long a refused request waits, 0 for one that was counted.
func wait(t *testing.T, err error) time.Duration {
	t.Helper()

	if e, ok := errors.AsType[*budget.Exhausted](err); ok {
		return e.RetryAfter
	}

	if err != nil {
		t.Fatal(err)
	}

	return 0
}

func row[T any](t *testing.T, db dynamo.DB) T {
	t.Helper()

	got, _, err := dynamo.Get[T](t.Context(), db, count, "x")
	if err != nil {
		t.Fatal(err)
	}

	return got
}

// TestPeriodBeginsWithARequest: it lasts ten seconds longer than the provider's, and the next
// begins with the first request after it. The row may be deleted when two periods are over.
func TestPeriodBeginsWithARequest(t *testing.T) {
	t.Parallel()
	db := open(t)

	for _, c := range []struct {
		after time.Duration
		wait  time.Duration
		want  one
	}{
		{0, 0, one{"x", noon.Unix(), 1, noon.Unix() + 7220}},
		{time.Minute + 1, 0, one{"x", noon.Unix(), 2, noon.Unix() + 7220}},
		{time.Hour, 10 * time.Second, one{"x", noon.Unix(), 2, noon.Unix() + 7220}},
		{time.Hour + 9*time.Second, time.Second, one{"x", noon.Unix(), 2, noon.Unix() + 7220}},
		{time.Hour + 10*time.Second, 0, one{"x", noon.Unix() + 3610, 1, noon.Unix() + 3610 + 7220}},
	} {
		now := func() time.Time { return noon.Add(c.after) }
		if got := wait(t, counterOfOne(db, 2, now).Take(t.Context())); got != c.wait {
			t.Errorf("after %v: wait %v, want %v", c.after, got, c.wait)
		}

		if diff := cmp.Diff(c.want, row[one](t, db)); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", c.after, diff)
		}
	}
}

// TestAlignedPeriods: a request counts in both periods, each of which begins anew at its time.
// One that the day does not allow waits for the next day.
func TestAlignedPeriods(t *testing.T) {
	t.Parallel()

	q := func(n int) int64 { return noon.Add(time.Duration(n) * 15 * time.Minute).Unix() }

	today := noon.Truncate(24 * time.Hour).Unix()
	for name, c := range map[string]struct {
		was   two
		after time.Duration
		wait  time.Duration
		want  two
	}{
		"the first":             {two{}, time.Minute, 0, two{"x", q(0), today, 1, 1}},
		"the last of a quarter": {two{"x", q(0), today, 4, 4}, 14*time.Minute + 59*time.Second, 0, two{"x", q(0), today, 5, 5}},
		"a quarter is used up":  {two{"x", q(0), today, 5, 5}, 10 * time.Minute, 5 * time.Minute, two{"x", q(0), today, 5, 5}},
		"the next quarter":      {two{"x", q(0), today, 5, 5}, 15 * time.Minute, 0, two{"x", q(1), today, 1, 6}},
		"the last of a day":     {two{"x", q(0), today, 5, 7}, 15 * time.Minute, 0, two{"x", q(1), today, 1, 8}},
		"a day is used up":      {two{"x", q(0), today, 2, 8}, time.Minute, 12*time.Hour - time.Minute, two{"x", q(0), today, 2, 8}},
		"a day, in another quarter": {
			two{"x", q(0), today, 2, 8},
			20 * time.Minute,
			11*time.Hour + 40*time.Minute,
			two{"x", q(0), today, 2, 8},
		},
		"both are used up":             {two{"x", q(0), today, 5, 8}, time.Minute, 12*time.Hour - time.Minute, two{"x", q(0), today, 5, 8}},
		"the next day":                 {two{"x", q(0), today, 5, 8}, 12 * time.Hour, 0, two{"x", q(48), today + 86_400, 1, 1}},
		"nothing was counted for days": {two{"x", q(-96), today - 86_400, 5, 8}, 0, 0, two{"x", q(0), today, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			db := open(t)
			if c.was.PK != "" {
				if err := dynamo.Put(t.Context(), db, count, c.was); err != nil {
					t.Fatal(err)
				}
			}

			err := counterOfTwo(db, func() time.Time { return noon.Add(c.after) }).Take(t.Context())
			if got := wait(t, err); got != c.wait {
				t.Errorf("wait %v, want %v", got, c.wait)
			}

			if diff := cmp.Diff(c.want, row[two](t, db)); diff != "" {
				t.Errorf("the row (-want +got):\n%s", diff)
			}
		})
	}
}

// TestConcurrentRequestsStayWithinTheBudget, also those that begin a period, and each function
// stops at its own share.
func TestConcurrentRequestsStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	db := open(t)

	var got []string

	for _, upTo := range []int{6, 6, 10, 12} {
		var (
			mu sync.Mutex
			g  sync.WaitGroup
		)

		taken := 0

		for range 8 {
			g.Go(func() {
				err := counterOfOne(db, upTo, func() time.Time { return noon }).Take(t.Context())

				mu.Lock()
				defer mu.Unlock()

				if e, ok := errors.AsType[*budget.Exhausted](err); err == nil {
					taken++
				} else if !ok || e.Budget != hour {
					t.Errorf("up to %d: %v, want the budget of fixtures to be used up", upTo, err)
				}
			})
		}

		g.Wait()

		got = append(got, fmt.Sprintf("up to %d: %d more, %d in all", upTo, taken, row[one](t, db).Calls))
	}

	want := []string{"up to 6: 6 more, 6 in all", "up to 6: 0 more, 6 in all", "up to 10: 4 more, 10 in all", "up to 12: 2 more, 12 in all"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestGiveBack takes a request back in the periods in which it was counted, and in no others.
func TestGiveBack(t *testing.T) {
	t.Parallel()

	today := noon.Truncate(24 * time.Hour).Unix()
	for name, c := range map[string]struct {
		after time.Duration
		want  two
	}{
		"in the same quarter": {14 * time.Minute, two{"x", noon.Unix(), today, 1, 1}},
		"in the next":         {15 * time.Minute, two{"x", noon.Unix(), today, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, now := open(t), noon

			counter := counterOfTwo(db, func() time.Time { return now })
			for range 2 {
				if err := counter.Take(t.Context()); err != nil {
					t.Fatal(err)
				}
			}

			now = noon.Add(c.after)

			if err := counter.GiveBack(t.Context()); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(c.want, row[two](t, db)); diff != "" {
				t.Errorf("the row (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreadableCounter: a row that is no counter allows nothing, and stays.
func TestUnreadableCounter(t *testing.T) {
	t.Parallel()

	for _, attribute := range []string{"startedAt", "calls"} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()

			db, was := open(t), map[string]any{"PK": "x", attribute: "?"}
			if err := dynamo.Put(t.Context(), db, count, was); err != nil {
				t.Fatal(err)
			}

			if err := counterOfOne(db, 2, func() time.Time { return noon }).Take(t.Context()); err == nil {
				t.Error("a request was counted")
			}

			if diff := cmp.Diff(was, row[map[string]any](t, db)); diff != "" {
				t.Errorf("the row (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAtLeast: what the provider has counted raises the present periods, and lowers none. One that has
// just begun is left, and so is one that is over.
func TestAtLeast(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		after   time.Duration
		counted []int
		want    two
	}{
		"more of both":          {5 * time.Minute, []int{4, 7}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 4, 7}},
		"more of the day":       {5 * time.Minute, []int{1, 7}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 2, 7}},
		"fewer":                 {5 * time.Minute, []int{1, 1}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 2, 2}},
		"the same":              {5 * time.Minute, []int{2, 2}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 2, 2}},
		"beyond the limit":      {5 * time.Minute, []int{99, 99}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 99, 99}},
		"in the first minute":   {59 * time.Second, []int{4, 7}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 2, 7}},
		"in the next quarter":   {17 * time.Minute, []int{4, 7}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 2, 7}},
		"in the second minute":  {time.Minute, []int{4, 2}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 4, 2}},
		"the day after, at one": {13 * time.Hour, []int{4, 7}, two{"x", noon.Unix(), noon.Truncate(24 * time.Hour).Unix(), 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)

			for range 2 {
				if got := wait(t, counterOfTwo(db, func() time.Time { return noon }).Take(t.Context())); got != 0 {
					t.Fatalf("wait %v", got)
				}
			}

			if err := counterOfTwo(db, func() time.Time { return noon.Add(c.after) }).AtLeast(t.Context(), c.counted...); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(c.want, row[two](t, db)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
