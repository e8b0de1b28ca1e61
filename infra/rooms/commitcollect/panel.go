package commitcollect

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"matchday/infra/local/console"
	"matchday/pkg/commitcollect"
)

//go:embed panel
var files embed.FS

var errStarting = errors.New("the fleet is starting")

// panel has the buttons of the visitor.
type panel struct {
	visit *visit
	look  *console.Look
}

// panel returns the room's tab: the app of the visitor, and the visitor's athlete at Strava.
func (v *visit) panel() console.Panel {
	page, err := fs.Sub(files, "panel")
	if err != nil {
		panic(err) // the folder is embedded
	}
	p := &panel{v, &console.Look{
		Every: 2 * time.Second,
		Read: func(ctx context.Context) (any, error) {
			if v.browser == nil {
				return nil, errStarting
			}
			defer v.Clock.Work()()
			return v.look(ctx)
		},
	}}
	return console.Panel{
		Room: commitcollect.Room().Spec.Name, Title: "CommitCollect", Files: page,
		View: func(time.Time) map[string]any {
			if seen := p.look.Latest(); seen != nil {
				return map[string]any{"collect": seen}
			}
			return nil
		},
		Buttons: map[string]console.Button{
			"connect":    button(p, func(ctx context.Context, _ struct{}) (string, error) { return v.connect(ctx) }),
			"disconnect": button(p, func(ctx context.Context, _ struct{}) (string, error) { return v.disconnect(ctx) }),
			"start":      button(p, v.start),
			"set":        button(p, v.set),
			"go":         button(p, v.goOut),
			"delete":     button(p, v.delete),
			"why":        button(p, v.why),
		},
	}
}

// button returns a button of the visitor. The page shows the change at once.
func button[T any](p *panel, do func(context.Context, T) (string, error)) console.Button {
	return console.NewButton(func(ctx context.Context, in T) (string, error) {
		if p.visit.browser == nil {
			return "", errStarting
		}
		said, err := do(ctx, in)
		p.look.Again()
		return said, err
	})
}

// ids are those of activities and of milestones: they become part of a path.
var ids = regexp.MustCompile(`^[0-9A-Z]{1,26}$`)

func isID(all ...string) error {
	for _, id := range all {
		if !ids.MatchString(id) {
			return errors.New("there is no such id")
		}
	}
	return nil
}

func kilometres(metres int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(metres)/1000), ".0") + " km"
}
