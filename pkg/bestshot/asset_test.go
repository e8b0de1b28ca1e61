package bestshot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/kit/pg"
)

// Images in the formats that are accepted.
var (
	badgePNG  = picture(func(b *bytes.Buffer) error { return png.Encode(b, image.NewGray(image.Rect(0, 0, 2, 2))) })
	badgeJPEG = picture(func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(image.Rect(0, 0, 2, 2)), nil) })
	badgeWebP = []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")
)

func picture(encode func(*bytes.Buffer) error) []byte {
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		panic(err)
	}

	return b.Bytes()
}

// address is the path of an image.
func address(image []byte, extension string) *string {
	return new(fmt.Sprintf("/api/v2/assets/%x.%s", sha256.Sum256(image), extension))
}

// ofImages returns a world whose provider has images, by their paths.
func ofImages(t testing.TB, images map[string][]byte) *bestshottest.World {
	t.Helper()
	w := bestshottest.New(t)
	w.Settings[provider.SofascoreURL] = "https://provider.test/api/v1"
	w.Provider = transport(func(r *http.Request) (*http.Response, error) {
		if image, ok := images[strings.TrimPrefix(r.URL.Path, "/api/v1")]; ok {
			return respond(200, string(image)), nil
		}

		return respond(404, `{"error":{"code":404}}`), nil
	})

	return w
}

// plan plans polls, and returns those of images: "badge 3".
func plan(w *bestshottest.World) (asked []string) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))

	for _, p := range testkit.Messages[ingest.Poll](w.World, ingest.AssetQueue) {
		asked = append(asked, fmt.Sprint(p.Kind, " ", p.Team+p.Tournament))
	}

	return asked
}

// collect fetches and stores the images that were asked for.
func collect(w *bestshottest.World) {
	w.T.Helper()
	testkit.Drain(w.World, ingest.AssetQueue, time.Hour, testkit.Open(w.World, ingest.SyncAssetsFunction(), ingest.OpenCollector).SyncAssets)
	testkit.Drain(w.World, ingest.FeedQueue, time.Hour, testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open).IngestFeed)
}

// pictures returns the addresses of the badges of a tournament's teams, by their names, and of its logo.
func pictures(c *bestshottest.Tournament, w *bestshottest.World) map[string]*string {
	w.T.Helper()

	all := map[string]*string{"logo": testkit.Decode[tournament.Tournament](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID, nil)).Logo}
	for _, t := range testkit.Decode[struct{ Data []tournament.Team }](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/teams", nil)).Data {
		all[t.Name] = t.Badge
	}

	return all
}

// TestNewTournamentGetsImages: its logo and the badges of its teams are fetched. Everybody gets them,
// with headers by which caches keep them, and browsers treat them only as images.
func TestNewTournamentGetsImages(t *testing.T) {
	t.Parallel()
	w := ofImages(t, map[string][]byte{"/team/3/image": badgeJPEG, "/team/4/image": badgeWebP, "/unique-tournament/17/image": badgePNG})
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open), bestshottest.Fixture(2, kickOff, provider.Open)))

	matches := w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil).Body
	if diff := cmp.Diff(map[string]*string{"logo": nil, "Home 1": nil, "Away 1": nil, "Home 2": nil, "Away 2": nil},
		pictures(c, w)); diff != "" {
		t.Errorf("images before they are fetched (-want +got):\n%s", diff)
	}

	plan(w)
	collect(w)

	want := map[string]*string{
		"logo":   address(badgePNG, "png"),
		"Home 1": address(badgeJPEG, "jpg"),
		"Away 1": address(badgeWebP, "webp"),
		"Home 2": nil,
		"Away 2": nil,
	}
	if diff := cmp.Diff(want, pictures(c, w)); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(matches, w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil).Body); diff != "" {
		t.Errorf("the matches have changed (-before +after):\n%s", diff)
	}

	for _, i := range []struct {
		path  *string
		media string
		bytes []byte
	}{{want["logo"], "image/png", badgePNG}, {want["Home 1"], "image/jpeg", badgeJPEG}, {want["Away 1"], "image/webp", badgeWebP}} {
		out := w.Ask("", "GET", *i.path, nil)
		header := testkit.Header(out)
		tag := header.Get("ETag")
		header.Del("ETag")

		diff := cmp.Diff(http.Header{
			"Content-Type":           {i.media},
			"Cache-Control":          {"public, max-age=31536000, immutable"},
			"X-Content-Type-Options": {"nosniff"},
		}, header)
		if out.StatusCode != 200 || diff != "" || tag == "" {
			t.Errorf("%s: %d with the tag %q and headers (-want +got):\n%s", *i.path, out.StatusCode, tag, diff)
		}

		body := []byte(out.Body)
		if out.IsBase64Encoded {
			var err error

			body, err = base64.StdEncoding.DecodeString(out.Body)
			testkit.Must(t, err)
		}

		if !bytes.Equal(i.bytes, body) {
			t.Errorf("%s has the bytes %q, want %q", *i.path, body, i.bytes)
		}
	}
}

// TestAssetNames: a name that no image can have is refused without a request to the bucket.
func TestAssetNames(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	files := w.Files
	asked := 0
	w.Files = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { asked++; files.ServeHTTP(rw, r) })

	hash := strings.Repeat("a", 64)
	for name, want := range map[string]int{
		hash:                           422,
		hash + ".svg":                  422,
		hash + ".png.html":             422,
		strings.ToUpper(hash) + ".png": 422,
		hash[1:] + ".png":              422,
		hash + "a.png":                 422,
		"..":                           404,
		"%2e%2e":                       422,
		"..%2fx":                       422,
		hash + ".png%00":               422,
		hash + ".png?x=1":              422,
	} {
		if out := w.Ask("", "GET", "/api/v2/assets/"+name, nil); out.StatusCode != want {
			t.Errorf("%s: %d, want %d", name, out.StatusCode, want)
		}
	}

	if asked > 0 {
		t.Errorf("the bucket was asked %d times", asked)
	}

	if err := testkit.CheckProblemCode(w.Ask("", "GET", "/api/v2/assets/"+hash+".png", nil), 404, "asset_not_found"); err != nil {
		t.Error(err)
	}

	if asked != 1 {
		t.Errorf("the bucket was asked %d times, want once", asked)
	}
}

// TestTeamsOfATournament: those with a match or a place in the standings, by name.
func TestTeamsOfATournament(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c, other := w.Found("cup"), w.Found("other")
	w.Ingest(c.Feed("1", bestshottest.Fixture(2, bestshottest.Noon, provider.Open), bestshottest.Fixture(1, bestshottest.Noon, provider.Open)))
	f := c.Feed("1")
	f.Kind, f.Standings = ingest.Standings, []provider.Standing{
		{Team: provider.Team{ID: "3", Name: "Home 1"}},
		{Team: provider.Team{ID: "70", Name: "Élan"}},
	}
	w.Ingest(f)

	names := func(id string) (all []string) {
		for _, t := range testkit.Decode[struct{ Data []tournament.Team }](w.World, w.Do("ann", "GET", "/tournaments/"+id+"/teams", nil)).Data {
			all = append(all, t.Name)
		}

		return all
	}
	if diff := cmp.Diff([]string{"Away 1", "Away 2", "Élan", "Home 1", "Home 2"}, names(c.ID)); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}

	if got := names(other.ID); got != nil {
		t.Errorf("the teams of a tournament without matches are %q", got)
	}

	if err := testkit.CheckProblemCode(w.Ask("ann", "GET", "/api/v2/tournaments/58de2f1b-1374-4c92-bd53-23a81943de4b/teams", nil), 404,
		"tournament_not_found"); err != nil {
		t.Error(err)
	}
}

// TestOnlyImagesAreStored: an answer is stored only if it is an image of an accepted format and size.
// Any other answer changes nothing, and is logged.
func TestOnlyImagesAreStored(t *testing.T) {
	t.Parallel()

	sized := func(n int) string { return string(badgePNG) + strings.Repeat("x", n-len(badgePNG)) }
	cut := func() *http.Response {
		out := respond(200, "")
		out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(badgePNG), iotest.ErrReader(io.ErrUnexpectedEOF)))

		return out
	}

	for name, c := range map[string]struct {
		answer func() (*http.Response, error)
		stored bool
		logged string
	}{
		"the largest": {func() (*http.Response, error) { return respond(200, sized(256<<10)), nil }, true, ""},
		"too large":   {func() (*http.Response, error) { return respond(200, sized(256<<10+1)), nil }, false, "more than 262144 bytes"},
		"HTML": {func() (*http.Response, error) { return respond(200, "<!DOCTYPE html><title>x</title>"), nil }, false,
			"text/html; charset=utf-8 is no PNG, JPEG or WebP"},
		"SVG": {func() (*http.Response, error) { return respond(200, `<?xml version="1.0"?><svg onload="x()"/>`), nil }, false,
			"text/xml; charset=utf-8 is no PNG"},
		"SVG, bare": {func() (*http.Response, error) { return respond(200, `<svg onload="x()"/>`), nil }, false,
			"text/plain; charset=utf-8 is no PNG"},
		"GIF":            {func() (*http.Response, error) { return respond(200, "GIF89a"), nil }, false, "image/gif is no PNG"},
		"nothing":        {func() (*http.Response, error) { return respond(200, ""), nil }, false, "is no PNG"},
		"JSON":           {func() (*http.Response, error) { return respond(200, "{}"), nil }, false, "is no PNG"},
		"refused":        {func() (*http.Response, error) { return respond(403, string(badgePNG)), nil }, false, "answers 403"},
		"failed":         {func() (*http.Response, error) { return respond(500, string(badgePNG)), nil }, false, "answers 500"},
		"without answer": {func() (*http.Response, error) { return nil, errors.New("connection refused") }, false, "connection refused"},
		"half":           {func() (*http.Response, error) { return cut(), nil }, false, "unexpected EOF"},
		"absent":         {func() (*http.Response, error) { return respond(404, "{}"), nil }, false, "the provider has no image"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Settings[provider.SofascoreURL] = "https://provider.test/api/v1"
			w.Provider = transport(func(*http.Request) (*http.Response, error) { return c.answer() })
			stored := 0
			files := w.Files
			w.Files = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { stored++; files.ServeHTTP(rw, r) })
			s := testkit.Open(w.World, ingest.SyncAssetsFunction(), ingest.OpenCollector)
			testkit.Must(t, s.SyncAssets(w.NewContext(), ingest.Poll{Kind: ingest.Badge, Team: "3"}))

			sent := len(w.Queues.Messages(ingest.FeedQueue.Name))
			if (stored == 1) != c.stored || (sent == 1) != c.stored {
				t.Errorf("%d objects and %d messages, stored: %v", stored, sent, c.stored)
			}

			if got := fmt.Sprint(w.Logs.Lines()); !strings.Contains(got, c.logged) || w.Logs.Warned() != (!c.stored && name != "absent") {
				t.Errorf("the log has %s, want %q", got, c.logged)
			}
		})
	}

	w := ofImages(t, nil)
	if err := testkit.Open(w.World, ingest.SyncAssetsFunction(), ingest.OpenCollector).SyncAssets(w.NewContext(),
		ingest.Poll{Kind: ingest.Rounds}); err == nil {
		t.Error("a poll of rounds is no poll of an image")
	}
}

// TestImagesAreAskedForOnceADay: a missing image is asked for once a day, and an existing one once in 30
// days. A plan asks for at most 50, of tournaments that are played.
func TestImagesAreAskedForOnceADay(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Open)))

	has := func(p ingest.Poll) {
		t.Helper()

		f := ingest.Feed{Poll: p, FetchedAt: w.Clock.Now(), Asset: strings.Repeat("a", 64) + ".png"}
		testkit.Must(t, testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open).IngestFeed(w.NewContext(), f))
	}

	first, day := bestshottest.Noon.Add(time.Minute), 24*hour
	for _, s := range []struct {
		at   time.Duration
		do   func()
		want []string
	}{
		{0, func() {}, []string{"logo 17", "badge 3", "badge 4"}},
		{5 * time.Minute, func() {}, nil},
		{day - time.Minute, func() {}, nil},
		{day, func() { has(ingest.Poll{Kind: ingest.Badge, Team: "3"}) }, []string{"logo 17", "badge 4"}},
		{2 * day, func() { has(ingest.Poll{Kind: ingest.Logo, Tournament: "17"}) }, []string{"badge 4"}},
		{3 * day, func() { has(ingest.Poll{Kind: ingest.Badge, Team: "4"}) }, nil},
		{30*day - time.Minute, func() {}, nil},
		{30 * day, func() {}, []string{"badge 3"}},
		{30*day + time.Minute, func() {}, nil},
		{100 * day, func() { w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "completed"}) }, nil},
		{100*day + time.Minute, func() { w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "active"}) },
			[]string{"logo 17", "badge 4", "badge 3"}},
	} {
		w.MoveClock(first.Add(s.at))
		s.do()

		if diff := cmp.Diff(s.want, plan(w)); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", s.at, diff)
		}

		w.Clear(ingest.AssetQueue)
	}

	var many []provider.Fixture
	for n := range 30 {
		many = append(many, bestshottest.Fixture(100+n, w.Clock.Now().Add(hour), provider.Open))
	}

	w.Ingest(c.Feed("2", many...))

	asked := map[string]bool{}

	for i, want := range []int{50, 10, 0} {
		got := plan(w)
		if len(got) != want {
			t.Errorf("plan %d asks for %d images, want %d", i, len(got), want)
		}

		for _, a := range got {
			asked[a] = true
		}

		w.Clear(ingest.AssetQueue)
	}

	if len(asked) != 60 {
		t.Errorf("%d images are asked for, want 60", len(asked))
	}
}

// TestImagesSurviveCrashes: if one of the three jobs crashes before or after any I/O call, every image
// is stored in the end, and its address has its bytes.
func TestImagesSurviveCrashes(t *testing.T) {
	t.Parallel()

	images := map[string][]byte{"/team/3/image": badgePNG, "/team/4/image": badgeJPEG, "/unique-tournament/17/image": badgeWebP}
	badge := ingest.Poll{Kind: ingest.Badge, Team: "3"}

	for name, crash := range map[string]func(w *bestshottest.World, p *dynamotest.Process) error{
		"plan-polls": func(w *bestshottest.World, p *dynamotest.Process) error {
			return testkit.OpenWith(w.World, w.CrashingEnv(ingest.PlanPollsFunction(), p), ingest.OpenPlanner).PlanPolls(w.NewContext())
		},
		"sync-assets": func(w *bestshottest.World, p *dynamotest.Process) error {
			return testkit.OpenWith(w.World, w.CrashingEnv(ingest.SyncAssetsFunction(), p), ingest.OpenCollector).SyncAssets(w.NewContext(), badge)
		},
		"ingest-feed": func(w *bestshottest.World, p *dynamotest.Process) error {
			f := ingest.Feed{Poll: badge, FetchedAt: w.Clock.Now(), Asset: fmt.Sprintf("%x.png", sha256.Sum256(badgePNG))}
			return testkit.OpenWith(w.World, w.CrashingEnv(ingest.IngestFeedFunction(), p), ingest.Open).IngestFeed(w.NewContext(), f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
				w := ofImages(t, images)
				c := w.Found("cup")
				w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Open)))
				p.Ended(crash(w, p), "/api/v1/team/3/image") // a provider that fails is asked again later
				collect(w)

				for range 2 { // the plans that follow
					w.MoveClock(w.Clock.Now().Add(24 * hour))
					plan(w)
					collect(w)
				}

				left, _, err := pg.Value[int](t.Context(), w.DB,
					`SELECT count(*)::int FROM team WHERE badge IS NULL OR badge_asked_at IS NULL`)
				testkit.Must(t, err)

				shown := map[string]string{}
				for name, path := range pictures(c, w) {
					shown[name] = w.Ask("", "GET", *path, nil).Body
				}

				return []any{left, shown}
			})
		})
	}
}
