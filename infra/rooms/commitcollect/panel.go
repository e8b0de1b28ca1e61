package commitcollect

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"matchday/infra/local/console"
	"matchday/pkg/commitcollect"
)

//go:embed panel
var files embed.FS

var errStarting = errors.New("the fleet is starting")

// panel returns the room's tab: the app of the visitor, and the visitor's athlete at Strava.
func (v *visit) panel() console.Panel {
	look := &console.Look{Every: 2 * time.Second, Read: func(ctx context.Context) (any, error) {
		if v.browser == nil {
			return nil, errStarting
		}
		defer v.Clock.Work()()

		return v.look(ctx)
	}}

	buttons := map[string]console.Button{
		"connect":    button(v, look, func(ctx context.Context, _ struct{}) (string, error) { return v.connect(ctx) }),
		"disconnect": button(v, look, func(ctx context.Context, _ struct{}) (string, error) { return v.disconnect(ctx) }),
		"start":      button(v, look, v.start),
		"set":        button(v, look, v.set),
		"go":         button(v, look, v.goOut),
		"delete":     button(v, look, v.delete),
		"why":        button(v, look, v.why),
		"share":      button(v, look, v.share),
		"unshare":    button(v, look, v.unshare),
	}
	maps.Copy(buttons, v.phoneButtons(look))

	return console.Panel{
		Room: commitcollect.Room().Spec.Name, Title: "CommitCollect", Files: console.FilesOf(files),
		View:    look.View("collect"),
		Buttons: buttons,
	}
}

// button returns a button of the visitor.
func button[T any](v *visit, look *console.Look, do func(context.Context, T) (string, error)) console.Button {
	return console.NewButtonOf(look, func(ctx context.Context, in T) (string, error) {
		if v.browser == nil {
			return "", errStarting
		}

		return do(ctx, in)
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
