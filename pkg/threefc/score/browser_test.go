package score_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/rooms/threefc/threefctest/phonetest"
	"matchday/infra/testkit"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// phone is the scorekeeper's page in a browser.
type phone struct {
	*threefctest.World
	*phonetest.Phone
	l    threefctest.League
	game string

	clocks sync.RWMutex // held for writing while the clocks of the phone and of 3FC are set

	mu    sync.Mutex
	user  string // who is signed in
	fault fault
	gone  bool // the server answers nothing, also no file
	sent  int  // changes that were done, or refused, since the fault was set
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

// newPhone opens the page for a game of a world.
func newPhone(t *testing.T) *phone {
	t.Helper()

	p := &phone{user: "sam", World: threefctest.New(t)}
	p.SignIn("ann", "sam")
	p.l = p.Found("ann")
	p.Join(p.l, item.Scorekeeper, "sam")
	p.game = p.Schedule("ann", p.l)

	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)

	p.Settings[spec.EnvAPI], p.Origin = server.URL, server.URL
	p.Routes = p.ServeRoutes()
	p.Phone = phonetest.New(t, server.URL, p.Clock.Now())
	p.Run(consoletest.Resize(390, 600, "light"), chromedp.Navigate(p.URL+"/score/"+p.l.SessionID))

	return p
}

// serve answers a request of the phone.
func (p *phone) serve(w http.ResponseWriter, r *http.Request) {
	p.clocks.RLock()
	defer p.clocks.RUnlock()

	p.mu.Lock()
	f, gone, user := p.fault, p.gone, p.user
	p.mu.Unlock()

	body, err := io.ReadAll(r.Body)
	if err != nil || gone {
		panic(http.ErrAbortHandler)
	}

	api := strings.HasPrefix(r.URL.Path, "/v1/")
	out := events.APIGatewayV2HTTPResponse{StatusCode: http.StatusServiceUnavailable, Body: `{"message":"Service Unavailable"}`}

	switch {
	case !api:
		out = p.Ask("", r.Method, r.URL.RequestURI(), nil)
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

		var headers []threefctest.Header
		if k := r.Header.Get("Scorer"); k != "" {
			headers = append(headers, threefctest.Header{Name: "scorer", Value: k})
		}

		if k := r.Header.Get("Idempotency-Key"); k != "" {
			headers = append(headers, threefctest.Key(k))
		}

		out = p.Ask(user, r.Method, r.URL.RequestURI(), text, headers...)
	}

	if len(out.Cookies) > 0 {
		p.clocks.RUnlock()
		p.clocks.Lock() // no other request reads the cookies
		p.SetCookie(user, out.Cookies[0])
		p.clocks.Unlock()
		p.clocks.RLock()
	}

	p.mu.Lock()
	if r.Method != http.MethodGet && f == p.fault {
		p.sent++
	}
	p.mu.Unlock()

	if f == deaf && api {
		panic(http.ErrAbortHandler)
	}

	p.Reply(w, out)
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

	for p.Tab.Err() == nil {
		p.mu.Lock()
		there := p.sent >= n
		p.mu.Unlock()

		if there {
			return
		}

		p.Run(consoletest.See("true"))
	}

	p.T.Fatalf("%d changes have not arrived", n)
}

// pass lets time pass, on the phone and on that of 3FC.
func (p *phone) pass(d time.Duration) {
	p.T.Helper()
	p.clocks.Lock()
	defer p.clocks.Unlock()

	now := p.Clock.Now().Add(d)
	p.MoveClock(now)
	p.SetClock(now)
}

// as makes another user the one that is signed in, "" for nobody.
func (p *phone) as(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.user = user
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
		p.T.Errorf("%s: 3FC has the goals %q, want %q; the page complained %q", what, got, want, p.Complaints())
	}
}

// refuses checks what the page shows as refused: what, and why.
func (p *phone) refuses(want ...string) {
	p.T.Helper()

	list, _ := json.Marshal(append([]string{}, want...))
	p.Run(consoletest.See(fmt.Sprintf(`document.querySelector("#kept").hidden === %v`, len(want) == 0)),
		consoletest.See(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("#kept-list li")].map((li) => li.children[0].textContent + ": " + li.children[1].textContent)) === JSON.stringify(%s)`, list)))
}

// decide presses a button of the refused entry i.
func (p *phone) decide(i int, text string) {
	p.T.Helper()
	p.Run(consoletest.See(fmt.Sprintf(`([...document.querySelectorAll("#kept-list li")][%d].querySelectorAll("button").forEach((b) => b.textContent === %q && b.click()), true)`, i, text)))
}

// TestSignInInAnotherTab: without a session the page leads to the sign-in, which leads back, and knows a
// sign-in of another tab when it is looked at again.
func TestSignInInAnotherTab(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.as("")
	p.Run(consoletest.See("(localStorage.clear(), true)"), chromedp.Reload(), consoletest.See(`!document.querySelector("#sign-in").hidden`),
		consoletest.See(fmt.Sprintf(`document.querySelector("#sign-in-link").href === "%s/sign-in?next=%%2Fscore%%2F%s"`, p.URL, p.l.SessionID)))

	page := p.Do("", "GET", "/sign-in?next=%2Fscore%2F"+p.l.SessionID, nil).Body
	if !strings.Contains(page, `value="/score/`+p.l.SessionID+`"`) {
		t.Errorf("the sign-in does not lead back:\n%s", page)
	}

	p.as("sam")
	p.Run(consoletest.See(`(dispatchEvent(new Event("focus")), document.querySelector("#sign-in").hidden)`))
	p.Tap("start third 1")
	p.Sees("everything is sent")
}

// TestGamesOfTheSession: of several games one is chosen, and what was tapped for it is sent although
// another is shown.
func TestGamesOfTheSession(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.Schedule("ann", p.l)
	p.Run(consoletest.See("(localStorage.clear(), true)"), chromedp.Reload(),
		consoletest.See(`document.querySelectorAll("#games button").length === 2`),
		consoletest.See(`(document.querySelector("#games button").click(), true)`))
	p.Tap("GOAL")
	p.Offline(true)
	p.Tap("Red", "Blue", "Ada")
	p.Sees("1 waiting")
	p.Tap("another game")
	p.Run(consoletest.See(`(document.querySelectorAll("#games button")[1].click(), true)`))
	p.Offline(false)
	p.Run(consoletest.Says("#third", "Not started"))
	p.Sees("everything is sent")
	p.Shown()
	p.same("of the first game", "1/0 red>blue")
}

// TestClockOfThePhoneIsWrong: the minute is that of 3FC.
func TestClockOfThePhoneIsWrong(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.MoveClock(p.Clock.Now().Add(7*time.Minute + time.Second))
	p.Run(chromedp.Reload(), consoletest.See(`document.querySelector("#clock").textContent.startsWith("07:")`))
	p.Tap("GOAL", "Red", "Blue", "Ada")
	p.Sees("everything is sent")
	p.same("by a clock that is seven minutes late", "1/7 red>blue")
}

// TestRefusedGoalsStay: goals of a phone without a network, whose scorer an administrator has taken out of the
// game meanwhile, stay with the reason until they are sent again or discarded.
func TestRefusedGoalsStay(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.Offline(true)
	p.pass(7 * time.Minute)
	p.Tap("GOAL", "Red", "Blue", "Ada", "GOAL", "Blue", "Yellow", "Ed", "GOAL", "Red", "Yellow", "Ada")
	p.Sees("3 waiting")

	seat := "/v1/games/" + p.game + "/roster/" + p.l.Players[0]
	p.Do("ann", "DELETE", seat, nil)
	p.Offline(false)

	const why = ": 3FC says: the scorer must be on the roster of the scoring team, of an own goal on that of the conceding team."
	p.refuses("1. third, 7' · Ada · Red against Blue"+why, "1. third, 7' · Ada · Red against Yellow"+why)
	p.Sees("2 refused")
	p.Shown("1. third, 7' · Ed · Blue against Yellow")
	p.same("what was refused", "1/7 blue>yellow")
	p.Run(chromedp.Reload())
	p.Sees("2 refused")
	p.Run(consoletest.See(`document.querySelector("#kept-list a").href.startsWith("mailto:?subject=A%20goal") && ` +
		`document.querySelector("#kept-list a").href.includes("Ada")`))
	p.decide(1, "discard")
	p.refuses("1. third, 7' · Ada · Red against Blue" + why)
	p.decide(0, "try again")
	p.Sees("1 refused")
	p.Do("ann", "PUT", seat, map[string]any{"teamId": "red"})
	p.decide(0, "try again")
	p.Sees("everything is sent")
	p.refuses()
	p.same("with the player", "1/7 red>blue", "1/7 blue>yellow")
}

// TestGoalsAfterTheThird: what another phone's finish has overtaken waits for an administrator, and counts once
// it is accepted.
func TestGoalsAfterTheThird(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.Offline(true)
	p.pass(7 * time.Minute)
	p.Tap("GOAL", "Red", "Blue", "Ada", "GOAL", "Blue", "Yellow", "Ed", "finish third 1")
	p.Sees("3 waiting")
	p.Do("ann", "POST", "/v1/games/"+p.game+"/thirds/1/finish", map[string]any{})
	p.Offline(false)
	p.Sees("everything is sent")
	p.Shown()
	p.same("what came too late")

	late := func(want ...string) {
		t.Helper()

		list, _ := json.Marshal(append([]string{}, want...))
		p.Run(consoletest.See(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("#late-list li")].map((li) => li.firstElementChild.textContent)) === '%s'`,
			strings.ReplaceAll(string(list), "'", `\'`))))
	}
	late("1. third, 7' · Ada · Red against Blue", "1. third, 7' · Ed · Blue against Yellow")

	path := "/v1/games/" + p.game + "/proposals"
	all := testkit.Decode[struct{ Proposals []game.Proposal }](p.World.World, p.Do("ann", "GET", path, nil)).Proposals
	p.Do("ann", "POST", path+"/"+all[0].Goal.EventID+"/accept", nil)
	p.Do("ann", "DELETE", path+"/"+all[1].Goal.EventID, nil)
	p.Run(chromedp.Reload())
	p.Shown("1. third, 7' · Ada · Red against Blue")
	late()
	p.same("what was accepted", "1/7 red>blue")
}

// TestPageOpensWithoutANetwork: once it was open, with its queue, its clock and its game.
func TestPageOpensWithoutANetwork(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.Run(consoletest.See(`!!navigator.serviceWorker.controller`))
	p.pass(7 * time.Minute)
	p.unplug(true)
	p.Tap("GOAL", "Red", "Blue", "Ada")
	p.Run(chromedp.Reload())
	p.Sees("1 waiting")
	p.Shown("1. third, 7' · Ada · Red against Blue")
	p.Run(consoletest.Says("#clock", "07:00"))
	p.pass(time.Second) // goals of one millisecond have no order once the page was loaded again
	p.Tap("GOAL", "Blue", "Yellow", "Ed")
	p.Run(chromedp.Reload())
	p.Sees("2 waiting")
	p.unplug(false)
	p.Sees("everything is sent")
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
	p.Run(consoletest.See(phonetest.Ready), consoletest.See(`(document.querySelector("#step").click(), document.querySelector("#phone").inert)`))
	p.Sees("everything is sent")

	// Without a network, over a reload, and past an API that is down.
	p.Offline(true)
	p.Run(consoletest.See(`(window.before = localStorage.getItem("score")) !== null`))
	p.pass(7 * time.Minute)
	p.Tap("GOAL", "Red", "Blue", "Ada")
	p.pass(3*time.Minute + 30*time.Second)
	p.Tap("GOAL")
	p.pass(time.Minute) // the questions take time
	p.Tap("Blue", "Yellow", "Ed")

	two := []string{"1. third, 10' · Ed · Blue against Yellow", "1. third, 7' · Ada · Red against Blue"}

	p.Sees("2 waiting")
	p.Shown(two...)
	p.same("without a network")
	p.Run(consoletest.See(`document.querySelectorAll("#goals .waiting").length === 2`))
	// Another tab keeps what it knew before the taps.
	p.Run(consoletest.See(`(localStorage.setItem("score", before), dispatchEvent(new StorageEvent("storage", { key: "score", newValue: before })), true)`))
	p.Sees("2 waiting")
	p.Shown(two...)
	p.set(down)
	p.Offline(false)
	p.Run(chromedp.Reload())
	p.Sees("2 waiting")
	p.Shown(two...)
	p.set(refuse)
	p.arrived(3)
	p.Sees("2 waiting")
	p.set(deaf)
	p.arrived(2)
	p.Sees("2 waiting")
	p.set(none)
	p.Sees("everything is sent")
	p.same("with a network", "1/7 red>blue", "1/10 blue>yellow")
	p.Shown(two...)

	// A double tap on the last question neither records another goal nor undoes one.
	p.Tap("GOAL", "Yellow", "Red")
	p.Run(consoletest.See(phonetest.Ready), chromedp.DoubleClick(chromedp.CSS("#choices button")))
	p.Sees("everything is sent")

	three := []string{"1/7 red>blue", "1/10 blue>yellow", "1/11 yellow>red"}

	p.Run(consoletest.See(`document.querySelectorAll("#goals li").length === 3`))
	p.same("after a double tap", three...)

	// An undo of a goal of which nobody has heard, and of one whose answer was lost.
	p.Offline(true)
	p.Tap("GOAL", "Red", "Yellow", "Bo", "undo the last goal")
	p.Run(consoletest.See(`document.querySelectorAll("#goals li").length === 3`))
	p.Offline(false)
	p.Sees("everything is sent")
	p.same("after an undo without a network", three...)
	p.set(deaf)
	p.Tap("GOAL", "Red", "Yellow", "Cy")
	p.arrived(1)
	p.Sees("1 waiting")
	p.same("whose answer was lost", append(three, "1/11 red>yellow")...)
	p.Offline(true) // so that the goal is not on its way
	p.Tap("undo the last goal")
	p.Run(consoletest.See(`document.querySelectorAll("#goals li").length === 3`))
	p.set(none)
	p.Offline(false)
	p.Sees("everything is sent")
	p.same("after the undo", three...)

	// The session ends in the middle of the game: what is tapped until the next sign-in waits.
	p.set(expired)
	p.Tap("GOAL", "Blue", "Red", "Di")
	p.Run(consoletest.See(`!document.querySelector("#sign-in").hidden`))
	p.Tap("GOAL", "Blue", "Red", "Flo")
	p.Sees("2 waiting")
	p.set(none)
	p.Sees("everything is sent")
	p.Run(consoletest.See(`document.querySelector("#sign-in").hidden`))
	p.same("after the sign-in", append(three, "1/11 blue>red", "1/11 blue>red")...)

	p.Tap("finish third 1", "start third 2", "finish third 2", "start third 3", "finish third 3", "finish the game")
	p.Sees("everything is sent")
	p.Run(consoletest.Says("#third", "Finished"))

	if g := testkit.Decode[game.Game](p.World.World, p.Do("sam", "GET", "/v1/games/"+p.game, nil)); g.Status != "finished" {
		t.Errorf("the game is %s", g.Status)
	}
}

// TestGuestScoresByALink: the link of a session fills in the PIN, and nothing happens before its user agrees.
// What is tapped after the PIN was revoked waits until somebody signs in.
func TestGuestScoresByALink(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.as("gus")

	pin := "/v1/sessions/" + p.l.SessionID + "/scoring-pin"
	link := testkit.Decode[struct{ URL string }](p.World.World, p.Do("ann", "PUT", pin, nil)).URL
	p.Run(consoletest.See("(localStorage.clear(), true)"), chromedp.Navigate("about:blank"), chromedp.Navigate(link),
		consoletest.See(`!document.querySelector("#sign-in").hidden && document.querySelector("#pin").value.length === 8`),
		consoletest.See(`document.querySelector("#phone").hidden`),
		consoletest.See(`(document.querySelector("#pin-form button").click(), true)`),
		consoletest.See(`document.querySelector("#sign-in").hidden && location.hash === ""`))
	p.Tap("start third 1", "GOAL", "Red", "Blue", "Ada")
	p.Sees("everything is sent")
	p.same("by a guest", "1/0 red>blue")

	p.Do("ann", "DELETE", pin, nil)
	p.Tap("GOAL", "Blue", "Red", "Ed")
	p.Run(consoletest.See(`!document.querySelector("#sign-in").hidden`))
	p.Sees("1 waiting")
	p.as("sam")
	p.Look()
	p.Sees("everything is sent")
	p.same("after the sign-in", "1/0 red>blue", "1/0 blue>red")
}

// TestTapOfAnEarlierSessionIsRefused: what a guest has tapped in a session whose PIN was revoked does not keep the
// guest from scoring another session. Taps that earlier releases have stored have no session.
func TestTapOfAnEarlierSessionIsRefused(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.as("gus")

	enter := func() {
		t.Helper()

		link := testkit.Decode[struct{ URL string }](p.World.World, p.Do("ann", "PUT", "/v1/sessions/"+p.l.SessionID+"/scoring-pin", nil)).URL
		p.Run(chromedp.Navigate("about:blank"), chromedp.Navigate(link),
			consoletest.See(`document.querySelector("#pin").value.length === 8`),
			consoletest.See(`(document.querySelector("#pin-form button").click(), true)`))
	}

	enter()
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.Offline(true)
	p.Tap("GOAL", "Red", "Blue", "Ada", "GOAL", "Blue", "Yellow", "Ed")
	p.Sees("2 waiting")
	p.Run(consoletest.See(`(() => {
	const key = Object.keys(localStorage).filter((k) => k.startsWith("score-tap ")).sort()[0];
	const { session, ...old } = JSON.parse(localStorage.getItem(key));
	localStorage.setItem(key, JSON.stringify(old));
	return true;
})()`))

	p.Do("ann", "DELETE", "/v1/sessions/"+p.l.SessionID+"/scoring-pin", nil)
	p.l.SessionID = testkit.Decode[struct{ SessionID string }](p.World.World,
		p.Do("ann", "POST", "/v1/seasons/"+p.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-06-07"})).SessionID
	p.game = p.Schedule("ann", p.l)
	p.Offline(false)
	enter()

	const why = ": 3FC says: this is for members of the league."
	p.refuses("1. third, 0' · Ada · Red against Blue"+why, "1. third, 0' · Ed · Blue against Yellow"+why)
	p.Run(consoletest.Says("#third", "Not started"))
	p.Tap("start third 1", "GOAL", "Yellow", "Red", "Hal")
	p.Sees("2 refused")
	p.same("in the other session", "1/0 yellow>red")
}

// TestMissingTeamIsNotOffered: a team that is missing neither scores nor concedes.
func TestMissingTeamIsNotOffered(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Do("ann", "PATCH", "/v1/games/"+p.game, map[string]any{"absentTeamIds": []string{"yellow"}})
	p.Run(chromedp.Reload())
	p.Tap("start third 1")

	offers := func(want string) {
		t.Helper()
		p.Run(consoletest.See(`[...document.querySelectorAll("#choices button")].map((b) => b.textContent).join() === "` + want + `"`))
	}

	p.Tap("GOAL")
	offers("Blue,Red")
	p.Tap("Red")
	offers("Blue")
	p.Tap("cancel", "GOAL", "own goal")
	offers("Blue,Red")
}

// TestUndoTakesTheGoalThatWasRecordedLast: whatever the minutes of the goals. What waits comes after what 3FC has.
func TestUndoTakesTheGoalThatWasRecordedLast(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.pass(5 * time.Minute)
	p.Offline(true)
	p.Tap("GOAL", "Red", "Blue", "Ada")
	p.pass(2 * time.Minute)
	p.Do("sam", "POST", "/v1/games/"+p.game+"/goals", map[string]any{
		"scoringTeamId": "blue", "concedingTeamId": "yellow", "scorerPlayerId": p.l.Players[3],
	})
	p.Offline(false)
	p.Sees("everything is sent")

	const ada, di = "1. third, 5' · Ada · Red against Blue", "1. third, 7' · Di · Blue against Yellow"
	p.Shown(di, ada)
	p.Offline(true)
	p.Tap("GOAL", "Yellow", "Red", "Hal", "undo the last goal")
	p.Shown(di, ada)
	p.Tap("undo the last goal")
	p.Shown(di)
	p.Offline(false)
	p.Sees("everything is sent")
	p.same("after the undo of the late goal", "1/7 blue>yellow")
	p.Tap("undo the last goal")
	p.Sees("everything is sent")
	p.same("after another undo")
}

// TestUndoOfAWrongTap: a start and a finish of a third are undone for five minutes, also before 3FC has them.
func TestUndoOfAWrongTap(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1", "third 1 has not started")
	p.Run(consoletest.Says("#third", "Not started"))
	p.Sees("everything is sent")
	p.Tap("start third 1", "GOAL", "Red", "Blue", "Ada", "finish third 1", "third 1 goes on")
	p.Sees("everything is sent")
	p.Run(consoletest.Says("#third", "Third 1"))
	p.same("after the undo", "1/0 red>blue")

	p.Offline(true)
	p.Tap("finish third 1")
	p.Sees("1 waiting")
	p.Tap("third 1 goes on")
	p.Offline(false)
	p.Sees("everything is sent")
	p.Tap("finish third 1")
	p.Sees("everything is sent")
	p.pass(6 * time.Minute)
	p.Run(consoletest.See(`document.querySelector("#back").hidden`))
}

// TestScorerIsNamedLater: a goal counts without a scorer, and gets one after the third, also without a network.
func TestScorerIsNamedLater(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1", "GOAL", "Red", "Blue", "unknown")
	p.Sees("everything is sent")
	p.pass(time.Minute)
	p.Tap("GOAL", "Blue", "Yellow", "a guest", "finish third 1")
	p.Sees("everything is sent")

	p.Shown("1. third, 1' · a guest · Blue against Yellow", "1. third, 0' · unknown · Red against Blue")
	p.Offline(true)
	p.Tap("name the scorer", "Ed", "Flo") // of the latest goal, with an assist
	p.Sees("1 waiting")
	p.Shown("1. third, 1' · Ed · Blue against Yellow · assist: Flo", "1. third, 0' · unknown · Red against Blue")
	p.Offline(false)
	p.Sees("everything is sent")
	p.Tap("name the scorer", "Ada", "nobody")
	p.Sees("everything is sent")
	p.Run(consoletest.See(`[...document.querySelectorAll("#goals button")].every((b) => b.hidden)`))

	all := testkit.Decode[struct{ Goals []game.Goal }](p.World.World, p.Do("sam", "GET", "/v1/games/"+p.game+"/goals", nil)).Goals
	if got := []string{all[0].Scorer, all[1].Scorer}; got[0] != p.l.Players[0] || got[1] != p.l.Players[4] || all[1].Guest || len(all[1].Assists) != 1 {
		t.Errorf("the goals are %+v, want Ada's and Ed's, with Flo's assist", all)
	}
}

// TestPlayerIsAdded: a player who is not on the roster is added on the page, and scores; a goal of the third
// that runs gets another scorer. A guest cannot add players.
func TestPlayerIsAdded(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1", "GOAL", "Red", "Blue")
	p.Run(consoletest.See(`!document.querySelector("#add-form").hidden`),
		consoletest.See(`((document.querySelector("#nickname").value = "Zoe"), document.querySelector("#add-form button").click(), true)`))
	p.Tap("Zoe")
	p.Sees("everything is sent")
	p.Shown("1. third, 0' · Zoe · Red against Blue")
	p.Tap("change", "Ada", "Zoe")
	p.Sees("everything is sent")
	p.Shown("1. third, 0' · Ada · Red against Blue · assist: Zoe")
	p.same("after the change", "1/0 red>blue")
	p.Run(consoletest.See(`(localStorage.setItem("score", JSON.stringify({ ...JSON.parse(localStorage.getItem("score")), guest: true })), ` +
		`dispatchEvent(new StorageEvent("storage", { key: "score", newValue: localStorage.getItem("score") })), true)`))
	p.Tap("GOAL", "Red", "Blue")
	p.Run(consoletest.See(`document.querySelector("#add-form").hidden`))
}

// TestAdministratorDecides: an administrator accepts what came too late, undoes a step of long ago, and gives
// out the link, on the page. Scorekeepers do not see this.
func TestAdministratorDecides(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.Tap("start third 1")
	p.Sees("everything is sent")
	p.Offline(true)
	p.Tap("GOAL", "Red", "Blue", "Ada", "GOAL", "Blue", "Yellow", "Ed")
	p.Do("ann", "POST", "/v1/games/"+p.game+"/thirds/1/finish", map[string]any{})
	p.Offline(false)
	p.Run(consoletest.See(`document.querySelectorAll("#late-list li").length === 2`),
		consoletest.See(`[...document.querySelectorAll("#late-list .choices")].every((c) => c.hidden) && document.querySelector("#office").hidden`))

	p.as("ann")
	p.Run(chromedp.Reload())
	p.Tap("accept")
	p.Shown("1. third, 0' · Ada · Red against Blue")
	p.Tap("dismiss")
	p.Run(consoletest.See(`document.querySelector("#late").hidden`))
	p.same("what was accepted", "1/0 red>blue")
	p.pass(time.Hour)
	p.Tap("third 1 goes on")
	p.Run(consoletest.Says("#third", "Third 1"))
	p.Sees("everything is sent")

	p.Run(consoletest.See(`(document.querySelector("#give").click(), true)`), consoletest.See(`!document.querySelector("#given").hidden`),
		consoletest.See(fmt.Sprintf(`document.querySelector("#given-link").href === "%s/score/%s#" + document.querySelector("#given-pin").textContent`,
			p.URL, p.l.SessionID)),
		consoletest.See(`(document.querySelector("#revoke").click(), true)`), consoletest.See(`document.querySelector("#given").hidden`),
		consoletest.Says("#said", "The link and the PIN have ended."))
}
