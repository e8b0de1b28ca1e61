package pickem

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"sync"
	"time"

	"matchday/infra/local/console"
	"matchday/pkg/pickem"
)

//go:embed panel
var files embed.FS

const (
	lookEvery = 3 * time.Second  // wall time between two looks at the season
	patience  = 10 * time.Second // with a look
)

// Panel returns the room's tab: the season in the visitor's app, with buttons
// of an administrator. The fields of the season may be set later, but before the console
// has a fleet.
func (s *Season) Panel() console.Panel {
	page, err := fs.Sub(files, "panel")
	if err != nil {
		panic(err) // the folder is embedded
	}
	p := &panel{season: s}
	return console.Panel{
		Room: pickem.Room.Name, Title: "Pick'em", Files: page, View: p.view,
		Buttons: map[string]console.Button{
			"pick": p.button(func(ctx context.Context, in order) (string, error) {
				return "Your picks are saved.", s.Pick(ctx, Visitor, in.Event, in.Picks)
			}),
			"lock": p.button(func(ctx context.Context, in order) (string, error) {
				return "It is locked, and begins.", s.Lock(ctx, in.Event)
			}),
			"result":  p.button(func(ctx context.Context, in order) (string, error) { return s.EnterResult(ctx, in.Event) }),
			"correct": p.button(func(ctx context.Context, in order) (string, error) { return s.Correct(ctx, in.Event) }),
			"score": p.button(func(ctx context.Context, in order) (string, error) {
				return "The points are being computed.", s.Score(ctx, in.Event)
			}),
		},
	}
}

// panel reads the view of the season regularly, and shows the latest.
type panel struct {
	season  *Season
	looking sync.Mutex // held while the view is read

	mu     sync.Mutex
	looked time.Time // wall time of the latest look's begin
	seen   json.RawMessage
}

// view returns the latest view. It starts to read a new one if that is due.
func (p *panel) view(time.Time) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) >= lookEvery && p.looking.TryLock() {
		p.looked = time.Now()
		go func() {
			defer p.looking.Unlock()
			p.look()
		}()
	}
	if p.seen == nil {
		return nil
	}
	return map[string]any{"season": p.seen}
}

// look reads the view from the API. If that fails, the page keeps the previous view, and the
// error of the function is listed with the problems. p.looking is held.
func (p *panel) look() {
	defer p.season.Clock.Work()()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := p.season.Look(ctx)
	if err != nil {
		return
	}
	text, _ := json.Marshal(v) // of strings, numbers and JSON
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = text
}

// order is the request body of all buttons.
type order struct {
	Event string
	Picks map[string]string // pick: id of a team by match id
}

// eventIDs are the ids of events: they become part of a path.
var eventIDs = regexp.MustCompile(`^[a-z0-9-]{1,60}$`)

// button returns a button that changes the season. The page shows the change at
// once.
func (p *panel) button(do func(context.Context, order) (string, error)) console.Button {
	return console.NewButton(func(ctx context.Context, in order) (string, error) {
		if !eventIDs.MatchString(in.Event) {
			return "", errors.New("the show does not exist")
		}
		said, err := do(ctx, in)
		p.looking.Lock() // a view that is being read may be older
		defer p.looking.Unlock()
		p.look()
		return said, err
	})
}
