package commitcollect_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/tables"
)

// modelLine is a model in an answer.
type modelLine struct{ ModelID, Name, Status string }

// modelsOf returns the models of a list.
func modelsOf(w *commitcollecttest.World, user string) []modelLine {
	w.T.Helper()

	out := w.AskAdmin(http.MethodGet, "/admin/models", nil)
	if user != "" {
		out = w.Ask(user, http.MethodGet, "/models", nil)
	}

	return testkit.Decode[struct{ Models []modelLine }](w.World, out).Models
}

// draft writes a draft of a model with parts, and all of them.
func draft(w *commitcollecttest.World, id string, parts int) {
	w.T.Helper()

	w.AskAdmin(http.MethodPut, "/admin/models/"+id, map[string]any{"name": "First", "year": 2026, "partsTotal": parts})

	for n := range parts {
		out := w.AskAdmin(http.MethodPut, fmt.Sprintf("/admin/models/%s/parts/%d", id, n+1),
			map[string]any{"partName": fmt.Sprint("Part ", n+1), "meshFile": "a.glb", "attachPoint": "a", "displayOrder": n + 1})
		if out.StatusCode != http.StatusOK {
			w.T.Fatalf("part %d: got %d %s", n+1, out.StatusCode, out.Body)
		}
	}
}

// TestLifeOfAModel: users see it while it is active, and when it is retired those who collect it.
func TestLifeOfAModel(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	draft(w, "kite", 2)

	trike := modelLine{"trike", "Trike", "ACTIVE"}
	post := func(what string) { w.AskAdmin(http.MethodPost, "/admin/models/kite/"+what, nil) }
	see := func(state string, ann, bob bool) {
		t.Helper()
		same(t, "to an administrator", modelsOf(w, ""), []modelLine{{"kite", "First", state}, trike})

		for user, can := range map[string]bool{"ann": ann, "bob": bob} {
			list, status := []modelLine{trike}, 404
			if can {
				list, status = []modelLine{{"kite", "First", state}, trike}, 200
			}

			same(t, "to "+user, modelsOf(w, user), list)
			same(t, "its page to "+user, w.Ask(user, http.MethodGet, "/models/kite", nil).StatusCode, status)
		}
	}

	see("DRAFT", false, false)
	refused(t, "a draft is retired", w.AskAdmin(http.MethodPost, "/admin/models/kite/retire", nil), 409, "model_is_draft")
	post("activate")
	see("ACTIVE", true, true)

	id := w.Start("ann", commitcollecttest.Goal{Model: "kite", Total: 20_000})

	for range 2 {
		post("retire")
		see("RETIRED", true, false)
	}

	goal := map[string]any{"modelId": "kite", "sport": "RUN", "targetType": "DISTANCE_METERS", "totalTarget": 9, "periodStartAtUtc": 1}
	refused(t, "a milestone of a retired model", w.Ask("bob", http.MethodPost, "/milestones", goal), 400, "model_not_active")
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)
	same(t, "parts of a milestone that had begun", w.Show("ann", id).PartsAwardedCount, 2)
	post("activate")
	see("ACTIVE", true, true)
}

// TestModelIsCorrected while it is active or retired: its name, and parts that are not minted yet.
func TestModelIsCorrected(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	draft(w, "kite", 2)
	w.AskAdmin(http.MethodPost, "/admin/models/kite/activate", nil)
	id := w.Start("ann", commitcollecttest.Goal{Model: "kite", Total: 20_000})
	w.Upload(77, "Run", noon.Add(-time.Hour), 10_000)
	w.Pass(time.Minute)

	for _, state := range []string{"ACTIVE", "RETIRED"} {
		name := "The kite, " + state
		w.AskAdmin(http.MethodPut, "/admin/models/kite", map[string]any{"name": name, "year": 2026, "partsTotal": 2})
		same(t, "the model", modelsOf(w, "ann")[0], modelLine{"kite", name, state})
		refused(t, "another number of parts",
			w.AskAdmin(http.MethodPut, "/admin/models/kite", map[string]any{"name": name, "year": 2026, "partsTotal": 1}), 409, "model_frozen")

		for n := 1; n <= 2; n++ {
			w.AskAdmin(http.MethodPut, fmt.Sprint("/admin/models/kite/parts/", n),
				map[string]any{"partName": "Corrected", "meshFile": "b.glb", "attachPoint": "b", "displayOrder": 1})
		}

		w.AskAdmin(http.MethodPost, "/admin/models/kite/retire", nil)
	}

	w.Upload(77, "Run", noon.Add(time.Hour), 10_000)
	w.Pass(2 * time.Hour)

	type part struct{ PartName string }

	out := w.Ask("ann", http.MethodGet, "/milestones/"+id+"/awards", nil)
	same(t, "the parts", testkit.Decode[struct{ Awards []part }](w.World, out).Awards, []part{{"Part 1"}, {"Corrected"}})
}

// TestShorterDraftLosesItsParts, so that they do not come back when it becomes longer.
func TestShorterDraftLosesItsParts(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	draft(w, "kite", 12)

	for _, parts := range []int{3, 5} {
		w.AskAdmin(http.MethodPut, "/admin/models/kite", map[string]any{"name": "Kite", "year": 2026, "partsTotal": parts})
		same(t, "parts", w.Count(tables.Main, "MODEL#kite", "PART#"), 3)
	}

	refused(t, "its activation", w.AskAdmin(http.MethodPost, "/admin/models/kite/activate", nil), 409, "model_incomplete")
}
