package strava

import (
	"net/http"
	"strconv"
	"strings"
)

// Usage is what an answer of Strava says of the application's reads: in the present quarter of an
// hour, and in the present day, UTC.
type Usage struct {
	Quarter, Day Window
}

// Window is the limit of a period, and what all programs with the application's id have used of it.
type Window struct{ Max, Used int }

// maxLimit bounds the limits that are believed.
const maxLimit = 10_000_000

// UsageOf returns what the headers of an answer say. ok is false if they say nothing that can be
// used. A read counts in two limits, that of reads and the overall one. The limit is the smaller of
// them, and what is left is the smaller of what is left of each:
// https://developers.strava.com/docs/rate-limits/
func UsageOf(h http.Header) (u Usage, ok bool) {
	for _, kind := range []string{"X-Readratelimit", "X-Ratelimit"} {
		most, ok1 := pair(h.Get(kind + "-Limit"))

		used, ok2 := pair(h.Get(kind + "-Usage"))
		if !ok1 || !ok2 || most[0] < 1 || most[1] < 1 {
			continue
		}

		next := Usage{Window{most[0], used[0]}, Window{most[1], used[1]}}
		if ok {
			next = Usage{u.Quarter.narrow(next.Quarter), u.Day.narrow(next.Day)}
		}

		u, ok = next, true
	}

	return u, ok
}

// narrow returns the window of requests that count in both.
func (w Window) narrow(o Window) Window {
	most := min(w.Max, o.Max)
	return Window{most, most - min(w.Max-w.Used, o.Max-o.Used)}
}

// pair returns the two numbers of a header: "quarter,day".
func pair(text string) (n [2]int, ok bool) {
	a, b, ok := strings.Cut(text, ",")
	if !ok {
		return n, false
	}

	for i, part := range []string{a, b} {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || v < 0 || v > maxLimit {
			return n, false
		}

		n[i] = v
	}

	return n, true
}
