package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/cricket/score"
)

// NewAndroid returns an Android phone of owner, whose app subscribes to the topic of a match. Its token is made of
// its owner's name.
func NewAndroid(owner, matchID, teamID string) Phone {
	return Phone{Owner: owner, MatchID: matchID, TeamID: teamID, Device: "dQw4w9WgXcQ:APA91b-" + token(owner), OS: "16", Android: true}
}

// Card is what the app of an Android phone shows of a match: its Live Update.
type Card struct {
	State            json.RawMessage // a score.Display; nil for no card
	Rev              int64           // that orders states
	At, Stale        time.Time       // of the state, and when it is out of date; zero for never
	Ended            bool
	Chip             string // of the status bar; "" for the icon alone
	Progress         int    // of the innings, in percent; -1 if its length is not known
	Pushes, Outdated int    // messages, and those older than what was shown
	Repeated         int    // messages that the card had already, such as an end that was sent again
}

// Subscribe asks the API for the topic of the phone's match, as its app does, and subscribes to it.
func (w *World) Subscribe(ctx context.Context, p Phone) error {
	body := p.fan()
	body["platform"] = "android"

	var out struct {
		Topic string
		answer
	}
	if err := w.Call(ctx, p.Owner, http.MethodPost, "/cricket/user/activity/"+p.MatchID, body, &out); err != nil {
		return err
	}

	if out.Topic == "" {
		return fmt.Errorf("match %s has no topic", p.MatchID)
	}

	w.Google.Subscribe(p.Device, out.Topic)

	if out.Current != nil {
		w.mu.Lock()
		defer w.mu.Unlock()

		w.cards[p.Device+"/"+p.MatchID] = Card{State: out.Current.Display, Rev: out.Current.At.Unix(), At: out.Current.At}
	}

	return nil
}

// Card returns what an Android phone shows of its match: that of the message with the greatest rev. A start or an
// end counts beside an update of the same rev.
func (w *World) Card(p Phone) (c Card) {
	w.mu.Lock()
	c = w.cards[p.Device+"/"+p.MatchID]
	w.mu.Unlock()

	phone, _ := w.Google.Phone(p.Device)
	seconds := func(text string) time.Time {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}
		}

		return time.Unix(n, 0)
	}

	for _, m := range phone.Received {
		if m.Data["matchId"] != p.MatchID {
			continue
		}

		c.Pushes++

		rev, _ := strconv.ParseInt(m.Data["rev"], 10, 64) // 0 is older than all
		if rev < c.Rev {
			c.Outdated++
			continue
		}

		if rev == c.Rev {
			c.Repeated++
		}

		c.State, c.Rev, c.Chip = json.RawMessage(m.Data["display"]), rev, m.Data["chip"]
		c.At, c.Stale, c.Ended = seconds(m.Data["at"]), seconds(m.Data["stale"]), m.Data["event"] == "end"
	}

	c.Progress = progress(c.State)

	return c
}

// progress returns how much of the innings of the batting side is over, in percent, by the overs of its format; -1
// for a match without a limit, or without a side that bats.
func progress(state json.RawMessage) int {
	var d score.Display
	if json.Unmarshal(state, &d) != nil {
		return -1
	}

	limit := score.Standard(d.Format)

	for _, side := range []score.Side{d.Local, d.Visitor} {
		if !side.Batting || limit == 0 {
			continue
		}

		whole, balls, _ := strings.Cut(cmp.Or(side.Overs, "0"), ".")
		o, _ := strconv.Atoi(whole)
		b, _ := strconv.Atoi(cmp.Or(balls, "0"))

		return min(100*(6*o+b)/(6*limit), 100)
	}

	return -1
}
