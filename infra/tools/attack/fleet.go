package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/sim/lambda"
	"matchday/infra/tools/events/storyfleet"
	"matchday/infra/tools/mutation"
	"matchday/pkg/spec"
)

// Fleet plays the story of the sample events on a local fleet, and attacks each operation where
// the story uses it, while its sample request is accepted. Rows that the attack has changed are
// put back before the story goes on.
type Fleet struct {
	Root    string // folder of the module
	Program string // that holds all functions
	Rooms   []rooms.Room
	// Progress is called before an operation is attacked. It may be nil.
	Progress func(operation string)

	attack     *Attack
	visit      func(context.Context, mutation.Operation, Sample) error // called where the story uses an operation
	skip       func(function string, o mutation.Operation) bool        // the cases that are not played; may be nil
	end        func(context.Context) error                             // called after the story; may be nil
	fleet      *storyfleet.Fleet
	operations map[string]mutation.Operation // by function
	reads      []read                        // of the whole story
	steps      []read                        // of the whole story: redirects, of sign-ins for example
	writes     []read                        // of the story so far
	databases  map[string]*database          // by name

	mu     sync.Mutex
	logs   map[string][]string // by function: its last lines
	closed bool                // functions may fail
}

// read is a sample of an operation that changes nothing.
type read struct {
	mutation.Operation
	Sample
}

// keptLogs is how many of a function's last log lines are kept.
const keptLogs = 25

// Run starts a fleet, and attacks every operation of it. cfg is that of New, without
// what the fleet brings. It returns an error if the attack itself failed: what it found
// is in a.
func (w *Fleet) Run(ctx context.Context, cfg Config) (a *Attack, err error) {
	w.visit = w.storm
	return w.walk(ctx, cfg)
}

// walk starts a fleet and plays the story.
func (w *Fleet) walk(ctx context.Context, cfg Config) (a *Attack, err error) {
	w.logs = map[string][]string{}
	w.operations = map[string]mutation.Operation{}

	w.databases = map[string]*database{}

	f, err := storyfleet.Start(ctx, w.Rooms, fleet.Config{Root: w.Root, Program: w.Program, Log: w.log, Invocation: w.invoked})
	if err != nil {
		return nil, err
	}
	defer func() {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()

		for _, db := range w.databases {
			db.Close(context.WithoutCancel(ctx))
		}

		f.Close() // which ends functions that run
	}()

	w.fleet = f
	cfg.URL, cfg.Logs = f.URL, w.last
	cfg.Token = w.token
	cfg.Pass = func(ctx context.Context) error { return f.Until(ctx, f.Clock.Now().Add(10*time.Millisecond)) }

	w.attack = New(cfg)
	for _, room := range f.Rooms {
		if err := w.describe(ctx, room.Spec); err != nil {
			return w.attack, err
		}
	}

	if err := w.collect(); err != nil {
		return w.attack, err
	}

	if err := w.remember(ctx); err != nil {
		return w.attack, err
	}

	for _, c := range f.Cases {
		if c.Good == "" || w.skip != nil && w.skip(c.Function(), w.operations[c.Function()]) {
			continue
		}

		if err := f.Until(ctx, c.Time); err != nil {
			return w.attack, err
		}

		if err := w.play(ctx, c); err != nil {
			return w.attack, fmt.Errorf("%s: %w", c.Name(), err)
		}
	}

	for _, wrong := range predictable(w.attack.ids.made()) {
		w.attack.Report("ids", wrong)
	}

	if err := f.Settle(ctx); err != nil || w.end == nil {
		return w.attack, err
	}

	return w.attack, w.end(ctx)
}

// collect notes the reads of the whole story: what is written is read by those that come later,
// too, if what they read is there. A GET that only redirects is a step, of a sign-in for example.
func (w *Fleet) collect() error {
	for _, c := range w.fleet.Cases {
		o, ok := w.operations[c.Function()]
		if c.Good == "" || !ok || o.Changes() {
			continue
		}

		event, err := c.Event(w.fleet.Events)
		if err != nil {
			return err
		}

		s, err := sample(o, event, w.fleet.Sessions)
		if err != nil {
			return err
		}

		if _, documented := o.Answer(http.StatusOK); documented {
			w.reads = append(w.reads, read{o, s})
		} else {
			w.steps = append(w.steps, read{o, s})
		}
	}

	return nil
}

// describe reads a room's OpenAPI document from the fleet.
func (w *Fleet) describe(ctx context.Context, room spec.Room) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.fleet.URL+"/"+room.Name+"/openapi.json", nil)
	if err != nil {
		return err
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}

	all, err := mutation.Operations(room, text)
	if err != nil {
		return fmt.Errorf("the OpenAPI document of %s: %w", room.Name, err)
	}

	for _, o := range all {
		w.operations[o.Name()] = o
	}

	return nil
}

// play gives a function its good event. If it has a route, it is attacked: one that
// deletes before, and another after.
func (w *Fleet) play(ctx context.Context, c storyfleet.Case) error {
	function := c.Function()

	event, err := c.Event(w.fleet.Events)
	if err != nil {
		return err
	}

	if err := w.fleet.Settle(ctx); err != nil {
		return err
	}

	o, ok := w.operations[function]
	if !ok {
		w.fleet.Functions.Invoke(ctx, function, event) // invoked reports an error
		return nil
	}

	s, err := sample(o, event, w.fleet.Sessions)
	if err != nil {
		return err
	}

	if w.Progress != nil {
		w.Progress(function)
	}

	if !deletes(o) {
		if err := w.attack.Accepted(ctx, o, s); err != nil {
			return err
		}

		if err := w.fleet.Settle(ctx); err != nil {
			return err
		}
	}

	if err := w.visit(ctx, o, s); err != nil {
		return err
	}

	if deletes(o) {
		if err := w.attack.Accepted(ctx, o, s); err != nil {
			return err
		}

		return w.bury(ctx, o, s)
	}

	if o.Changes() {
		w.writes = append(w.writes, read{o, s})
	}

	return nil
}

// deletes reports whether an operation deletes what its other callers need: by its method, or by a path that says
// that it ends something.
func deletes(o mutation.Operation) bool {
	return o.Method == http.MethodDelete || strings.HasSuffix(o.Path, "/end")
}

// storm attacks an operation, reads what it left, and puts the rows back.
func (w *Fleet) storm(ctx context.Context, o mutation.Operation, s Sample) error {
	before, err := w.rows(ctx, o.Room)
	if err != nil {
		return err
	}

	if err := w.exchange(ctx, o, s, before); err != nil {
		return err
	}

	if err := w.lockOut(ctx, o, s, before); err != nil {
		return err
	}

	if !o.Changes() {
		if err := w.attack.Operation(ctx, o, s); err != nil {
			return err
		}

		if err := w.fleet.Settle(ctx); err != nil {
			return err
		}

		return w.restore(ctx, o.Room, before) // another method of the path may change rows
	}

	if err := w.attack.Operation(ctx, o, s); err != nil {
		return err
	}

	if err := w.fleet.Settle(ctx); err != nil {
		return err
	}

	for _, r := range w.reads {
		if r.Room == o.Room {
			if err := w.attack.Read(ctx, r.Operation, r.Sample, o.Name()); err != nil {
				return err
			}
		}
	}

	return w.restore(ctx, o.Room, before)
}

// sample returns the request of an event. sessions are the users of cookies.
func sample(o mutation.Operation, event []byte, sessions map[string]string) (s Sample, err error) {
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(event, &e); err != nil {
		return s, err
	}

	s = Sample{
		Actor:  Anonymous,
		Path:   (&url.URL{Path: "/" + o.Room + e.RawPath}).EscapedPath(),
		Query:  e.RawQueryString,
		Body:   []byte(e.Body),
		Cookie: strings.Join(e.Cookies, "; "),
		Header: http.Header{},
	}
	for _, p := range o.Params {
		if value := e.Headers[strings.ToLower(p.Name)]; p.In == "header" && value != "" {
			s.Header.Set(p.Name, value)
		}
	}

	if o.Auth == spec.Session {
		s.UserID, s.Actor = sessions[s.Cookie], User
	}

	if o.Auth == spec.User || o.Auth == spec.Admin {
		s.UserID, s.Actor = e.RequestContext.Authorizer.JWT.Claims["sub"], User
	}

	if o.Auth == spec.Admin {
		s.Actor = Administrator
	}

	return s, nil
}

func (w *Fleet) token(a Actor, user string) (string, error) {
	if a == Administrator {
		return w.fleet.Token(user, w.fleet.AdminGroups()...)
	}

	return w.fleet.Token(user)
}

func (w *Fleet) log(l lambda.Log) {
	w.mu.Lock()
	all := append(w.logs[l.Function], l.Line)
	w.logs[l.Function] = all[max(0, len(all)-keptLogs):]
	w.mu.Unlock()

	if strings.Contains(l.Line, "eyJ") && w.attack != nil { // how a token begins
		w.attack.Report(l.Function, "a token in the log")
	}
}

// invoked reports the functions that fail: no input may do that.
func (w *Fleet) invoked(i lambda.Invocation) {
	w.mu.Lock()
	closed := w.closed
	w.mu.Unlock()

	if i.Err != nil && w.attack != nil && !closed {
		text := i.Err.Error()
		if e, ok := errors.AsType[interface {
			error
			ErrorType() string
		}](i.Err); ok {
			text = e.ErrorType() + ": " + text
		}

		w.attack.Report(i.Function, "the function failed: "+text)
	}
}

func (w *Fleet) last(function string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.logs[function])
}
