package bestshot

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/console"
	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/redis"
	"matchday/infra/sim/sqs"
	"matchday/infra/testkit"
	"matchday/infra/testkit/pgtest"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/userdata"
	"matchday/pkg/kit/account"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// newVisit returns a console with a tournament whose first round begins in a minute.
func newVisit(t *testing.T) (*console.Hub, *visit, *bestshottest.World) {
	t.Helper()
	w := bestshottest.New(t)
	v := &visit{Host: &Host{league: newLeague(w.Clock)}}
	v.ask = func(_ context.Context, user, method, path string, in, out any) error {
		if user == fleet.Administrator {
			user = testkit.Administrator
		}

		a := w.Ask(user, method, strings.TrimPrefix(path, "/bestshot"), in)
		if a.StatusCode > 299 {
			return &fleet.Refusal{Request: method + " " + path, Status: a.StatusCode, Body: []byte(a.Body)}
		}

		if out == nil {
			return nil
		}

		return json.Unmarshal([]byte(a.Body), out)
	}
	panel := v.panel()
	functions, err := lambda.New(w.Clock, lambda.Config{})
	testkit.Must(t, err)
	t.Cleanup(functions.Close)
	f := &fleet.Fleet{
		Config: fleet.Config{Clock: w.Clock, Rooms: []fleet.Room{{Room: bestshot.Room()}}}, URL: "http://localhost:8080",
		Functions: functions, Queues: sqs.New(w.Clock, "http://localhost/sqs"), Caches: map[string]*redis.Server{tables.Cache.Name: w.Cache},
	}
	v.Host.Host = fleet.Host{Fleet: f}
	hub := console.NewHub(panel)
	hub.Attach(f)

	w.Provider = simulated{v.league}
	testkit.Must(t, v.found(t.Context()))
	poll(w, v)

	return hub, v, w
}

// simulated answers the requests of functions.
type simulated struct{ http.Handler }

func (p simulated) RoundTrip(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()
	p.ServeHTTP(out, r)

	return out.Result(), nil
}

// poll asks the provider for the rounds and the matches, and settles what has ended.
func poll(w *bestshottest.World, v *visit) {
	w.T.Helper()
	w.Settings[provider.SofascoreURL] = "http://provider/api/v1"
	poller := testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller)

	ingester := testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open)
	for _, part := range []string{"rounds", "matches"} {
		testkit.Must(w.T, v.administer(w.T.Context(), http.MethodPost, "/tournaments/"+v.id+"/"+part, nil, nil))

		for n := 1; n > 0; {
			n = testkit.Drain(w.World, ingest.PollQueue, time.Hour, poller.PollProvider) +
				testkit.Drain(w.World, ingest.FeedQueue, time.Hour, ingester.IngestFeed)
		}
	}

	w.Settle()
}

// TestSecondRun: the next run ends the tournament of the last one. It uses the second user if the first
// has deleted the account.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	_, v, w := newVisit(t)
	old := v.id

	testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(),
		account.Request{Job: "J", UserID: "me"}))
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	testkit.Must(t, v.found(t.Context()))

	if v.user != visitors[1] || v.id == old {
		t.Errorf("the visitor is %s, and the tournament %s", v.user, v.id)
	}

	var all struct {
		Data []struct{ ID, Status string }
	}
	testkit.Must(t, v.call(t.Context(), v.user, http.MethodGet, "/tournaments", nil, &all))

	got := map[string]string{}
	for _, t := range all.Data {
		got[t.ID] = t.Status
	}

	if diff := cmp.Diff(map[string]string{old: "completed", v.id: "upcoming"}, got); diff != "" {
		t.Errorf("the tournaments (-want +got):\n%s", diff)
	}
}

// TestFriends: the next run finds the league of the last one, which follows the tournament of the run alone.
func TestFriends(t *testing.T) {
	t.Parallel()
	_, v, w := newVisit(t)
	group := v.group

	w.MoveClock(w.Clock.Now().Add(time.Hour))
	testkit.Must(t, v.found(t.Context()))

	if v.group != group {
		t.Errorf("the second run has the league %s, want %s", v.group, group)
	}

	var all struct {
		Data []struct {
			Name        string
			Tournaments []string
		}
	}
	testkit.Must(t, v.call(t.Context(), v.user, http.MethodGet, "/leagues", nil, &all))

	var got [][]string
	for _, l := range all.Data {
		got = append(got, append([]string{l.Name}, l.Tournaments...))
	}

	if diff := cmp.Diff([][]string{{friends, v.id}}, got); diff != "" {
		t.Errorf("the leagues (-want +got):\n%s", diff)
	}
}

// TestPageBestShot plays a round in a browser: the visitor guesses, the points are provisional until the match ends,
// and then they are in the table of the friends, and in the leaderboard, with and without the cache.
func TestPageBestShot(t *testing.T) {
	t.Parallel()
	hub, v, w := newVisit(t)
	server := httptest.NewServer(hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	run(chromedp.Navigate(server.URL+console.Path("bestshot")), consoletest.See(`document.querySelectorAll(".match").length === 4`))

	first := v.league.rounds[0][0]
	name := clubs[first.home]
	match := fmt.Sprintf(`[...document.querySelectorAll(".match")].find((m) => m.querySelector("[data-f=home]").textContent === %q)`, name)
	goals, _, _ := first.score(first.kickOff.Add(time.Hour))
	run(consoletest.See(fmt.Sprintf(`(() => {
			const f = %s.querySelector("form");
			f.elements.home.value = %d;
			f.elements.away.value = %d;
			f.requestSubmit();
			return true;
		})()`, match, goals[0], goals[1])),
		consoletest.Says("#bestshot-said", "Your guess is saved."),
		consoletest.See(fmt.Sprintf(`%s.querySelector("[data-f=earned]").textContent === "your guess %d:%d"`, match, goals[0], goals[1])))

	seen, err := v.read(t.Context())
	testkit.Must(t, err)

	for _, m := range seen.Matches {
		if m.Home.Name == name { // another outcome than the visitor's
			home, away := 0, 1
			if goals[0] < goals[1] {
				home, away = 1, 0
			}

			testkit.Must(t, v.guess(t.Context(), userOf("Ada"), guess{m.ID, home, away}))
		}
	}

	const ownRow = `document.querySelector("#table .me")`
	run(consoletest.See(`document.querySelectorAll("#table tbody tr").length === 5`),
		consoletest.See(`document.querySelector("#friends-live").hidden && document.querySelector("#own-live").hidden`),
		consoletest.See(`document.querySelector("#around").hidden`))

	// In play: the score is that of the end.
	w.MoveClock(first.kickOff.Add(matchLength - time.Second))
	poll(w, v)
	run(consoletest.See(fmt.Sprintf(`%s.querySelector("[data-f=earned]").textContent === "your guess %d:%d · +3 provisional"`, match,
		goals[0], goals[1])),
		consoletest.See(fmt.Sprintf(`%s.querySelector("[data-f=score]").textContent === "%d : %d"`, match, goals[0], goals[1])),
		consoletest.See(`!document.querySelector("#friends-live").hidden`),
		consoletest.Says("#own-live", "If it ended now, you would have 3 points, 3 more than are settled, and rank 1."),
		consoletest.See(`[...`+ownRow+`.cells].map((c) => c.textContent).join() === "1,You,+3,3"`),
		consoletest.See(`document.querySelector("#nobody").hidden === false`))

	picture, err := consoletest.Run(tab, chromedp.CaptureScreenshot())
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(t.ArtifactDir(), "bestshot-live.png"), picture, 0o600))

	w.MoveClock(first.kickOff.Add(matchLength + time.Second))
	poll(w, v)
	run(consoletest.See(fmt.Sprintf(`%s.dataset.state === "right"`, match)),
		consoletest.See(`document.querySelector("#ranks .me td:last-child").textContent === "3"`))

	if status, text := consoletest.Post(hub.Handler(), "bestshot/guess",
		fmt.Sprintf(`{"match":%q,"home":1,"away":1}`, seen.Matches[0].ID)); status != http.StatusBadRequest ||
		!strings.Contains(text, "has begun") {
		t.Errorf("a late guess: %d %s", status, text)
	}

	run(chromedp.Click(chromedp.CSS("#cache")), consoletest.See(`document.querySelector("#source").textContent.startsWith("from PostgreSQL")`),
		consoletest.See(`document.querySelector("#ranks .me td:last-child").textContent === "3"`))

	picture, err = consoletest.Run(tab, chromedp.CaptureScreenshot())
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(t.ArtifactDir(), "bestshot.png"), picture, 0o600))
	run(chromedp.Click(chromedp.CSS("#cache")), consoletest.See(`document.querySelector("#source").textContent.startsWith("from Redis")`))
	run(consoletest.Says("#around-h", "You: rank 1, 3 points"),
		consoletest.See(`[...document.querySelectorAll("#neighbours tr")].map((r) => r.cells[1].textContent).join() === "You,Ada"`))

	// All have ended: nothing is provisional.
	last := v.league.rounds[0][len(v.league.rounds[0])-1]
	w.MoveClock(last.kickOff.Add(matchLength + correctedAfter + time.Second))
	poll(w, v)
	run(consoletest.See(`document.querySelector("#friends-live").hidden && document.querySelector("#own-live").hidden`),
		consoletest.See(`[...`+ownRow+`.cells].map((c) => c.textContent).join() === "1,You,,3"`))
	run(consoletest.Resize(390, 844, "dark"))
	consoletest.Fits(t, tab, 390)
}
