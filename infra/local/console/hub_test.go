package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/push"
)

func TestPushesAreBoundedAndInOrder(t *testing.T) {
	t.Parallel()
	s := newSample(t, 100).attach()
	for i := range 1000 {
		p := apns.Push{Token: s.phones[i%3].Token[:8], Type: "liveactivity", Event: "update", Bytes: i, Time: start, Status: 200}
		if i == 999 {
			p.Status, p.Reason = 410, "Unregistered"
		}
		s.hub.Push(p)
	}
	v := s.hub.view()
	if len(s.hub.pushes) != keptPushes || len(v.pushes) != feedLength {
		t.Fatalf("%d are kept and %d shown, want %d and %d", len(s.hub.pushes), len(v.pushes), keptPushes, feedLength)
	}
	for i, p := range v.pushes {
		if n := 1000 - feedLength + i; p.Bytes != n || p.Owner != s.phones[n%3].Owner {
			t.Fatalf("at %d there is push %d of %q", i, p.Bytes, p.Owner)
		}
	}
	r := s.hub.rate(start)
	if r.Sent != 999 || r.Failed != 1 || r.Series[minute-1] != 1000 || r.Refused[minute-1] != 1 || len(r.Series) != minute {
		t.Errorf("the rate is %+v", r)
	}
	if r := s.hub.rate(start.Add(minute * time.Second)); r.Series[minute-1] != 0 || r.Series[0] != 0 || r.Sent != 999 {
		t.Errorf("a minute later the rate is %+v", r)
	}
}

// TestTiming puts ticks together from what the fleet tells of them.
func TestTiming(t *testing.T) {
	t.Parallel()
	h := NewHub()
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
	invocation(5, nil) // found its slot taken, and says nothing
	done(6, 0, 2600)
	got := h.timing(due(7).Add(time.Second))
	want := []bar{
		{first, 3, 40, 1, "done", ""}, {first + 1, 5, 60, 1, "done", ""}, {first + 2, 0, 0, 0, "fault", "Limited"},
		{first + 3, 0, 0, 0, "failed", "Task timed out after 8.00 seconds"}, {Slot: first + 4, Result: "missed"}, {Slot: first + 5, Result: "missed"},
		{first + 6, 0, 2600, 1, "done", ""}, // the one after it may still come
	}
	if !reflect.DeepEqual(got.Bars, want) {
		t.Errorf("the bars are\n%+v, want\n%+v", got.Bars, want)
	}
	if got.Claimed != 4 || got.Expected != 7 || got.Ticks != 3 || got.Took.P99 != 2600 || got.Lag.P50 != 3 {
		t.Errorf("the numbers are %+v", got)
	}
}

func TestIdleMinutesAreNotMissed(t *testing.T) {
	t.Parallel()
	h := NewHub()
	h.first = start.UnixMilli() / slot
	h.Transition("cricket-live-loop", stepfunctions.Transition{Execution: "e", Time: start.Add(7 * time.Second), State: "Idle", Item: -1, Kind: stepfunctions.Entered})
	results := map[string]int{}
	for _, b := range h.timing(start.Add(2 * time.Minute)).Bars {
		results[b.Result]++
	}
	if results["missed"] != 23 || results["idle"] != 23 { // the first slot is out of the window, the last is not over
		t.Errorf("the slots are %v", results)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	h := NewHub()
	token := strings.Repeat("ab12", 16)
	say := func(line string) {
		h.Log(lambda.Log{Function: "cricket/tick", RequestID: "r", Time: start, Line: line})
	}
	say(`{"level":"INFO","msg":"fine"}`)
	say(`not JSON`)
	say(`{"level":"ERROR","msg":"broken`)
	say(`{"level":"WARN","msg":"slow"}`)
	for range 3 {
		say(`{"level":"ERROR","msg":"match failed","match":"7","err":"token ` + token + ` is gone"}`)
	}
	say("panic: " + strings.Repeat("x", 1000))
	h.Invocation(lambda.Invocation{Function: "cricket/get-match", Scheduled: start, Err: errors.New("exit status 2")})
	h.Transition("cricket-live-loop", stepfunctions.Transition{
		Execution: "e", Time: start, State: "Plan", Item: -1, Kind: stepfunctions.Failed, Failure: &stepfunctions.Failure{Code: "States.Timeout", Cause: "slow"},
	})
	var got []string
	for _, p := range h.problems {
		got = append(got, fmt.Sprintf("%s %s %s ×%d", p.Where, p.Level, p.Text[:min(len(p.Text), 60)], p.Times))
	}
	want := []string{
		"cricket/tick warning slow ×1",
		"cricket/tick error match failed (match 7): token ab12ab12… is gone ×3",
		"cricket/tick error panic: " + strings.Repeat("x", 53) + " ×1",
		"cricket/get-match error exit status 2 ×1",
		"cricket-live-loop error Plan failed: States.Timeout: slow ×1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the problems are\n%q, want\n%q", got, want)
	}
	for i := range 100 {
		say(fmt.Sprintf(`{"level":"ERROR","msg":"number %d"}`, i))
	}
	if last := h.problems[keptProblems-1]; len(h.problems) != keptProblems || last.Text != "number 99" {
		t.Errorf("%d problems are kept, the last is %q", len(h.problems), last.Text)
	}
}

// event is one server-sent event.
type event struct {
	kind string
	data struct {
		State  map[string]json.RawMessage
		Pushes []pushed
	}
}

// stream reads a server's events.
func stream(t *testing.T, url string) (next func() event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/console/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("the type is %q", kind)
	}
	lines := bufio.NewReader(answer.Body)
	return func() (e event) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			line = strings.TrimSpace(line)
			if kind, ok := strings.CutPrefix(line, "event: "); ok {
				e.kind = kind
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e.data); err != nil {
					t.Fatal(err)
				}
				return e
			}
		}
	}
}

// TestEvents reads a snapshot, and then no more than what has changed.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	s.tick()
	s.attach()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	next := stream(t, server.URL)
	first := next()
	if first.kind != "snapshot" || len(first.data.Pushes) != 3 {
		t.Fatalf("first comes a %s with %d pushes", first.kind, len(first.data.Pushes))
	}
	for _, name := range []string{"fleet", "matches", "ticks", "rate", "functions", "queues", "machines", "schedules", "problems", "faults"} {
		if len(first.data.State[name]) == 0 || string(first.data.State[name]) == "null" {
			t.Errorf("the snapshot has no %s", name)
		}
	}
	var matches []match
	if err := json.Unmarshal(first.data.State["matches"], &matches); err != nil {
		t.Fatal(err)
	}
	for i, screen := range matches[0].Screens {
		held, _ := s.Shows(s.phones[i])
		if string(screen.State) != string(held.State) || screen.TeamID != s.phones[i].TeamID || screen.Pushes != 1 {
			t.Errorf("screen %d shows %s, its phone holds %s", i, screen.State, held.State)
		}
	}

	s.hub.Log(lambda.Log{Function: "cricket/tick", Time: start, Line: `{"level":"ERROR","msg":"oh"}`})
	second := next()
	if second.kind != "change" || len(second.data.State) != 1 || second.data.State["problems"] == nil || len(second.data.Pushes) != 0 {
		t.Errorf("after a problem comes a %s of %v", second.kind, second.data.State)
	}
	s.deliver()
	var seen []pushed
	for len(seen) < 3 {
		e := next()
		seen = append(seen, e.data.Pushes...)
		if e.data.State["functions"] != nil {
			t.Error("a push changed no function")
		}
	}
	for i, p := range seen {
		if p.Owner != s.phones[i].Owner || p.Seq <= first.data.Pushes[2].Seq {
			t.Errorf("push %d is %+v", i, p)
		}
	}
	if again := stream(t, server.URL)(); again.kind != "snapshot" || len(again.data.Pushes) != 6 {
		t.Errorf("who connects again gets a %s with %d pushes", again.kind, len(again.data.Pushes))
	}
}

// TestPhoneLeftBehind tells which of two phones is not up to date.
func TestPhoneLeftBehind(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	s.tick()
	first := s.phones[0]
	s.phones = []fleet.Phone{fleet.NewPhone("u9", first.MatchID, "")}
	for range 4 {
		s.tick()
	}
	s.phones = append([]fleet.Phone{first}, s.phones...)
	got := matches(s.Fleet, s.phones, s.Clock.Now())[0].Screens
	if len(got) != 2 || got[0].Owner != "u1" || !got[0].Behind || got[1].Owner != "u9" || got[1].Behind {
		t.Errorf("the screens are %+v", got)
	}
}

// TestNotes has a phone show what its tokens were sent, the newest first, and a
// correction in the place of what it corrects.
func TestNotes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	p := s.phones[0]
	p.Starter = strings.Repeat("ab", 32)
	p.Token = ""
	s.phones[0] = p
	look := func() screen { return matches(s.Fleet, s.phones, s.Clock.Now())[0].Screens[0] }
	if o := look(); len(o.Notes) != 0 || o.Told != 0 || o.Activity != "awaited" {
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
	if want := []string{"Wicket! 2/1", "Fifty", "Play has begun"}; !slices.Equal(titles, want) || o.Told != 4 {
		t.Errorf("%d notifications, the newest are %q, want %q of 4", o.Told, titles, want)
	}
	if n := o.Notes[0]; n.ID != "w1" || n.Body != "bowled" || n.At != s.Clock.Now().UnixMilli() {
		t.Errorf("the newest is %+v", n)
	}
}

// TestTraits sets phones apart by what the push service and the app say.
func TestTraits(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	channel, err := s.sender.CreateChannel(t.Context(), push.KeepNothing)
	if err != nil {
		t.Fatal(err)
	}
	id := s.phones[0].MatchID
	listener, starter, calm := fleet.NewPhone("u4", id, ""), fleet.NewStarter("u5", id, ""), fleet.NewPhone("u6", id, "")
	listener.OS, listener.KeyEventsOnly = "18.2", true
	calm.Token, calm.SpoilerFree = "", true
	if !s.Phones.Subscribe(listener.Token, channel) {
		t.Fatal("there is no channel")
	}
	s.phones = []fleet.Phone{s.phones[0], listener, starter, calm}
	var got []string
	for _, o := range matches(s.Fleet, s.phones, s.Clock.Now())[0].Screens {
		got = append(got, strings.Join(o.Traits, ", ")+": "+o.Activity)
	}
	if want := []string{
		"iOS 17.6: running", "iOS 18.2, broadcast channel, key events only: running", "iOS 17.6, started by push: awaited",
		"iOS 17.6, spoiler-free: none",
	}; !slices.Equal(got, want) {
		t.Errorf("the phones are\n%q, want\n%q", got, want)
	}
}

// TestKindsOfPushes names each push, and whose it is, also once its channel is
// closed.
func TestKindsOfPushes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150).attach()
	channel, err := s.sender.CreateChannel(t.Context(), push.KeepNothing)
	if err != nil {
		t.Fatal(err)
	}
	listener := s.phones[1]
	s.Phones.Subscribe(listener.Token, channel)
	state := push.State{Content: score.Display{}, Time: s.Clock.Now(), Alert: &push.Banner{Title: "Play has begun"}}
	starter := fleet.NewStarter("u5", listener.MatchID, "")
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
	s.hub.view()
	if err := s.sender.DeleteChannel(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.hub.view().pushes {
		got = append(got, fmt.Sprintf("%s %s of %s %t", p.Kind, p.Owner, p.TeamID, p.Last))
		if len(p.Token) > tokenShown {
			t.Errorf("the token %s is shown", p.Token)
		}
	}
	if want := []string{
		"start u5 of  false", "alert u3 of " + s.phones[2].TeamID + " false", "update u1 of  false", "end u1 of  false",
		"broadcast  of " + listener.TeamID + " false", "broadcast  of " + listener.TeamID + " true",
	}; !slices.Equal(got, want) {
		t.Errorf("the pushes are\n%q, want\n%q", got, want)
	}
}

// wire is a browser that reads everything at once.
type wire struct {
	http.ResponseWriter
	text chan string
}

func (w wire) Header() http.Header { return http.Header{} }
func (w wire) Flush()              {}
func (w wire) Write(b []byte) (int, error) {
	w.text <- string(b)
	return len(b), nil
}

// TestQuietStream sees a stream without news kept alive, and the hub at rest
// when nobody looks.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		ctx, leave := context.WithCancel(t.Context())
		w := wire{text: make(chan string)}
		go h.events(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/console/events", nil))
		for _, want := range []string{"retry: 1000\n\n", "event: snapshot\ndata: {\"now\":0,\"speed\":0,\"state\":{}}\n\n", ": still here\n\n", ": still here\n\n"} {
			if got := <-w.text; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		leave()
		time.Sleep(pace)
		synctest.Wait()
		if len(h.viewers.all) != 0 || h.viewers.looking {
			t.Error("the hub looks for nobody")
		}
	})
}

// TestSlowBrowser has hooks return, and others served, while one does not read.
func TestSlowBrowser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		stuck, leaveStuck := h.join()
		quick, leaveQuick := h.join()
		for i := range 5 {
			h.Push(apns.Push{Time: start, Bytes: i})
			<-quick
			<-quick
		}
		leaveQuick()
		leaveStuck()
		if len(stuck) != 1 {
			t.Error("who does not read is not owed just the latest view")
		}
		time.Sleep(pace)
	})
}

func TestControls(t *testing.T) {
	t.Parallel()
	s := newSample(t, 100)
	handler := s.hub.Handler()
	post := func(path, body string, header ...string) (int, string) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:8080/console/"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
			if header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if status, _ := post("pause", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("without a fleet a button answers %d", status)
	}
	s.attach()
	id := fmt.Sprint(s.match.ID)
	for _, c := range []struct {
		path, body string
		header     []string
		status     int
		says       string
	}{
		{"fault", `{"match":"` + id + `","kind":"wrong ball"}`, nil, 200, "told wrong"},
		{"fault", `{"kind":"429"}`, []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8080"}, 200, "told to wait"},
		{"fault", `{"match":"` + id + `","kind":"rain"}`, nil, 400, "there is no fault"},
		{"fault", `{"match":"seven","kind":"429"}`, nil, 400, "named by its id"},
		{"fault", `{"kind":"429","else":1}`, nil, 400, "not what this button sends"},
		{"fault", `{"kind":"` + strings.Repeat("x", 5000) + `"}`, nil, 400, "not what this button sends"},
		{"rate", `{"match":"` + id + `","rate":20}`, nil, 200, "20×"},
		{"rate", `{"match":"` + id + `","rate":0}`, nil, 400, "between"},
		{"rate", `{"match":"1","rate":1}`, nil, 400, "not played"},
		{"pause", `{"match":"` + id + `","pause":true}`, nil, 200, "paused"},
		{"answer", `{"answer":"Unregistered"}`, nil, 200, "410"},
		{"answer", `{"answer":"Maybe"}`, nil, 400, "no answer"},
		{"score", `{"event":"2026-06-06-amberwick"}`, nil, 400, "no such show"},
		{"pause", `{"match":"` + id + `"}`, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		{"pause", `{"match":"` + id + `"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"pause", `{"match":"` + id + `"}`, []string{"Sec-Fetch-Site", "same-site"}, 403, ""},
		{"pause", `{"match":"` + id + `"}`, []string{"Origin", "https://elsewhere.example"}, 403, ""},
		{"pause", `{"match":"` + id + `"}`, []string{"Origin", "null"}, 403, ""},
		{"pause", `{"match":"` + id + `"}`, []string{"Host", "rebound.example:8080", "Origin", "http://rebound.example:8080"}, 403, ""},
		{"pause", `{"match":"` + id + `","pause":true}`, []string{"Host", "192.168.1.7:8080", "Origin", "http://192.168.1.7:8080"}, 200, ""},
		{"pause", `{"match":"` + id + `","pause":true}`, []string{"Host", "[::1]:8080"}, 200, ""},
	} {
		status, said := post(c.path, c.body, c.header...)
		if status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s %.60s %v: %d %s, want %d %q", c.path, c.body, c.header, status, said, c.status, c.says)
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

func TestEveryFaultIsExplained(t *testing.T) {
	t.Parallel()
	all := feedFaults()
	if len(all) != len(sportmonks.Kinds()) {
		t.Errorf("%d of %d faults have a button", len(all), len(sportmonks.Kinds()))
	}
	for _, c := range all {
		if c.Does == "" {
			t.Errorf("the button %q says nothing", c.Name)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	handler := NewHub().Handler()
	for path, want := range map[string]struct {
		status int
		kind   string
	}{
		"/":                     {200, "text/html; charset=utf-8"},
		"/console/app.js":       {200, "text/javascript; charset=utf-8"},
		"/console/base.js":      {200, "text/javascript; charset=utf-8"},
		"/console/pickem.js":    {200, "text/javascript; charset=utf-8"},
		"/console/style.css":    {200, "text/css; charset=utf-8"},
		"/console/icon.svg":     {200, "image/svg+xml"},
		"/console/choices":      {200, "application/json"},
		"/elsewhere":            {404, "text/plain; charset=utf-8"},
		"/console/nothing.html": {404, "text/plain; charset=utf-8"},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != want.status || want.kind != "" && w.Header().Get("Content-Type") != want.kind || !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("%s: %d %q %q", path, w.Code, w.Header().Get("Content-Type"), policy)
		}
		body, _ := io.ReadAll(w.Body)
		if want.kind == "text/html; charset=utf-8" && (strings.Contains(string(body), " style=") || strings.Contains(string(body), "<script>") || strings.Contains(string(body), "http")) {
			t.Errorf("%s has inline styles, scripts or foreign addresses", path)
		}
	}
}
