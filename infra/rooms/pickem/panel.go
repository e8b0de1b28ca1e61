package pickem

import (
	"context"
	"embed"
	"errors"
	"regexp"
	"time"

	"matchday/infra/local/console"
	"matchday/pkg/pickem"
)

//go:embed panel
var files embed.FS

// Panel returns the room's tab: the season in the visitor's app, with buttons
// of an administrator. The fields of the season may be set later, but before the console
// has a fleet.
func (s *Season) Panel() console.Panel {
	look := &console.Look{Every: 3 * time.Second, Read: func(ctx context.Context) (any, error) {
		defer s.Clock.Work()()
		return s.Look(ctx)
	}}
	button := func(do func(context.Context, order) (string, error)) console.Button {
		return console.NewButtonOf(look, func(ctx context.Context, in order) (string, error) {
			if !eventIDs.MatchString(in.Event) {
				return "", errors.New("the show does not exist")
			}

			return do(ctx, in)
		})
	}

	return console.Panel{
		Room: pickem.Room().Spec.Name, Title: "Pick'em", Files: console.FilesOf(files),
		View: look.View("season"),
		Buttons: map[string]console.Button{
			"pick": button(func(ctx context.Context, in order) (string, error) {
				return "Your picks are saved.", s.Pick(ctx, Visitor, in.Event, in.Picks)
			}),
			"lock": button(func(ctx context.Context, in order) (string, error) {
				return "It is locked, and begins.", s.Lock(ctx, in.Event)
			}),
			"result":  button(func(ctx context.Context, in order) (string, error) { return s.EnterResult(ctx, in.Event) }),
			"correct": button(func(ctx context.Context, in order) (string, error) { return s.Correct(ctx, in.Event) }),
			"score": button(func(ctx context.Context, in order) (string, error) {
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
