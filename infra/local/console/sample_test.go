package console

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/ses"
	"matchday/infra/sim/sqs"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

var start = time.Date(2026, 6, 6, 18, 41, 0, 0, time.UTC)

var (
	rain = spec.Queue{Name: "lab-rain", MaxReceiveCount: 3, Batch: 1, Concurrency: 2}
	lab  = spec.Room{Name: "lab", Functions: []spec.Function{
		{Name: "lab/get-weather", On: spec.Route{Method: "GET", Path: "/weather"}},
		{Name: "lab/count-rain", On: rain},
		{Name: "lab/forecast", On: spec.Schedule("rate(1 minute)")},
	}}
	barn = spec.Room{Name: "barn", Functions: []spec.Function{{Name: "barn/get-cow", On: spec.Route{Method: "GET", Path: "/cow"}}}}
)

// sample is a fleet of two rooms without processes. The room lab has a panel with
// files, a section and a button; the room barn has only a tab.
type sample struct {
	*fleet.Fleet
	hub *Hub

	mu      sync.Mutex
	weather string
	owners  map[string]Owner
}

// newSample makes a sample that the hub does not have yet.
func newSample(t testing.TB) *sample {
	t.Helper()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Work()) // the clock stands while the test works

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	s := &sample{weather: "dry", owners: map[string]Owner{}}
	s.hub = NewHub(Panel{
		Room: "lab", Title: "The lab",
		Files: fstest.MapFS{
			"panel.html": {Data: []byte(`{{define "main"}}<p id="weather"></p><button type="button" id="rain">rain</button>{{end}}`)},
			"panel.css":  {Data: []byte(`#weather { color: red; }`)},
			"panel.js": {Data: []byte(`import { $, press, put, room } from "/console/base.js";
$("rain").addEventListener("click", () => press("lab/weather", { weather: "rain" }));
export const draw = { weather: () => put($("weather"), room.weather) };`)},
		},
		View: func(time.Time) map[string]any {
			s.mu.Lock()
			defer s.mu.Unlock()

			return map[string]any{"weather": s.weather}
		},
		Owners: func() map[string]Owner {
			s.mu.Lock()
			defer s.mu.Unlock()

			return maps.Clone(s.owners)
		},
		Buttons: map[string]Button{"weather": NewButton(func(_ context.Context, in struct{ Weather string }) (string, error) {
			if in.Weather == "" {
				return "", errors.New("there is always some weather")
			}

			s.mu.Lock()
			defer s.mu.Unlock()

			s.weather = in.Weather

			return "Expect " + in.Weather + ".", nil
		})},
	}, Panel{Room: "barn", Title: "The barn"})

	functions, err := lambda.New(c, lambda.Config{})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(functions.Close)

	s.Fleet = &fleet.Fleet{
		Config:    fleet.Config{Clock: c, Rooms: []fleet.Room{{Room: app.Room{Spec: lab}}, {Room: app.Room{Spec: barn}}}},
		URL:       "http://localhost:8080",
		Functions: functions,
		Queues:    sqs.New(c, "http://localhost/sqs"),
		Mail:      ses.New(ses.Config{Clock: c}),
		Phones:    apns.New(c, apns.Config{TeamID: "TEAM123456", KeyID: "KEY1234567", PublicKey: &key.PublicKey, Bundle: "app.lab"}),
	}
	for _, room := range s.Rooms {
		for _, fn := range room.Spec.Functions {
			functions.Add(lambda.Function{Name: fn.Name})
		}
	}

	for _, q := range []sqs.Queue{
		{Name: "local-" + rain.DeadLetter()},
		{Name: "local-" + rain.Name, MaxReceives: rain.MaxReceiveCount, DeadLetter: "local-" + rain.DeadLetter()},
	} {
		if err := s.Queues.Create(q); err != nil {
			t.Fatal(err)
		}
	}

	return s
}

func (s *sample) attach() *sample {
	s.hub.Attach(s.Fleet)
	return s
}

// own sets the owner of a token in the panel.
func (s *sample) own(token string, o Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.owners[token] = o
}
