package commitcollect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect"
)

// shareIDs are the ids of public pictures, which are random.
var shareIDs = regexp.MustCompile(`(SHELF#|"shareId":"|/shelf/)[A-Z2-7]{26}`)

// chance is what differs from run to run, and what the file has in its place.
var chance = []struct {
	is   *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`), "(milestone)"},
	{shareIDs, "$1(share)"},
	{regexp.MustCompile(`request-[0-9]+(-[0-9]+)?`), "(request)"},
	{regexp.MustCompile(`now\.[A-Za-z0-9+/]{40,}`), "(sealed)"},
	{regexp.MustCompile(`(SESSION#|STATE#[A-Z]+#|Z#|"nonce":"|"verifier":")[A-Za-z0-9_-]{43}`), "$1(random)"},
}

// TestRowsAndAnswers: what the tables have of a user, and what the app shows.
// Attributes and texts change only under review.
func TestRowsAndAnswers(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	second := func() { w.Pass(time.Second) } // so that the times of two steps differ
	put := func(path string, body map[string]any) { w.AskAdmin(http.MethodPut, "/admin/models/kite"+path, body) }
	put("", map[string]any{"name": "Kite", "year": 2025, "partsTotal": 2})
	put("/parts/1", map[string]any{"partName": "Tail", "meshFile": "kite/tail.glb", "attachPoint": "spar", "displayOrder": 9})
	put("/parts/2", map[string]any{"partName": "Sail", "meshFile": "kite/sail.glb", "attachPoint": "frame", "displayOrder": 4})
	w.AskAdmin(http.MethodPost, "/admin/models/kite/activate", nil)
	put("x", map[string]any{"name": "Kite X", "year": 2027, "partsTotal": 5})
	second()
	w.Subscribe()
	second()
	w.SignIn("ann")
	second()
	w.Connect("ann", 77)
	w.Pass(10 * time.Second)
	id := w.Start("ann", commitcollecttest.Goal{Model: "kite", Total: 30_001, Start: noon.AddDate(0, 0, -7)})

	second()

	days := w.Start("ann", commitcollecttest.Goal{
		Model:    "kite",
		Sport:    "RIDE",
		Target:   "ELEVATION_METERS",
		Total:    900,
		StartDay: "2026-06-01",
		EndDay:   "2026-06-30",
	})

	second()

	run := w.Strava.Upload(77, strava.Activity{
		Name: "Dawn", SportType: "TrailRun", StartDate: noon.Add(-5 * time.Hour), UTCOffset: 7200, Distance: 15_432.6, ElevationGain: 321.5,
		MovingTime: 5000, ElapsedTime: 6000, Manual: true, Private: true,
	})
	w.Pass(time.Minute)
	w.Strava.Edit(run, map[string]any{"title": "Dawn run"}, func(a *strava.Activity) { a.Name = "Dawn run" })
	w.Pass(time.Minute)
	gone := w.Strava.Upload(77, strava.Activity{
		Name:          "Lap",
		SportType:     "Ride",
		StartDate:     noon.Add(-26 * time.Hour),
		Distance:      900,
		ElevationGain: 12,
		MovingTime:    90,
		ElapsedTime:   91,
		Flagged:       true,
	})
	w.Pass(time.Minute)
	w.Strava.Delete(gone)
	w.Pass(time.Minute)
	w.Ask("ann", http.MethodPatch, "/preferences",
		map[string]any{
			"units":        "mi",
			"keepWorkouts": true,
			"counts":       map[string]any{"virtual": false, "eBike": true, "handcycle": true, "manual": true, "private": true},
		})
	w.Ask("ann", http.MethodPatch, "/milestones/"+days, map[string]any{"status": "PAUSED"})
	w.Ask("ann", http.MethodPut, "/milestones/"+days+"/share", nil)
	w.Pass(7 * time.Hour)
	w.Ask("ann", http.MethodPost, "/activities/sync", nil)
	second()
	w.Ask("ann", http.MethodPost, "/devices", map[string]any{"deviceToken": strings.Repeat("A1", 32)})
	w.Ask("ann", http.MethodGet, "/strava/connect", nil)
	second()
	w.Ask("bob", http.MethodGet, "/auth/login", nil)

	var all []string

	add := func(of string, text []byte) {
		line := of + " " + string(text)
		for _, c := range chance {
			line = c.is.ReplaceAllString(line, c.text)
		}

		all = append(all, line)
	}

	for _, table := range commitcollect.Room().Spec.Tables() {
		for _, r := range testkit.Rows[stored](w.World, table) {
			text, err := json.Marshal(r)
			testkit.Must(t, err)
			add(table.Name, text)
		}
	}

	for _, path := range []string{
		"/session", "/viewer", "/strava/status", "/activities/recent", "/milestones", "/milestones/" + id, "/milestones/" + id + "/awards",
		fmt.Sprintf("/activities/%d/eligibility?milestoneId=%s", run, id), fmt.Sprintf("/activities/%d/eligibility?milestoneId=%s", gone, days),
		"/models", "/models/kite", "/audit",
	} {
		add("GET "+path, []byte(strings.TrimSpace(w.Ask("ann", http.MethodGet, path, nil).Body)))
	}

	slices.Sort(all)
	testkit.CheckGolden(t, "rows", strings.Join(all, "\n")+"\n")
}
