package bestshot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
)

// second is the provider that a stage may have beside the default.
const second provider.Name = "api-football"

// ofTwo returns a world with both providers, and the addresses that they were asked for. The first has
// the match 9001 of the teams 3 and 4, and the second another match with the same ids.
func ofTwo(t *testing.T) (w *bestshottest.World, asked *[]string) {
	t.Helper()

	asked = new([]string)
	w = bestshottest.New(t)
	w.Settings[provider.SofascoreURL] = "https://first.test/api/v1"
	w.Settings[provider.APIFootballURL] = "https://second.test"
	w.Settings[provider.APIFootballMedia] = "https://media.test/football"
	w.Settings[provider.APIFootballKey] = "secret"

	const (
		fixture = `{"fixture":{"id":9001,"timestamp":1780765200,"status":{"short":"NS"}},` +
			`"teams":{"home":{"id":3,"name":"Second Home"},"away":{"id":4,"name":"Second Away"}}}`
		row   = `{"rank":1,"team":{"id":3,"name":"Second Home"},"group":"League","points":3}`
		event = `{"id":9001,"startTimestamp":1780761600,"status":{"type":"notstarted"},` +
			`"homeTeam":{"id":3,"name":"First Home"},"awayTeam":{"id":4,"name":"First Away"}}`
	)

	w.Provider = transport(func(r *http.Request) (*http.Response, error) {
		*asked = append(*asked, r.URL.Host+r.URL.Path)

		switch {
		case r.URL.Host == "media.test", strings.HasSuffix(r.URL.Path, "/image"):
			return respond(200, string(badgePNG)), nil
		case r.URL.Host == "second.test" && r.Header.Get("X-Apisports-Key") != "secret":
			return respond(200, `{"errors":{"token":"Error/Missing application key."},"response":[]}`), nil
		case r.URL.Path == "/fixtures/rounds":
			return respond(200, `{"errors":[],"response":["Regular Season - 1"]}`), nil
		case r.URL.Path == "/fixtures":
			return respond(200, `{"errors":[],"response":[`+fixture+`]}`), nil
		case r.URL.Path == "/standings":
			return respond(200, `{"errors":[],"response":[{"league":{"standings":[[`+row+`]]}}]}`), nil
		case strings.HasSuffix(r.URL.Path, "/rounds"):
			return respond(200, `{"rounds":[{"round":1}]}`), nil
		case strings.HasSuffix(r.URL.Path, "/events/round/1"):
			return respond(200, `{"events":[`+event+`]}`), nil
		}

		return respond(404, `{}`), nil
	})

	return w, asked
}

// found creates a tournament of a provider.
func found(w *bestshottest.World, slug string, from provider.Name) string {
	w.T.Helper()

	return testkit.Decode[struct{ ID string }](w.World, w.Do(root, "POST", "/admin/tournaments", map[string]any{
		"provider": from, "externalId": "17", "season": "2026", "slug": slug, "label": slug,
	})).ID
}

// ask polls the providers until nothing is left to ask for.
func ask(w *bestshottest.World) {
	w.T.Helper()

	poller := testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller)
	ingester := testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open)

	for n := 1; n > 0; {
		n = testkit.Drain(w.World, ingest.PollQueue, time.Hour, poller.PollProvider) +
			testkit.Drain(w.World, ingest.FeedQueue, time.Hour, ingester.IngestFeed)
	}
}

// TestTwoProviders: each tournament is polled at its own provider, with the polls of plans and of
// administrators. Matches and teams of two providers with the same ids are not the same. So are images.
func TestTwoProviders(t *testing.T) {
	t.Parallel()

	w, asked := ofTwo(t)
	w.Register("ann")

	ids := []string{found(w, "first", provider.Default), found(w, "second", second)}
	ask(w)

	for n, want := range []string{"First Home 1 16", "Second Home 1 17"} {
		all := testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", "/tournaments/"+ids[n]+"/matches/1", nil)).Data
		if len(all) != 1 || fmt.Sprint(all[0].Home.Name, " ", len(all), " ", all[0].Date.Hour()) != want {
			t.Errorf("the matches of %d are %+v, want %s", n, all, want)
		}
	}

	rows, err := pg.All[struct {
		Kind     string        `db:"kind"`
		Provider provider.Name `db:"provider"`
		ID       string        `db:"external_id"`
	}](t.Context(), w.DB, `
SELECT 'match' AS kind, provider, external_id FROM match
UNION ALL
SELECT 'team', provider, external_id FROM team
ORDER BY 1, 2 DESC, 3`)
	testkit.Must(t, err)

	if got, want := fmt.Sprint(rows), "[{match sofascore 9001} {match api-football 9001} {team sofascore 3} {team sofascore 4} "+
		"{team api-football 3} {team api-football 4}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	*asked = nil
	w.MoveClock(w.Clock.Now().Add(25 * time.Hour))
	images := plan(w)
	collect(w)
	ask(w)

	for _, id := range ids {
		w.Do(root, "POST", "/admin/tournaments/"+id+"/matches", nil)
	}

	ask(w)
	slices.Sort(*asked)

	const of = "first.test/api/v1/unique-tournament/17/season/2026/"

	if diff := cmp.Diff([]string{
		"first.test/api/v1/team/3/image", "first.test/api/v1/team/4/image", "first.test/api/v1/unique-tournament/17/image",
		of + "events/round/1", of + "events/round/1", of + "rounds", of + "standings/total",
		"media.test/football/leagues/17.png", "media.test/football/teams/3.png", "media.test/football/teams/4.png",
		"second.test/fixtures", "second.test/fixtures", "second.test/fixtures/rounds", "second.test/standings",
	}, *asked); diff != "" {
		t.Errorf("the addresses (-want +got):\n%s", diff)
	}

	if len(images) != 6 {
		t.Errorf("the plan asks for the images %v", images)
	}

	badges, err := pg.Values[string](t.Context(), w.DB, `
SELECT provider || ' ' || external_id FROM team WHERE badge IS NOT NULL
UNION ALL
SELECT provider || ' logo' FROM tournament WHERE logo IS NOT NULL`)
	testkit.Must(t, err)

	if len(badges) != 6 {
		t.Errorf("images of %v", badges)
	}

	if again := plan(w); len(again) > 0 {
		t.Errorf("the next plan asks for the images %v", again)
	}

	table, err := pg.Values[string](t.Context(), w.DB, `
SELECT t.provider || ' ' || t.name || ' ' || s.points
FROM tournament_standing s
JOIN team t ON t.id = s.team_id`)
	testkit.Must(t, err)

	if fmt.Sprint(table) != "[api-football Second Home 3]" {
		t.Errorf("the standings are %v", table)
	}
}

// TestMessagesWithoutProvider: polls and feeds that were sent before there were two providers are of the
// first one.
func TestMessagesWithoutProvider(t *testing.T) {
	t.Parallel()

	w, asked := ofTwo(t)
	id := found(w, "first", provider.Default)
	w.Clear(ingest.PollQueue)

	of := func(message string, into any) {
		t.Helper()
		testkit.Must(t, json.Unmarshal([]byte(strings.ReplaceAll(message, "ID", id)), into))
	}

	var p ingest.Poll

	of(`{"kind":"matches","tournamentId":"ID","tournament":"17","season":"2026",
		"round":{"slug":"1","label":"Round 1","order":0,"type":"season","path":"/events/round/1"}}`, &p)
	testkit.Must(t, testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller).PollProvider(w.NewContext(), p))

	if got := fmt.Sprint(*asked); got != "[first.test/api/v1/unique-tournament/17/season/2026/events/round/1]" {
		t.Errorf("asked for %s", got)
	}

	var image ingest.Poll

	of(`{"kind":"badge","team":"3"}`, &image)
	testkit.Must(t, testkit.Open(w.World, ingest.SyncAssetsFunction(), ingest.OpenCollector).SyncAssets(w.NewContext(), image))

	if got := (*asked)[1:]; fmt.Sprint(got) != "[first.test/api/v1/team/3/image]" {
		t.Errorf("asked for the image %s", got)
	}

	var f ingest.Feed

	of(`{"kind":"matches","tournamentId":"ID","tournament":"17","season":"2026",
		"round":{"slug":"1","label":"Round 1","order":0,"type":"season","path":"/events/round/1"},"fetchedAt":"2026-06-06T14:00:00Z",
		"fixtures":[{"id":"9001","kickOff":"2026-06-06T12:00:00Z","status":"ended","providerStatus":"finished/100",
		"home":{"id":"3","name":"Home","score":2},"away":{"id":"4","name":"Away","score":1}}]}`, &f)
	w.Ingest(f)

	got, _, err := pg.Value[string](t.Context(), w.DB, `
SELECT m.provider || ' ' || h.provider || ' ' || m.status || ' ' || m.home_score
FROM match m
JOIN team h ON h.id = m.home_team`)
	testkit.Must(t, err)

	if got != "sofascore sofascore ended 2" {
		t.Errorf("the match is %q", got)
	}
}

// TestProviderOfATournament: a request without a provider gets the first one. A provider that the stage
// has no settings for is refused, and so is one that nobody knows.
func TestProviderOfATournament(t *testing.T) {
	t.Parallel()

	w := bestshottest.New(t)
	request := func(slug string, from any) map[string]any {
		in := map[string]any{"externalId": "17", "season": "2026", "slug": slug, "label": slug}
		if from != nil {
			in["provider"] = from
		}

		return in
	}

	refused := func(in map[string]any, status int, code string) {
		t.Helper()

		if err := testkit.CheckProblemCode(w.Ask(root, "POST", "/api/v2/admin/tournaments", in), status, code); err != nil {
			t.Error(err)
		}
	}

	refused(request("second", second), 422, "provider_not_configured")
	refused(request("second", "opta"), 422, "invalid")
	refused(request("second", ""), 422, "invalid")

	first := w.Do(root, "POST", "/admin/tournaments", request("first", nil)).Body
	if again := w.Do(root, "POST", "/admin/tournaments", request("first", provider.Default)).Body; again != first {
		t.Errorf("got %s and then %s", first, again)
	}

	w.Settings[provider.APIFootballURL] = "https://second.test"
	w.Routes = w.ServeRoutes() // as a deployment starts it again

	made := w.Do(root, "POST", "/admin/tournaments", request("second", second)).Body // the same ids, at the other provider
	if again := w.Do(root, "POST", "/admin/tournaments", request("second", second)).Body; again != made || made == first {
		t.Errorf("got %s and then %s", made, again)
	}

	refused(request("first", second), 409, "tournament_exists")
	refused(request("second", nil), 409, "tournament_exists")

	var from []provider.Name
	for _, p := range testkit.Messages[ingest.Poll](w.World, ingest.PollQueue) {
		from = append(from, p.Provider)
	}

	if diff := cmp.Diff([]provider.Name{provider.Default, provider.Default, second, second}, from); diff != "" {
		t.Errorf("the polls (-want +got):\n%s", diff)
	}
}

// TestProviderWithoutSettings: a poll of a provider that the stage no longer has is counted as failed,
// and its execution ends so.
func TestProviderWithoutSettings(t *testing.T) {
	t.Parallel()

	w, asked := ofTwo(t)
	id := found(w, "second", second)
	w.Clear(ingest.PollQueue)
	delete(w.Settings, provider.APIFootballURL)
	delete(w.Settings, provider.APIFootballKey)

	w.Do(root, "POST", "/admin/tournaments/"+id+"/rounds", nil)
	ask(w)

	all := testkit.Decode[struct{ Data []ingest.ExecutionRow }](w.World, w.Do(root, "GET", "/admin/tournaments/"+id+"/executions", nil)).Data
	if len(all) != 1 || all[0].Status != "failed" || !strings.Contains(all[0].Detail, `no settings for "api-football"`) || len(*asked) > 0 {
		t.Errorf("the executions are %+v; asked for %v", all, *asked)
	}

	if got := w.Logs.EmittedMetrics(); !slices.Contains(got, ingest.PollsFailed) {
		t.Errorf("the metrics are %v", got)
	}
}

// TestKeyIsMissing: without the key of one provider its polls fail, and the other is polled. Once the
// key is there, no restart is needed. Images need no key.
func TestKeyIsMissing(t *testing.T) {
	t.Parallel()

	w, asked := ofTwo(t)
	delete(w.Settings, provider.APIFootballKey)

	poller := testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller)
	poll := func(from provider.Name) int {
		t.Helper()

		*asked = nil
		testkit.Must(t, poller.PollProvider(w.NewContext(), ingest.Poll{Kind: ingest.Rounds, Provider: from, Tournament: "17", Season: "2026"}))

		return len(*asked)
	}

	if poll(second) != 0 || !slices.Contains(w.Logs.EmittedMetrics(), ingest.PollsFailed) {
		t.Errorf("without a key it asks for %v", *asked)
	}

	if poll(provider.Default) != 1 {
		t.Error("the other provider is not asked")
	}

	s := testkit.Open(w.World, ingest.SyncAssetsFunction(), ingest.OpenCollector)
	testkit.Must(t, s.SyncAssets(w.NewContext(), ingest.Poll{Kind: ingest.Logo, Provider: second, Tournament: "17"}))

	if n := len(w.Queues.Messages(ingest.FeedQueue.Name)); n != 2 {
		t.Errorf("%d answers, want one of the other provider and one image", n)
	}

	w.Settings[provider.APIFootballKey] = "secret"

	if poll(second) != 1 {
		t.Error("with the key it is not asked")
	}
}

// TestExhaustedProviderIsLeftAlone: while a provider's budget of requests is used up, and until the next
// plan after it has refused the key, its polls fail without a request. The other provider is asked. What
// the plan at the provider does not include pauses nothing. An execution ends as failed.
func TestExhaustedProviderIsLeftAlone(t *testing.T) {
	t.Parallel()

	w, asked := ofTwo(t)
	id := found(w, "second", second)
	w.Clear(ingest.PollQueue)

	working, answer := w.Provider, ""
	w.Provider = transport(func(r *http.Request) (*http.Response, error) {
		if answer == "" || r.URL.Host != "second.test" {
			return working.RoundTrip(r)
		}

		*asked = append(*asked, "refused")

		return respond(200, answer), nil
	})

	poller := testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller)
	poll := func(from provider.Name) string {
		t.Helper()

		*asked = nil
		testkit.Must(t, poller.PollProvider(w.NewContext(),
			ingest.Poll{Kind: ingest.Rounds, Provider: from, TournamentID: id, Tournament: "17", Season: "2026"}))

		return fmt.Sprint(*asked)
	}

	const (
		none  = "[]"
		no    = "[refused]"
		first = "[first.test/api/v1/unique-tournament/17/season/2026/rounds]"
		yes   = "[second.test/fixtures/rounds]"
	)

	noon := bestshottest.Noon

	for _, s := range []struct {
		at     time.Time
		answer string
		from   provider.Name
		want   string
	}{
		{noon.Add(10 * time.Second), `{"errors":{"rateLimit":"Too many requests."}}`, second, no},
		{noon.Add(20 * time.Second), "", second, none},
		{noon.Add(30 * time.Second), "", provider.Default, first},
		{noon.Add(59 * time.Second), "", second, none},
		{noon.Add(60 * time.Second), "", second, yes},
		{noon.Add(hour), `{"errors":{"token":"Error/Missing application key."}}`, second, no},
		{noon.Add(hour + 5*time.Minute - time.Second), "", second, none},
		{noon.Add(hour + 5*time.Minute), "", second, yes},
		{noon.Add(hour + 6*time.Minute), `{"errors":{"plan":"Free plans do not have access to this season"}}`, second, no},
		{noon.Add(hour + 6*time.Minute), "", second, yes},
		{noon.Add(2 * hour), `{"errors":{"requests":"You have reached the request limit for the day"}}`, second, no},
		{noon.Add(12*hour - time.Second), "", second, none},
		{noon.Add(12 * hour), "", second, yes},
	} {
		w.MoveClock(s.at)

		answer = s.answer
		if got := poll(s.from); got != s.want {
			t.Errorf("after %v of %s: asked for %s, want %s", s.at.Sub(noon), s.from, got, s.want)
		}
	}

	answer = `{"errors":{"rateLimit":"Too many requests."}}`
	poll(second)
	w.Do(root, "POST", "/admin/tournaments/"+id+"/rounds", nil)

	ingester := testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open)

	testkit.Drain(w.World, ingest.PollQueue, time.Hour, func(ctx context.Context, p ingest.Poll) error { return poller.PollProvider(ctx, p) })
	testkit.Drain(w.World, ingest.FeedQueue, time.Hour, ingester.IngestFeed)

	all := testkit.Decode[struct{ Data []ingest.ExecutionRow }](w.World, w.Do(root, "GET", "/admin/tournaments/"+id+"/executions", nil)).Data
	if len(all) != 1 || all[0].Status != "failed" || !strings.Contains(all[0].Detail, "takes no request until 2026-06-07T00:01:00Z") {
		t.Errorf("the executions are %+v", all)
	}
}

// TestMatchIsOverWithoutAResult: a match that the provider decides without a score that counts is
// counted, so that an administrator enters the result. One that is put off is not.
func TestMatchIsOverWithoutAResult(t *testing.T) {
	t.Parallel()

	for name, over := range map[string]bool{"awarded": true, "postponed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := bestshottest.New(t)
			x := bestshottest.Fixture(1, bestshottest.Noon.Add(-2*hour), provider.NotDefined)
			x.ProviderStatus, x.Over = "AWD", over
			w.Ingest(w.Found("cup").Feed("1", x))

			if got := slices.Contains(w.Logs.EmittedMetrics(), ingest.Refused); got != over {
				t.Errorf("counted: %v, want %v", got, over)
			}
		})
	}
}
