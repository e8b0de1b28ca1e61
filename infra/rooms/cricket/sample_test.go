package cricket

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/lambda"
	sim "matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/sim/sqs"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

var start = time.Date(2026, 6, 6, 18, 41, 0, 0, time.UTC)

// sample is a fleet in one process, with the usual engines and simulators. The test runs the
// live loop, one tick at a time, on a clock that only the test moves.
type sample struct {
	*local.World
	t      testing.TB
	hub    *console.Hub
	match  *script.Match
	phones []local.Phone
	sender *push.Sender
	ticks  int
	ask    ask // the room's API
}

// newSample starts in the middle of a generated T20, with n balls before the first tick. It has no
// API.
func newSample(t testing.TB, played int) *sample {
	t.Helper()

	c := clock.New(start, clock.Free)
	t.Cleanup(c.Work()) // the clock stands while the test works

	return newSampleAt(t, c, played)
}

// newSampleAt is newSample on a clock that the test holds.
func newSampleAt(t testing.TB, c *clock.Clock, played int) *sample {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	s := &sample{World: local.New(), t: t, match: script.Generate(7, cricsheet.T20)}
	s.ask = func(context.Context, string, string, any) error { return errors.New("there is no API") }
	s.hub = console.NewHub(panel(s.World, func() []local.Phone { return s.phones },
		func(ctx context.Context, user, path string, out any) error { return s.ask(ctx, user, path, out) }))

	const team, keyID, bundle = "TEAM123456", "KEY1234567", "app.matchday.test"

	phones := apns.New(c, apns.Config{TeamID: team, KeyID: keyID, PublicKey: &key.PublicKey, Bundle: bundle, Observe: s.hub.Push})
	if err := phones.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { phones.Close() })

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(phones.CA())

	s.sender, err = push.Open(push.Config{
		Endpoint:      phones.URL(),
		TeamID:        team,
		KeyID:         keyID,
		Key:           key,
		Bundle:        bundle,
		Now:           c.Now,
		RootCAs:       roots,
		DialTimeout:   time.Minute,
		AnswerTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}

	functions, err := lambda.New(c, lambda.Config{})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(functions.Close)
	s.Fleet = &fleet.Fleet{
		Config:    fleet.Config{Clock: c, Rooms: []fleet.Room{s.Room()}},
		URL:       "http://localhost:8080",
		Functions: functions,
		Queues:    sqs.New(c, "http://localhost/sqs"),
		Phones:    phones,
	}

	s.Provider = sim.New(c, "token")
	for _, room := range s.Rooms {
		for _, fn := range room.Spec.Functions {
			functions.Add(lambda.Function{Name: fn.Name})

			if q, ok := fn.On.(spec.Queue); ok {
				if err := s.Queues.Create(sqs.Queue{Name: "local-" + q.DeadLetter(), FIFO: q.FIFO()}); err != nil {
					t.Fatal(err)
				}

				if err := s.Queues.Create(sqs.Queue{
					Name:        "local-" + q.Name,
					FIFO:        q.FIFO(),
					MaxReceives: q.MaxReceiveCount,
					DeadLetter:  "local-" + q.DeadLetter(),
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}

	s.Provider.Play(s.match, c.Now().Add(-time.Duration(played)*slot*time.Millisecond), sim.Pace{Every: slot * time.Millisecond})
	id := local.ID(s.match.ID)
	s.phones = []local.Phone{
		local.NewPhone("u1", id, ""),
		local.NewPhone("u2", id, local.ID(s.match.Local.ID)),
		local.NewPhone("u3", id, local.ID(s.match.Visitor.ID)),
	}

	return s
}

func (s *sample) attach() *sample {
	s.hub.Attach(s.Fleet)
	return s
}

// tick simulates a slot: it polls, and pushes the displays to the phones.
func (s *sample) tick() {
	s.t.Helper()

	due := s.Clock.Now().Truncate(slot * time.Millisecond).Add(slot * time.Millisecond)
	if err := s.Clock.Sleep(s.t.Context(), due); err != nil {
		s.t.Fatal(err)
	}

	s.ticks++
	request := fmt.Sprintf("request-%d", s.ticks)
	lag, took := 2+float64(s.ticks*37%11)/3, 18+float64(s.ticks*53%29)
	s.hub.Log(lambda.Log{Function: tickFunction, RequestID: request, Time: due, Line: fmt.Sprintf(
		`{"time":"2026-06-06T18:41:00Z","level":"INFO","msg":"metrics","function":"cricket-tick","TickLag":%g,"TickTime":%g,"MatchesLive":1,"MatchesChanged":%d,"_aws":{"Timestamp":1},"slot":%d}`,
		lag, took, s.ticks%6/2, due.UnixMilli()/slot)})
	s.hub.Invocation(lambda.Invocation{
		Function:  tickFunction,
		RequestID: request,
		Scheduled: due.Truncate(time.Second),
		Duration:  time.Duration(took) * time.Millisecond,
	})
	s.deliver()
}

// deliver pushes the present displays of the feed to the phones.
func (s *sample) deliver() {
	s.t.Helper()

	w := httptest.NewRecorder()
	s.Provider.ServeHTTP(w, httptest.NewRequest("GET",
		"/api/v2.0/livescores?api_token=token&include=balls,runs,batting,bowling,scoreboards,lineup,localteam,visitorteam,league,season,venue",
		nil))

	entries, err := sportmonks.Split(w.Body.Bytes())
	if err != nil || len(entries) != 1 {
		s.t.Fatalf("%d matches, %v", len(entries), err)
	}

	f, err := sportmonks.Decode(entries[0].Raw)
	if err != nil {
		s.t.Fatal(err)
	}

	now, _ := scorer.Read(f, score.State{})
	for _, p := range s.phones {
		s.show(p, now.For(p.TeamID))
	}
}

// show pushes a display to a phone.
func (s *sample) show(p local.Phone, d score.Display) {
	s.t.Helper()
	at := s.Clock.Now()

	m, err := push.Update(push.State{Content: d, Time: at, Stale: at.Add(30 * time.Minute)})
	if err != nil {
		s.t.Fatal(err)
	}

	s.send(m, p.Token)
}

// alert sends a notification to a phone, a second after the previous push.
func (s *sample) alert(p local.Phone, key, title, body string) {
	s.t.Helper()

	if err := s.Clock.Sleep(s.t.Context(), s.Clock.Now().Add(time.Second)); err != nil {
		s.t.Fatal(err)
	}

	m, err := push.Notify(push.Alert{Banner: push.Banner{Title: title, Body: body}, Collapse: key})
	if err != nil {
		s.t.Fatal(err)
	}

	s.send(m, p.Device)
}

func (s *sample) send(m *push.Message, token string) {
	s.t.Helper()

	if _, err := s.sender.Send(context.WithoutCancel(s.t.Context()), m, slices.Values([]string{token}),
		func(string, push.Outcome) {}); err != nil {
		s.t.Fatal(err)
	}
}

// dress fills every section of the page.
func (s *sample) dress() {
	s.t.Helper()

	for m := range 2 {
		began := start.Add(time.Duration(m) * time.Minute)
		name := began.Format("20060102T150405") + "-1"
		step := func(state string, item int, kind stepfunctions.Kind) {
			s.hub.Transition("cricket-live-loop", stepfunctions.Transition{Execution: name, Time: began, State: state, Item: item, Kind: kind})
		}
		step("Plan", -1, stepfunctions.Entered)
		step("Plan", -1, stepfunctions.Exited)
		step("Ticks", -1, stepfunctions.Entered)

		for i := range 24 {
			step("UntilDue", i, stepfunctions.Entered)

			if m == 0 || i < 9 {
				step("UntilDue", i, stepfunctions.Exited)
				step("Tick", i, stepfunctions.Entered)
				step("Tick", i, stepfunctions.Exited)
			}
		}

		if m == 0 {
			step("Ticks", -1, stepfunctions.Exited)
		}
	}

	now := s.Clock.Now()
	s.hub.Log(lambda.Log{
		Function:  tickFunction,
		RequestID: "x",
		Time:      now,
		Line:      `{"level":"WARN","msg":"the provider fails; the last good state stands","function":"cricket-tick","kind":"Unavailable","err":"sportmonks: 503 Service Unavailable"}`,
	})
	s.hub.Invocation(lambda.Invocation{Function: "cricket/push-activities", RequestID: "y", Scheduled: now, Duration: 41 * time.Millisecond})

	reason := "the message cannot be read"
	if _, err := s.Queues.Send("local-cricket-push-activities-dead", sqs.Message{
		Body: `{"matchId":7}`, Attributes: map[string]sqs.Attribute{queue.ReasonAttribute: {DataType: "String", StringValue: &reason}},
	}); err != nil {
		s.t.Fatal(err)
	}
}
