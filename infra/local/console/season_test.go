package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/fleet"
	pickemsim "matchday/infra/rooms/pickem"
	"matchday/infra/rooms/pickem/seasontest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem"
)

func TestMain(m *testing.M) {
	testkit.LogByWorld()
	os.Exit(m.Run())
}

// tonight is the show that the season announces at start.
const tonight = "2026-06-06-amberwick"

// newSeason is a sample with a season that is prepared.
func newSeason(t *testing.T) (*sample, *seasontest.World) {
	t.Helper()
	w := seasontest.New(t, start)
	testkit.Must(t, w.Season.Prepare(t.Context()))
	s := sampleUnder(t, w.Clock, 100)
	s.season = w.Season
	w.To(start.Add(time.Second))
	return s, w
}

// ask asks the API as the visitor.
func ask[T any](w *seasontest.World, path string) (out T) {
	w.T.Helper()
	testkit.Must(w.T, w.Season.Call(w.T.Context(), pickemsim.Visitor, http.MethodGet, "/pickem"+path, nil, &out))
	return out
}

type shownShow struct {
	pickem.Event
	Card       []pickem.Match
	Prediction *pickem.Prediction
}

// TestSeasonButtons has the season's buttons do what the API allows, and tell what
// it does not.
func TestSeasonButtons(t *testing.T) {
	t.Parallel()
	s, w := newSeason(t)
	s.attach()
	handler := s.hub.Handler()
	first := ask[shownShow](w, "/app/events/"+tonight).Card[0]
	picks := `,"picks":{"` + first.ID + `":1}}`
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"pick", `{"event":"` + tonight + `"` + picks, 200, "saved"},
		{"pick", `{"event":"` + tonight + `","picks":{"` + first.ID + `":3}}`, 400, "the match has the teams 0 to 2"},
		{"pick", `{"event":"` + tonight + `","picks":{"` + first.ID + `":"x"}}`, 400, "not what this button sends"},
		{"pick", `{"event":"2026-06-06-nowhere"` + picks, 400, "no such event"},
		{"pick", `{"event":"../../admin/users"` + picks, 400, "no such show"},
		{"result", `{"event":"` + tonight + `"}`, 400, "not locked yet"},
		{"correct", `{"event":"` + tonight + `"}`, 400, "no result to correct"},
		{"lock", `{"event":"` + tonight + `"}`, 200, "locked"},
		{"pick", `{"event":"` + tonight + `"` + picks, 400, "the event is locked"},
		{"score", `{"event":"` + tonight + `"}`, 400, "matches without a result"},
		{"result", `{"event":"` + tonight + `"}`, 200, first.Name},
		{"correct", `{"event":"` + tonight + `"}`, 200, first.Name},
		{"result", `{"event":"` + tonight + `"}`, 200, "Singles match"},
		{"result", `{"event":"` + tonight + `"}`, 200, "Tag team match"},
		{"result", `{"event":"` + tonight + `"}`, 200, "Title match"},
		{"result", `{"event":"` + tonight + `"}`, 200, "Main event"},
		{"result", `{"event":"` + tonight + `"}`, 400, "every match has its result"},
		{"score", `{"event":"` + tonight + `"}`, 200, "worked out"},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:8080/console/"+c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if answer.Code != c.status || !strings.Contains(answer.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s, want %d %q", c.path, c.body, answer.Code, answer.Body, c.status, c.says)
		}
	}
	w.To(w.Clock.Now().Add(time.Second))
	e := ask[shownShow](w, "/app/events/"+tonight)
	if e.State != "scored" || e.Prediction == nil || e.Prediction.Predictions[first.ID] != 1 {
		t.Errorf("at last the show is %+v", e)
	}
}

// TestSeasonIsSeen has a browser told of the season, of what changes by its buttons
// at once, and of the last that was seen when the API fails.
func TestSeasonIsSeen(t *testing.T) {
	t.Parallel()
	s, w := newSeason(t)
	s.attach()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	next := stream(t, server.URL)
	told := func(until func(pickemsim.View) bool) (v pickemsim.View) {
		t.Helper()
		for {
			text := next().data.State["pickem"]
			if text == nil {
				continue
			}
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatal(err)
			}
			if until(v) {
				return v
			}
		}
	}
	v := told(func(pickemsim.View) bool { return true })
	var e shownShow
	if err := json.Unmarshal(v.Shows[0].Event, &e); err != nil {
		t.Fatal(err)
	}
	if e.ID != tonight || v.Member != pickemsim.Visitor || len(v.Shows) != 2 || v.Shows[0].Results != nil || v.Shows[1].Results == nil || len(v.Leagues) != 1 {
		t.Errorf("the page is told %+v of %s", v, e.ID)
	}
	if _, err := s.hub.direct(savePicks)(t.Context(), s.Fleet, 0, order{Event: tonight, Picks: map[string]int{e.Card[0].ID: 2}}); err != nil {
		t.Fatal(err)
	}
	told(func(v pickemsim.View) bool {
		var e shownShow
		return json.Unmarshal(v.Shows[0].Event, &e) == nil && e.Prediction != nil && maps.Equal(e.Prediction.Predictions, map[string]int{e.Card[0].ID: 2}) && v.Shows[0].Entries == 1
	})

	w.Season.Call = func(context.Context, string, string, string, any, any) error { return errors.New("down") }
	before := string(s.hub.sight)
	s.hub.glance()
	if string(s.hub.sight) != before {
		t.Error("a failure changes what is seen")
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"the event is locked":                   &fleet.Refusal{Request: "PUT /x", Status: 409, Body: []byte(`{"detail":"the event is locked","status":409}`)},
		"PUT /x: 502 Bad Gateway: <html>":       &fleet.Refusal{Request: "PUT /x", Status: 502, Body: []byte(`<html>`)},
		"PUT /x: 500 Internal Server Error: {}": &fleet.Refusal{Request: "PUT /x", Status: 500, Body: []byte(`{}`)},
		"every match has its result":            errors.New("every match has its result"),
	} {
		if got := sentence(err); got != want {
			t.Errorf("%v is said as %q, want %q", err, got, want)
		}
	}
}

// TestPagePickem plays a show in a browser: its visitor picks, sees the lock come,
// then results, a correction, the points and the standings.
func TestPagePickem(t *testing.T) {
	t.Parallel()
	s, w := newSeason(t)
	s.attach()
	server := httptest.NewServer(s.hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := browser(t)
	run := func(actions ...action) {
		t.Helper()
		if err := chromedp.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	click := func(selector string) action { return chromedp.Click(chromedp.CSS(selector)) }
	press := func(id, said string) { t.Helper(); run(click(id), says("#season-said", said)) }
	const mainEvent = `.bout:last-child`

	run(resize(1440, 1000, "light"), chromedp.Navigate(server.URL), says("#show", "Live in Amberwick"), says("#lock", "3:59"), says("#lock", "until the lock"),
		see(`document.querySelector("#lock b").getAttribute("role") === "timer" && !document.querySelector("#lock").closest("[aria-live]")`),
		see(`document.querySelectorAll(".bout").length === 5`), says("#show-about", "nobody has picked yet"), says("#show-about", "you 0 of 5 matches"),
		says(".bout:first-child .titles", "Pre-show"), says(mainEvent+" .titles", "World Championship"), says(mainEvent+" .worth", "25 points"), says(mainEvent+" .corner:first-child", "champion"),
		see(`document.querySelectorAll("#standings tbody tr").length === 10`), says("#standings .me .who", "You"), see(`document.querySelector("#standings .up, #standings .down")`),
		see(`[...document.querySelectorAll("#pickem button:disabled")].map((b) => b.id).join() === "season-result,season-correct,season-score"`))

	// The visitor picks by mouse and by keyboard.
	run(click(mainEvent+" .corner:nth-child(2)"), says("#season-said", "Your picks are saved."), says("#show-about", "you 1 of 5 matches"), says("#show-about", "1 member picked"),
		see(`document.querySelector(".bout:last-child .corner:nth-child(2) input").checked`))
	evaluate := func(script string) {
		t.Helper()
		if _, err := chromedp.Run(tab, chromedp.Evaluate[bool](script+"; true")); err != nil {
			t.Fatal(err)
		}
	}
	evaluate(`document.querySelector("#season-said").textContent = ""; document.querySelector(".bout:nth-child(2) input").focus()`)
	run(chromedp.KeyEvent(" "), says("#season-said", "Your picks are saved."), says("#show-about", "you 2 of 5 matches"),
		see(`document.activeElement === document.querySelector(".bout:nth-child(2) input")`))
	e := ask[shownShow](w, "/app/events/"+tonight)
	if want := map[string]int{e.Card[4].ID: 1, e.Card[1].ID: 0}; e.Prediction == nil || !maps.Equal(e.Prediction.Predictions, want) {
		t.Errorf("the picks are %+v, want %v", e.Prediction, want)
	}

	// The clock locks the show, and nothing needs to come for it.
	w.To(e.LockAt.Add(-30 * time.Second))
	run(says("#lock", "0:30"), see(`document.querySelector("#lock").dataset.state === "soon"`))
	w.To(e.LockAt)
	run(says("#lock", "Locked"), says("#lock", "begins in 60 s"), see(`[...document.querySelectorAll(".bout input")].every((i) => i.disabled)`),
		says(mainEvent+" .corner:nth-child(2)", "your pick"))
	evaluate(fmt.Sprintf(`fetch("/console/pick", {method: "POST", headers: {"Content-Type": "application/json"}, body: %q}).then((r) => r.text()).then((t) => window.late = t)`,
		`{"event":"`+tonight+`","picks":{}}`))
	run(see(`window.late?.includes("the event is locked")`))

	// Results come in.
	w.To(e.StartsAt)
	run(says("#lock", "On air"))
	press("#season-result", "Three-way match: ")
	run(says("#lock", "1 of 5 results"), says(".bout:first-child .winner", "winner"))
	for _, name := range []string{"Singles match", "Tag team match", "Title match", "Main event"} {
		press("#season-result", name+": ")
	}
	run(says("#lock", "points to come"), see(`document.querySelectorAll(".bout .winner, .bout.void").length === 5 && document.querySelector("#season-result").disabled`))
	press("#season-correct", "Main event: ")
	run(says(mainEvent+" .note", "Corrected at the console."))

	// Points follow, and standings.
	before, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("#standings .me").textContent`))
	testkit.Must(t, err)
	press("#season-score", "worked out")
	w.To(w.Clock.Now().Add(time.Second))
	e = ask[shownShow](w, "/app/events/"+tonight)
	sheet := e.Prediction.Score
	run(says("#lock b", fmt.Sprint(sheet.Points)), says("#lock span", "of 1"), see(fmt.Sprintf(`document.querySelector("#standings .me").textContent !== %q`, before)))
	for i, p := range sheet.Picks {
		if p.Pick != nil {
			run(says(fmt.Sprintf(".bout:nth-child(%d) .worth", i+1), fmt.Sprintf("%d of %d points", p.Points, e.Card[i].Points)))
		}
	}
	press("#season-correct", "Main event: ")
	w.To(w.Clock.Now().Add(time.Second))
	run(see(fmt.Sprintf(`!document.querySelector("#lock").textContent.includes("%d point")`, sheet.Points)))

	// The tables, and the show before.
	run(click(`#tables [data-key="show"]`), see(`document.querySelectorAll("#standings tbody tr").length === 1`), says("#standings .me", "You"),
		click(`#shows button:nth-child(2)`), says("#show", "Saltstorm"), see(`document.querySelectorAll(".bout").length === 7`), says("#lock", "points"),
		click(`#tables button:nth-child(2)`), see(`document.querySelectorAll("#standings tbody tr").length === 5`), says("#standings-note", "invites to The Back Row"))

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {390, 844, "dark"}, {768, 1024, "light"}} {
		run(resize(look.width, look.height, look.mode))
		over, err := chromedp.Run(tab, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
		if err != nil || over > 0 {
			t.Errorf("at %d px the page is %d px too wide, %v", look.width, over, err)
		}
		shoot(t, tab, fmt.Sprintf("pickem-%d-%s", look.width, look.mode))
	}

	// The next show is announced, and who looks at the latest sees it.
	run(resize(1440, 1000, "light"), click(`#shows button:first-child`), says("#show", "Live in Amberwick"))
	testkit.Must(t, w.Season.Prepare(t.Context()))
	run(says("#show", "Live in Brackwater"), says("#lock", "4:00"), see(`[...document.querySelectorAll(".bout input")].every((i) => !i.disabled && !i.checked)`))
	if said := complaints(); len(said) != 1 || !strings.Contains(said[0], "400") {
		t.Errorf("beside the late pick, the page complained %q", said)
	}
}
