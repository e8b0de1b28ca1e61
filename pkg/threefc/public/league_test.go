package public_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
)

// TestLeaguePage: a league without a season, with games of its newest season, and what its links lead to.
func TestLeaguePage(t *testing.T) {
	t.Parallel()
	w, l := world(t)

	empty := testkit.Decode[struct{ Slug string }](w.World, w.Do("ann", "POST", "/v1/leagues", map[string]any{"name": "Empty"})).Slug
	if got := content(read(w, "/l/"+empty, 200).all("main")[0]); got != "There are no seasons yet." {
		t.Errorf("a league without seasons says %q", got)
	}

	g := w.Game("ann", l)
	score(w, l, g)
	finish(w, g)
	w.Schedule("ann", l)
	w.MoveClock(time.Date(2026, 6, 6, 17, 0, 0, 0, time.UTC))

	p := read(w, "/l/parkside", 200)
	p.golden(t, "league")

	for _, a := range p.all("a") {
		to := attr(a, "href")[len("https://api.test/threefc"):]
		if out := w.Ask("", "GET", to, nil); out.StatusCode != 200 {
			t.Errorf("%s leads to %d", to, out.StatusCode)
		}
	}

	if got := read(w, "/l/"+l.ID, 200).meta("canonical"); got != "https://api.test/threefc/l/parkside" {
		t.Errorf("the page of the id has the address %s", got)
	}

	w.MoveClock(time.Date(2026, 6, 6, 23, 30, 0, 0, time.UTC)) // the next day in London

	if got := read(w, "/l/parkside", 200); strings.Contains(got.text, "Next session") {
		t.Error("a session of yesterday is the next")
	}

	for _, date := range []string{"2026-06-21", "2026-06-14"} {
		w.Do("ann", "POST", "/v1/seasons/"+l.SeasonID+"/sessions", map[string]any{"sessionDate": date})
	}

	if got := content(read(w, "/l/parkside", 200).find("state")); got != "Next session Sunday 14 June 2026" {
		t.Errorf("the page says %q", got)
	}

	w.Do("ann", "POST", "/v1/leagues/"+l.ID+"/seasons", map[string]any{"name": "Autumn 2026"})

	newest := content(read(w, "/l/parkside", 200).find("list"))
	if want := "Autumn 2026 Spring 2026"; newest != want {
		t.Errorf("the seasons are %q, want %q", newest, want)
	}
}

// TestLivePageRefreshesItself: a goal appears on an open page, and a page that is over asks no more.
func TestLivePageRefreshesItself(t *testing.T) {
	t.Parallel()
	tab, complaints := consoletest.Browser(t)
	w, l := world(t)
	g := w.Game("ann", l)
	url, _ := w.Serve()
	url += season + "/" + slug(w, g)

	testkit.Must(t, consoletest.Do(tab, chromedp.Navigate(url), consoletest.Says("main", "No goal yet.")))
	score(w, l, g)
	testkit.Must(t, consoletest.Do(tab, consoletest.Says("#live", "Ada"), consoletest.Says("#state", "the second third")))
	finish(w, g)
	testkit.Must(t, consoletest.Do(tab, consoletest.Says("#state", "Finished. Red won")))

	if got := fmt.Sprint(complaints()); got != "[]" {
		t.Errorf("the page complained %s", got)
	}
}

// TestFilesOfPages: what every page names is there.
func TestFilesOfPages(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)

	for path, want := range map[string]string{
		"/app.webmanifest": "application/manifest+json", "/icons/icon.svg": "image/svg+xml", "/icons/icon.png": "image/png",
	} {
		out := w.Do("", "GET", path, nil)
		if h := testkit.Header(out); h.Get("Content-Type") != want || h.Get("Cache-Control") != "public, max-age=86400" {
			t.Errorf("%s: the headers are %v", path, h)
		}
	}
}
