package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sqs"
	"matchday/infra/sim/stepfunctions"
	"matchday/pkg/kit/queue"
)

func TestProblems(t *testing.T) {
	t.Parallel()

	h := NewHub()
	token := strings.Repeat("ab12", 16)
	say := func(line string) {
		h.Log(lambda.Log{Function: "lab/forecast", RequestID: "r", Time: start, Line: line})
	}
	say(`{"level":"INFO","msg":"fine"}`)
	say(`not JSON`)
	say(`{"level":"ERROR","msg":"broken`)
	say(`{"level":"WARN","msg":"slow"}`)

	for range 3 {
		say(`{"level":"ERROR","msg":"match failed","match":"7","err":"token ` + token + ` is gone"}`)
	}

	say("panic: " + strings.Repeat("x", 1000))
	h.Invocation(lambda.Invocation{Function: "lab/get-weather", Scheduled: start, Err: errors.New("exit status 2")})
	h.Transition("lab-loop", stepfunctions.Transition{
		Execution: "e",
		Time:      start,
		State:     "Plan",
		Item:      -1,
		Kind:      stepfunctions.Failed,
		Failure:   &stepfunctions.Failure{Code: "States.Timeout", Cause: "slow"},
	})

	var got []string
	for _, p := range h.problems {
		got = append(got, fmt.Sprintf("%s %s %s ×%d", p.Where, p.Level, p.Text[:min(len(p.Text), 60)], p.Times))
	}

	want := []string{
		"lab/forecast warning slow ×1",
		"lab/forecast error match failed (match 7): token ab12ab12… is gone ×3",
		"lab/forecast error panic: " + strings.Repeat("x", 53) + " ×1",
		"lab/get-weather error exit status 2 ×1",
		"lab-loop error Plan failed: States.Timeout: slow ×1",
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

// wire is a browser that reads all data immediately.
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

// TestQuietStream: a stream without changes gets keep-alive comments, and the hub does
// nothing without browsers.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		ctx, leave := context.WithCancel(t.Context())

		w := wire{text: make(chan string)}
		go h.events(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/console/events", nil))

		for _, want := range []string{"retry: 1000\n\n", "event: snapshot\ndata: {\"now\":0,\"speed\":0,\"state\":{}}\n\n",
			": still here\n\n", ": still here\n\n"} {
			if got := <-w.text; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}

		leave()
		time.Sleep(pace)
		synctest.Wait()

		if len(h.viewers.all) != 0 || h.viewers.looking {
			t.Error("the hub reads the fleet without a browser")
		}
	})
}

// TestSlowBrowser: a browser that does not read blocks neither the hooks nor other
// browsers.
func TestSlowBrowser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		stuck, leaveStuck := h.join("lab")

		quick, leaveQuick := h.join("lab")
		for i := range 5 {
			h.Push(apns.Push{Time: start, Bytes: i})
			<-quick
			<-quick
		}

		leaveQuick()
		leaveStuck()

		if len(stuck) != 1 {
			t.Error("a slow browser must get only the latest view")
		}

		time.Sleep(pace)
	})
}

// TestFiles serves a tab for each room, and the files of the shell and of panels.
func TestFiles(t *testing.T) {
	t.Parallel()
	handler := newSample(t).hub.Handler()

	for path, want := range map[string]struct {
		status     int
		kind, body string
	}{
		"/": {200, "text/html; charset=utf-8",
			`<a href="/lab/" aria-current="page">The lab</a><a href="/barn/">The barn</a>`},
		"/lab/": {200, "text/html; charset=utf-8", `id="weather"`},
		"/barn/": {200, "text/html; charset=utf-8",
			`<a href="/lab/">The lab</a><a href="/barn/" aria-current="page">The barn</a>`},
		"/mail/":                 {200, "text/html; charset=utf-8", `<a href="/mail/" aria-current="page">Mail</a>`},
		"/console/mail/panel.js": {200, "text/javascript; charset=utf-8", "mails"},
		"/lab/weather":           {404, "text/plain; charset=utf-8", ""},
		"/console/app.js":        {200, "text/javascript; charset=utf-8", ""},
		"/console/base.js":       {200, "text/javascript; charset=utf-8", ""},
		"/console/lab/panel.js":  {200, "text/javascript; charset=utf-8", "weather"},
		"/console/lab/panel.css": {200, "text/css; charset=utf-8", "weather"},
		"/console/style.css":     {200, "text/css; charset=utf-8", ""},
		"/console/icon.svg":      {200, "image/svg+xml", ""},
		"/console/index.html":    {404, "text/plain; charset=utf-8", ""},
		"/elsewhere":             {404, "text/plain; charset=utf-8", ""},
		"/console/nothing.html":  {404, "text/plain; charset=utf-8", ""},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))

		policy, body := w.Header().Get("Content-Security-Policy"), w.Body.String()
		if w.Code != want.status || w.Header().Get("Content-Type") != want.kind || !strings.HasPrefix(policy, "default-src 'none'") ||
			!strings.Contains(body, want.body) {
			t.Errorf("%s: %d %q %q %s", path, w.Code, w.Header().Get("Content-Type"), policy, body)
		}

		if want.kind == "text/html; charset=utf-8" &&
			(strings.Contains(body, " style=") || strings.Contains(body, "<script>") || strings.Contains(body, "http")) {
			t.Errorf("%s has inline styles, scripts or foreign addresses", path)
		}
	}
}

// TestPushesAreBoundedAndInOrder: the latest pushes are kept and shown with their
// owners, also of a channel that is closed.
func TestPushesAreBoundedAndInOrder(t *testing.T) {
	t.Parallel()
	s := newSample(t).attach()
	s.own("abcdef01", Owner{Name: "ann", About: "a farmer"})

	for i := range 1000 {
		p := apns.Push{Token: "abcdef01", Type: "liveactivity", Event: "update", Bytes: i, Time: start, Status: 200}
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
		if n := 1000 - feedLength + i; p.Bytes != n || p.Owner != "ann" || p.About != "a farmer" {
			t.Fatalf("at %d there is push %d of %q, %q", i, p.Bytes, p.Owner, p.About)
		}
	}

	r := s.hub.rate(start)
	if r.Sent != 999 || r.Failed != 1 || r.Series[minute-1] != 1000 || r.Refused[minute-1] != 1 || len(r.Series) != minute {
		t.Errorf("the rate is %+v", r)
	}

	if r := s.hub.rate(start.Add(minute * time.Second)); r.Series[minute-1] != 0 || r.Series[0] != 0 || r.Sent != 999 {
		t.Errorf("a minute later the rate is %+v", r)
	}

	clear(s.owners)

	if p := s.hub.view().pushes[0]; p.Owner != "ann" {
		t.Errorf("a push to a closed channel has the owner %q", p.Owner)
	}
}

// TestEvents: a browser gets a snapshot and then only the changes, of the room that the
// tab shows.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSample(t).attach()
	s.hub.Push(apns.Push{Token: "abcdef01", Time: start, Status: 200})
	server := httptest.NewServer(s.hub.Handler())

	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	next, other := consoletest.Stream(t, server.URL, "lab"), consoletest.Stream(t, server.URL, "barn")

	first := next()
	if first.Kind != "snapshot" || len(first.Data.Pushes) != 1 || string(first.Data.Room["weather"]) != `"dry"` {
		t.Fatalf("first comes a %s with %d pushes and the room %s", first.Kind, len(first.Data.Pushes), first.Data.Room)
	}

	for _, name := range []string{"fleet", "rate", "functions", "queues", "schedules", "problems", "answers"} {
		if len(first.Data.State[name]) == 0 || string(first.Data.State[name]) == "null" {
			t.Errorf("the snapshot has no %s", name)
		}
	}

	if e := other(); e.Kind != "snapshot" || e.Data.Room != nil {
		t.Errorf("another room's tab gets %s", e.Data.Room)
	}

	s.hub.Log(lambda.Log{Function: "lab/forecast", Time: start, Line: `{"level":"ERROR","msg":"oh"}`})

	for _, next := range []func() consoletest.Event{next, other} {
		if e := next(); e.Kind != "change" || len(e.Data.State) != 1 || e.Data.State["problems"] == nil || len(e.Data.Pushes) != 0 ||
			len(e.Data.Room) != 0 {
			t.Errorf("after a problem comes a %s of %v", e.Kind, e.Data.State)
		}
	}

	if status, body := consoletest.Post(s.hub.Handler(), "lab/weather", `{"weather":"rain"}`); status != http.StatusOK ||
		!strings.Contains(body, "Expect rain.") {
		t.Errorf("the button answers %d %s", status, body)
	}

	if e := next(); len(e.Data.State) != 0 || string(e.Data.Room["weather"]) != `"rain"` {
		t.Errorf("after the button comes %v, %v", e.Data.State, e.Data.Room)
	}

	s.hub.Push(apns.Push{Token: "abcdef01", Time: start, Status: 200})

	for _, next := range []func() consoletest.Event{next, other} {
		if e := next(); len(e.Data.Pushes) != 1 || e.Data.Pushes[0].Seq <= first.Data.Pushes[0].Seq || e.Data.State["functions"] != nil {
			t.Errorf("after a push comes %+v with %v", e.Data.Pushes, e.Data.State)
		}
	}

	if again := consoletest.Stream(t, server.URL, "lab")(); again.Kind != "snapshot" || len(again.Data.Pushes) != 2 {
		t.Errorf("who connects again gets a %s with %d pushes", again.Kind, len(again.Data.Pushes))
	}
}

// TestButtons: a button fails for another origin, without a fleet, and with an invalid
// body.
func TestButtons(t *testing.T) {
	t.Parallel()
	s := newSample(t)

	handler := s.hub.Handler()
	if status, _ := consoletest.Post(handler, "answer", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("without a fleet a button answers %d", status)
	}

	s.attach()

	const wet = `{"weather":"rain"}`
	for _, c := range []struct {
		path, body string
		header     []string
		status     int
		says       string
	}{
		{"answer", `{"answer":"Unregistered"}`, nil, 200, "410"},
		{"answer", `{"answer":"Maybe"}`, nil, 400, "unknown answer"},
		{"lab/weather", wet, []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8080"}, 200, "Expect rain."},
		{"lab/weather", `{}`, nil, 400, "always some weather"},
		{"lab/weather", `{"weather":"rain","else":1}`, nil, 400, "invalid body"},
		{"lab/weather", `{"weather":7}`, nil, 400, "invalid body"},
		{"lab/weather", `{"weather":"` + strings.Repeat("x", 5000) + `"}`, nil, 400, "invalid body"},
		{"lab/nothing", `{}`, nil, 405, ""},
		{"lab/weather", wet, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		{"lab/weather", wet, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"lab/weather", wet, []string{"Sec-Fetch-Site", "same-site"}, 403, ""},
		{"lab/weather", wet, []string{"Origin", "https://elsewhere.example"}, 403, ""},
		{"lab/weather", wet, []string{"Origin", "null"}, 403, ""},
		{"lab/weather", wet, []string{"Host", "192.168.1.7:8080", "Origin", "http://192.168.1.7:8080"}, 200, ""},
		{"lab/weather", wet, []string{"Host", "[::1]:8080"}, 200, ""},
	} {
		status, said := consoletest.Post(handler, c.path, c.body, c.header...)
		if status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s %.60s %v: %d %s, want %d %q", c.path, c.body, c.header, status, said, c.status, c.says)
		}
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()

	for want, err := range map[string]error{
		"the event is locked": &fleet.Refusal{
			Request: "PUT /x",
			Status:  409,
			Body:    []byte(`{"detail":"the event is locked","status":409}`),
		},
		"PUT /x: 502 Bad Gateway: <html>":       &fleet.Refusal{Request: "PUT /x", Status: 502, Body: []byte(`<html>`)},
		"PUT /x: 500 Internal Server Error: {}": &fleet.Refusal{Request: "PUT /x", Status: 500, Body: []byte(`{}`)},
		"every match has its result":            errors.New("every match has its result"),
	} {
		if got := sentence(err); got != want {
			t.Errorf("%v: got the sentence %q, want %q", err, got, want)
		}
	}
}

// TestHooksOfPanels: a panel's hooks get the same events as the hub.
func TestHooksOfPanels(t *testing.T) {
	t.Parallel()

	var seen []string

	h := NewHub(Panel{
		Room:       "lab",
		Log:        func(l lambda.Log) { seen = append(seen, l.Line) },
		Invocation: func(v lambda.Invocation) { seen = append(seen, v.Function) },
		Transition: func(machine string, _ stepfunctions.Transition) { seen = append(seen, machine) },
	}, Panel{Room: "barn"})
	h.Log(lambda.Log{Line: "a line"})
	h.Invocation(lambda.Invocation{Function: "lab/forecast"})
	h.Transition("lab-loop", stepfunctions.Transition{})

	if want := []string{"a line", "lab/forecast", "lab-loop"}; !slices.Equal(seen, want) {
		t.Errorf("it sees %q, want %q", seen, want)
	}
}

// TestPage opens both tabs in a browser, by the keyboard too.
func TestPage(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the browser's console has %q", err, complaints())
		}
	}
	click := func(selector string) consoletest.Action { return chromedp.Click(chromedp.CSS(selector)) }
	see, says := consoletest.See, consoletest.Says
	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/lab/"),
		says("#starting", "The fleet is starting."), says("#link", "live"))
	s.attach()

	reason := "the message cannot be read"
	if _, err := s.Queues.Send("local-lab-rain-dead",
		sqs.Message{
			Body:       "{}",
			Attributes: map[string]sqs.Attribute{queue.ReasonAttribute: {DataType: "String", StringValue: &reason}},
		}); err != nil {
		t.Fatal(err)
	}

	s.hub.Log(lambda.Log{Function: "lab/forecast", Time: start, Line: `{"level":"WARN","msg":"503 Service Unavailable"}`})
	s.hub.Push(apns.Push{Token: "abcdef01", Type: "alert", Time: start, Status: 410, Reason: "Unregistered"})
	run(says("#weather", "dry"), says("title", "The lab"), says("[aria-current=page]", "The lab"), says("#queues", reason),
		says("#problems", "503 Service Unavailable"),
		says("#pushes li", "token abcdef01…"), says("#pushes li", "410 Unregistered"), see(`document.querySelector("#starting").hidden`),
		click("#rain"), says("#said", "Expect rain."), says("#weather", "rain"),
		see(`document.querySelector("#functions [data-key=lab]").open && !document.querySelector("#functions [data-key=barn]").open`),
		says("#functions [data-key=lab] summary", "3 functions, 0 used"), says("#functions [data-key=lab] .fold", "3 functions idle"),
		see(`!document.querySelector("#functions [data-key=lab] .fold table").checkVisibility()`),
		click("#functions [data-key=lab] .fold summary"),
		see(`document.querySelector("#functions [data-key=lab] .fold table").checkVisibility()`),
		says("#schedules [data-key=lab] .fold", "1 schedule not yet due"))

	if _, err := s.Functions.Invoke(t.Context(), "lab/get-weather", nil); err == nil {
		t.Error("a function without a binary runs")
	}

	run(says("#functions [data-key=lab] summary", "1 used, 1 error"), says("#functions [data-key=lab] tbody", "lab/get-weather"),
		click(`#answers button:nth-child(7)`), says("#said", "410"))

	run(click(`.tabs a[href="/barn/"]`), says("title", "The barn"), says("[aria-current=page]", "The barn"),
		says("#api", "http://localhost:8080/barn"),
		see(`location.pathname === "/barn/" && document.querySelector("#functions details").dataset.key === "barn"`),
		see(`(document.querySelector(".tabs a").focus({ focusVisible: true }), getComputedStyle(document.activeElement).outlineStyle === "solid")`),
		see(`(document.activeElement.click(), true)`), says("#weather", "rain"))

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {390, 844, "dark"}} {
		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("shell-%d-%s", look.width, look.mode))
	}

	if said := complaints(); len(said) > 0 {
		t.Errorf("the browser's console has %q", said)
	}
}

// TestLastErrorOfAFunctionStays: however much else goes wrong, each function with errors
// has one on the page.
func TestLastErrorOfAFunctionStays(t *testing.T) {
	h := NewHub()
	for i := range 6 {
		h.Invocation(lambda.Invocation{Function: "room/tick", Err: fmt.Errorf("error %d", i)})
	}

	for i := range 2 * keptProblems {
		h.Invocation(lambda.Invocation{Function: "room/other", Err: fmt.Errorf("error %d", i)})
		h.problem(time.Time{}, "room/other", "warning", fmt.Sprint("warning ", i))
	}

	var got []string

	for _, p := range h.problems {
		if p.Where == "room/tick" {
			got = append(got, p.Text)
		}
	}

	if !slices.Contains(got, "error 5") || len(h.problems) != keptProblems {
		t.Errorf("%d problems, of room/tick %q; want %d with its last error", len(h.problems), got, keptProblems)
	}
}
