package commitcollect_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
)

// share gives a milestone of a user a public picture, and returns its path.
func share(w *commitcollecttest.World, user, id string) (path string) {
	w.T.Helper()

	out := w.Ask(user, http.MethodPut, "/milestones/"+id+"/share", nil)
	url := testkit.Decode[struct{ PictureURL string }](w.World, out).PictureURL
	_, rest, ok := strings.Cut(url, "/shelf/")

	if out.StatusCode != http.StatusOK || !ok {
		w.T.Fatalf("got %d %s, want a link", out.StatusCode, out.Body)
	}

	return "/shelf/" + rest
}

// show requests a picture as anybody.
func show(w *commitcollecttest.World, path string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()
	return w.Ask("", http.MethodGet, path, nil)
}

// minting returns a world in which ann has one part of twelve.
func minting(t testing.TB) (w *commitcollecttest.World, id string) {
	t.Helper()

	w = commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id = w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 10_000)
	w.Pass(time.Minute)

	return w, id
}

// TestPictureIsShared: nobody sees a milestone until its owner shares it, then anybody sees the parts that
// are minted, and only these. The link stays the same until it ends.
func TestPictureIsShared(t *testing.T) {
	t.Parallel()
	w, id := minting(t)
	same(t, "shares before", w.Count(tables.Main, "SHELF#", ""), 0)

	path := share(w, "ann", id)
	same(t, "the second request", share(w, "ann", id), path)

	first := show(w, path)
	text, err := base64.StdEncoding.DecodeString(first.Body)
	testkit.Must(t, err)
	size, err := png.DecodeConfig(bytes.NewReader(text))
	testkit.Must(t, err)
	same(t, "the size", []int{size.Width, size.Height}, []int{1200, 630})

	for name, want := range map[string]string{
		"Cache-Control": "public, max-age=300",
		"X-Robots-Tag":  "noindex",
		"Content-Type":  "image/png",
	} {
		same(t, name, testkit.Header(first).Get(name), want)
	}

	for _, page := range []string{"/milestones", "/milestones/" + id} {
		if out := w.Ask("ann", http.MethodGet, page, nil); !strings.Contains(out.Body, path) {
			t.Errorf("%s lacks the link: %s", page, out.Body)
		}
	}

	tag := testkit.Header(first).Get("ETag")
	same(t, "the same picture has the same tag", testkit.Header(show(w, path)).Get("ETag"), tag)
	w.Upload(77, "Run", noon.Add(-2*time.Hour), 1000) // no part
	w.Pass(time.Minute)
	same(t, "a workout that mints nothing does not show", testkit.Header(show(w, path)).Get("ETag"), tag)
	w.Upload(77, "Run", noon.Add(-3*time.Hour), 10_000)
	w.Pass(time.Minute)

	if testkit.Header(show(w, path)).Get("ETag") == tag {
		t.Error("a minted part does not show")
	}
}

// TestPictureHasTheModelsDrawing, once an administrator has given it one, and its corrections.
func TestPictureHasTheModelsDrawing(t *testing.T) {
	t.Parallel()
	w, id := minting(t)
	path := share(w, "ann", id)
	draw := func(part int, strokes any) {
		t.Helper()

		body := map[string]any{"partName": "Frame", "meshFile": "a.glb", "attachPoint": "a", "displayOrder": 1}
		if strokes != nil {
			body["drawing"] = strokes
		}

		if out := w.AskAdmin(http.MethodPut, fmt.Sprint("/admin/models/trike/parts/", part), body); out.StatusCode != http.StatusOK {
			t.Fatalf("got %d %s", out.StatusCode, out.Body)
		}
	}
	tag := func() string { return testkit.Header(show(w, path)).Get("ETag") }

	discs := tag()
	draw(2, []any{map[string]any{"path": "M9 9h100", "style": "TUBE"}})

	none := tag()
	draw(1, []any{map[string]any{"path": "M9 50h100", "style": "TUBE"}})

	drawn := tag()
	if discs == none || none == drawn || drawn == discs {
		t.Errorf("the pictures are %s, %s and %s, want three", discs, none, drawn)
	}

	draw(1, nil)
	same(t, "a client that does not know drawings corrects the part", tag(), drawn)
	draw(1, []any{})
	same(t, "without its drawing", tag(), none)
}

// TestWrongDrawingIsRefused with the stroke that is wrong, and nothing is written.
func TestWrongDrawingIsRefused(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.AddModel("trike", 2)

	for path, text := range map[string]string{"M9 9h1000": "stays on the canvas", "M9 9x": "no command"} {
		out := w.AskAdmin(http.MethodPut, "/admin/models/trike/parts/1", map[string]any{
			"partName": "Frame", "meshFile": "a.glb", "attachPoint": "a", "displayOrder": 1, "drawing": []any{
				map[string]any{"path": "M9 9h1", "style": "LINE"}, map[string]any{"path": path, "style": "LINE"},
			},
		})
		if out.StatusCode != http.StatusBadRequest && out.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(out.Body, "body.drawing[1].path") || !strings.Contains(out.Body, text) {
			t.Errorf("%s: got %d %s", path, out.StatusCode, out.Body)
		}
	}

	same(t, "the part", row(w, "MODEL#trike", "PART#01")["partName"], any("Part 1"))
}

// TestPictureEnds with its link, with the milestone and with the account, and whatever led to it the
// answer is the same. It stays when the milestone is abandoned.
func TestPictureEnds(t *testing.T) {
	t.Parallel()
	w, id := minting(t)
	never := show(w, "/shelf/4TXB6WPQJ7GQ2HHGU5A3M2KQZR/picture.png")
	refused(t, "a link that never was", never, 404, "picture_not_found")

	ended := func(why, path string) {
		t.Helper()
		same(t, why, show(w, path).Body, never.Body)
		same(t, why+": shares", w.Count(tables.Main, "SHELF#"+strings.Split(path, "/")[2], ""), 0)
	}

	path := share(w, "ann", id)
	for range 2 {
		same(t, "the end", w.Ask("ann", http.MethodDelete, "/milestones/"+id+"/share", nil).StatusCode, 204)
	}

	ended("an ended link", path)

	again := share(w, "ann", id)
	if again == path {
		t.Error("the new link is the ended one")
	}

	ended("an ended link, when there is another", path)
	w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"status": "ABANDONED"})
	same(t, "of an abandoned milestone", show(w, again).StatusCode, 200)
	w.Ask("ann", http.MethodDelete, "/milestones/"+id, nil)
	ended("of a deleted milestone", again)
	refused(t, "a share of it", w.Ask("ann", http.MethodPut, "/milestones/"+id+"/share", nil), 404, "milestone_not_found")
	refused(t, "the end of it", w.Ask("ann", http.MethodDelete, "/milestones/"+id+"/share", nil), 404, "milestone_not_found")

	last := share(w, "ann", w.Start("ann", commitcollecttest.Goal{Sport: "RIDE"}))
	same(t, "without parts", show(w, last).StatusCode, 200)
	testkit.Must(t, forget(w, "ann"))
	ended("of a deleted account", last)
}

// TestPictureOfAnother: a user shares and ends only the own milestones.
func TestPictureOfAnother(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	id := w.Start("ann", commitcollecttest.Goal{})
	path := share(w, "ann", id)

	for _, method := range []string{http.MethodPut, http.MethodDelete} {
		refused(t, method, w.Ask("bob", method, "/milestones/"+id+"/share", nil), 404, "milestone_not_found")
		refused(t, method, w.Ask("", method, "/milestones/"+id+"/share", nil), 401, "missing_session")
	}

	same(t, "the picture", show(w, path).StatusCode, 200)
}

// TestLinkIsOfItsMilestone: a row that leads to a milestone without this link shows nothing, such as one
// that the code of before has left when it deleted the milestone.
func TestLinkIsOfItsMilestone(t *testing.T) {
	t.Parallel()
	w, id := minting(t)

	for shareID, of := range map[string]string{"LEFT": "01JZ0000000000000000000009", "OTHER": id} {
		testkit.PutRows(w.World, tables.Main, stored{"PK": "SHELF#" + shareID, "SK": "META", "userId": "ann", "milestoneId": of})
		refused(t, shareID, show(w, "/shelf/"+shareID+"/picture.png"), 404, "picture_not_found")
	}
}

// TestShareMeetsADeletion: of a milestone that is shared while it is deleted nothing is left.
func TestShareMeetsADeletion(t *testing.T) {
	t.Parallel()
	w := small(t)
	reached(w)

	id := theMilestone(w)
	env, met := w.Env(milestone.DeleteMilestoneFunction()), false
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = client(func(r *http.Request) (*http.Response, error) {
		if !met && strings.Contains(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
			met = true
			_, err := testkit.Open(w.World, milestone.PutShareFunction(), milestone.Open).
				PutShare(w.NewContext(), &milestone.PutShare{User: user("ann"), ID: id})
			testkit.Must(t, err)
		}

		return next.Do(r)
	})
	_, err := testkit.OpenWith(w.World, env, milestone.Open).DeleteMilestone(w.NewContext(), &milestone.DeleteMilestone{User: user("ann"), ID: id})
	testkit.Must(t, err)
	same(t, "the share came between", met, true)

	for _, r := range testkit.Rows[stored](w.World, tables.Main) {
		if pk := fmt.Sprint(r["PK"]); strings.HasPrefix(pk, "SHELF#") || r["entityType"] == "Milestone" {
			t.Errorf("left: %v", r)
		}
	}
}

// TestUnitsOfAPicture: a picture costs the same whoever asks and however many workouts there are, and a
// link that leads nowhere one read.
func TestUnitsOfAPicture(t *testing.T) {
	t.Parallel()
	w, id := minting(t)
	path := share(w, "ann", id)
	seedWorkouts(w, "ann", 1000)

	long := []any{}
	for range 6 {
		long = append(long, map[string]any{"path": "M9 9" + strings.Repeat("h1", 148), "style": "LINE"})
	}

	for n := 1; n <= 12; n++ {
		w.AskAdmin(http.MethodPut, fmt.Sprint("/admin/models/trike/parts/", n),
			map[string]any{"partName": "Frame", "meshFile": "a.glb", "attachPoint": "a", "displayOrder": n, "drawing": long})
	}

	w.Upload(77, "Run", noon.Add(-time.Hour), 200_000)
	w.Pass(time.Minute)
	same(t, "parts", w.Show("ann", id).PartsAwardedCount, 12)

	for _, c := range []struct {
		path string
		most float64
	}{{path, 6}, {"/shelf/4TXB6WPQJ7GQ2HHGU5A3M2KQZR/picture.png", 0.5}} {
		u := w.CountUnits(func() { show(w, c.path) })
		t.Logf("%s: %.1f reads, %.1f writes", c.path, u.Reads, u.Writes)

		if u.Reads > c.most || u.Writes > 0 {
			t.Errorf("%s costs %.1f reads and %.1f writes, want at most %.1f and none", c.path, u.Reads, u.Writes, c.most)
		}
	}
}
