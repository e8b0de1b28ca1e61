package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/sportmonks"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/push"
)

// browser opens a tab of a headless Chromium, which complains collects what it
// complains about.
func browser(t *testing.T) (tab context.Context, complaints func() []string) {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("neither chromium, google-chrome nor chrome is on PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	tab, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	var mu sync.Mutex
	var said []string
	messages := chromedp.Console(tab)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			mu.Lock()
			said = append(said, m.String())
			mu.Unlock()
		}
	}()
	return tab, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(said)
	}
}

type action = chromedp.Action[chromedp.Void]

// see waits until a script's value holds.
func see(condition string) action {
	return func(ctx context.Context, tab *chromedp.Target) (none chromedp.Void, err error) {
		if _, err = chromedp.Poll[bool]("Boolean("+condition+")", chromedp.WithPollingTimeout(45*time.Second))(ctx, tab); err != nil {
			err = fmt.Errorf("%s: %w", condition, err)
		}
		return none, err
	}
}

func says(selector, text string) action {
	quoted, _ := json.Marshal(text)
	where, _ := json.Marshal(selector)
	return see(fmt.Sprintf("document.querySelector(%s)?.textContent.includes(%s)", where, quoted))
}

// resize gives the page a size in pixels, and a colour scheme.
func resize(width, height int64, mode string) action {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500,
		})
		if err == nil {
			_, err = cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}},
			})
		}
		return err
	})
}

// shoot keeps pictures of the window and of the whole page, where go test
// -artifacts leaves them.
func shoot(t *testing.T, tab context.Context, name string) {
	t.Helper()
	for suffix, take := range map[string]chromedp.Action[[]byte]{"": chromedp.CaptureScreenshot(), "-whole": chromedp.FullScreenshot(100)} {
		picture, err := chromedp.Run(tab, take)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+suffix+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPage looks at the page in a browser: what a phone holds is what it shows,
// and what happens later arrives.
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
	local, visitor := s.match.Local.Name, s.match.Visitor.Name
	for _, p := range s.phones {
		s.alert(p, "toss", "Toss: "+local+" chose to bat", local+" v "+visitor)
		if p.KeyEventsOnly {
			continue
		}
		s.alert(p, "w1", "Wicket! "+local+" 45/1 (6.2)", "HQ Fenwick c Calloway b Elsworth 21 (19)")
		s.alert(p, "fifty", "Fifty for OI Ackroyd", "50 (31) · "+local+" 97/2 (11.4)")
	}
	s.alert(fan, "w2", "Wicket! "+local+" 97/2 (11.5)", "<i>caught</i>")
	other := fleet.NewPhone("u7", fan.MatchID, "")
	other.Token, other.SpoilerFree = "", true
	s.phones = append(s.phones, other)
	for range 50 {
		s.tick()
	}
	s.dress()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close) // after the browser, which holds a stream
	tab, complaints := browser(t)

	var shown score.Display
	d, _ := s.Shows(s.phones[0])
	if err := json.Unmarshal(d.State, &shown); err != nil {
		t.Fatal(err)
	}
	run := func(actions ...action) {
		t.Helper()
		if err := chromedp.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	run(resize(1440, 1000, "light"), chromedp.Navigate(server.URL), says("#awaits", "The fleet is starting."), says("#link", "live"))
	s.attach()
	const large = ".screen.large"
	run(says(large+" .headline", shown.Headline), says(large+" [data-side=local] .score", shown.Local.Score),
		says(large+" [data-side=visitor] .team", shown.Visitor.Name), says(large+" .crease", shown.Batters[0].Name),
		says(large+" .crease", shown.Bowler.Figures), see(`document.querySelectorAll(".screen").length === 3`),
		see(fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, large+" .balls li", len(shown.LastSix))),
		see(`document.querySelectorAll("#chart .bars .took, #chart .bars .changed").length > 40`),
		says("#timing [data-n=claimed]", "24"), says("#queues", "the message cannot be read"), says("#problems", "503 Service Unavailable"),
		says("#machines", "24 of 24 ticks"),
		says(large+" .count", "4 notifications"), see(fmt.Sprintf(`document.querySelectorAll(%q).length === 3`, large+" .notes li")),
		says(large+" .notes li:first-child", "97/2 (11.5)"), says(large+" .notes li:last-child", "45/1"), says(large+" .notes li:first-child p", "<i>caught</i>"),
		says(".screen:nth-child(2) .traits", "broadcast channel"), says(".screen:nth-child(3) .traits", "key events only"), says(".screen:nth-child(3) .count", "1 notification"),
		says("#pushes .update", "update"))

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {1440, 1000, "dark"}, {390, 844, "light"}, {390, 844, "dark"}, {768, 1024, "light"}} {
		run(resize(look.width, look.height, look.mode), see(`getComputedStyle(document.body).backgroundColor === "`+
			map[string]string{"light": "rgb(245, 245, 242)", "dark": "rgb(13, 15, 17)"}[look.mode]+`"`))
		over, err := chromedp.Run(tab, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
		if err != nil || over > 0 {
			t.Errorf("at %d px the page is %d px too wide, %v", look.width, over, err)
		}
		shoot(t, tab, fmt.Sprintf("%d-%s", look.width, look.mode))
	}

	shown.Local.Score, shown.Headline, shown.LastSix = "199/9", "Six to finish <b>it</b>", append(shown.LastSix[1:], "6")
	if err := s.Clock.Sleep(t.Context(), s.Clock.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	s.show(s.phones[0], shown)
	run(says(large+" [data-side=local] .score", "199/9"), says(large+" .headline", "Six to finish <b>it</b>"),
		says(large+" .call", "SIX"), says(large+" .balls .new", "6"), says("#pushes li", "u1"))

	shoot(t, tab, "six")

	place := chromedp.Evaluate[string](`[".large .activity", ".large .notes", ".beside"].map((s) => JSON.stringify(document.querySelector(s).getBoundingClientRect())).join()`)
	before, err := chromedp.Run(tab, place)
	if err != nil {
		t.Fatal(err)
	}
	s.alert(fan, "hundred", "Hundred for OI Ackroyd", "100 (58)")
	run(says(large+" .notes li:first-child", "Hundred for OI Ackroyd"), says(large+" .notes time", "now"), says(large+" .count", "5 notifications"), says("#pushes li:first-child .alert", "alert"),
		see(fmt.Sprintf(`document.querySelectorAll(%q).length === 3`, large+" .notes li")))
	if after, err := chromedp.Run(tab, place); err != nil || after != before {
		t.Errorf("a notification moved the page from %s to %s, %v", before, after, err)
	}
	s.alert(fan, "w1", "Wicket! "+local+" 45/1 (6.2)", "run out, as corrected")
	run(says(large+" .notes li:first-child", "as corrected"), says(large+" .notes li:nth-child(2)", "Hundred"), says(large+" .count", "5 notifications"))

	pressed := large + ` .fans [aria-pressed=true]`
	run(says(pressed, "u1"), chromedp.Click(chromedp.CSS(large+` .fans [data-key="u7"]`)), says(pressed, "u7"), says(large+" .traits", "spoiler-free"),
		see(fmt.Sprintf(`document.querySelectorAll(%q).length === 0 && getComputedStyle(document.querySelector(%q)).display === "none"`, large+" .notes li", large+" .activity")),
		chromedp.Click(chromedp.CSS(large+` .fans [data-key="u1"]`)), says(large+" .notes li", "as corrected"), says(large+" [data-side=local] .score", "199/9"))

	functions := 0
	for _, room := range s.Rooms {
		functions += len(room.Functions)
	}
	run(says("#fold", fmt.Sprintf("%d functions idle", functions)), see(`document.querySelector("#idle").hidden && !document.querySelector("#functions tbody").rows.length`),
		chromedp.Click(chromedp.CSS("#fold")), see(fmt.Sprintf(`document.querySelector("#idle").checkVisibility() && document.querySelector("#idle").rows.length === %d`, functions)),
		see(`document.querySelector("#fold").getAttribute("aria-expanded") === "true"`), chromedp.Click(chromedp.CSS("#fold")), see(`document.querySelector("#idle").hidden`))
	if _, err := s.Functions.Invoke(t.Context(), "cricket/get-match", nil); err == nil {
		t.Error("a function without a binary runs")
	}
	run(says("#fold", fmt.Sprintf("%d functions idle", functions-1)), says("#functions tbody:first-of-type", "cricket/get-match"),
		says("#queues", "cricket-push-activities"), says("#unused", "cricket-send-alerts"), see(`!document.querySelector("#unused").checkVisibility()`),
		chromedp.Click(chromedp.CSS("details:has(#unused) summary")), see(`document.querySelector("#unused").checkVisibility()`),
		says("#unfired", "cricket/sync-teams"), says("#schedules", "cricket-live-loop"))

	run(chromedp.Click(chromedp.CSS(`[data-kind="HTML page"]`)), says("#said", "web page"))
	w := httptest.NewRecorder()
	s.Provider.ServeHTTP(w, httptest.NewRequest("GET", "/api/v2.0/livescores?api_token=token", nil))
	if s.Provider.Counts()[sportmonks.HTML] != 1 || !strings.Contains(w.Body.String(), "<html>") {
		t.Error("the button ordered no web page")
	}
	run(says(`[data-kind="HTML page"] small`, "1"), chromedp.Click(chromedp.CSS(`[data-rate="5"]`)), see(`document.querySelector('[data-rate="5"]').getAttribute("aria-pressed") === "true"`))
	if st, err := s.Provider.State(s.match.ID); err != nil || st.Rate != 5 {
		t.Errorf("the rate is %v (%v), want 5", st.Rate, err)
	}
	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}

// TestPageAwaits looks at the page before anything is live.
func TestPageAwaits(t *testing.T) {
	t.Parallel()
	s := newSample(t, -100).attach()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := browser(t)
	if err := chromedp.Do(tab, resize(390, 844, "light"), chromedp.Navigate(server.URL),
		says(".screen.large .headline", "The match starts in 4 min"), says(".match header", "not started"), says("#next", "the live loop plans again in 60 s"),
		says("#pushes", "No push yet"), says("#problems", "Nothing has."), says(".screen figcaption", "no push yet"),
		see(`document.querySelector("#pickem").hidden`)); err != nil {
		t.Fatalf("%v; the page complained %q", err, complaints())
	}
	shoot(t, tab, "awaits")
	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}
