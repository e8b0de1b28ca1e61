package cricket

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/home"
	apimatch "matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// served is a sample whose match the room's own functions poll and serve, with a match that is over
// and one to come. u1 follows all three, and has an activity of the sample's; u2 follows none.
type served struct {
	*sample
	room   *crickettest.World
	routes map[string]testkit.Route
	over   *script.Match
	coming script.Fixture
}

// played is the slot in which a served sample begins: the chase has begun.
const played = 190

func newServed(t *testing.T) *served {
	t.Helper()

	s := &served{room: crickettest.New(t).WithPhones(), coming: script.GenerateFixture(9, cricsheet.ODI)}
	s.routes = s.room.Routes()

	main := s.room.Play(7, cricsheet.T20, slot*time.Millisecond)
	s.over = s.room.Play(8, cricsheet.T20, time.Second)
	s.room.Feed.Announce(crickettest.KickOff.Add(5*time.Hour), s.coming)
	s.room.Sync()

	ids := []string{local.ID(main.ID), local.ID(s.over.ID), local.ID(s.coming.ID)}
	for _, id := range ids {
		s.post(follower.FollowMatchFunction(), "/user/follow/"+id, "u1", `{}`)
	}

	ticker := s.room.Ticker()
	for n := 0; n <= played; n += 5 {
		s.room.MoveClock(crickettest.At(n))
		s.room.TickAt(ticker, n)
	}

	// The end of a match removes its follows, and its result stays on the home.
	_, err := follower.RemoveFollows(t.Context(), s.room.DB(), ids[1], func() bool { return true })
	testkit.Must(t, err)
	s.post(activity.StartActivityFunction(), "/user/activity/"+ids[0], "u1", fmt.Sprintf(`{"pushToken":%q}`, crickettest.Token("u1")))

	s.sample = newSampleAt(t, s.room.Clock, played)
	s.ask = func(_ context.Context, user, path string, out any) error { return s.call(user, path, out) }

	return s
}

func (s *served) post(fn app.Function, path, user, body string) {
	s.room.T.Helper()

	if out := testkit.Call(s.routes, fn, path, user, body); out.StatusCode != http.StatusCreated {
		s.room.T.Fatalf("%s: %d %s", path, out.StatusCode, out.Body)
	}
}

// call gets a path of the API that the tab shows.
func (s *served) call(user, path string, out any) error {
	fn := map[bool]app.Function{
		strings.HasSuffix(path, "/scorecard"):  apimatch.GetScorecardFunction(),
		strings.HasPrefix(path, "/matches?"):   apimatch.ListMatchesFunction(),
		strings.HasPrefix(path, "/user/home"):  home.GetHomeFunction(),
		strings.HasPrefix(path, "/user/follo"): follower.ListFollowsFunction(),
	}[true]

	a := testkit.Call(s.routes, fn, path, user, "")
	if a.StatusCode > 299 {
		return &fleet.Refusal{Request: "GET " + path, Status: a.StatusCode, Body: []byte(a.Body)}
	}

	return json.Unmarshal([]byte(a.Body), out)
}

// answer gets a path of the API as a T.
func answer[T any](s *served, user, path string) (v T) {
	s.room.T.Helper()
	testkit.Must(s.room.T, s.call(user, path, &v))

	return v
}

// TestPanelShowsAnswers: the sections are the answers of the API as they are, and a choice changes them at once.
func TestPanelShowsAnswers(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	s.attach()
	server := httptest.NewServer(s.hub.Handler())

	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	next := consoletest.Stream(t, server.URL, "cricket")

	seen := map[string]json.RawMessage{}
	// until waits for a section that has a text, and returns its answer.
	until := func(section, text string) any {
		t.Helper()

		for !strings.Contains(string(seen[section]), text) {
			for name, now := range next().Data.Room {
				seen[name] = now
			}
		}

		var v struct{ Answer any }
		testkit.Must(t, json.Unmarshal(seen[section], &v))

		return v.Answer
	}
	expect := func(got any, user, path string) {
		t.Helper()

		if diff := cmp.Diff(answer[any](s, user, path), got); diff != "" {
			t.Errorf("%s (-answer +section):\n%s", path, diff)
		}
	}
	show := func(body string) {
		t.Helper()

		if status, said := consoletest.Post(s.hub.Handler(), "cricket/show", body); status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, status, said)
		}
	}

	id, over := local.ID(s.match.ID), local.ID(s.over.ID)
	expect(until("card", `"match":"`+id), "", "/matches/"+id+"/scorecard")
	expect(until("home", `"fan":"u1"`), "u1", "/user/home")

	if text := string(seen["day"]); strings.Contains(text, "answer") {
		t.Errorf("without a time zone the day is %s", text)
	}

	show(`{"timeZone":"Asia/Kolkata"}`)
	expect(until("day", "Kolkata"), "", "/matches?date=2026-06-01&timeZone=Asia/Kolkata")
	show(`{"date":"2026-06-03"}`)
	expect(until("day", "06-03"), "", "/matches?date=2026-06-03&timeZone=Asia/Kolkata")
	show(`{"match":"` + over + `"}`)
	expect(until("card", `"match":"`+over), "", "/matches/"+over+"/scorecard")
	show(`{"fan":"u2"}`)
	expect(until("home", `"fan":"u2"`), "u2", "/user/home")
	show(`{"match":"` + local.ID(s.coming.ID) + `"}`)

	if got := until("card", `"status":404`); got != nil {
		t.Errorf("a match without a scorecard has the answer %v", got)
	}

	for section, text := range seen {
		for _, p := range s.phones {
			if strings.Contains(string(text), p.Token) || strings.Contains(string(text), p.Device) {
				t.Errorf("the section %s has a token of %s", section, p.Owner)
			}
		}
	}
}

// TestPanelViewDoesNotWait: a view does not wait for the API, and asks it for a scorecard once in a slot.
func TestPanelViewDoesNotWait(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)
	answers, asked := make(chan struct{}), atomic.Int64{}
	s.ask = func(_ context.Context, _, path string, _ any) error {
		if strings.HasSuffix(path, "/scorecard") {
			asked.Add(1)
		}

		<-answers

		return &fleet.Refusal{Status: http.StatusNotFound}
	}
	r := newReads(s.World, func() []local.Phone { return s.phones }, s.ask)
	began := time.Now()

	for range 100 {
		state := map[string]any{}
		if r.view(state); len(state) > 1 { // the day asks for nothing without a time zone
			t.Fatalf("there are the sections %v before an answer", state)
		}
	}

	close(answers)
	r.card.Again()

	for range 100 {
		r.view(map[string]any{})
	}

	if n, most := asked.Load(), 2+int64(time.Since(began)/(slot*time.Millisecond)); n > most {
		t.Errorf("it asked for the scorecard %d times, want %d at most", n, most)
	}
}
