package strava_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/commitcollect/strava"
)

// TestUsageOfHeaders: a read counts in both limits, and headers without sense say nothing.
func TestUsageOfHeaders(t *testing.T) {
	t.Parallel()

	of := func(quarterMax, quarterUsed, dayMax, dayUsed int) strava.Usage {
		return strava.Usage{Quarter: strava.Window{Max: quarterMax, Used: quarterUsed}, Day: strava.Window{Max: dayMax, Used: dayUsed}}
	}
	for name, c := range map[string]struct {
		limit, usage, readLimit, readUsage string
		want                               strava.Usage
		ok                                 bool
	}{
		"both":                        {"200,2000", "10,20", "100,1000", "10,20", of(100, 10, 1000, 20), true},
		"writes leave less":           {"200,2000", "150,1990", "100,1000", "10,20", of(100, 50, 1000, 990), true},
		"the overall limit is lower":  {"50,2000", "10,20", "100,1000", "10,20", of(50, 10, 1000, 20), true},
		"beyond the limit":            {"200,2000", "101,20", "100,1000", "101,20", of(100, 101, 1000, 20), true},
		"of reads only":               {"", "", "100, 1000", "1, 2", of(100, 1, 1000, 2), true},
		"overall only":                {"200,2000", "1,2", "", "", of(200, 1, 2000, 2), true},
		"none":                        {"", "", "", "", strava.Usage{}, false},
		"words":                       {"many", "few", "a,b", "c,d", strava.Usage{}, false},
		"one value":                   {"200", "1", "100", "1", strava.Usage{}, false},
		"a limit of 0":                {"0,0", "1,1", "0,10", "1,1", strava.Usage{}, false},
		"less than nothing":           {"-5,10", "1,1", "100,1000", "-1,2", strava.Usage{}, false},
		"more than can be":            {"99999999999,1", "1,1", "100,100000000", "1,1", strava.Usage{}, false},
		"three values, and then none": {"1,2,3", "1,2,3", "100,1000", "", strava.Usage{}, false},
	} {
		h := http.Header{}
		for name, value := range map[string]string{
			"X-RateLimit-Limit": c.limit, "X-RateLimit-Usage": c.usage, "X-ReadRateLimit-Limit": c.readLimit, "X-ReadRateLimit-Usage": c.readUsage,
		} {
			if value != "" {
				h.Set(name, value)
			}
		}

		got, ok := strava.UsageOf(h)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
			t.Errorf("%s: %v, want %v (-want +got):\n%s", name, ok, c.ok, diff)
		}
	}
}

// TestWaits: delays grow up to a quarter of an hour, and end after a day.
func TestWaits(t *testing.T) {
	t.Parallel()

	var (
		noon    = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
		now     = noon
		w       strava.Wait
		minutes []int
	)

	for range 7 {
		next, delay, ok := w.Next(&strava.Error{Kind: strava.Unavailable}, now, 24*time.Hour)
		if !ok || next.Since != noon.Unix() {
			t.Fatalf("at %v: %+v, %v", now, next, ok)
		}

		w, now = next, now.Add(delay)
		minutes = append(minutes, int(delay.Minutes()))
	}

	if diff := cmp.Diff([]int{1, 2, 4, 8, 15, 15, 15}, minutes); diff != "" {
		t.Errorf("minutes (-want +got):\n%s", diff)
	}

	for name, c := range map[string]struct {
		cause strava.Error
		after time.Duration
		delay time.Duration
		waits int
		ok    bool
	}{
		"inactive":                     {strava.Error{Kind: strava.Inactive}, time.Hour, 15 * time.Minute, 7, true},
		"limited":                      {strava.Error{Kind: strava.Limited, RetryAfter: time.Minute}, time.Hour, time.Minute, 7, true},
		"limited for the day":          {strava.Error{Kind: strava.Limited, RetryAfter: 9 * time.Hour}, time.Hour, 15 * time.Minute, 7, true},
		"a second before the end":      {strava.Error{Kind: strava.Unavailable}, 24*time.Hour - time.Second, 15 * time.Minute, 8, true},
		"after a day":                  {strava.Error{Kind: strava.Unavailable}, 24 * time.Hour, 15 * time.Minute, 8, false},
		"after a day, and still":       {strava.Error{Kind: strava.Inactive}, 48 * time.Hour, 15 * time.Minute, 7, false},
		"after a day within the limit": {strava.Error{Kind: strava.Limited, RetryAfter: time.Second}, 24 * time.Hour, time.Second, 7, false},
	} {
		next, delay, ok := w.Next(&c.cause, noon.Add(c.after), 24*time.Hour)
		if delay != c.delay || ok != c.ok || next.Waits != c.waits {
			t.Errorf("%s: %v %v after %d waits, want %v %v after %d", name, delay, ok, next.Waits, c.delay, c.ok, c.waits)
		}
	}
}

// TestInactiveIsAKindOfItsOwn: any other 403 is of one call or one user.
func TestInactiveIsAKindOfItsOwn(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]strava.Kind{
		`{"message":"Forbidden","errors":[{"resource":"Application","field":"Status","code":"Inactive"}]}`: strava.Inactive,
		`{"errors":[{"resource":"Application","field":"Status","code":"Active"}]}`:                         strava.Invalid,
		`{"errors":[{"resource":"Application","field":"athletes","code":"exceeded"}]}`:                     strava.Invalid,
		`<html>`:        strava.Invalid,
		`{"errors":[]}`: strava.Invalid,
	} {
		c := open(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte(body))
		})

		_, err := c.Activity(t.Context(), "token", "1")
		if !strava.Is(err, want) || (strava.Cause(err) != nil) != (want == strava.Inactive) {
			t.Errorf("%s is %v, want the kind %d", body, err, want)
		}

		if _, err := c.Refresh(t.Context(), "refresh"); !strava.Is(err, want) {
			t.Errorf("%s to a refresh is %v, want the kind %d", body, err, want)
		}
	}
}
