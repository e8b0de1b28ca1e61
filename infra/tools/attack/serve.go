package attack

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/infra/tools/mutation"
	"matchday/pkg/spec"
)

// Served is a fleet that serves requests, with what the story has stored.
type Served struct {
	URL   string
	Rooms []string
	// Actors are the headers by which the callers of a room are known: Anonymous has none.
	Actors map[string]map[string]http.Header
	// Samples are the parameters of the sample requests, by operation.
	Samples map[string]map[string]string
	// Auth is who may call an operation.
	Auth map[string]spec.Auth
}

// WithSession is the actor with a session cookie.
const WithSession Actor = "session"

// Serve starts a fleet, and plays what the story creates and changes, but neither what it deletes nor
// sign-outs. It calls do while the fleet serves requests and its time passes. It returns the
// functions that failed, beside its error.
func (w *Fleet) Serve(ctx context.Context, do func(context.Context, Served) error) (failed []*Finding, err error) {
	out := Served{Actors: map[string]map[string]http.Header{}, Samples: map[string]map[string]string{}, Auth: map[string]spec.Auth{}}

	w.visit = func(_ context.Context, o mutation.Operation, s Sample) error {
		base, err := draft(o, s)
		if err != nil {
			return err
		}

		out.Auth[o.Name()], out.Samples[o.Name()] = o.Auth, base.Params

		return w.identify(out.Actors, o, s)
	}

	w.skip = func(name string, o mutation.Operation) bool {
		return deletes(o) || slices.ContainsFunc([]string{"sign-out", "forget-user", "delete-"}, func(part string) bool {
			return strings.Contains(name, part)
		})
	}
	w.end = func(ctx context.Context) error {
		out.URL = w.fleet.URL
		for _, r := range w.Rooms {
			out.Rooms = append(out.Rooms, r.Spec.Name)
		}

		return w.passing(ctx, func() error { return do(ctx, out) })
	}

	a, err := w.walk(ctx, Config{})
	if a != nil {
		failed = slices.DeleteFunc(a.Findings(), func(f *Finding) bool { return f.Kind != "afterwards" }) // of an answer to the story
	}

	return failed, err
}

// identify notes the headers of the actor of a sample, and those of an administrator.
func (w *Fleet) identify(actors map[string]map[string]http.Header, o mutation.Operation, s Sample) error {
	if actors[o.Room] == nil {
		actors[o.Room] = map[string]http.Header{string(Anonymous): {}}
	}

	switch o.Auth {
	case spec.Session:
		actors[o.Room][string(WithSession)] = http.Header{"Cookie": {s.Cookie}, "Origin": {w.fleet.URL}}
	case spec.User, spec.Admin:
		if actors[o.Room][string(s.Actor)] != nil {
			return nil
		}

		token, err := w.token(s.Actor, s.UserID)
		if err != nil {
			return err
		}

		actors[o.Room][string(s.Actor)] = http.Header{"Authorization": {"Bearer " + token}}
	}

	return nil
}

// passing lets time pass while do works.
func (w *Fleet) passing(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()

	for {
		select {
		case err := <-done:
			return err
		case <-time.After(patience):
			if err := w.fleet.Until(ctx, w.fleet.Clock.Now().Add(patience)); err != nil {
				return err
			}
		}
	}
}
