package commitcollect

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/console"
	"matchday/pkg/commitcollect"
)

//go:embed panel
var files embed.FS

const (
	lookEvery = 2 * time.Second  // wall time between two looks at the visitor's app
	patience  = 10 * time.Second // with a look
)

// panel returns the room's tab: the app of the visitor, and the visitor's athlete at Strava.
func (v *visit) panel() console.Panel {
	page, err := fs.Sub(files, "panel")
	if err != nil {
		panic(err) // the folder is embedded
	}
	p := &panel{visit: v}
	return console.Panel{
		Room: commitcollect.Room.Name, Title: "CommitCollect", Files: page, View: p.view,
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

// panel reads the visitor's app regularly, and shows the latest.
type panel struct {
	visit   *visit
	looking sync.Mutex // held while the app is read

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
	return map[string]any{"collect": p.seen}
}

// look reads the view from the API. If that fails, the page keeps the previous view, and the
// error of the function is listed with the problems. p.looking is held.
func (p *panel) look() {
	if p.visit.browser == nil { // the fleet starts
		return
	}
	defer p.visit.Clock.Work()()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := p.visit.look(ctx)
	if err != nil {
		return
	}
	text, _ := json.Marshal(v) // of strings, numbers and JSON
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = text
}

// button returns a button of the visitor. The page shows the change at once.
func button[T any](p *panel, do func(context.Context, T) (string, error)) console.Button {
	return console.NewButton(func(ctx context.Context, in T) (string, error) {
		if p.visit.browser == nil {
			return "", errors.New("the fleet is starting")
		}
		said, err := do(ctx, in)
		p.looking.Lock() // a view that is being read may be older
		defer p.looking.Unlock()
		p.look()
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
