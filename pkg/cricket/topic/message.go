package topic

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/sideshow/apns2"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// What a message asks of the app.
const (
	start  = "start"  // show the match, also if the user has dismissed an earlier day
	update = "update" // show the state, unless the user has dismissed the match
	end    = "end"    // show the result; the end may be withdrawn
)

// How long Google stores a state for a phone that is offline, or idle: until the next one has come.
const (
	ballExpiration = time.Minute
	overExpiration = 6 * time.Minute // of an audience that gets no balls
)

// state is what a message tells of a match.
type state struct {
	matchID, view string
	event         string // start, update or end
	row           match.DisplayRow
	ended         int64 // when the match ended, epoch s, of an end
	urgent        bool
	thinned       bool // the audience gets no balls
}

// message returns the message for a topic. Its data:
//
//	matchId, perspective  the match, and a team id or neutral
//	event                 start, update or end
//	rev                   orders the states of a match: the app ignores a message with a lower one than it shows
//	at                    the time of the state, epoch s
//	stale                 when the state is out of date, epoch s; absent if it stays true
//	chip                  the score of the batting side in up to six characters; absent if there is none
//	display               the JSON of a score.Display; see compact
func (s state) message(now time.Time) (*fcm.Message, error) {
	rev, expires := s.row.At, now.Add(activity.PauseExpiration)
	data := map[string]string{"matchId": s.matchID, "perspective": s.view, "event": s.event}

	switch {
	case s.event == end:
		rev = max(s.ended, s.row.At+1) // newer than the last state, as the end of an activity
		expires = now.Add(activity.EndExpiration)
	case s.row.Playing && s.event == update && s.thinned:
		expires = now.Add(overExpiration)
	case s.row.Playing && s.event == update:
		expires = now.Add(ballExpiration)
	}

	at := rev
	if s.row.Playing && s.event != end {
		data["stale"] = strconv.FormatInt(s.row.At+int64(activity.StaleAfter.Seconds()), 10)
	}

	data["rev"], data["at"] = strconv.FormatInt(rev, 10), strconv.FormatInt(at, 10)

	var d score.Display
	if err := json.Unmarshal([]byte(s.row.Display), &d); err != nil {
		return nil, err
	}

	if text := chip(d); text != "" {
		data["chip"] = text
	}

	left := fcm.MaxTopic - len("display")
	for key, value := range data {
		left -= len(key) + len(value)
	}

	text, err := compact(string(s.row.Display), d, left)
	if err != nil {
		return nil, err
	}

	data["display"] = text

	terms := push.Terms{Priority: apns2.PriorityLow, Expires: expires}
	if s.urgent || s.event != update {
		terms.Priority = apns2.PriorityHigh
	}

	return fcm.Data(now, terms, data)
}

// chipSize is the longest text that a chip of Android's status bar shows whole, in characters.
const chipSize = 6

// chip returns the score of the batting side's innings, such as 214/3, or "" if no side bats or it does not
// fit.
func chip(d score.Display) string {
	for _, side := range [...]score.Side{d.Local, d.Visitor} {
		if !side.Batting {
			continue
		}

		all := strings.Split(strings.TrimSuffix(side.Score, " f/o"), " & ")
		if last := all[len(all)-1]; len(last) <= chipSize {
			return last
		}
	}

	return ""
}

// dropped are the members of a display that a message leaves out if it is too large, the first first: what
// other members say too, then what a card shows last. What remains is less than 1 KB.
var dropped = []func(*score.Display){
	func(d *score.Display) { d.Spoken = "" },
	func(d *score.Display) { d.Result = "" }, // the headline has it
	func(d *score.Display) { d.LastWicket = "" },
	func(d *score.Display) { d.Partnership = "" },
	func(d *score.Display) { d.Detail = "" },
	func(d *score.Display) { d.Bowler = score.Spell{} },
	func(d *score.Display) { d.Batters = nil },
	func(d *score.Display) { d.LastSix = nil },
	func(d *score.Display) { d.SuperOver = "" },
	func(d *score.Display) { d.RunRate, d.NeedRate = "", "" },
}

// compact returns the JSON of a display in at most size bytes: text, which is the whole of it, or without
// members of dropped.
func compact(text string, d score.Display, size int) (string, error) {
	for _, drop := range dropped {
		if len(text) <= size {
			break
		}

		drop(&d)

		b, err := json.Marshal(d)
		if err != nil {
			return "", err
		}

		text = string(b)
	}

	return text, nil
}
