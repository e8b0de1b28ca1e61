package cricket

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/push"
)

// TestTiming assembles ticks from the events of the fleet.
func TestTiming(t *testing.T) {
	t.Parallel()

	h := newTicks()
	first := start.UnixMilli() / slot
	due := func(n int64) time.Time { return time.UnixMilli((first + n) * slot) }
	invocation := func(n int64, err error) {
		h.Invocation(lambda.Invocation{Function: tickFunction, RequestID: fmt.Sprint(n), Scheduled: due(n).Truncate(time.Second), Err: err})
	}
	metrics := func(n int64, format string, args ...any) {
		h.Log(lambda.Log{Function: tickFunction, RequestID: fmt.Sprint(n), Time: due(n).Add(time.Second),
			Line: fmt.Sprintf(`{"level":"INFO","msg":"metrics","_aws":{},`+format+`}`, args...)})
	}
	done := func(n int64, lag, took float64) {
		metrics(n, `"TickLag":%g,"TickTime":%g,"MatchesChanged":1,"slot":%d`, lag, took, first+n)
	}
	done(0, 3, 40) // the log comes first
	invocation(0, nil)
	invocation(1, nil) // the log comes last
	done(1, 5, 60)
	metrics(2, `"ProviderFaults":1,"kind":"Limited"`)
	invocation(2, nil)
	invocation(3, errors.New("Task timed out after 8.00 seconds"))
	invocation(5, nil) // its slot was claimed by another tick, so it logs nothing
	done(6, 0, 2600)

	for _, function := range []string{"cricket/push-activities", "cricket/send-alerts"} {
		h.Log(lambda.Log{Function: function, RequestID: function, Line: `{"msg":"metrics","_aws":{},"PushDelay":[700,900],"PushesDelivered":21}`})
	}

	got := h.timing(due(7).Add(time.Second))

	want := []bar{
		{first, 3, 40, 1, "done", ""},
		{first + 1, 5, 60, 1, "done", ""},
		{first + 2, 0, 0, 0, "fault", "Limited"},
		{first + 3, 0, 0, 0, "failed", "Task timed out after 8.00 seconds"},
		{Slot: first + 4, Result: "missed"},
		{Slot: first + 5, Result: "missed"},
		{first + 6, 0, 2600, 1, "done", ""}, // the one after it may still come
	}
	if !reflect.DeepEqual(got.Bars, want) {
		t.Errorf("the bars are\n%+v, want\n%+v", got.Bars, want)
	}

	if got.Claimed != 4 || got.Expected != 7 || got.Ticks != 3 || got.Took.P99 != 2600 || got.Lag.P50 != 3 {
		t.Errorf("the numbers are %+v", got)
	}

	if want := (quantiles{900, 900}); got.Delays != 4 || got.Delay != want {
		t.Errorf("%d delays of pushes have the percentiles %+v, want 4 with %+v", got.Delays, got.Delay, want)
	}
}

func TestIdleMinutesAreNotMissed(t *testing.T) {
	t.Parallel()

	h := newTicks()
	h.first = start.UnixMilli() / slot
	h.Transition("cricket-live-loop", stepfunctions.Transition{
		Execution: "e",
		Time:      start.Add(7 * time.Second),
		State:     "Idle",
		Item:      -1,
		Kind:      stepfunctions.Entered,
	})

	results := map[string]int{}
	for _, b := range h.timing(start.Add(2 * time.Minute)).Bars {
		results[b.Result]++
	}

	if results["missed"] != 23 || results["idle"] != 23 { // the first slot is out of the window, the last is not over
		t.Errorf("the slots are %v", results)
	}
}

// TestPhoneLeftBehind checks which of two phones is shown as outdated.
func TestPhoneLeftBehind(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	s.tick()
	first := s.phones[0]

	s.phones = []local.Phone{local.NewPhone("u9", first.MatchID, "")}
	for range 4 {
		s.tick()
	}

	s.phones = append([]local.Phone{first}, s.phones...)

	got := matches(s.World, s.phones, s.Clock.Now())[0].Screens
	if len(got) != 2 || got[0].Owner != "u1" || !got[0].Behind || got[1].Owner != "u9" || got[1].Behind {
		t.Errorf("the screens are %+v", got)
	}
}

// TestNotes checks the notifications of a phone: newest first, and a correction replaces the
// notification that it corrects.
func TestNotes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	p := s.phones[0]
	p.Starter = strings.Repeat("ab", 32)
	p.Token = ""
	s.phones[0] = p

	look := func() screen { return matches(s.World, s.phones, s.Clock.Now())[0].Screens[0] }
	if o := look(); len(o.Notes) != 0 || o.Received != 0 || o.Activity != "awaited" {
		t.Errorf("at first the screen is %+v", o)
	}

	s.alert(p, "toss", "Toss", "KBM chose to bat")
	s.alert(p, "w1", "Wicket! 1/1", "caught")

	begin, err := push.Begin(push.Activity{Type: "A", Attributes: map[string]string{}}, push.State{
		Content: score.Display{}, Time: s.Clock.Now(), Alert: &push.Banner{Title: "Play has begun"},
	})
	if err != nil {
		t.Fatal(err)
	}

	s.send(begin, p.Starter)
	s.alert(s.phones[1], "w1", "Wicket!", "another's")
	s.alert(p, "fifty", "Fifty", "50 (31)")
	s.alert(p, "w1", "Wicket! 2/1", "bowled")

	o := look()

	var titles []string
	for _, n := range o.Notes {
		titles = append(titles, n.Title)
	}

	if want := []string{"Wicket! 2/1", "Fifty", "Play has begun"}; !slices.Equal(titles, want) || o.Received != 4 {
		t.Errorf("%d notifications, the newest are %q, want %q of 4", o.Received, titles, want)
	}

	if n := o.Notes[0]; n.ID != "w1" || n.Body != "bowled" || n.At != s.Clock.Now().UnixMilli() {
		t.Errorf("the newest is %+v", n)
	}
}

// TestTraits checks the displayed properties of phones.
func TestTraits(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)

	channel, err := s.sender.CreateChannel(t.Context(), push.KeepNothing)
	if err != nil {
		t.Fatal(err)
	}

	id := s.phones[0].MatchID
	listener, starter, calm := local.NewPhone("u4", id, ""), local.NewStarter("u5", id, ""), local.NewPhone("u6", id, "")
	listener.OS, listener.KeyEventsOnly = "18.2", true

	calm.Token, calm.SpoilerFree = "", true
	if !s.Phones.Subscribe(listener.Token, channel) {
		t.Fatal("there is no channel")
	}

	s.phones = []local.Phone{s.phones[0], listener, starter, calm}

	var got []string
	for _, o := range matches(s.World, s.phones, s.Clock.Now())[0].Screens {
		got = append(got, strings.Join(o.Traits, ", ")+": "+o.Activity)
	}

	if want := []string{
		"iOS 17.6: running", "iOS 18.2, broadcast channel, key events only: running", "iOS 17.6, started by push: awaited",
		"iOS 17.6, spoiler-free: none",
	}; !slices.Equal(got, want) {
		t.Errorf("the phones are\n%q, want\n%q", got, want)
	}
}

// TestKindsOfPushes checks the displayed kind and owner of each push, also after its channel is
// deleted.
func TestKindsOfPushes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150).attach()
	server := httptest.NewServer(s.hub.Handler())

	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })

	channel, err := s.sender.CreateChannel(t.Context(), push.KeepNothing)
	if err != nil {
		t.Fatal(err)
	}

	listener := s.phones[1]
	s.Phones.Subscribe(listener.Token, channel)
	state := push.State{Content: score.Display{}, Time: s.Clock.Now(), Alert: &push.Banner{Title: "Play has begun"}}
	starter := local.NewStarter("u5", listener.MatchID, "")
	s.phones = append(s.phones, starter)

	begin, err := push.Begin(push.Activity{Type: "A", Attributes: map[string]string{}}, state)
	if err != nil {
		t.Fatal(err)
	}

	s.send(begin, starter.Starter)
	s.alert(s.phones[2], "toss", "Toss", "")
	s.show(s.phones[0], score.Display{})

	end, err := push.End(state, time.Time{})
	if err != nil {
		t.Fatal(err)
	}

	s.send(end, s.phones[0].Token)

	update, err := push.Update(state)
	if err != nil {
		t.Fatal(err)
	}

	for _, m := range []*push.Message{update, end} {
		if err := s.sender.Broadcast(t.Context(), channel, m); err != nil {
			t.Fatal(err)
		}
	}

	if e := consoletest.Stream(t, server.URL, "cricket")(); len(e.Data.Pushes) != 6 {
		t.Errorf("%d pushes are shown", len(e.Data.Pushes))
	}

	if err := s.sender.DeleteChannel(t.Context(), channel); err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, p := range consoletest.Stream(t, server.URL, "cricket")().Data.Pushes {
		got = append(got, fmt.Sprintf("%s %s, %s %t", p.Kind, p.Owner, p.About, p.Last))
		if len(p.Token) > tokenShown {
			t.Errorf("the token %s is shown", p.Token)
		}
	}

	local, visitor := s.match.Local.Code, s.match.Visitor.Code
	if want := []string{
		"start u5, neutral false", "alert u3, " + visitor + " fan false", "update u1, neutral false", "end u1, neutral false",
		"broadcast channel, for " + local + " fans false", "broadcast channel, for " + local + " fans true",
	}; !slices.Equal(got, want) {
		t.Errorf("the pushes are\n%q, want\n%q", got, want)
	}
}

func TestEveryFaultIsExplained(t *testing.T) {
	t.Parallel()

	all := choices()
	if len(all) != len(sportmonks.Kinds()) {
		t.Errorf("%d of %d faults have a button", len(all), len(sportmonks.Kinds()))
	}

	for _, c := range all {
		if c.Does == "" {
			t.Errorf("the button %q has no description", c.Name)
		}
	}
}

// TestEvents: the tab shows the state of the phones.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	s.tick()
	s.attach()
	server := httptest.NewServer(s.hub.Handler())

	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	next := consoletest.Stream(t, server.URL, "cricket")

	first := next()
	if first.Kind != "snapshot" || len(first.Data.Pushes) != 3 {
		t.Fatalf("first comes a %s with %d pushes", first.Kind, len(first.Data.Pushes))
	}

	for _, name := range []string{"matches", "ticks", "machines", "faults", "choices"} {
		if len(first.Data.Room[name]) == 0 || string(first.Data.Room[name]) == "null" {
			t.Errorf("the snapshot has no %s", name)
		}
	}

	var matches []match
	if err := json.Unmarshal(first.Data.Room["matches"], &matches); err != nil {
		t.Fatal(err)
	}

	for i, screen := range matches[0].Screens {
		held, _ := s.Shows(s.phones[i])
		if string(screen.State) != string(held.State) || screen.TeamID != s.phones[i].TeamID || screen.Pushes != 1 {
			t.Errorf("screen %d shows %s, its phone holds %s", i, screen.State, held.State)
		}
	}

	s.deliver()

	var seen []consoletest.Push
	for len(seen) < 3 {
		e := next()

		seen = append(seen, e.Data.Pushes...)
		if e.Data.State["functions"] != nil {
			t.Error("a push changed no function")
		}
	}

	for i, p := range seen {
		if p.Owner != s.phones[i].Owner || p.Seq <= first.Data.Pushes[2].Seq {
			t.Errorf("push %d is %+v", i, p)
		}
	}
}

// TestButtons: the buttons cause faults of the provider.
func TestButtons(t *testing.T) {
	t.Parallel()
	s := newSample(t, 100).attach()
	handler := s.hub.Handler()

	id := fmt.Sprint(s.match.ID)
	for _, c := range []struct {
		path, body string
		status     int
		text       string
	}{
		{"fault", `{"match":"` + id + `","kind":"wrong ball"}`, 200, "ball is wrong"},
		{"fault", `{"kind":"429"}`, 200, "time to wait"},
		{"fault", `{"match":"` + id + `","kind":"rain"}`, 400, "unknown fault"},
		{"fault", `{"match":"seven","kind":"429"}`, 400, "named by its id"},
		{"fault", `{"kind":"429","else":1}`, 400, "invalid body"},
		{"rate", `{"match":"` + id + `","rate":20}`, 200, "20×"},
		{"rate", `{"match":"` + id + `","rate":0}`, 400, "between"},
		{"rate", `{"match":"1","rate":1}`, 400, "not being played"},
		{"pause", `{"match":"` + id + `","pause":true}`, 200, "paused"},
		{"show", `{"fan":"u2","timeZone":"Asia/Kolkata","date":"2026-06-06"}`, 200, `"said":""`},
		{"show", `{"match":"seven"}`, 400, "named by its id"},
		{"show", `{"fan":"root"}`, 400, "no phone"},
		{"show", `{"timeZone":"../etc/passwd"}`, 400, "unknown time zone"},
		{"show", `{"date":"today"}`, 400, "2026-06-06"},
		{"answer", `{"answer":"Unregistered"}`, 200, "410"},
	} {
		path := "cricket/" + c.path
		if c.path == "answer" {
			path = c.path
		}

		status, said := consoletest.Post(handler, path, c.body)
		if status != c.status || !strings.Contains(said, c.text) {
			t.Errorf("%s %s: %d %s, want %d %q", c.path, c.body, status, said, c.status, c.text)
		}
	}

	if st, err := s.Provider.State(s.match.ID); err != nil || !st.Paused || st.Rate != 20 {
		t.Errorf("the match is %+v, %v", st, err)
	}

	s.show(s.phones[0], score.Display{})

	if got := s.Phones.Counts()["Unregistered"]; got != 1 {
		t.Errorf("%d pushes were refused, want 1", got)
	}
}
