package cricket

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/home"
	apimatch "matchday/pkg/cricket/match"
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

// looks are the widths and the modes in which the page is looked at.
var looks = []struct {
	width, height int64
	mode          string
}{{1440, 1000, "light"}, {1440, 1000, "dark"}, {768, 1024, "light"}, {768, 1024, "dark"}, {390, 844, "light"}, {390, 844, "dark"}}

// rowsOf returns the visible texts of the cells of each row that a selector finds.
func rowsOf(t *testing.T, tab context.Context, selector string) (rows [][]string) {
	t.Helper()

	rows, err := consoletest.Run(tab, chromedp.Evaluate[[][]string](fmt.Sprintf(`(() => {
		const texts = (n) => n.nodeType === Node.TEXT_NODE ? [n.data] : n.matches(".hidden") ? [] : [...n.childNodes].flatMap(texts);
		return [...document.querySelectorAll(%q)].map((row) => [...row.children].map((c) => texts(c).join(" ")));
	})()`, selector)))
	testkit.Must(t, err)

	return rows
}

// batters returns the rows of batters as the page shows them.
func batters(n card.Innings, sides []card.Side) (rows [][]string) {
	for _, b := range n.Batting {
		how := map[card.How]string{card.NotOut: "not out", card.RunOut: "run out"}[b.How]

		var fielders []string
		for _, f := range b.Fielders {
			fielders = append(fielders, f.Name)
		}

		switch names := strings.Join(fielders, "/"); b.How {
		case card.Bowled:
			how = "b " + b.Bowler.Name
		case card.Caught:
			how = "c " + names + " b " + b.Bowler.Name
		case card.CaughtAndBowled:
			how = "c & b " + b.Bowler.Name
		case card.LBW:
			how = "lbw b " + b.Bowler.Name
		case card.Stumped:
			how = "st " + names + " b " + b.Bowler.Name
		case card.RunOut:
			how += " (" + names + ")"
		}

		rows = append(rows, []string{b.Name + marksOf(b.ID, sides) + " " + how, fmt.Sprint(b.Runs), fmt.Sprint(b.Balls), fmt.Sprint(b.Fours),
			fmt.Sprint(b.Sixes), b.StrikeRate})
	}

	return rows
}

// marksOf returns the marks of a captain and a wicketkeeper.
func marksOf(id string, sides []card.Side) (marks string) {
	for _, side := range sides {
		for _, p := range side.Players {
			if p.ID == id && p.Captain {
				marks += " (c)"
			}

			if p.ID == id && p.Keeper {
				marks += " †"
			}
		}
	}

	return marks
}

// TestPagePayloads opens the published payloads on the page: a phone shows each, with what is in its file.
func TestPagePayloads(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	s.attach()

	files, err := filepath.Glob("../../../clients/ios/payloads/*.json")
	if err != nil || len(files) != 10 {
		t.Fatalf("there are %d payloads, %v", len(files), err)
	}

	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}

	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/cricket/"), consoletest.Says("#link", "live"),
		chromedp.Click(chromedp.CSS("#payloads summary")),
		consoletest.See(fmt.Sprintf(`document.querySelectorAll("#payload-screens .screen").length === %d`, len(files))))

	for i, file := range files {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)

		var p struct {
			APS struct {
				Event string
				State score.Display `json:"content-state"`
			}
		}

		testkit.Must(t, json.Unmarshal(text, &p))

		phone, d := fmt.Sprintf("#payload-screens .screen:nth-child(%d)", i+1), p.APS.State
		run(consoletest.Says(phone+" .traits", filepath.Base(file)), consoletest.Says(phone+" .traits", p.APS.Event),
			consoletest.Says(phone+" .status", d.Status), consoletest.Says(phone+" .headline", d.Headline),
			consoletest.Says(phone+" [data-side=local] .score", d.Local.Score), consoletest.Says(phone+" [data-side=visitor] .team", d.Visitor.Name),
			consoletest.See(fmt.Sprintf(`document.querySelectorAll("%s .balls li").length === %d`, phone, len(d.LastSix))))
	}

	for _, look := range looks {
		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("payloads-%d-%s", look.width, look.mode))
	}

	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}

// TestPageAnswers opens the page with an API: it shows the scorecard, the day and the home as the API
// answers them, and a later ball without a reload.
func TestPageAnswers(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.attach()

	for range 50 {
		s.tick()
	}

	s.dress()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	id := local.ID(s.match.ID)
	scorecard := func() apimatch.Scorecard { return answer[apimatch.Scorecard](s, "", "/matches/"+id+"/scorecard") }
	before := scorecard()
	last := before.Innings[len(before.Innings)-1]

	const open = "#innings details[open] "

	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/cricket/"),
		consoletest.Says(open+"summary .score", fmt.Sprintf("%d/%d", last.Runs, last.Wickets)),
		consoletest.See(fmt.Sprintf(`document.querySelectorAll("#innings details").length === %d`, len(before.Innings))),
		consoletest.Says(open+"summary", last.Overs+" overs"), consoletest.Says(open+".line", fmt.Sprint("Target ", last.Target.Runs)),
		consoletest.Says("#home-results", "won by"), consoletest.Says("#day-games", before.Teams[0].Name))

	// Each table as it is for a screen reader, too: a caption, and heads with a scope.
	if bare, err := consoletest.Run(tab, chromedp.Evaluate[int](
		`document.querySelectorAll("#innings table:not(:has(caption)), #innings th:not([scope])").length`)); err != nil || bare > 0 {
		t.Errorf("%d tables or heads of the scorecard are without caption or scope, %v", bare, err)
	}

	check := func(c apimatch.Scorecard) {
		t.Helper()

		n := c.Innings[len(c.Innings)-1]
		want := [][][]string{batters(n, c.Teams), {}, {}}

		for _, f := range n.Falls {
			want[1] = append(want[1], []string{fmt.Sprintf("%d/%d", f.Runs, f.Wicket), f.Batter.Name, f.Overs + " ov"})
		}

		for _, b := range n.Bowling {
			var extras []string
			if b.Wides > 0 {
				extras = append(extras, fmt.Sprint("w ", b.Wides))
			}

			if b.NoBalls > 0 {
				extras = append(extras, fmt.Sprint("nb ", b.NoBalls))
			}

			want[2] = append(want[2], []string{strings.TrimSpace(b.Name + marksOf(b.ID, c.Teams) + " " + strings.Join(extras, ", ")), b.Overs,
				fmt.Sprint(b.Maidens), fmt.Sprint(b.Runs), fmt.Sprint(b.Wickets), b.Economy})
		}

		got := [][][]string{rowsOf(t, tab, open+"table:first-of-type tbody tr"), rowsOf(t, tab, open+".falls li"),
			rowsOf(t, tab, open+"table:last-of-type tbody tr")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("batting, wickets and bowling (-answer +page):\n%s", diff)
		}
	}
	check(before)

	// The day and the home have the matches of the answers.
	day := answer[struct{ Matches []apimatch.Match }](s, "", "/matches?date=2026-06-01&timeZone=UTC")
	fan := answer[struct{ Live, Next, Results []home.Match }](s, "u1", "/user/home")

	if len(day.Matches) != 3 || len(fan.Live) != 1 || len(fan.Next) != 1 || len(fan.Results) != 1 || fan.Live[0].ActivitySince == nil {
		t.Fatalf("the day has %d matches, and the home %+v", len(day.Matches), fan)
	}

	texts := func(selector string) string {
		t.Helper()

		text, err := consoletest.Run(tab, chromedp.Evaluate[string](
			fmt.Sprintf(`[...document.querySelectorAll(%q)].map((node) => node.textContent).join("; ")`, selector)))
		testkit.Must(t, err)

		return text
	}
	for _, list := range []struct {
		root    string
		matches []apimatch.Match
		marks   string
	}{
		{"#day-games", day.Matches, ""},
		{"#home-live", []apimatch.Match{fan.Live[0].Match},
			"followed; Live Activity since " + fan.Live[0].ActivitySince.Format("15:04")},
		{"#home-next", []apimatch.Match{fan.Next[0].Match}, "followed; no Live Activity"},
		{"#home-results", []apimatch.Match{fan.Results[0].Match}, "no Live Activity"},
	} {
		var names, scores, results []string

		for _, m := range list.matches {
			for _, side := range []apimatch.MatchSide{m.Local, m.Visitor} {
				names, scores = append(names, side.Name), append(scores, side.Score)
			}

			results = append(results, m.Result)
		}

		want := []string{strings.Join(names, "; "), strings.Join(scores, "; "), list.marks}
		got := []string{texts(list.root + " [data-f=name]"), texts(list.root + " [data-f=score]"), texts(list.root + " .marks li")}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-answer +page):\n%s", list.root, diff)
		}

		if got := texts(list.root + " .says"); slices.ContainsFunc(results, func(r string) bool { return !strings.Contains(got, r) }) {
			t.Errorf("%s has the results %q, want %q", list.root, got, results)
		}
	}

	for _, look := range looks {
		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("answers-%d-%s", look.width, look.mode))
	}

	// A ball more.
	n := played + 51
	s.room.MoveClock(crickettest.At(n))
	s.room.TickAt(s.room.Ticker(), n)

	now := scorecard()
	last = now.Innings[len(now.Innings)-1]

	run(consoletest.Says(open+"summary", last.Overs+" overs"))
	check(now)

	// Another match and another fan.
	run(chromedp.Click(chromedp.CSS("#home-results button")), consoletest.Says("#card-state", fan.Results[0].Result),
		consoletest.Says("#card-best", "Player of the match"), consoletest.See(`document.activeElement.id === "card-h"`),
		consoletest.See(`document.querySelector("#card-match").value === "`+fan.Results[0].ID+`"`),
		chromedp.Click(chromedp.CSS(`#home-fans [data-key="u2"]`)),
		consoletest.Says(`#home-fans [aria-pressed=true]`, "u2"), consoletest.See(`document.querySelectorAll("#home .game").length === 0`),
		chromedp.Click(chromedp.CSS("#day-games .game[data-phase=upcoming] button")),
		consoletest.Says("#card-none", "The match has no scorecard yet."))

	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}

// TestPageWords shows every kind of dismissal, four innings, and the longest names.
func TestPageWords(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	s.attach()

	const name = "Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh <b>of</b> Llanfairpwllgwyngyll"

	who := func(n int, name string) card.Player { return card.Player{ID: fmt.Sprint(n), Name: name} }
	bowler, catcher, thrower := who(30, "Elsworth"), who(31, "Calloway"), who(32, "Ackroyd")
	hows := []struct {
		card.Dismissal
		want string
	}{
		{card.Dismissal{How: card.NotOut}, "not out"},
		{card.Dismissal{How: card.Bowled, Bowler: &bowler}, "b Elsworth"},
		{card.Dismissal{How: card.Caught, Bowler: &bowler, Fielders: []card.Player{catcher}}, "c Calloway b Elsworth"},
		{card.Dismissal{How: card.Caught, Bowler: &bowler, Fielders: []card.Player{catcher}, Substitute: true}, "c sub (Calloway) b Elsworth"},
		{card.Dismissal{How: card.Caught, Bowler: &bowler}, "c b Elsworth"},
		{card.Dismissal{How: card.CaughtAndBowled, Bowler: &bowler}, "c & b Elsworth"},
		{card.Dismissal{How: card.LBW, Bowler: &bowler}, "lbw b Elsworth"},
		{card.Dismissal{How: card.Stumped, Bowler: &bowler, Fielders: []card.Player{catcher}}, "st Calloway b Elsworth"},
		{card.Dismissal{How: card.RunOut, Fielders: []card.Player{thrower, catcher}}, "run out (Ackroyd/Calloway)"},
		{card.Dismissal{How: card.RunOut, Fielders: []card.Player{thrower}, Substitute: true}, "run out (sub Ackroyd)"},
		{card.Dismissal{How: card.RunOut}, "run out"},
		{card.Dismissal{How: card.HitWicket, Bowler: &bowler}, "hit wicket b Elsworth"},
		{card.Dismissal{How: card.ObstructingTheField}, "obstructing the field"},
		{card.Dismissal{How: card.HandledTheBall}, "handled the ball"},
		{card.Dismissal{How: card.HitTheBallTwice}, "hit the ball twice"},
		{card.Dismissal{How: card.TimedOut}, "timed out"},
		{card.Dismissal{How: card.RetiredOut}, "retired out"},
		{card.Dismissal{How: card.RetiredHurt}, "retired hurt"},
		{card.Dismissal{How: card.RetiredNotOut}, "retired not out"},
		{card.Dismissal{How: card.AbsentHurt}, "absent hurt"},
		{card.Dismissal{How: card.Other, Text: "Mankad <i>ed</i>"}, "Mankad <i>ed</i>"},
		{card.Dismissal{How: "carriedOff"}, "carriedOff"}, // a code to come
	}
	innings := card.Innings{
		Number: 4, TeamID: "1", Runs: 1002, Wickets: 9, Overs: "212.4", RunRate: "4.71", Over: true, Declared: true,
		Target:    &score.Target{Runs: 1003, Overs: "250", Revised: true},
		DidNotBat: []card.Player{who(1, name), who(2, name), who(3, name)},
		Extras:    card.Extras{Wides: 21, NoBalls: 14, Byes: 33, LegByes: 12, Penalty: 5, Total: 85},
		Falls:     []card.Fall{{Wicket: 1, Batter: who(1, name), Runs: 1002, Overs: "189.6"}, {Wicket: 2, Batter: bowler, Runs: 1002}},
		Bowling: []card.Bowler{{ID: "30", Name: name, Overs: "102.5", Maidens: 21, Runs: 402, Wickets: 10, Wides: 3, NoBalls: 12,
			Economy: "13.91"}},
		Disagreements: []card.Part{card.FallOfWickets, card.Bowling}, Unchecked: true,
	}

	var want []string

	for i, how := range hows {
		innings.Batting = append(innings.Batting,
			card.Batter{ID: fmt.Sprint(i), Name: name, Runs: 204, Balls: 333, Fours: 24, Sixes: 11, StrikeRate: "133.33",
				Dismissal: how.Dismissal})
		want = append(want, how.want)
	}

	out := apimatch.Scorecard{MatchID: s.phones[0].MatchID}
	out.Teams = []card.Side{
		{TeamID: "1", Name: name, Players: []card.Member{{ID: "0", Captain: true, Keeper: true}}},
		{TeamID: "2", Name: "Otters", Players: []card.Member{}},
	}

	for n := range 4 {
		innings.Number, innings.TeamID = n+1, []string{"2", "1", "2", "1"}[n]
		out.Innings = append(out.Innings, innings)
	}

	m := apimatch.Match{ID: out.MatchID, League: "L", LeagueName: name, Venue: name, Phase: "stumps", Status: "Tea Break", Type: "Test/5day",
		StartTime: "2026-06-06T10:00:00Z", Local: apimatch.MatchSide{Name: name, Code: "WOLFESCHLEGEL", Score: "364 & 1002/9d", Overs: "212.4"},
		Visitor: apimatch.MatchSide{Code: "OTT"}}
	s.ask = func(_ context.Context, _, path string, to any) error {
		one, none := []apimatch.Match{m}, []apimatch.Match{}

		var v any = map[string]any{"matches": one, "live": one, "next": none, "results": none, "more": true}

		switch {
		case strings.HasSuffix(path, "/scorecard"):
			v = out
		case path == "/user/follows":
			return &fleet.Refusal{Request: "GET " + path, Status: http.StatusGone, Body: []byte(name)}
		}

		text, err := json.Marshal(v)
		testkit.Must(t, err)

		return json.Unmarshal(text, to)
	}

	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}

	const open = "#innings details[open] "

	run(chromedp.Navigate(server.URL+"/cricket/"), consoletest.Says(open+"summary", "innings 4"), consoletest.Says(open+".score", "1002/9d"),
		consoletest.Says(open+".line", "Target 1003 from 250 overs · revised by a rain rule"),
		consoletest.Says(open+"tfoot", "b 33, lb 12, w 21, nb 14, pen 5"), consoletest.Says(open+".mark[title=captain]", "(c)"),
		consoletest.Says(open, "differ: fall of wickets, bowling"), consoletest.Says(open, "Did not bat"),
		consoletest.Says("#home-more", "other matches"), consoletest.Says("#home-live [data-f=name]", name),
		consoletest.Says("#day-games [data-f=phase]", "Stumps"), consoletest.See(`document.querySelectorAll("#home .followed").length === 0`),
		chromedp.Click(chromedp.CSS("#innings details:first-child summary")),
		consoletest.See(`document.querySelectorAll("#innings details[open]").length === 2`))

	var got []string
	for _, row := range rowsOf(t, tab, "#innings details:last-child table:first-of-type tbody th") {
		got = append(got, row[len(row)-1])
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the dismissals (-want +page):\n%s", diff)
	}

	for _, look := range looks {
		if look.mode != "light" { // a mode changes no place
			continue
		}

		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("words-%d", look.width))

		over, err := consoletest.Run(tab, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#card, #home, #day")]
			.flatMap((p) => [...p.querySelectorAll("*")].filter((n) => n.getClientRects().length && !n.closest(".hidden") &&
				n.getBoundingClientRect().right > p.getBoundingClientRect().right - 8).map((n) => n.outerHTML.slice(0, 80)))`))
		if err != nil || len(over) > 0 {
			t.Errorf("at %d px these reach over their panel: %q, %v", look.width, over, err)
		}
	}

	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}
