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

// Panel returns the room's tab: the season as the visitor's app shows it, with
// what an administrator may do. The season may get its fields later, but before
// the console has a fleet.
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

// panel looks at the season now and then, and shows what it saw last.
type panel struct {
	season  *Season
	looking sync.Mutex // held by whoever looks

	mu     sync.Mutex
	looked time.Time // wall time of the latest look's begin
	seen   json.RawMessage
}

// view is the season as it was seen last. It begins a new look if one is due.
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

// look asks the API. If that fails, the page shows what was seen before, and the
// function's error is among the problems. p.looking is held.
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

// order is the body of every button.
type order struct {
	Event string
	Picks map[string]int // pick: place of a team by the match's id
}

// eventIDs are the ids of events: they become part of a path.
var eventIDs = regexp.MustCompile(`^[a-z0-9-]{1,60}$`)

// button returns a button that changes the season. The page shows the change at
// once.
func (p *panel) button(do func(context.Context, order) (string, error)) console.Button {
	return console.NewButton(func(ctx context.Context, in order) (string, error) {
		if !eventIDs.MatchString(in.Event) {
			return "", errors.New("there is no such show")
		}
		said, err := do(ctx, in)
		p.looking.Lock() // what is being looked at may be older
		defer p.looking.Unlock()
		p.look()
		return said, err
	})
}
