package cricket

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/sportmonks"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/push"
)

// TestPage opens the page in a browser: it shows the state of the phones, and later changes
// without a reload.
func TestPage(t *testing.T) {
	t.Parallel()
	s := newSample(t, 190)
	fan := s.phones[0]

	channel, err := s.sender.CreateChannel(t.Context(), push.KeepNothing)
	if err != nil || !s.Phones.Subscribe(s.phones[1].Token, channel) {
		t.Fatal("nobody listens to the channel", err)
	}

	s.phones[1].OS = "18.2"
	s.phones[2].KeyEventsOnly = true

	home, visitor := s.match.Local.Name, s.match.Visitor.Name
	for _, p := range s.phones {
		s.alert(p, "toss", "Toss: "+home+" chose to bat", home+" v "+visitor)

		if p.KeyEventsOnly {
			continue
		}

		s.alert(p, "w1", "Wicket! "+home+" 45/1 (6.2)", "HQ Fenwick c Calloway b Elsworth 21 (19)")
		s.alert(p, "fifty", "Fifty for OI Ackroyd", "50 (31) · "+home+" 97/2 (11.4)")
	}

	s.alert(fan, "w2", "Wicket! "+home+" 97/2 (11.5)", "<i>caught</i>")
	other := local.NewPhone("u7", fan.MatchID, "")
	other.Token, other.SpoilerFree = "", true

	s.phones = append(s.phones, other)
	for range 50 {
		s.tick()
	}

	s.dress()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close) // after the browser, which holds a stream
	tab, complaints := consoletest.Browser(t)

	var shown score.Display

	d, _ := s.Shows(s.phones[0])
	if err := json.Unmarshal(d.State, &shown); err != nil {
		t.Fatal(err)
	}

	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/cricket/"),
		consoletest.Says("#starting", "The fleet is starting."), consoletest.Says("#link", "live"))
	s.attach()

	const large = ".screen.large"
	run(consoletest.Says(large+" .headline", shown.Headline), consoletest.Says(large+" [data-side=local] .score", shown.Local.Score),
		consoletest.Says(large+" [data-side=visitor] .team", shown.Visitor.Name), consoletest.Says(large+" .crease", shown.Batters[0].Name),
		consoletest.Says(large+" .crease", shown.Bowler.Figures), consoletest.See(`document.querySelectorAll(".screen").length === 3`),
		consoletest.See(fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, large+" .balls li", len(shown.LastSix))),
		consoletest.See(`document.querySelectorAll("#chart .bars .took, #chart .bars .changed").length > 40`),
		consoletest.Says("#timing [data-n=claimed]", "24"), consoletest.Says("#queues", "the message cannot be read"),
		consoletest.Says("#problems", "503 Service Unavailable"),
		consoletest.Says("#machines", "24 of 24 ticks"),
		consoletest.Says(large+" .count", "4 notifications"),
		consoletest.See(fmt.Sprintf(`document.querySelectorAll(%q).length === 3`, large+" .notes li")),
		consoletest.Says(large+" .notes li:first-child", "97/2 (11.5)"), consoletest.Says(large+" .notes li:last-child", "45/1"),
		consoletest.Says(large+" .notes li:first-child p", "<i>caught</i>"),
		consoletest.Says(".screen:nth-child(2) .traits", "broadcast channel"),
		consoletest.Says(".screen:nth-child(3) .traits", "key events only"), consoletest.Says(".screen:nth-child(3) .count", "1 notification"),
		consoletest.Says("#pushes .update", "update"))

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {1440, 1000, "dark"}, {390, 844, "light"}, {390, 844, "dark"}, {768, 1024, "light"}} {
		run(consoletest.Resize(look.width, look.height, look.mode), consoletest.See(`getComputedStyle(document.body).backgroundColor === "`+
			map[string]string{"light": "rgb(245, 245, 242)", "dark": "rgb(13, 15, 17)"}[look.mode]+`"`))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("%d-%s", look.width, look.mode))
	}

	shown.Local.Score, shown.Headline, shown.LastSix = "199/9", "Six to finish <b>it</b>", append(shown.LastSix[1:], "6")

	if err := s.Clock.Sleep(t.Context(), s.Clock.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	// The page takes a call away after 4 s, and the test may look later.
	run(consoletest.See(`window.setTimeout = ((after) => (f, ms) => ms === 4000 || after(f, ms))(window.setTimeout)`))
	s.show(s.phones[0], shown)
	run(consoletest.Says(large+" [data-side=local] .score", "199/9"), consoletest.Says(large+" .headline", "Six to finish <b>it</b>"),
		consoletest.Says(large+" .call", "SIX"), consoletest.Says(large+" .balls .new", "6"), consoletest.Says("#pushes li", "u1"))

	consoletest.Shoot(t, tab, "six")

	place := chromedp.Evaluate[string](`[".large .activity", ".large .notes", ".beside"].map((s) => JSON.stringify(document.querySelector(s).getBoundingClientRect())).join()`)

	before, err := consoletest.Run(tab, place)
	if err != nil {
		t.Fatal(err)
	}

	s.alert(fan, "hundred", "Hundred for OI Ackroyd", "100 (58)")
	run(consoletest.Says(large+" .notes li:first-child", "Hundred for OI Ackroyd"), consoletest.Says(large+" .notes time", "now"),
		consoletest.Says(large+" .count", "5 notifications"), consoletest.Says("#pushes li:first-child .alert", "alert"),
		consoletest.See(fmt.Sprintf(`document.querySelectorAll(%q).length === 3`, large+" .notes li")))

	if after, err := consoletest.Run(tab, place); err != nil || after != before {
		t.Errorf("a notification moved the page from %s to %s, %v", before, after, err)
	}

	s.alert(fan, "w1", "Wicket! "+home+" 45/1 (6.2)", "run out, as corrected")
	run(consoletest.Says(large+" .notes li:first-child", "as corrected"), consoletest.Says(large+" .notes li:nth-child(2)", "Hundred"),
		consoletest.Says(large+" .count", "5 notifications"))

	pressed := large + ` .fans [aria-pressed=true]`
	run(consoletest.Says(pressed, "u1"), chromedp.Click(chromedp.CSS(large+` .fans [data-key="u7"]`)), consoletest.Says(pressed, "u7"),
		consoletest.Says(large+" .traits", "spoiler-free"),
		consoletest.See(fmt.Sprintf(`document.querySelectorAll(%q).length === 0 && getComputedStyle(document.querySelector(%q)).display === "none"`, large+" .notes li", large+" .activity")),
		chromedp.Click(chromedp.CSS(large+` .fans [data-key="u1"]`)), consoletest.Says(large+" .notes li", "as corrected"),
		consoletest.Says(large+" [data-side=local] .score", "199/9"))

	run(consoletest.Says("#queues", "cricket-push-activities"), consoletest.Says("#queues .fold", "cricket-send-alerts"),
		consoletest.See(`!document.querySelector("#queues .fold div").checkVisibility()`),
		consoletest.Says("#schedules .fold", "cricket/sync-teams"), consoletest.Says("#schedules", "cricket-live-loop"),
		consoletest.Says("#links", "/display?team="))

	run(chromedp.Click(chromedp.CSS(`[data-kind="HTML page"]`)), consoletest.Says("#said", "web page"))

	w := httptest.NewRecorder()
	s.Provider.ServeHTTP(w, httptest.NewRequest("GET", "/api/v2.0/livescores?api_token=token", nil))

	if s.Provider.Counts()[sportmonks.HTML] != 1 || !strings.Contains(w.Body.String(), "<html>") {
		t.Error("the button ordered no web page")
	}

	run(consoletest.Says(`[data-kind="HTML page"] small`, "1"), chromedp.Click(chromedp.CSS(`[data-rate="5"]`)),
		consoletest.See(`document.querySelector('[data-rate="5"]').getAttribute("aria-pressed") === "true"`))

	if st, err := s.Provider.State(s.match.ID); err != nil || st.Rate != 5 {
		t.Errorf("the rate is %v (%v), want 5", st.Rate, err)
	}

	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}

// TestPageAwaits opens the page before a match is live.
func TestPageAwaits(t *testing.T) {
	t.Parallel()
	s := newSample(t, -100).attach()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)

	tab, complaints := consoletest.Browser(t)
	if err := consoletest.Do(tab, consoletest.Resize(390, 844, "light"), chromedp.Navigate(server.URL+"/cricket/"),
		consoletest.Says(".screen.large .headline", "The match starts in 4 min"), consoletest.Says(".match header", "not started"),
		consoletest.Says("#next", "the live loop plans again in 60 s"),
		consoletest.Says("#pushes", "No push yet"), consoletest.Says("#problems", "Nothing has."),
		consoletest.Says(".screen figcaption", "no push yet")); err != nil {
		t.Fatalf("%v; the page complained %q", err, complaints())
	}

	consoletest.Shoot(t, tab, "awaits")

	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}
