package scheduler

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/infra/sim/clock"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		expr, zone string
		after      string
		want       []string // the next times, in UTC; "" for never
	}{
		"minute": {
			expr:  "rate(1 minute)",
			after: "2026-06-01T12:00:00Z",
			want:  []string{"2026-06-01T12:01:00Z", "2026-06-01T12:02:00Z"},
		},
		"within a minute": {expr: "rate(1 minute)", after: "2026-06-01T12:00:59.9Z", want: []string{"2026-06-01T12:01:00Z"}},
		"minutes": {
			expr:  "rate(15 minutes)",
			after: "2026-06-01T12:07:00Z",
			want:  []string{"2026-06-01T12:15:00Z", "2026-06-01T12:30:00Z"},
		},
		"hours": {expr: "rate(6 hours)", after: "2026-06-01T12:00:00Z", want: []string{"2026-06-01T18:00:00Z"}},
		"a day": {
			expr:  "rate(1 day)",
			after: "2026-06-01T12:00:00Z",
			want:  []string{"2026-06-02T00:00:00Z", "2026-06-03T00:00:00Z"},
		},
		"once": {expr: "at(2026-06-01T12:30:00)", after: "2026-06-01T12:00:00Z", want: []string{"2026-06-01T12:30:00Z", ""}},
		"once, in a zone": {
			expr:  "at(2026-06-01T12:30:00)",
			zone:  "Asia/Kolkata",
			after: "2026-06-01T06:00:00Z",
			want:  []string{"2026-06-01T07:00:00Z"},
		},
		"every minute": {
			expr:  "cron(* * * * ? *)",
			after: "2026-06-01T12:00:00Z",
			want:  []string{"2026-06-01T12:01:00Z", "2026-06-01T12:02:00Z"},
		},
		"weekdays": {expr: "cron(0 8 ? * MON-FRI *)", after: "2026-06-05T08:00:00Z", want: []string{"2026-06-08T08:00:00Z"}},
		"last day": {
			expr:  "cron(0 0 L * ? *)",
			after: "2026-02-01T00:00:00Z",
			want:  []string{"2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"},
		},
		"second Friday": {expr: "cron(0 12 ? * 6#2 *)", after: "2026-06-01T00:00:00Z", want: []string{"2026-06-12T12:00:00Z"}},
		"29 February":   {expr: "cron(0 0 29 2 ? *)", after: "2026-06-01T00:00:00Z", want: []string{"2028-02-29T00:00:00Z"}},
		"30 February":   {expr: "cron(0 0 30 2 ? *)", after: "2026-06-01T00:00:00Z", want: []string{""}},
		"days a month may lack": {
			expr:  "cron(0 0 30-31 * ? *)",
			after: "2026-01-31T00:00:00Z",
			want:  []string{"2026-03-30T00:00:00Z", "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z"},
		},
		"days around the end": {
			expr:  "cron(0 0 31-1 * ? *)",
			after: "2026-01-31T00:00:00Z",
			want:  []string{"2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-31T00:00:00Z"},
		},
		"every third day": {
			expr:  "cron(0 0 25-31/3 * ? *)",
			after: "2026-01-31T00:00:00Z",
			want:  []string{"2026-02-25T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-25T00:00:00Z"},
		},
		"past years": {expr: "cron(0 0 1 1 ? 2020)", after: "2026-06-01T00:00:00Z", want: []string{""}},
		"zone": {
			expr:  "cron(30 9 * * ? *)",
			zone:  "Asia/Kolkata",
			after: "2026-06-01T00:00:00Z",
			want:  []string{"2026-06-01T04:00:00Z"},
		},
		"skipped in spring": {
			expr:  "cron(30 1 * * ? *)",
			zone:  "Europe/London",
			after: "2026-03-28T12:00:00Z",
			want:  []string{"2026-03-30T00:30:00Z"},
		},
		"after it, the same day": {
			expr:  "cron(30 2 * * ? *)",
			zone:  "Europe/London",
			after: "2026-03-29T00:30:00Z",
			want:  []string{"2026-03-29T01:30:00Z"},
		},
		"asked for on that day": {
			expr:  "cron(30 1 * * ? *)",
			zone:  "Europe/London",
			after: "2026-03-29T12:00:00Z",
			want:  []string{"2026-03-30T00:30:00Z"},
		},
		"once in autumn, east": {
			expr:  "cron(30 1 * * ? *)",
			zone:  "Europe/London",
			after: "2026-10-25T00:00:00Z",
			want:  []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		},
		"once in autumn, west": {
			expr:  "cron(30 1 * * ? *)",
			zone:  "America/New_York",
			after: "2026-11-01T04:00:00Z",
			want:  []string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		},
		"half an hour's change": {
			expr:  "cron(45 1 * * ? *)",
			zone:  "Australia/Lord_Howe",
			after: "2026-04-04T12:00:00Z",
			want:  []string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, err := Parse(tc.expr, tc.zone)
			if err != nil {
				t.Fatal(err)
			}

			at, err := time.Parse(time.RFC3339, tc.after)
			if err != nil {
				t.Fatal(err)
			}

			for _, want := range tc.want {
				at = s.Next(at)

				got := ""
				if !at.IsZero() {
					got = at.UTC().Format(time.RFC3339)
				}

				if got != want {
					t.Fatalf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for expr, zone := range map[string]string{
		"":                        "",
		"1 minute":                "",
		"rate(1 minute":           "",
		"rate(0 minutes)":         "",
		"rate(-5 minutes)":        "",
		"rate(5 minute)":          "",
		"rate(1 minutes)":         "",
		"rate(1.5 hours)":         "",
		"rate(2 weeks)":           "",
		"rate(2 minutess)":        "",
		"rate(999999999999 days)": "",
		"cron(* * * * * *)":       "",
		"cron(* * * * ?)":         "",
		"cron(60 * * * ? *)":      "",
		"cron(0 0 ? * 2#6 *)":     "",
		"at(2026-13-01T00:00:00)": "",
		"at(2026-06-01)":          "",
		"at(2026-03-29T01:30:00)": "Europe/London",
		"rate(5 minutes)":         "Mars/Olympus",
		"rate(6 minutes)":         "Local",
	} {
		if _, err := Parse(expr, zone); err == nil {
			t.Errorf("%q in zone %q was accepted", expr, zone)
		} else if expr != "" && !strings.Contains(err.Error(), expr) {
			t.Errorf("%q: the error does not quote it: %v", expr, err)
		}
	}
}

func TestNextIsLaterAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{
			"rate(7 minutes)", "rate(1 day)", "cron(*/20 * * * ? *)", "cron(30 1,2 * * ? *)", "cron(15 3 L * ? *)",
		}).Draw(t, "expr")
		zone := rapid.SampledFrom([]string{"", "Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}).Draw(t, "zone")

		s, err := Parse(expr, zone)
		if err != nil {
			t.Fatal(err)
		}

		after := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "after"), 0)

		next := s.Next(after)
		if !next.After(after) {
			t.Fatalf("next %v is not after %v", next, after)
		}

		between := after.Add(time.Duration(rapid.Int64Range(0, int64(next.Sub(after))-1).Draw(t, "between")))
		if again := s.Next(between); !again.Equal(next) {
			t.Fatalf("after %v comes %v, but after %v, in between, %v", after, next, between, again)
		}
	})
}

func TestRun(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)

	s, err := Parse("rate(1 minute)", "")
	if err != nil {
		t.Fatal(err)
	}

	var (
		mu  sync.Mutex
		got []string
	)

	over := make(chan struct{})
	delays := []time.Duration{59 * time.Second, 0, 10 * time.Second, 0}
	jitter := func() (d time.Duration) { d, delays = delays[0], delays[1:]; return d }

	done := c.Work()

	var stop func()

	stop = Run(c, s, jitter, func(scheduled time.Time) {
		mu.Lock()

		got = append(got, scheduled.Sub(start).String()+" at "+c.Now().Sub(start).String())
		n := len(got)
		mu.Unlock()

		switch n {
		case 1: // slow: the next must not wait for it
			if err := c.Sleep(t.Context(), start.Add(10*time.Minute)); err != nil {
				t.Error(err)
			}

			close(over)
		case 3:
			stop()
		}
	})

	done()
	<-over

	want := []string{"1m0s at 1m59s", "2m0s at 2m0s", "3m0s at 3m10s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"rate(1 minute)", "rate(3 days)", "at(2026-06-01T12:00:00)", "cron(* * * * ? *)",
		"cron(0 0 30-31/2,LW * ? 2026-2030)", "cron(0/5 8-17 ? JAN-MAR 2#1,FRIL *)", "cron(1 2 15W * ? *)"} {
		f.Add(s, "Europe/London")
	}

	f.Fuzz(func(t *testing.T, expr, zone string) {
		s, err := Parse(expr, zone)
		if err != nil {
			return
		}

		for at := range 3 {
			after := start.AddDate(0, at, 0)
			if next := s.Next(after); !next.IsZero() && !next.After(after) {
				t.Errorf("after %v comes %v", after, next)
			}
		}
	})
}
