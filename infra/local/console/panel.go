package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/stepfunctions"
)

// Panel is a room's part of the console: a tab with the room's own sections beside
// those that every tab has. Fields other than Room and Title may be nil.
type Panel struct {
	Room  string // its name in the spec; the tab is at /<room>/
	Title string

	// Files has panel.html and the files that it needs, served below /console/<room>/. The
	// shell's page draws the blocks that panel.html defines: "main" and "aside" on top, "below"
	// under both, "state" beside the schedules, "controls" above the push service's, "notes" in
	// the footer, "templates" at the end. panel.css is linked. panel.js exports draw, functions by
	// section, and may export everySecond, resized and start.
	Files fs.FS

	// View returns the room's sections, which must encode as JSON. It is called
	// several times a second while a browser shows the tab, and must not block.
	View func(now time.Time) map[string]any
	// Owners returns the owners of push tokens and channels, by the text in
	// apns.Push.Token. It must not block.
	Owners func() map[string]Owner
	// Buttons are served at POST /console/<room>/<name>.
	Buttons map[string]Button

	// Hooks that get the same as those of Hub. They must not block.
	Log        func(lambda.Log)
	Invocation func(lambda.Invocation)
	Transition func(machine string, t stepfunctions.Transition)
}

// FilesOf returns the files of a room's panel, which are embedded in the folder panel.
func FilesOf(embedded embed.FS) fs.FS {
	files, err := fs.Sub(embedded, "panel")
	if err != nil {
		panic(err) // it has the folder
	}

	return files
}

// Owner is the owner of a push in the list.
type Owner struct {
	Name  string
	About string
}

// Button performs the action that the body of a request describes. It returns a
// sentence for the page. It is called with clock work held.
type Button func(ctx context.Context, body []byte) (said string, err error)

// NewButton returns a button whose body is a T, without other fields.
func NewButton[T any](do func(context.Context, T) (said string, err error)) Button {
	return func(ctx context.Context, body []byte) (string, error) {
		var in T

		d := json.NewDecoder(strings.NewReader(string(body)))
		d.DisallowUnknownFields()

		if err := d.Decode(&in); err != nil {
			return "", errors.New("invalid body")
		}

		return do(ctx, in)
	}
}

const longestText = 400 // bytes of an error or message body on the page

// tokens matches push tokens and keys: nothing else in a log is that long.
var tokens = regexp.MustCompile(`[0-9a-fA-F]{40,}`)

// Text shortens a text for the page and removes push tokens from it.
func Text(text string) string {
	text = tokens.ReplaceAllStringFunc(text, func(t string) string { return t[:8] + "…" })
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}

	return text
}

// sentence returns the text of an error for the page: the detail of a failed API call.
func sentence(err error) string {
	if r, ok := errors.AsType[*fleet.Refusal](err); ok {
		var problem struct{ Detail string }
		if json.Unmarshal(r.Body, &problem) == nil && problem.Detail != "" {
			return problem.Detail
		}
	}

	return Text(err.Error())
}
