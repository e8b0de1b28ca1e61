// Package bestshottest has the world of the room's tests: its database, cache and queues.
package bestshottest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/redis"
	"matchday/infra/sim/s3"
	"matchday/infra/testkit"
	"matchday/infra/testkit/pgtest"
	"matchday/infra/testkit/redistest"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// Noon is the time at which tests begin.
var Noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

// World is the world of one test.
type World struct {
	*testkit.World
	Routes map[string]testkit.Route
	SQL    *pgtest.Databases
	DB     pg.DB // as the superuser
	Cache  *redis.Server
}

// New returns a world.
func New(t testing.TB) *World {
	t.Helper()
	return open(t, pgtest.Attach)
}

// NewWithOwnServer returns a world whose database server the test may kill.
func NewWithOwnServer(t testing.TB) *World {
	t.Helper()
	return open(t, pgtest.AttachOwnServer)
}

func open(t testing.TB, attach func(*testkit.World, ...spec.SQLDatabase) *pgtest.Databases) *World {
	t.Helper()
	w := &World{World: testkit.New(t, bestshot.Room(), Noon)}
	w.SQL = attach(w.World, tables.DB)
	w.Cache = redistest.Attach(w.World)
	w.Files = s3.New(w.Buckets...)
	w.DB = w.SQL.Open(tables.DB)
	w.Routes = w.ServeRoutes()

	return w
}

// Ask calls the API as a user, "" for nobody. body is a value to encode, JSON as a string, or
// nil.
func (w *World) Ask(user, method, target string, body any) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	text, ok := body.(string)
	if body != nil && !ok {
		encoded, err := json.Marshal(body)
		testkit.Must(w.T, err)

		text = string(encoded)
	}

	path, _, _ := strings.Cut(target, "?")

	for _, exact := range []bool{true, false} { // a literal segment is preferred, as by API Gateway
		for _, f := range bestshot.Room().Functions {
			if on, ok := f.On.(spec.Route); ok && slices.Contains(on.Methods(), method) && matches(on.Path, path, exact) {
				return w.Routes[f.Name](testkit.Request(method, target, user, text))
			}
		}
	}

	w.T.Fatalf("there is no route %s %s", method, target)

	return events.APIGatewayV2HTTPResponse{}
}

// Do is Ask that must succeed.
func (w *World) Do(user, method, target string, body any) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	out := w.Ask(user, method, "/api/v2"+target, body)
	if out.StatusCode >= 300 {
		w.T.Fatalf("%s %s: %d %s", method, target, out.StatusCode, out.Body)
	}

	return out
}

// matches reports whether a path is that of a pattern. If exact is set, the last segment must
// be the same.
func matches(pattern, path string, exact bool) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(a) != len(b) || exact && a[len(a)-1] != b[len(b)-1] {
		return false
	}

	for i := range a {
		if a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}

	return true
}

// Register makes users members under their own names, and returns their ids.
func (w *World) Register(users ...string) (ids []string) {
	w.T.Helper()

	for _, u := range users {
		ids = append(ids, testkit.Decode[member.Member](w.World, w.Do(u, "POST", "/member", map[string]string{"nickName": u})).ID)
	}

	return ids
}

// Tournament is a tournament. Each of its matches has two teams of its own.
type Tournament struct {
	ID string
	w  *World
}

// Season returns the provider's season of a tournament of Found.
func Season(slug string) string { return fmt.Sprint(crc32.ChecksumIEEE([]byte(slug))) }

// Found creates a tournament without rounds.
func (w *World) Found(slug string) *Tournament {
	w.T.Helper()
	out := w.Do(testkit.Administrator, "POST", "/admin/tournaments",
		map[string]any{"externalId": "17", "season": Season(slug), "slug": slug, "label": slug})
	w.Clear(ingest.PollQueue)

	return &Tournament{testkit.Decode[struct{ ID string }](w.World, out).ID, w}
}

// Known returns the tournament with an id.
func (w *World) Known(id string) *Tournament { return &Tournament{id, w} }

// Clear deletes the messages of a queue, all of which can be received.
func (w *World) Clear(q spec.Queue) {
	w.T.Helper()

	for range w.Queues.Messages(q.Name) {
		w.SQS("DeleteMessage", map[string]any{"QueueUrl": w.Queues.URL(q.Name), "ReceiptHandle": w.Receive(q).ReceiptHandle}, nil)
	}
}

// Fixture returns a match of the provider: the home team has the id 2n+1.
func Fixture(n int, kickOff time.Time, status provider.Status, score ...int) provider.Fixture {
	f := provider.Fixture{ID: fmt.Sprint(9000 + n), KickOff: kickOff, Status: status, ProviderStatus: map[provider.Status]string{
		provider.Open: "notstarted/0", provider.Ended: "finished/100", provider.NotDefined: "postponed/60", provider.Unknown: "strange/7",
	}[status]}
	f.Home.Team = provider.Team{ID: fmt.Sprint(2*n + 1), Name: fmt.Sprintf("Home %d", n)}

	f.Away.Team = provider.Team{ID: fmt.Sprint(2*n + 2), Name: fmt.Sprintf("Away %d", n)}
	if len(score) == 2 {
		f.Home.Score, f.Away.Score = &score[0], &score[1]
	}

	return f
}

// Feed returns an answer of the provider about a round, at the time of the clock.
func (t *Tournament) Feed(round string, fixtures ...provider.Fixture) ingest.Feed {
	order := 0
	fmt.Sscan(round, &order)

	return ingest.Feed{
		Poll: ingest.Poll{
			Kind:         ingest.Matches,
			TournamentID: t.ID,
			Tournament:   "17",
			Season:       "1",
			Round:        provider.Round{Slug: round, Label: "Round " + round, Order: order, Type: "season", Path: "/events/round/" + round},
		},
		FetchedAt: t.w.Clock.Now(), Fixtures: fixtures,
	}
}

// Ingest stores an answer of the provider, and moves the clock by a second, so that the next answer is
// newer.
func (w *World) Ingest(f ingest.Feed) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open).IngestFeed(w.NewContext(), f))
	w.MoveClock(w.Clock.Now().Add(time.Second))
}

// Settle settles what is in the queue, and returns the number of messages.
func (w *World) Settle() int {
	w.T.Helper()
	s := testkit.Open(w.World, settlement.SettleMatchesFunction(), settlement.Open)

	return testkit.Drain(w.World, settlement.Queue, time.Hour,
		func(ctx context.Context, m settlement.MatchFinished) error { return s.SettleMatch(ctx, m) })
}

// MatchID returns the id of the match with a provider's id.
func (w *World) MatchID(n int) string {
	w.T.Helper()
	id, ok, err := pg.Value[string](w.T.Context(), w.DB, `SELECT id::text FROM match WHERE external_id = $1`, fmt.Sprint(9000+n))
	testkit.Must(w.T, err)

	if !ok {
		w.T.Fatalf("there is no match %d", n)
	}

	return id
}

// Guess makes a guess of a member, and returns the answer.
func (w *World) Guess(user, matchID string, home, away int) events.APIGatewayV2HTTPResponse {
	w.T.Helper()
	return w.Ask(user, "POST", "/api/v2/guess",
		map[string]any{"matchId": matchID, "home": map[string]int{"score": home}, "away": map[string]int{"score": away}})
}

// Board returns the leaderboard: "1 ann 3" for each member.
func (t *Tournament) Board(user string) (lines []string) {
	t.w.T.Helper()

	for cursor := ""; ; {
		target := "/tournaments/" + t.ID + "/leaderboard"
		if cursor != "" {
			target += "?cursor=" + cursor
		}

		out := testkit.Decode[struct {
			Data []struct {
				Rank, Points int
				NickName     string
			}
			Meta struct{ Next string }
		}](t.w.World, t.w.Do(user, "GET", target, nil))
		for _, e := range out.Data {
			lines = append(lines, fmt.Sprintf("%d %s %d", e.Rank, e.NickName, e.Points))
		}

		if cursor = out.Meta.Next; cursor == "" {
			return lines
		}
	}
}
