// Package story is what a room brings so that its sample events, events/<room>, can
// be given to its functions: what must exist before, and when the story happens.
package story

import (
	"fmt"
	"strings"
	"time"
)

// Samples belong to the sample events of a room.
type Samples struct {
	// Prepare sets the scene: it adds what the events name to the simulators, and
	// stores rows whose ids functions would generate. The fleet has started; put stores
	// a row in a table. It may be nil.
	Prepare func(put func(table string, row map[string]any) error) error

	// Sessions are the users of the events' session cookies, by cookie: "name=token". The
	// user Expired has a session that is over, and the user Stranger one that no event uses.
	Sessions map[string]string

	// Apps are the users of the bearer tokens by which native apps send the events' requests, if the room's
	// tokens are those of sessions. No event uses one.
	Apps map[string]string

	// Faults are the room's conditions under which an answer may be expected (events.Case.Given):
	// a function that begins the fault, or ends it.
	Faults map[string]func(on bool)
}

// Users of Samples.Sessions.
const (
	Stranger = "5b0e9a52-7c43-4a6f-9d18-0000000057e4"
	Expired  = "5b0e9a52-7c43-4a6f-9d18-00000000e4b1"
)

// Day is when the story happens, in UTC.
const Day = "2026-06-06"

// Parse returns a time of the Day: of "13:55" or "13:59:30".
func Parse(of string) (time.Time, error) {
	text := of
	if strings.Count(of, ":") == 1 {
		text += ":00"
	}

	at, err := time.Parse(time.RFC3339, Day+"T"+text+"Z")
	if err != nil {
		return at, fmt.Errorf("invalid time of the day %q; valid: 13:55, 13:59:30", of)
	}

	return at, nil
}

// Time is Parse for constants. It panics if the time is not valid.
func Time(of string) time.Time {
	at, err := Parse(of)
	if err != nil {
		panic(err)
	}

	return at
}
