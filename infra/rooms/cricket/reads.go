package cricket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms/cricket/local"
	"matchday/pkg/kit/httpapi"
)

// ask gets a path of the room's API as user, or without a token if user is "". The error is a
// *fleet.Refusal for an answer with a status over 299.
type ask func(ctx context.Context, user, path string, out any) error

// reads are the parts of the tab that show answers of the API: the scorecard of a match, the matches
// of a day, and the home of a fan. All browsers show the same choice.
type reads struct {
	world  *local.World
	phones func() []local.Phone
	ask    ask

	card, day, home *console.Look

	mu       sync.Mutex
	selected selection
}

// selection is what is shown. The body of a request changes the fields that it has.
type selection struct {
	Match    string // its id; "" for the match of the first phone
	Fan      string // the owner of a phone; "" for that of the first
	TimeZone string // of the day, by its name in the IANA database; "" until a page has given its own
	Date     string // as 2026-06-06; "" for today
}

func newReads(w *local.World, phones func() []local.Phone, a ask) *reads {
	r := &reads{world: w, phones: phones, ask: a}
	look := func(read func(context.Context, selection) (any, error)) *console.Look {
		return &console.Look{Every: slot * time.Millisecond, Read: func(ctx context.Context) (any, error) {
			defer w.Clock.Work()()
			return read(ctx, r.chosen())
		}}
	}
	r.card, r.day, r.home = look(r.readCard), look(r.readDay), look(r.readHome)

	return r
}

// view adds the sections that have been read to a view.
func (r *reads) view(state map[string]any) {
	for section, look := range map[string]*console.Look{"card": r.card, "day": r.day, "home": r.home} {
		if seen := look.Latest(); seen != nil {
			state[section] = seen
		}
	}
}

// chosen returns the choice with its defaults.
func (r *reads) chosen() selection {
	r.mu.Lock()
	c := r.selected
	r.mu.Unlock()

	if phones := r.phones(); len(phones) > 0 {
		c.Match, c.Fan = cmp.Or(c.Match, phones[0].MatchID), cmp.Or(c.Fan, phones[0].Owner)
	}

	return c
}

// choose changes the choice, and reads what it changes.
func (r *reads) choose(_ context.Context, in selection) (string, error) {
	if _, err := matchID(in.Match); err != nil {
		return "", err
	}

	if in.Fan != "" && !slices.Contains(r.fans(), in.Fan) {
		return "", errors.New("no phone belongs to this fan")
	}

	if in.TimeZone != "" {
		if _, err := httpapi.TimeZone(in.TimeZone); err != nil {
			return "", err
		}
	}

	if in.Date != "" {
		if _, err := time.Parse(time.DateOnly, in.Date); err != nil {
			return "", errors.New("a day is written as 2026-06-06")
		}
	}

	before := r.chosen()

	r.mu.Lock()
	c := &r.selected
	c.Match, c.Fan = cmp.Or(in.Match, c.Match), cmp.Or(in.Fan, c.Fan)
	c.TimeZone, c.Date = cmp.Or(in.TimeZone, c.TimeZone), cmp.Or(in.Date, c.Date)
	r.mu.Unlock()

	now := r.chosen()
	if now.Match != before.Match {
		r.card.Again()
	}

	if now.TimeZone != before.TimeZone || now.Date != before.Date {
		r.day.Again()
	}

	if now.Fan != before.Fan {
		r.home.Again()
	}

	return "", nil
}

// fans returns the owners of the phones, each once.
func (r *reads) fans() []string {
	all := []string{}

	for _, p := range r.phones() {
		if !slices.Contains(all, p.Owner) {
			all = append(all, p.Owner)
		}
	}

	return all
}

// read is an answer of the API as it came, or why there is none.
type read struct {
	Answer json.RawMessage `json:"answer,omitempty"`
	Status int             `json:"status,omitempty"`  // of a refusal
	Why    string          `json:"refused,omitempty"` // the refusal
}

func (r *reads) get(ctx context.Context, user, path string) (out read, err error) {
	err = r.ask(ctx, user, path, &out.Answer)
	if refusal, ok := errors.AsType[*fleet.Refusal](err); ok {
		return read{Status: refusal.Status, Why: console.Text(refusal.Error())}, nil
	}

	return out, err
}

// readCard reads the scorecard of the match, and the match for its state and result.
func (r *reads) readCard(ctx context.Context, c selection) (any, error) {
	type card struct {
		Match string `json:"match"` // its id; "" if there is no phone
		Of    read   `json:"of"`    // the list of the match alone
		read
	}

	if c.Match == "" {
		return card{}, nil
	}

	of, err := r.get(ctx, "", "/matches?ids="+c.Match)
	if err != nil {
		return nil, err
	}

	answer, err := r.get(ctx, "", "/matches/"+c.Match+"/scorecard")

	return card{c.Match, of, answer}, err
}

func (r *reads) readDay(ctx context.Context, c selection) (any, error) {
	type day struct {
		TimeZone string `json:"timeZone"` // "" asks the page for its own
		Date     string `json:"date"`
		read
	}

	if c.TimeZone == "" {
		return day{}, nil
	}

	zone, err := httpapi.TimeZone(c.TimeZone)
	if err != nil {
		return nil, err
	}

	date := cmp.Or(c.Date, r.world.Clock.Now().In(zone).Format(time.DateOnly))
	answer, err := r.get(ctx, "", "/matches?"+url.Values{"date": {date}, "timeZone": {c.TimeZone}}.Encode())

	return day{c.TimeZone, date, answer}, err
}

// readHome reads the home of the fan, and which matches the fan follows.
func (r *reads) readHome(ctx context.Context, c selection) (any, error) {
	type home struct {
		Fan     string   `json:"fan"` // "" if there is no phone
		Fans    []string `json:"fans"`
		Follows read     `json:"follows"`
		read
	}

	if c.Fan == "" {
		return home{Fans: []string{}}, nil
	}

	answer, err := r.get(ctx, c.Fan, "/user/home")
	if err != nil {
		return nil, err
	}

	follows, err := r.get(ctx, c.Fan, "/user/follows")

	return home{c.Fan, r.fans(), follows, answer}, err
}

// apiOf returns ask for the fleet of w.
func apiOf(w *local.World) ask {
	return func(ctx context.Context, user, path string, out any) error {
		return w.Call(ctx, user, http.MethodGet, "/cricket"+path, nil, out)
	}
}
