package threefc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
)

// phone is the scorekeeper's page in a browser, of a world without a fleet: its requests go
// to the use cases.
type phone struct {
	*threefctest.World
	tab        context.Context
	complaints func() []string
	url        string
	game       string

	mu    sync.Mutex
	fault fault
	gone  bool // the server answers nothing, also no file
	sent  int  // changes that were done, or refused, since the fault was set
	asked int  // requests to 3FC
}

// fault is what happens to the requests of a phone.
type fault int

const (
	none    fault = iota
	down          // they are answered with 503
	deaf          // they are done, and the answer is lost
	refuse        // others are always faster: a change gets 409 stale
	expired       // the session has ended: they get 401
)

// shell is the part of the console's page that the panel needs. Its clock stands. Without a
// server the panel gets no time.
const shell = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>3FC</title><link rel="stylesheet" href="/console/style.css"><link rel="stylesheet" href="/console/threefc/panel.css"><link rel="icon" href="data:,">
<main>{{template "main"}}</main>
<script type="module">
import { clock, room } from "/console/base.js";
clock.speed = 0;
window.time = clock;
const readClock = async () => { clock.now = Date.parse(await (await fetch("/console/now")).text()); };
const there = await readClock().then(() => true, () => false);
if (!location.search) localStorage.setItem("threefc-session", "1"); // of a sign-in before
const panel = await import("/console/threefc/panel.js");
if (there) {
  room.threefc = { email: "sam@example.com", game: {{.}} };
  panel.draw.threefc();
}
setInterval(() => readClock().then(panel.everySecond, panel.everySecond), 50);
navigator.serviceWorker.ready.then(() => { window.kept = true; });
</script>`

// newPhone opens the page for a game of a world.
func newPhone(t *testing.T) *phone {
	t.Helper()

	p := &phone{}
	p.tab, p.complaints = consoletest.Browser(t)
	p.World = threefctest.New(t)
	p.SignIn("ann", "sam")
	l := p.Found("ann")
	p.Join(l, item.Scorekeeper, "sam")
	p.game = p.Schedule("ann", l)
	page := template.Must(template.Must(template.ParseFiles("panel/panel.html")).New("shell").Parse(shell))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /threefc/{$}", func(w http.ResponseWriter, _ *http.Request) { testkit.Must(t, page.Execute(w, p.game)) })
	mux.HandleFunc("GET /threefc/sw.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "panel/sw.js") })
	mux.HandleFunc("GET /console/now", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, p.Clock.Now().Format(time.RFC3339Nano))
	})
	mux.Handle("GET /console/", http.StripPrefix("/console", http.FileServer(http.Dir(filepath.Join(root, "infra/local/console/page")))))
	mux.Handle("GET /console/threefc/", http.StripPrefix("/console/threefc", http.FileServer(http.Dir("panel"))))

	for _, method := range []string{"GET", "POST", "DELETE"} {
		mux.HandleFunc(method+" /threefc/", p.serve)
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		gone := p.gone
		p.mu.Unlock()

		if gone {
			panic(http.ErrAbortHandler)
		}

		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	p.run(consoletest.Resize(390, 600, "light"), chromedp.Navigate(p.url+"/threefc/"))

	return p
}

// serve answers a request of the page.
func (p *phone) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	f := p.fault
	p.asked++
	p.mu.Unlock()

	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}

	out := events.APIGatewayV2HTTPResponse{StatusCode: http.StatusServiceUnavailable, Body: `{"message":"Service Unavailable"}`}

	switch {
	case f == refuse && r.Method != http.MethodGet:
		out = events.APIGatewayV2HTTPResponse{
			StatusCode: http.StatusConflict,
			Body:       `{"type":"urn:problem-type:matchday:stale","detail":"somebody else has changed this: read it again"}`,
		}
	case f == expired:
		out = events.APIGatewayV2HTTPResponse{StatusCode: http.StatusUnauthorized, Body: `{"type":"urn:problem-type:matchday:missing_session"}`}
	case f != down:
		var text any
		if len(body) > 0 {
			text = string(body)
		}

		var key []threefctest.Header
		if k := r.Header.Get("Idempotency-Key"); k != "" {
			key = append(key, threefctest.Key(k))
		}

		out = p.Ask("sam", r.Method, strings.TrimPrefix(r.URL.RequestURI(), "/threefc"), text, key...)
	}

	p.mu.Lock()
	if r.Method != http.MethodGet && f == p.fault {
		p.sent++
	}
	p.mu.Unlock()

	if f == deaf {
		panic(http.ErrAbortHandler)
	}

	w.WriteHeader(out.StatusCode)
	io.WriteString(w, out.Body)
}

// requests returns how many requests 3FC has had.
func (p *phone) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.asked
}

// set sets what happens to requests.
func (p *phone) set(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.fault, p.sent = f, 0
}

// arrived waits until n changes have arrived since the last set.
func (p *phone) arrived(n int) {
	p.T.Helper()

	for p.tab.Err() == nil {
		p.mu.Lock()
		there := p.sent >= n
		p.mu.Unlock()

		if there {
			return
		}

		p.run(consoletest.See("true"))
	}

	p.T.Fatalf("%d changes have not arrived", n)
}

func (p *phone) run(actions ...consoletest.Action) {
	p.T.Helper()

	if err := consoletest.Do(p.tab, actions...); err != nil {
		p.T.Fatalf("%v; the page complained %q", err, p.complaints())
	}
}

// offline cuts the network of the browser to the API, or joins it again.
func (p *phone) offline(cut bool) {
	p.T.Helper()
	p.run(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{
				{URLPattern: p.url + "/threefc/v1/*", Offline: cut, DownloadThroughput: -1, UploadThroughput: -1},
			}})

		return err
	}))
}

// pass lets time pass, on the phone too.
func (p *phone) pass(d time.Duration) {
	p.T.Helper()
	now := p.Clock.Now().Add(d)
	p.MoveClock(now)
	p.run(consoletest.See(fmt.Sprintf(`window.time.now === %d`, now.UnixMilli())))
}

// ready is whether the page takes taps.
const ready = `!document.querySelector("#phone").hidden && !document.querySelector("#phone").inert`

// tap taps the button of a text, once the page takes taps.
func (p *phone) tap(texts ...string) {
	p.T.Helper()

	for _, text := range texts {
		quoted, _ := json.Marshal(text)
		button := fmt.Sprintf(`[...document.querySelectorAll("#phone button")].find((b) => b.textContent === %s && b.offsetParent && !b.disabled)`, quoted)
		p.run(consoletest.See(ready+" && "+button), consoletest.See(button+`.setAttribute("data-tap", "") || true`),
			chromedp.Click(chromedp.CSS("[data-tap]")),
			consoletest.See(`[...document.querySelectorAll("[data-tap]")].forEach((b) => b.removeAttribute("data-tap")) || true`))
	}
}

// sees waits for what the page says of the network.
func (p *phone) sees(net string) {
	p.T.Helper()
	p.run(consoletest.Says("#net", net))
}

// shown checks the goals on the page, the latest first.
func (p *phone) shown(want ...string) {
	p.T.Helper()

	list, _ := json.Marshal(append([]string{}, want...))
	p.run(consoletest.See(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("#goals li")].map((li) => li.textContent)) === JSON.stringify(%s)`, list)))
}

// stored are the goals that 3FC has, in order.
func (p *phone) stored() (all []string) {
	p.T.Helper()

	out := p.Do("sam", "GET", "/v1/games/"+p.game+"/goals", nil)
	for _, g := range testkit.Decode[struct{ Goals []game.Goal }](p.World.World, out).Goals {
		all = append(all, fmt.Sprintf("%d/%d %s>%s", g.Third, g.Minute, g.Scoring, g.Conceding))
	}

	return all
}

func (p *phone) same(what string, want ...string) {
	p.T.Helper()

	if got := p.stored(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		p.T.Errorf("%s: 3FC has the goals %q, want %q; the page complained %q", what, got, want, p.complaints())
	}
}

// refuses checks what the page shows as refused: what, and why.
func (p *phone) refuses(want ...string) {
	p.T.Helper()

	list, _ := json.Marshal(append([]string{}, want...))
	p.run(consoletest.See(fmt.Sprintf(`document.querySelector("#kept").hidden === %v`, len(want) == 0)),
		consoletest.See(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("#kept-list li")].map((li) => li.children[0].textContent + ": " + li.children[1].textContent)) === JSON.stringify(%s)`, list)))
}

// decide presses a button of the refused entry i.
func (p *phone) decide(i int, text string) {
	p.T.Helper()
	p.run(consoletest.See(fmt.Sprintf(`([...document.querySelectorAll("#kept-list li")][%d].querySelectorAll("button").forEach((b) => b.textContent === %q && b.click()), true)`, i, text)))
}

// TestNothingIsAskedBeforeTheSignIn: without a session the page asks to sign in, and 3FC nothing.
func TestNothingIsAskedBeforeTheSignIn(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.run(consoletest.See(`localStorage.getItem("threefc-session") === "1"`), consoletest.See("(localStorage.clear(), true)"),
		chromedp.Navigate("about:blank"))

	before := p.requests()
	p.run(chromedp.Navigate(p.url+"/threefc/?nobody"), consoletest.See(`!document.querySelector("#sign-in").hidden`))

	if got := p.requests(); got != before {
		t.Errorf("%d requests before the sign-in", got-before)
	}
}

// TestSignInInAnotherTab: the page of a link signs in, and the page of the scorekeeper knows it when it is
// looked at again.
func TestSignInInAnotherTab(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.run(consoletest.See(`localStorage.getItem("threefc-session") === "1"`), consoletest.See("(localStorage.clear(), true)"),
		chromedp.Navigate(p.url+"/threefc/?nobody"), consoletest.See(`!document.querySelector("#sign-in").hidden`),
		consoletest.See(`(document.querySelector("#ask-link").click(), true)`), consoletest.Says("#scorer-said", "The mail is on its way"),
		consoletest.See(`(dispatchEvent(new Event("focus")), document.querySelector("#sign-in").hidden)`),
		consoletest.Says("#scorer-said", "Signed in as sam@example.com."))
}

// TestRefusedGoalsStay: goals of a phone without a network, of a third that another phone has
// finished meanwhile, stay with the reason until they are sent again or discarded.
func TestRefusedGoalsStay(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.tap("start third 1")
	p.sees("everything is sent")
	p.offline(true)
	p.pass(7 * time.Minute)
	p.tap("GOAL", "Red", "Blue", "Ada", "GOAL", "Blue", "Yellow", "Ed", "GOAL", "Yellow", "Red", "Gus")
	p.sees("3 waiting")
	p.tap("finish third 1")
	p.sees("4 waiting")
	p.Do("ann", "POST", "/v1/games/"+p.game+"/thirds/1/finish", map[string]any{})
	p.offline(false)

	const why = ": 3FC says: this third does not run: an administrator may change its goals, or reopen the game once it is finished."
	p.refuses("1. third, 7' · Ada · Red against Blue"+why, "1. third, 7' · Ed · Blue against Yellow"+why,
		"1. third, 7' · Gus · Yellow against Red"+why)
	p.sees("3 refused")
	p.shown()
	p.same("what was refused")
	p.run(chromedp.Reload())
	p.sees("3 refused")
	p.run(consoletest.See(`document.querySelector("#kept-list a").href.startsWith("mailto:?subject=A%20goal") && document.querySelector("#kept-list a").href.includes("Ada")`))
	p.decide(1, "discard")
	p.refuses("1. third, 7' · Ada · Red against Blue"+why, "1. third, 7' · Gus · Yellow against Red"+why)
	p.decide(0, "try again")
	p.sees("2 refused")
	p.tap("start third 2", "finish third 2", "start third 3", "finish third 3", "finish the game")
	p.sees("2 refused")
	p.Do("ann", "POST", "/v1/games/"+p.game+"/reopen", nil)
	p.decide(0, "try again")
	p.sees("1 refused")
	p.same("after the game was reopened", "1/7 red>blue")
	p.decide(0, "discard")
	p.sees("everything is sent")
	p.refuses()
}

// TestPageOpensWithoutANetwork: once it was open, with its queue, its clock and its game.
func TestPageOpensWithoutANetwork(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.tap("start third 1")
	p.sees("everything is sent")
	p.run(consoletest.See(`window.kept`))
	p.pass(7 * time.Minute)
	p.unplug(true)
	p.tap("GOAL", "Red", "Blue", "Ada")
	p.run(chromedp.Reload())
	p.sees("1 waiting")
	p.shown("1. third, 7' · Ada · Red against Blue")
	p.run(consoletest.Says("#clock", "07:00"))
	p.tap("GOAL", "Blue", "Yellow", "Ed")
	p.run(chromedp.Reload())
	p.sees("2 waiting")
	p.unplug(false)
	p.sees("everything is sent")
	p.same("with a network", "1/7 red>blue", "1/7 blue>yellow")
}

// unplug takes the whole server away, for the worker of the page too, or brings it back.
func (p *phone) unplug(gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.gone = gone
}

// TestScorekeeper scores a game on a phone whose network is bad: each goal is stored once,
// in order, in the minute of its tap.
func TestScorekeeper(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	// The second of a double tap meets no button: it would finish the third.
	p.run(consoletest.See(ready), consoletest.See(`(document.querySelector("#step").click(), document.querySelector("#phone").inert)`))
	p.sees("everything is sent")

	// Without a network, over a reload, and past an API that is down.
	p.offline(true)
	p.run(consoletest.See(`(window.before = localStorage.getItem("threefc-scorekeeper")) !== null`))
	p.pass(7 * time.Minute)
	p.tap("GOAL", "Red", "Blue", "Ada")
	p.pass(3*time.Minute + 30*time.Second)
	p.tap("GOAL")
	p.pass(time.Minute) // the questions take time
	p.tap("Blue", "Yellow", "Ed")

	two := []string{"1. third, 10' · Ed · Blue against Yellow", "1. third, 7' · Ada · Red against Blue"}

	p.sees("2 waiting")
	p.shown(two...)
	p.same("without a network")
	p.run(consoletest.See(`document.querySelectorAll("#goals .waiting").length === 2`))
	// Another tab keeps what it knew before the taps.
	p.run(consoletest.See(`(localStorage.setItem("threefc-scorekeeper", before), dispatchEvent(new StorageEvent("storage", { key: "threefc-scorekeeper", newValue: before })), true)`))
	p.sees("2 waiting")
	p.shown(two...)
	picture, err := consoletest.Run(p.tab, chromedp.CaptureScreenshot())
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(t.ArtifactDir(), "scorekeeper-offline.png"), picture, 0o600))
	p.set(down)
	p.offline(false)
	p.run(chromedp.Reload())
	p.sees("2 waiting")
	p.shown(two...)
	p.set(refuse)
	p.arrived(3)
	p.sees("2 waiting")
	p.set(deaf)
	p.arrived(2)
	p.sees("2 waiting")
	p.set(none)
	p.sees("everything is sent")
	p.same("with a network", "1/7 red>blue", "1/10 blue>yellow")
	p.shown(two...)

	// A double tap on the last question neither records another goal nor undoes one.
	p.tap("GOAL", "Yellow", "Red")
	p.run(consoletest.See(ready), chromedp.DoubleClick(chromedp.CSS("#choices button")))
	p.sees("everything is sent")

	three := []string{"1/7 red>blue", "1/10 blue>yellow", "1/11 yellow>red"}

	p.run(consoletest.See(`document.querySelectorAll("#goals li").length === 3`))
	p.same("after a double tap", three...)

	// An undo of a goal of which nobody has heard, and of one whose answer was lost.
	p.offline(true)
	p.tap("GOAL", "Red", "Yellow", "Bo", "undo the last goal")
	p.run(consoletest.See(`document.querySelectorAll("#goals li").length === 3`))
	p.offline(false)
	p.sees("everything is sent")
	p.same("after an undo without a network", three...)
	p.set(deaf)
	p.tap("GOAL", "Red", "Yellow", "Cy")
	p.arrived(1)
	p.sees("1 waiting")
	p.same("whose answer was lost", append(three, "1/11 red>yellow")...)
	p.offline(true) // so that the goal is not on its way
	p.tap("undo the last goal")
	p.run(consoletest.See(`document.querySelectorAll("#goals li").length === 3`))
	p.set(none)
	p.offline(false)
	p.sees("everything is sent")
	p.same("after the undo", three...)

	// The session ends in the middle of the game: what is tapped until the next sign-in waits.
	p.set(expired)
	p.tap("GOAL", "Blue", "Red", "Di")
	p.run(consoletest.See(`!document.querySelector("#sign-in").hidden`))
	p.tap("GOAL", "Blue", "Red", "Flo")
	p.sees("2 waiting")
	p.set(none)
	p.sees("everything is sent")
	p.run(consoletest.See(`document.querySelector("#sign-in").hidden`))
	p.same("after the sign-in", append(three, "1/11 blue>red", "1/11 blue>red")...)

	p.tap("finish third 1", "start third 2", "finish third 2", "start third 3", "finish third 3", "finish the game")
	p.sees("everything is sent")
	p.run(consoletest.Says("#third", "Finished"))

	if g := testkit.Decode[game.Game](p.World.World, p.Do("sam", "GET", "/v1/games/"+p.game, nil)); g.Status != "finished" {
		t.Errorf("the game is %s", g.Status)
	}
}
