package cricket

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/sportmonks"
	"matchday/pkg/cricket"
)

//go:embed panel
var files embed.FS

// panel is the room's tab: live matches on phones, what the API answers to an app, ticks by slot,
// and buttons for faults of the provider. phones and a must be safe to call from any goroutine; there
// is a fleet before the first call.
func panel(w *local.World, phones func() []local.Phone, a ask) console.Panel {
	t := newTicks()
	b := buttons{w}
	r := newReads(w, phones, a)

	return console.Panel{
		Room: cricket.Room().Spec.Name, Title: "Cricket", Files: console.FilesOf(files),
		Log: t.Log, Invocation: t.Invocation, Transition: t.Transition,
		View: func(now time.Time) map[string]any {
			state := map[string]any{"matches": matches(w, phones(), now), "faults": w.Provider.Counts(), "choices": choices()}
			r.view(state)

			t.mu.Lock()
			defer t.mu.Unlock()

			state["ticks"], state["machines"] = t.timing(now), t.executions(cricket.Room().Spec.Machines)

			return state
		},
		Owners: func() map[string]console.Owner { return owners(w, phones()) },
		Buttons: map[string]console.Button{
			"fault": console.NewButton(b.fault), "rate": console.NewButton(b.rate), "pause": console.NewButton(b.pause),
			"show": console.NewButton(r.choose),
		},
	}
}

// choice is a button for a fault.
type choice struct {
	Name    string `json:"name"`
	Does    string `json:"does"`
	OfMatch bool   `json:"ofMatch,omitempty"` // a fault in the data of a match, not of the answer
}

// choices are the faults of the provider.
func choices() []choice {
	does := map[sportmonks.Kind]string{
		sportmonks.Late:            "The next ball and all after it come 10 s late.",
		sportmonks.WrongBall:       "The next ball is wrong, and corrected after 10 s.",
		sportmonks.DeletedBall:     "A ball that never was follows the next one, and is taken back.",
		sportmonks.Vanish:          "The match is out of the live feed for 30 s.",
		sportmonks.EarlyFinish:     "At its end the match is Finished for 10 s without a winner.",
		sportmonks.WrongWinner:     "At its end the match has the wrong winner for 10 s.",
		sportmonks.TooManyRequests: "The next poll is answered with 429 and a time to wait.",
		sportmonks.ServerError:     "The next poll gets a 500.",
		sportmonks.Timeout:         "The next poll gets no answer.",
		sportmonks.Truncated:       "The next answer breaks off.",
		sportmonks.HTML:            "The next answer is a web page, with status 200.",
		sportmonks.WrongTypes:      "The next answer has strings for numbers, or null for lists.",
		sportmonks.UnknownStatus:   "The next answer has a status nobody has heard of.",
		sportmonks.ShortBalls:      "The next answer lacks some of the balls.",
		sportmonks.DuplicateBalls:  "The next answer has balls twice.",
	}
	ofMatch := []sportmonks.Kind{
		sportmonks.Late, sportmonks.WrongBall, sportmonks.DeletedBall, sportmonks.Vanish, sportmonks.EarlyFinish, sportmonks.WrongWinner,
	}

	var all []choice
	for _, k := range sportmonks.Kinds() {
		all = append(all, choice{string(k), does[k], slices.Contains(ofMatch, k)})
	}

	return all
}

// buttons returns the buttons that change matches.
type buttons struct{ w *local.World }

// matchID is the provider's id of a match; 0 for any match.
func matchID(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}

	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errors.New("a match is named by its id")
	}

	return id, nil
}

func (b buttons) fault(_ context.Context, in struct{ Match, Kind string }) (string, error) {
	id, err := matchID(in.Match)
	if err != nil {
		return "", err
	}

	if err := b.w.Provider.Inject(sportmonks.Fault{Match: id, Kind: sportmonks.Kind(in.Kind)}); err != nil {
		return "", err
	}

	for _, c := range choices() {
		if c.Name == in.Kind {
			return c.Does, nil
		}
	}

	return in.Kind, nil
}

// The rates that a match can be played at.
const slowest, fastest = 0.1, 100.0

func (b buttons) rate(_ context.Context, in struct {
	Match string
	Rate  float64
}) (string, error) {
	id, err := matchID(in.Match)
	if err != nil {
		return "", err
	}

	if !(in.Rate >= slowest && in.Rate <= fastest) {
		return "", fmt.Errorf("a rate is between %v and %v", slowest, fastest)
	}

	if err := b.w.Provider.SetRate(id, in.Rate); err != nil {
		return "", err
	}

	return fmt.Sprintf("The match goes on at %v× its pace.", in.Rate), nil
}

func (b buttons) pause(_ context.Context, in struct {
	Match string
	Pause bool
}) (string, error) {
	id, err := matchID(in.Match)
	if err != nil {
		return "", err
	}

	if err := b.w.Provider.Pause(id, in.Pause); err != nil {
		return "", err
	}

	if in.Pause {
		return "The match is paused; the ticks go on.", nil
	}

	return "The match goes on.", nil
}
