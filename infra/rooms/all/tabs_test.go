package all

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console"
	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sqs"
)

// TestTabs opens the tab of every room in a browser: by its address, and by its link
// on another tab.
func TestTabs(t *testing.T) {
	t.Parallel()

	c := clock.New(time.Date(2026, 6, 6, 18, 41, 0, 0, time.UTC), clock.Free)
	t.Cleanup(c.Work()) // the clock stands while the test works

	functions, err := lambda.New(c, lambda.Config{})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(functions.Close)

	var panels []console.Panel

	for _, r := range Rooms() {
		p := r.Local().Panel
		p.View, p.Owners = nil, nil // no engine runs that they could look at
		panels = append(panels, p)
	}

	hub := console.NewHub(panels...)
	hub.Attach(&fleet.Fleet{
		Config:    fleet.Config{Clock: c, Rooms: Fleet(Rooms())},
		URL:       "http://localhost:8080",
		Functions: functions,
		Queues:    sqs.New(c, "http://localhost/sqs"),
	})
	server := httptest.NewServer(hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}

	opened := func(p console.Panel) {
		t.Helper()
		run(consoletest.Says("title", p.Title), consoletest.Says("#link", "live"), consoletest.Says(".tabs [aria-current=page]", p.Title),
			consoletest.See(`document.querySelectorAll("[aria-current]").length === 1 && location.pathname === "`+console.Path(p.Room)+`"`),
			consoletest.Says("#functions [open] summary", p.Room))
	}
	for _, p := range panels {
		run(chromedp.Navigate(server.URL + console.Path(p.Room)))
		opened(p)
	}

	for _, p := range panels {
		run(chromedp.Click(chromedp.CSS(`.tabs a[href="` + console.Path(p.Room) + `"]`)))
		opened(p)
	}

	if said := complaints(); len(said) > 0 {
		t.Errorf("the page complained %q", said)
	}
}
