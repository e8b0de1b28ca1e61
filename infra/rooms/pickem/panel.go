package pickem

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"regexp"
	"time"

	"matchday/infra/local/console"
	"matchday/pkg/pickem"
)

//go:embed panel
var files embed.FS

// panel has the buttons of the season.
type panel struct {
	season *Season
	look   *console.Look
}

// Panel returns the room's tab: the season in the visitor's app, with buttons
// of an administrator. The fields of the season may be set later, but before the console
// has a fleet.
func (s *Season) Panel() console.Panel {
	page, err := fs.Sub(files, "panel")
	if err != nil {
		panic(err) // the folder is embedded
	}
	p := &panel{s, &console.Look{
		Every: 3 * time.Second,
		Read: func(ctx context.Context) (any, error) {
			defer s.Clock.Work()()
			return s.Look(ctx)
		},
	}}
	return console.Panel{
		Room: pickem.Room().Spec.Name, Title: "Pick'em", Files: page,
		View: func(time.Time) map[string]any {
			if seen := p.look.Latest(); seen != nil {
				return map[string]any{"season": seen}
			}
			return nil
		},
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
		p.look.Again()
		return said, err
	})
}
