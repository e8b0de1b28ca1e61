package cricket

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/pkg/kit/push"
)

func TestMain(m *testing.M) {
	testkit.LogByWorld()
	os.Exit(m.Run())
}

// kickOff is when the matches of the tests begin: slot 0.
var kickOff = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// at is when slot n is due.
func at(n int) time.Time { return kickOff.Add(time.Duration(n) * slotLength) }

const (
	bundle   = "app.matchday.test"
	apiToken = "provider-token"
)

// world is one test's room, with the provider and Apple.
type world struct {
	*testkit.World
	provider
	phones *apns.Server // after withPhones
}

// newWorld makes a world some time before kickOff.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{World: testkit.New(t, Room, kickOff.Add(-time.Hour))}
	w.feed = sportmonks.New(w.Clock, apiToken)
	w.World.Provider = &w.provider
	w.Settings[sportMonksURL], w.Settings[sportMonksToken] = "http://provider"+providerPath, apiToken
	return w
}

// withPhones adds Apple.
func (w *world) withPhones() *world {
	w.T.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(w.T, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(w.T, err)
	w.phones = apns.New(w.Clock, apns.Config{TeamID: "TEAM", KeyID: "KEY", PublicKey: &key.PublicKey, Bundle: bundle})
	testkit.Must(w.T, w.phones.Listen())
	w.T.Cleanup(func() { w.phones.Close() })
	ca := filepath.Join(w.T.TempDir(), "ca.pem")
	testkit.Must(w.T, os.WriteFile(ca, w.phones.CA(), 0o600))
	maps.Copy(w.Settings, map[string]string{
		push.SettingURL: w.phones.URL(), push.SettingTeamID: "TEAM", push.SettingKeyID: "KEY", apnsBundle: bundle, push.SettingCAFile: ca,
		apnsKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	return w
}

// provider answers for SportMonks.
type provider struct {
	feed *sportmonks.Server
	said func(path string) (status int, body string) // instead of the feed's answer, unless status is 0
}

const providerPath = "/api/v2.0"

// RoundTrip asks the simulator. A timeout comes at once.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()
	if p.said != nil {
		if status, body := p.said(strings.TrimPrefix(r.URL.Path, providerPath)); status != 0 {
			out.WriteHeader(status)
			out.WriteString(body)
			return out.Result(), nil
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	cancel() // the simulator hangs until its caller gives up
	hung := p.feed.Counts()[sportmonks.Timeout]
	p.feed.ServeHTTP(out, r.WithContext(ctx))
	if p.feed.Counts()[sportmonks.Timeout] > hung {
		return nil, context.DeadlineExceeded
	}
	return out.Result(), nil
}

// ticker is that of a new process.
func (w *world) ticker() *Ticker {
	w.T.Helper()
	return testkit.Open(w.World, TickFunction, OpenTicker)
}

// tickAt has slot n ticked, and fails the test for an error.
func (w *world) tickAt(t *Ticker, n int) TickDone {
	w.T.Helper()
	done, err := t.Tick(w.Ctx(), slotNo(n))
	testkit.Must(w.T, err)
	return done
}

// slotNo is slot n after kickOff, as plan-ticks has it.
func slotNo(n int) Tick { return Tick{Slot: slotOf(at(n)), Due: at(n).UnixMilli()} }

// matchOf is the row of a match that has been scheduled, and not polled.
func matchOf(m *script.Match, start time.Time) fixture {
	return fixture{
		MatchID: id(m.ID), LeagueCode: m.League.Code, LeagueID: id(m.League.ID), SeasonID: id(m.Season.ID),
		StartTime: start.UTC().Format(timeLayout), Round: m.Round, Type: m.Type, Status: "NS",
		LocalTeamID: id(m.Local.ID), VisitorTeamID: id(m.Visitor.ID), VenueName: m.Venue.Name,
	}
}

func id(n int64) string { return fmt.Sprint(n) }

// play schedules a generated match, with a frame in each slot from slot 0 on,
// and stores its row.
func (w *world) play(seed int64, format cricsheet.Format, frameEvery time.Duration) *script.Match {
	w.T.Helper()
	m := script.Generate(seed, format)
	w.feed.Play(m, kickOff, sportmonks.Pace{Every: frameEvery, Linger: 20 * time.Second})
	testkit.Put(w.World, fixtures, matchOf(m, kickOff))
	return m
}

// token is the push token of a phone that has a name.
func token(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// subscribe stores an activity.
func (w *world) subscribe(matchID, name, team string) subscription {
	w.T.Helper()
	now := w.Clock.Now()
	s := subscription{
		MatchID: matchID, PushToken: token(name), UserID: name, TeamID: team,
		CreatedAt: now.UnixMilli(), UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(24 * time.Hour).Unix(),
	}
	testkit.Put(w.World, subscriptions, s)
	return s
}

// shows is what a phone shows: the content state, or "" before the first.
func (w *world) shows(name string) (state string, ended bool) {
	d, _ := w.phones.Device(token(name))
	return string(d.State), d.Ended
}

// outcome is what the world amounts to, without what depends on when each
// step ran: slots, times, locks and repeated messages.
type outcome struct {
	Fixtures map[string]fixture
	States   map[string]string // by match
	Shown    map[string]string // by cache key
	Hashes   map[string]string
	Balls    map[string]string // by match
	Last     map[string]int    // lastProcessedBall
	Follows  int
	Phones   map[string]string // by token: what an activity is left with
	// Untold are the displays of which no message speaks that is recent enough.
	Untold   []string
	Messages []string // of the end of matches, without repetitions
	Alerts   []string // likewise
	Ledger   []string
}

func (w *world) outcome() outcome {
	w.T.Helper()
	o := outcome{
		Fixtures: map[string]fixture{}, States: map[string]string{}, Shown: map[string]string{}, Hashes: map[string]string{},
		Balls: map[string]string{}, Last: map[string]int{}, Phones: map[string]string{},
		Follows: len(testkit.Rows[map[string]any](w.World, follows)),
	}
	changes := testkit.Messages[MatchChanged](w.World, activityQueue)
	for _, f := range testkit.Rows[fixture](w.World, fixtures) {
		f.LiveUpdatedAt, f.ArchivedAt = min(f.LiveUpdatedAt, 1), min(f.ArchivedAt, 1)
		f.EndingAt, f.FinishedAt = min(f.EndingAt, 1), min(f.FinishedAt, 1)
		f.LastSlot, f.BodySum, f.Polls, f.MissingSince = 0, "", 0, 0
		o.Fixtures[f.MatchID] = f
	}
	for _, c := range testkit.Rows[cached](w.World, fixtureCache) {
		o.States[c.MatchID] = c.StateJSON
	}
	for _, s := range testkit.Rows[shown](w.World, displays) {
		o.Shown[s.CacheKey] = string(s.Display)
		match, view, _ := strings.Cut(strings.TrimPrefix(s.CacheKey, "DISPLAY#"), "#")
		if !slices.ContainsFunc(changes, func(m MatchChanged) bool {
			return m.MatchID == match && slices.Contains(m.Changed, view) && m.Slot >= s.Slot
		}) {
			o.Untold = append(o.Untold, s.CacheKey)
		}
	}
	slices.Sort(o.Untold)
	for _, h := range testkit.Rows[stateHash](w.World, stateHashes) {
		o.Hashes[h.Key] = h.Hash
	}
	for id := range o.Fixtures {
		o.Balls[id] = w.balls(id)
	}
	for _, h := range testkit.Rows[head](w.World, processing) {
		if !strings.Contains(h.MatchID, "#") {
			o.Last[h.MatchID] = h.LastProcessedBall
		}
	}
	for _, l := range testkit.Rows[ledger](w.World, processing) {
		for _, e := range l.Events {
			o.Ledger = append(o.Ledger, fmt.Sprint(l.MatchID, " ", e.Key, " ", e.Told))
		}
	}
	slices.Sort(o.Ledger)
	for _, a := range testkit.Messages[Alert](w.World, alertQueue) {
		o.Alerts = append(o.Alerts, a.MatchID+" "+a.Key+" "+a.Title)
	}
	slices.Sort(o.Alerts)
	o.Alerts = slices.Compact(o.Alerts)
	for _, s := range testkit.Rows[subscription](w.World, subscriptions) {
		o.Phones[s.PushToken] = "subscribed"
	}
	if w.phones != nil {
		for _, token := range w.phones.Tokens() {
			d, _ := w.phones.Device(token)
			o.Phones[token] += fmt.Sprintf(" ended=%v %s", d.Ended, d.State)
		}
	}
	for _, m := range changes {
		if m.Ended != 0 {
			o.Messages = append(o.Messages, "ended "+m.MatchID)
		}
	}
	for _, m := range testkit.Messages[MatchLeft](w.World, finishQueue) {
		o.Messages = append(o.Messages, "left "+m.MatchID)
	}
	slices.Sort(o.Messages)
	o.Messages = slices.Compact(o.Messages)
	return o
}

// balls are all that list-balls gives of a match, page by page.
func (w *world) balls(matchID string) string {
	w.T.Helper()
	s := testkit.Open(w.World, ListBallsFunction, OpenMatches)
	var all []any
	for in := (ListBalls{ID: matchID}); ; {
		page, err := s.ListBalls(w.Ctx(), &in)
		testkit.Must(w.T, err)
		for _, b := range page.Body.Balls {
			all = append(all, b)
		}
		if in.Cursor = page.Body.Next; in.Cursor == "" {
			text, err := json.Marshal(all)
			testkit.Must(w.T, err)
			return string(text)
		}
	}
}

// ballSaid is a delivery as a scripted provider tells it.
type ballSaid struct {
	id, runs int
	out      bool
}

// saidOf is a fixture in the provider's words: a first innings of these balls.
// Its totals are those of the balls.
func saidOf(f fixture, status string, balls ...ballSaid) string {
	total, wickets := 0, 0
	list := []any{}
	for i, b := range balls {
		total += b.runs
		name, outID := fmt.Sprintf("%d Run", b.runs), 0
		if b.out {
			wickets, name, outID = wickets+1, "Clean Bowled", 1000+wickets
		}
		list = append(list, map[string]any{
			"id": b.id, "scoreboard": "S1", "team_id": json.Number(f.LocalTeamID), "ball": json.Number(fmt.Sprintf("%d.%d", i/6, i%6+1)),
			"batsman_id": 1000, "bowler_id": 2000, "batsmanout_id": outID,
			"batsman": map[string]any{"id": 1000, "fullname": "A Batter"}, "bowler": map[string]any{"id": 2000, "fullname": "A Bowler"},
			"score": map[string]any{"id": b.runs + 1, "name": name, "runs": b.runs, "out": b.out, "is_wicket": b.out, "ball": true},
		})
	}
	fixture := map[string]any{
		"resource": "fixtures", "id": json.Number(f.MatchID), "league_id": json.Number(f.LeagueID), "season_id": json.Number(f.SeasonID),
		"localteam_id": json.Number(f.LocalTeamID), "visitorteam_id": json.Number(f.VisitorTeamID), "status": status, "type": f.Type,
		"starting_at": f.StartTime, "total_overs_played": 20, "balls": list,
		"localteam":   map[string]any{"id": json.Number(f.LocalTeamID), "name": "Harbour", "code": "HAR"},
		"visitorteam": map[string]any{"id": json.Number(f.VisitorTeamID), "name": "Valley", "code": "VAL"},
	}
	if strings.HasSuffix(status, "Innings") {
		fixture["runs"] = []any{map[string]any{
			"team_id": json.Number(f.LocalTeamID), "inning": 1, "score": total, "wickets": wickets,
			"overs": json.Number(fmt.Sprintf("%d.%d", len(balls)/6, len(balls)%6)),
		}}
	}
	text, err := json.Marshal(fixture)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// feedOf is the body of /livescores.
func feedOf(entries ...string) string { return `{"data":[` + strings.Join(entries, ",") + `]}` }

// says has the provider answer /livescores with these fixtures.
func (w *world) says(entries ...string) {
	w.said = func(path string) (int, string) {
		if path != "/livescores" {
			return 0, ""
		}
		return http.StatusOK, feedOf(entries...)
	}
}

// scripted stores the row of a match that only a scripted provider knows.
func (w *world) scripted(id string) fixture {
	w.T.Helper()
	f := fixture{
		MatchID: id, LeagueCode: "T20", LeagueID: "3", SeasonID: "5", StartTime: kickOff.Format(timeLayout), Type: "T20",
		Status: "NS", LocalTeamID: "11", VisitorTeamID: "12",
	}
	testkit.Put(w.World, fixtures, f)
	return f
}
