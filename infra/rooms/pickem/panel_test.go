package pickem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console"
	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	pickemsim "matchday/infra/rooms/pickem"
	"matchday/infra/rooms/pickem/seasontest"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sqs"
	"matchday/infra/testkit"
	"matchday/pkg/pickem"
)

// newConsole returns a console with a prepared season.
func newConsole(t *testing.T) (*console.Hub, *seasontest.World) {
	t.Helper()
	w := seasontest.New(t, start)
	testkit.Must(t, w.Season.Prepare(t.Context()))
	w.MoveClock(start.Add(time.Second))
	functions, err := lambda.New(w.Clock, lambda.Config{})
	testkit.Must(t, err)
	t.Cleanup(functions.Close)

	hub := console.NewHub(w.Season.Panel())
	hub.Attach(&fleet.Fleet{
		Config: fleet.Config{Clock: w.Clock, Rooms: []fleet.Room{{Room: pickem.Room()}}}, URL: "http://localhost:8080",
		Functions: functions, Queues: sqs.New(w.Clock, "http://localhost/sqs"),
	})

	return hub, w
}

// ask calls the API as the visitor.
func ask[T any](w *seasontest.World, path string) (out T) {
	w.T.Helper()
	testkit.Must(w.T, w.Season.Call(w.T.Context(), pickemsim.Visitor, http.MethodGet, "/pickem"+path, nil, &out))

	return out
}

// TestSeasonButtons checks that the buttons do what the API allows, and return what
// it refuses.
func TestSeasonButtons(t *testing.T) {
	t.Parallel()
	hub, w := newConsole(t)
	handler := hub.Handler()
	first := ask[screen](w, "/app/events/"+firstShow).Card[0]

	picks := `,"picks":{"` + first.ID + `":"t2"}}`
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"pick", `{"event":"` + firstShow + `"` + picks, 200, "saved"},
		{"pick", `{"event":"` + firstShow + `","picks":{"` + first.ID + `":"t4"}}`, 400, "valid are t1, t2, t3"},
		{"pick", `{"event":"` + firstShow + `","picks":{"` + first.ID + `":7}}`, 400, "invalid body"},
		{"pick", `{"event":"2026-06-06-nowhere"` + picks, 400, "the event does not exist"},
		{"pick", `{"event":"../../admin/users"` + picks, 400, "the show does not exist"},
		{"result", `{"event":"` + firstShow + `"}`, 400, "not locked yet"},
		{"correct", `{"event":"` + firstShow + `"}`, 400, "no result to correct"},
		{"lock", `{"event":"` + firstShow + `"}`, 200, "locked"},
		{"pick", `{"event":"` + firstShow + `"` + picks, 400, "the event is locked"},
		{"score", `{"event":"` + firstShow + `"}`, 400, "matches without a result"},
		{"result", `{"event":"` + firstShow + `"}`, 200, first.Name},
		{"correct", `{"event":"` + firstShow + `"}`, 200, first.Name},
		{"result", `{"event":"` + firstShow + `"}`, 200, "Singles match"},
		{"result", `{"event":"` + firstShow + `"}`, 200, "Tag team match"},
		{"result", `{"event":"` + firstShow + `"}`, 200, "Title match"},
		{"result", `{"event":"` + firstShow + `"}`, 200, "Main event"},
		{"result", `{"event":"` + firstShow + `"}`, 400, "every match has its result"},
		{"score", `{"event":"` + firstShow + `"}`, 200, "being computed"},
	} {
		status, text := consoletest.Post(handler, "pickem/"+c.path, c.body)
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s, want %d %q", c.path, c.body, status, text, c.status, c.want)
		}
	}

	w.MoveClock(w.Clock.Now().Add(time.Second))

	e := ask[screen](w, "/app/events/"+firstShow)
	if e.State != "scored" || e.Prediction == nil || e.Prediction.Predictions[first.ID] != "t2" {
		t.Errorf("the show after all buttons is %+v", e)
	}
}

// TestSeasonIsSeen checks the events for a browser: the season, changes by its buttons at once,
// and the previous view while the API fails.
func TestSeasonIsSeen(t *testing.T) {
	t.Parallel()
	hub, w := newConsole(t)

	var down atomic.Bool

	call := w.Season.Call
	w.Season.Call = func(ctx context.Context, user, method, path string, in, out any) error {
		if down.Load() {
			return errors.New("down")
		}

		return call(ctx, user, method, path, in, out)
	}
	server := httptest.NewServer(hub.Handler())

	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	next := consoletest.Stream(t, server.URL, "pickem")
	await := func(until func(pickemsim.View) bool) (v pickemsim.View) {
		t.Helper()

		for {
			text := next().Data.Room["season"]
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
	v := await(func(pickemsim.View) bool { return true })

	var e screen
	if err := json.Unmarshal(v.Shows[0].Event, &e); err != nil {
		t.Fatal(err)
	}

	if e.ID != firstShow || v.Member != pickemsim.Visitor || len(v.Shows) != 2 || v.Shows[0].Results != nil || v.Shows[1].Results == nil ||
		len(v.Leagues) != 1 {
		t.Errorf("the event for the page is %+v, want the show %s", v, e.ID)
	}

	if status, text := consoletest.Post(hub.Handler(), "pickem/pick",
		`{"event":"`+firstShow+`","picks":{"`+e.Card[0].ID+`":"t3"}}`); status != http.StatusOK {
		t.Fatal(text)
	}

	await(func(v pickemsim.View) bool {
		var e screen
		return json.Unmarshal(v.Shows[0].Event, &e) == nil && e.Prediction != nil &&
			maps.Equal(e.Prediction.Predictions, map[string]string{e.Card[0].ID: "t3"}) && v.Shows[0].Entries == 1
	})

	down.Store(true)
	consoletest.Post(hub.Handler(), "pickem/score", `{"event":"`+firstShow+`"}`) // it looks at once

	if again := consoletest.Stream(t, server.URL, "pickem")(); !strings.Contains(string(again.Data.Room["season"]), firstShow) {
		t.Errorf("after a failure the page shows %s", again.Data.Room["season"])
	}
}

// TestPagePickem plays a show in a browser: the visitor picks, and the page shows the lock, the
// results, a correction, the points and the standings.
func TestPagePickem(t *testing.T) {
	t.Parallel()
	hub, w := newConsole(t)
	server := httptest.NewServer(hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	click := func(selector string) consoletest.Action { return chromedp.Click(chromedp.CSS(selector)) }
	press := func(id, said string) { t.Helper(); run(click(id), consoletest.Says("#season-said", said)) }

	const mainEvent = `.bout:last-child`

	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/pickem/"), consoletest.Says("#show", "Live in Amberwick"),
		consoletest.Says("#lock", "3:59"), consoletest.Says("#lock", "until the lock"),
		consoletest.See(`document.querySelector("#lock b").getAttribute("role") === "timer" && !document.querySelector("#lock").closest("[aria-live]")`),
		consoletest.See(`document.querySelectorAll(".bout").length === 5`), consoletest.Says("#show-about", "nobody has picked yet"),
		consoletest.Says("#show-about", "you 0 of 5 matches"),
		consoletest.Says(".bout:first-child .titles", "Pre-show"), consoletest.Says(mainEvent+" .titles", "World Championship"),
		consoletest.Says(mainEvent+" .worth", "25 points"), consoletest.Says(mainEvent+" .corner:first-child", "champion"),
		consoletest.See(`document.querySelectorAll("#standings tbody tr").length === 10`), consoletest.Says("#standings .me .who", "You"),
		consoletest.See(`document.querySelector("#standings .up, #standings .down")`),
		consoletest.See(`[...document.querySelectorAll("#season button:disabled")].map((b) => b.id).join() === "season-result,season-correct,season-score"`))

	// The visitor picks by mouse and by keyboard.
	run(click(mainEvent+" .corner:nth-child(2)"), consoletest.Says("#season-said", "Your picks are saved."),
		consoletest.Says("#show-about", "you 1 of 5 matches"), consoletest.Says("#show-about", "1 member picked"),
		consoletest.See(`document.querySelector(".bout:last-child .corner:nth-child(2) input").checked`))

	evaluate := func(script string) {
		t.Helper()

		if _, err := consoletest.Run(tab, chromedp.Evaluate[bool](script+"; true")); err != nil {
			t.Fatal(err)
		}
	}
	evaluate(`document.querySelector("#season-said").textContent = ""; document.querySelector(".bout:nth-child(2) input").focus()`)
	run(chromedp.KeyEvent(" "), consoletest.Says("#season-said", "Your picks are saved."),
		consoletest.Says("#show-about", "you 2 of 5 matches"),
		consoletest.See(`document.activeElement === document.querySelector(".bout:nth-child(2) input")`))

	e := ask[screen](w, "/app/events/"+firstShow)
	if want := map[string]string{e.Card[4].ID: "t2", e.Card[1].ID: "t1"}; e.Prediction == nil || !maps.Equal(e.Prediction.Predictions, want) {
		t.Errorf("the picks are %+v, want %v", e.Prediction, want)
	}

	// The page shows the lock by its own clock, without an event.
	w.MoveClock(e.LockAt.Add(-30 * time.Second))
	run(consoletest.Says("#lock", "0:30"), consoletest.See(`document.querySelector("#lock").dataset.state === "soon"`))
	w.MoveClock(e.LockAt)
	run(consoletest.Says("#lock", "Locked"), consoletest.Says("#lock", "begins in 60 s"),
		consoletest.See(`[...document.querySelectorAll(".bout input")].every((i) => i.disabled)`),
		consoletest.Says(mainEvent+" .corner:nth-child(2)", "your pick"))
	evaluate(fmt.Sprintf(`fetch("/console/pickem/pick", {method: "POST", headers: {"Content-Type": "application/json"}, body: %q}).then((r) => r.text()).then((t) => window.late = t)`,
		`{"event":"`+firstShow+`","picks":{}}`))
	run(consoletest.See(`window.late?.includes("the event is locked")`))

	// The results.
	w.MoveClock(e.StartsAt)
	run(consoletest.Says("#lock", "On air"))
	press("#season-result", "Three-way match: ")
	run(consoletest.Says("#lock", "1 of 5 results"), consoletest.Says(".bout:first-child .winner", "winner"))

	for i, name := range []string{"Singles match", "Tag team match", "Title match", "Main event"} {
		press("#season-result", name+": ")

		if i < 3 { // the page has moved before the next click
			run(consoletest.Says("#lock", fmt.Sprintf("%d of 5 results", i+2)))
		}
	}

	run(consoletest.Says("#lock", "points to come"),
		consoletest.See(`document.querySelectorAll(".bout .winner, .bout.void").length === 5 && document.querySelector("#season-result").disabled`))
	press("#season-correct", "Main event: ")
	run(consoletest.Says(mainEvent+" .note", "Corrected at the console."))

	// The points and the standings.
	before, err := consoletest.Run(tab, chromedp.Evaluate[string](`document.querySelector("#standings .me").textContent`))
	testkit.Must(t, err)
	press("#season-score", "being computed")
	w.MoveClock(w.Clock.Now().Add(time.Second))
	e = ask[screen](w, "/app/events/"+firstShow)
	sheet := e.Prediction.Score
	run(consoletest.Says("#lock b", fmt.Sprint(sheet.Points)), consoletest.Says("#lock span", "of 1"),
		consoletest.See(fmt.Sprintf(`document.querySelector("#standings .me").textContent !== %q`, before)))

	for i, p := range sheet.Picks {
		if p.Pick != nil {
			run(consoletest.Says(fmt.Sprintf(".bout:nth-child(%d) .worth", i+1), fmt.Sprintf("%d of %d points", p.Points, e.Card[i].Points)))
		}
	}

	press("#season-correct", "Main event: ")
	w.MoveClock(w.Clock.Now().Add(time.Second))
	run(consoletest.See(fmt.Sprintf(`!document.querySelector("#lock").textContent.includes("%d point")`, sheet.Points)))

	// The tables and the previous show.
	run(click(`#tables [data-key="show"]`), consoletest.See(`document.querySelectorAll("#standings tbody tr").length === 1`),
		consoletest.Says("#standings .me", "You"),
		click(`#shows button:nth-child(2)`), consoletest.Says("#show", "Saltstorm"),
		consoletest.See(`document.querySelectorAll(".bout").length === 7`), consoletest.Says("#lock", "points"),
		click(`#tables button:nth-child(2)`), consoletest.See(`document.querySelectorAll("#standings tbody tr").length === 5`),
		consoletest.Says("#standings-note", "invites to The Back Row"))

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {390, 844, "dark"}, {768, 1024, "light"}} {
		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("pickem-%d-%s", look.width, look.mode))
	}

	// The next show is announced and displayed.
	run(consoletest.Resize(1440, 1000, "light"), click(`#shows button:first-child`), consoletest.Says("#show", "Live in Amberwick"))
	testkit.Must(t, w.Season.Prepare(t.Context()))
	run(consoletest.Says("#show", "Live in Brackwater"), consoletest.Says("#lock", "4:00"),
		consoletest.See(`[...document.querySelectorAll(".bout input")].every((i) => !i.disabled && !i.checked)`))

	if said := complaints(); len(said) != 1 || !strings.Contains(said[0], "400") {
		t.Errorf("beside the late pick, the page complained %q", said)
	}
}
