package public_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/code"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// entry is a game in a calendar.
type entry struct {
	Start, Minutes, Summary, Location, Description, Status, URL string
}

// calendar reads the calendar of the season, and the sequence of each game, by its UID.
func calendar(w *threefctest.World) (*ics.Calendar, map[string]entry, map[string]string) {
	w.T.Helper()

	out := w.Do("", "GET", season+"/calendar.ics", nil)
	if h := testkit.Header(out); h.Get("Content-Type") != "text/calendar; charset=utf-8" || h.Get("Cache-Control") != "public, max-age=300" {
		w.T.Errorf("the headers are %v", h)
	}

	for line := range strings.SplitSeq(strings.TrimSuffix(out.Body, "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			w.T.Errorf("the line %q is longer than 75 bytes, or not one line", line)
		}
	}

	c, err := ics.ParseCalendar(strings.NewReader(out.Body))
	testkit.Must(w.T, err)

	all, sequences := map[string]entry{}, map[string]string{}

	for _, e := range c.Events() {
		value := func(p ics.ComponentProperty) string {
			if got := e.GetProperty(p); got != nil {
				return got.Value
			}

			return ""
		}
		start, err := e.GetStartAt()
		testkit.Must(w.T, err)
		end, err := e.GetEndAt()
		testkit.Must(w.T, err)

		if modified, err := e.GetLastModifiedAt(); err != nil || !modified.Equal(w.Clock.Now()) && modified.After(w.Clock.Now()) ||
			value(ics.ComponentPropertyDtstamp) == "" {
			w.T.Errorf("%s was modified at %v, %v", e.Id(), modified, err)
		}

		all[e.Id()] = entry{item.Format(start), end.Sub(start).String(), value(ics.ComponentPropertySummary),
			value(ics.ComponentPropertyLocation), value(ics.ComponentPropertyDescription), value(ics.ComponentPropertyStatus),
			value(ics.ComponentPropertyUrl)}
		sequences[e.Id()] = value(ics.ComponentPropertySequence)
	}

	return c, all, sequences
}

// TestCalendar: subscribers see a game that is new, that moves, that is played and that is
// cancelled, under one id with a sequence that grows.
func TestCalendar(t *testing.T) {
	t.Parallel()
	w, l := world(t)

	c, all, _ := calendar(w)
	if len(all) != 0 {
		t.Errorf("a season without games has %v", all)
	}

	head := map[string]string{}
	for _, p := range c.CalendarProperties {
		head[p.IANAToken] = p.Value
	}

	if diff := cmp.Diff(map[string]string{
		"VERSION":          "2.0",
		"PRODID":           "-//Matchday//3FC//EN",
		"METHOD":           "PUBLISH",
		"NAME":             "Parkside, Spring 2026",
		"X-WR-CALNAME":     "Parkside, Spring 2026",
		"URL":              "https://api.test/threefc" + season,
		"REFRESH-INTERVAL": "PT1H",
		"X-PUBLISHED-TTL":  "PT1H",
		"X-WR-TIMEZONE":    "Europe/London",
	}, head); diff != "" {
		t.Errorf("the calendar (-want +got):\n%s", diff)
	}

	g := w.Schedule("ann", l)
	uid, url := strings.ToLower(g)+"@threefc", "https://api.test/threefc"+season+"/"+slug(w, g)
	want := entry{"2026-06-06T18:00:00Z", "1h0m0s", "Blue – Red – Yellow", "", "Parkside, Spring 2026", "CONFIRMED", url}
	last := ""
	check := func(what string) {
		t.Helper()

		_, all, sequences := calendar(w)
		if diff := cmp.Diff(map[string]entry{uid: want}, all); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}

		if len(sequences[uid]) < len(last) || len(sequences[uid]) == len(last) && sequences[uid] <= last {
			t.Errorf("%s: the sequence is %s after %s", what, sequences[uid], last)
		}

		last = sequences[uid]
	}
	check("a new game")
	w.MoveClock(w.Clock.Now().Add(time.Minute))

	place := `Ground; "A, B"\n C:\ ` + strings.Repeat("ü", 15)
	w.Do("ann", "PATCH", "/v1/games/"+g, map[string]any{"gameStartTs": "2026-06-07T17:30:00Z", "thirdLength": 25, "location": place})
	want.Start, want.Minutes, want.Location = "2026-06-07T17:30:00Z", "1h15m0s", strings.TrimSpace(place)

	check("a moved game")

	first := w.Do("", "GET", season+"/calendar.ics", nil)
	w.MoveClock(w.Clock.Now().Add(time.Hour))

	if again := w.Ask("", "GET", season+"/calendar.ics", nil,
		threefctest.Header{Name: "if-none-match", Value: testkit.Header(first).Get("ETag")}); again.StatusCode != 304 {
		t.Errorf("without a change the answer is %d, want 304", again.StatusCode)
	}

	w.Do("ann", "POST", "/v1/games/"+g+"/thirds/1/start", map[string]any{})

	want.Description += "\nLive now"

	check("a game that is played")
	w.Do("ann", "POST", "/v1/games/"+g+"/goals", goal{Scoring: "red", Conceding: "blue", Scorer: l.Players[0]})
	w.Play("ann", g)

	want.Description = "Parkside, Spring 2026\nRed won"

	check("a finished game")
	w.Do("ann", "DELETE", "/v1/games/"+g, nil)

	want.Status, want.Description, want.URL = "CANCELLED", "", ""
	before, _ := strconv.Atoi(last)

	check("a deleted game")

	if after, _ := strconv.Atoi(last); after != before+1 {
		t.Errorf("the sequence is %d, want the next after %d", after, before)
	}

	for _, r := range testkit.Rows[item.Any](w.World, tables.App) {
		if strings.HasPrefix(r.SK, item.Cancelled) && r.TTL != w.Clock.Now().Add(game.Remembered).Unix() {
			t.Errorf("the cancelled game expires at %d", r.TTL)
		}
	}

	read(w, season+"/"+g, 404)
}

// TestReadsOfCalendars: a calendar has the latest games and the next, and what it reads does not
// grow with the season, nor with the games that are deleted.
func TestReadsOfCalendars(t *testing.T) {
	t.Parallel()

	units := map[int]float64{}

	for _, n := range []int{250, 1000} {
		w, l := world(t)

		var rows []item.Row[item.Listing]

		for i := range n {
			for _, hours := range []int{-i - 1, i} {
				at := w.Clock.Now().Add(time.Duration(hours) * time.Hour)
				g := item.Listing{
					GameID:      code.NewID(at),
					Slug:        fmt.Sprint("game", hours),
					StartTs:     item.Format(at),
					ThirdLength: 20,
					Status:      item.Scheduled,
				}
				rows = append(rows, item.New(item.SeasonKey(l.SeasonID), item.StartKey(g.StartTs, g.GameID), "Game", g, w.Clock.Now()))
				g.GameID, g.Status = code.NewID(at), item.CancelledGame
				rows = append(rows, item.New(item.SeasonKey(l.SeasonID), item.CancelledKey(g.GameID), "CancelledGame", g, w.Clock.Now()))
			}
		}

		testkit.PutRows(w.World, tables.App, rows...)

		now := w.Clock.Now()
		_, all, _ := calendar(w)
		starts := map[string]int{}

		for _, e := range all {
			switch {
			case e.Status == "CANCELLED":
				starts["cancelled"]++
			case item.Parse(e.Start).Before(now):
				starts["past"]++
			default:
				starts["next"]++
			}
		}

		if diff := cmp.Diff(map[string]int{"past": 100, "next": 200, "cancelled": 100}, starts); diff != "" {
			t.Errorf("the games of a calendar (-want +got):\n%s", diff)
		}

		units[n] = w.CountUnits(func() { w.Do("", "GET", season+"/calendar.ics", nil) }).Reads
	}

	if units[250] != units[1000] {
		t.Errorf("a calendar costs %v read units by the number of games", units)
	}
}

// TestCancelledGameIsForgotten: a season without games can be deleted, with what calendars
// have of it.
func TestCancelledGameIsForgotten(t *testing.T) {
	t.Parallel()
	w, l := world(t)
	w.Do("ann", "DELETE", "/v1/games/"+w.Schedule("ann", l), nil)
	w.Do("ann", "DELETE", "/v1/sessions/"+l.SessionID, nil)
	w.Do("ann", "DELETE", "/v1/seasons/"+l.SeasonID, nil)

	for _, r := range testkit.Rows[item.Any](w.World, tables.App) {
		if r.PK == item.SeasonKey(l.SeasonID) {
			t.Errorf("%s %s is left", r.PK, r.SK)
		}
	}
}
