package spec

import (
	"fmt"
	"strings"
	"time"
)

// Driver is what makes an access pattern happen.
type Driver int

const (
	// Unknown is the driver of a pattern that only a test uses.
	Unknown     Driver = iota
	Request            // a request to the API
	UserAction         // a user changes something
	AdminAction        // an administrator changes something
	Operator           // an operator runs a job
	Tick               // a tick of a live loop
	MatchTick          // a tick of a live loop, for each live match
	StateChange        // the state of a match changes
	MatchStart         // a match is about to start
	MatchEnd           // a match ends
	Sync               // a run of a job that copies a provider's data
	Job                // a run of another job
	Message            // a message of a queue
	Period             // a fixed period
)

var drivers = map[Driver]string{
	Request: "request", UserAction: "user action", AdminAction: "administrator's action", Operator: "run by an operator",
	Tick: "tick of the live loop", MatchTick: "tick of each live match", StateChange: "state change of a match",
	MatchStart: "match about to start", MatchEnd: "match end", Sync: "run of a sync", Job: "run of a job", Message: "message",
}

// Rate is how often an access pattern is used: on average Factor times for each occurrence of
// its driver.
type Rate struct {
	Driver Driver
	Every  time.Duration // of the driver Period: from one occurrence to the next
	Factor float64       // 0 means 1
	Note   string        // what the numbers leave out, for the reader
}

// Every is the rate of one use in each period.
func Every(period time.Duration) Rate { return Rate{Driver: Period, Every: period} }

// Times is the factor, 1 if none is given.
func (r Rate) Times() float64 {
	if r.Factor == 0 {
		return 1
	}

	return r.Factor
}

// String describes the rate: "per request", "2 per match end", "every 15m: per
// active league".
func (r Rate) String() string {
	var b strings.Builder
	if r.Times() != 1 {
		fmt.Fprintf(&b, "%g ", r.Factor)
	}

	switch r.Driver {
	case Unknown:
		return r.Note
	case Period:
		b.WriteString("every " + short(r.Every))
	default:
		b.WriteString("per " + drivers[r.Driver])
	}

	if r.Note != "" {
		b.WriteString(": " + r.Note)
	}

	return b.String()
}

// short formats a duration without zero seconds and minutes: "15m", "1h", "2.5s".
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}

	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}

	return text
}
