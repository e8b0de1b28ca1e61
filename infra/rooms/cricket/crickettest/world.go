package crickettest

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
	"errors"
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

	"matchday/infra/rooms/cricket/ios"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/sim/sqs"
	"matchday/infra/testkit"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// StartRequest returns the request of a user to register an activity. Its push token is
// Token(user).
func StartRequest(matchID, user, team string) *activity.StartActivity {
	in := &activity.StartActivity{User: auth.User{UserID: user}, MatchID: matchID}
	in.Body.PushToken, in.Body.TeamID = push.Token(Token(user)), team

	return in
}

// Routes returns the routes of the room by name of function.
func (w *World) Routes() map[string]testkit.Route {
	return w.ServeRoutes()
}

// Get calls a route without a user and decodes the answer. It fails the test unless the
// status is 200.
func Get[T any](t *testing.T, routes map[string]testkit.Route, fn app.Function, target string) (v T, header http.Header) {
	t.Helper()

	out := testkit.Call(routes, fn, target, "", "")
	if out.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d %s", target, out.StatusCode, out.Body)
	}

	testkit.Must(t, json.Unmarshal([]byte(out.Body), &v))

	return v, testkit.Header(out)
}

// NewWithMatches returns a world with a live match, 7, one that has not started, 8, and one that
// is over, 9.
func NewWithMatches(t testing.TB) *World {
	w := New(t)
	league := catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: true}
	teams := []catalog.TeamRow{
		{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "HAR", Name: "Harbour"}},
		{ProvidedTeam: catalog.ProvidedTeam{TeamID: "12", Code: "VAL", Name: "Valley"}},
	}
	testkit.PutRows(w.World, tables.Leagues, league)
	testkit.PutRows(w.World, tables.Teams, teams...)
	testkit.PutRows(w.World, tables.Words, catalog.Words(teams, []catalog.LeagueRow{{ProvidedLeague: league}})...)
	testkit.PutRows(w.World, tables.TeamSeasons, catalog.SeasonTeam{SeasonID: "5", TeamID: "11", Code: "HAR", Name: "Harbour"},
		catalog.SeasonTeam{SeasonID: "5", TeamID: "12", Code: "VAL", Name: "Valley"})
	on, coming, done := w.AddFixture("7"), w.AddFixture("8"), w.AddFixture("9")
	w.SetPayload(Payload(on, "1st Innings", Ball{ID: 1, Runs: 4}), Payload(done, "Aban."))
	w.TickAt(w.Ticker(), 0)

	coming.StartTime = KickOff.Add(time.Hour).Format(tables.TimeLayout)
	testkit.PutRows(w.World, tables.Fixtures, coming)

	return w
}

// Starter opens start-activity with a short backoff for Apple.
func (w *World) Starter(env app.Env, change ...func(*push.Config)) *activity.Activities {
	w.T.Helper()
	sender := w.Sender(env, change...)

	return activity.NewActivities(env, func(context.Context) (*push.Sender, error) { return sender, nil })
}

// RegisterPhones stores a phone with that version of iOS for each user.
func (w *World) RegisterPhones(version string, users ...string) {
	w.T.Helper()

	for _, user := range users {
		testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{
			UserID:      user,
			DeviceToken: Token(user + "'s phone"),
			OSMajor:     follower.MajorOf(version),
			ExpiresAt:   w.Clock.Now().Add(push.KeepDevice).Unix(),
		})
	}
}

// OpenChannel creates the channel of a match and a perspective at Apple, stores its row, and
// returns its id.
func (w *World) OpenChannel(matchID, view string) string {
	w.T.Helper()
	id, err := w.Sender(w.Env(activity.StartActivityFunction())).CreateChannel(w.T.Context(), push.KeepNothing)
	testkit.Must(w.T, err)
	testkit.PutRows(w.World, tables.Channels,
		activity.Channel{MatchID: matchID, View: view, ChannelID: id, ClaimedAt: w.Clock.Now().UnixMilli()})

	return id
}

// DecideEnd moves the clock to slot n and stores that the end of the match was decided then.
func (w *World) DecideEnd(matchID string, n int) {
	w.T.Helper()
	w.MoveClock(At(n))
	w.SetEnd(matchID, At(n).Unix())
}

// SetEnd stores that the end of the match was decided at a time, in epoch s. It returns the message to
// push-activities.
func (w *World) SetEnd(matchID string, at int64) activity.MatchChanged {
	w.T.Helper()
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, matchID)
	f.EndingAt, f.Live = at, ""
	testkit.PutRows(w.World, tables.Fixtures, f)

	return activity.MatchChanged{MatchID: matchID, Ended: at}
}

// Pusher opens push-activities or push-parts with a short backoff for Apple.
func (w *World) Pusher(env app.Env, change ...func(*push.Config)) *activity.Pusher {
	w.T.Helper()
	return activity.NewPusher(env, w.Sender(env, change...))
}

// DrainPushes handles the messages of push-activities with p, and those of push-parts, until none
// becomes visible within a limit of simulated time. It returns their number.
func (w *World) DrainPushes(within time.Duration, p *activity.Pusher) (handled int) {
	w.T.Helper()

	parts := w.Pusher(w.Env(activity.PushPartsFunction()))
	visible := func(a, b sqs.Message) int { return a.Visible.Compare(b.Visible) }

	for until := w.Clock.Now().Add(within); ; {
		changes, others := w.Queues.Messages(tables.ActivityQueue.Name), w.Queues.Messages(tables.PartQueue.Name)
		if len(changes)+len(others) == 0 {
			return handled
		}

		next := slices.MinFunc(slices.Concat(changes, others), visible).Visible
		if next.After(until) {
			return handled
		}

		wait := next.Sub(w.Clock.Now())
		handled += testkit.Drain(w.World, tables.ActivityQueue, wait, p.PushActivities) +
			testkit.Drain(w.World, tables.PartQueue, next.Sub(w.Clock.Now()), parts.PushParts)
	}
}

// Sender opens a sender with one connection and a short backoff. change may change its
// configuration.
func (w *World) Sender(env app.Env, change ...func(*push.Config)) *push.Sender {
	w.T.Helper()
	c, err := push.ConfigOf(w.T.Context(), env, tables.APNSKey, tables.APNSBundle)
	testkit.Must(w.T, err)

	c.Connections, c.Backoff = 1, time.Microsecond
	for _, f := range change {
		f(&c)
	}

	s, err := push.Open(c)
	testkit.Must(w.T, err)
	w.T.Cleanup(s.Close)

	return s
}

// Google opens a sender to Android phones, nil if the world has none.
func (w *World) Google(env app.Env) *fcm.Sender {
	w.T.Helper()

	s := fcm.OpenEnv(env)
	if s != nil {
		w.T.Cleanup(s.Close)
	}

	return s
}

// AndroidToken returns the FCM registration token of the Android phone with that name.
func AndroidToken(name string) string { return "dQw4w9WgXcQ:APA91b-" + Token(name) }

// ExpectPhones compares the content states of phones, and whether their activities have
// ended, with want, by name of the phone; "" is a phone without one. when describes the time
// in failure messages.
func (w *World) ExpectPhones(when string, want map[string]string, ended bool) {
	w.T.Helper()

	for name, state := range want {
		var got, wanted score.Display

		text, end := w.PhoneState(name)
		if state == "" {
			if text != "" {
				w.T.Errorf("%s, the phone %s has the content state %s; want none", when, name, text)
			}

			continue
		}

		if text == "" {
			w.T.Errorf("%s, the phone %s has no content state; want %s", when, name, state)
			continue
		}

		testkit.Must(w.T, json.Unmarshal([]byte(text), &got))
		testkit.Must(w.T, json.Unmarshal([]byte(state), &wanted))

		if got.Hash() != wanted.Hash() || end != ended {
			w.T.Errorf("%s, the phone %s has the content state %s, ended %v; want %s, %v", when, name, text, end, state, ended)
		}
	}
}

// Subscribers returns the users with an activity that has a push token, sorted.
func (w *World) Subscribers() (names []string) {
	for _, s := range w.Subscriptions() {
		names = append(names, s.UserID)
	}

	slices.Sort(names)

	return names
}

// Subscriptions returns the activities that have a push token. It leaves out the lists of
// users.
func (w *World) Subscriptions() []activity.Subscription {
	return slices.DeleteFunc(testkit.Rows[activity.Subscription](w.World, tables.Subscriptions),
		func(s activity.Subscription) bool { return s.UserID == "" })
}

// Follows returns the follows of all users. It leaves out the lists of users.
func (w *World) Follows() []follower.FollowRow {
	return slices.DeleteFunc(testkit.Rows[follower.FollowRow](w.World, tables.Follows),
		func(f follower.FollowRow) bool { return !match.ValidID(f.MatchID) })
}

// Sync runs all Syncs in order.
func (w *World) Sync() {
	w.T.Helper()

	for _, s := range Syncs {
		testkit.Must(w.T, s.Do(w.World))
	}
}

// SetFixtures makes the provider answer /fixtures with these matches. Other paths are answered
// as before.
func (w *World) SetFixtures(entries ...string) {
	before := w.Override
	w.Override = func(path string) (int, string) {
		if path == "/fixtures" {
			return http.StatusOK, strings.TrimSuffix(Feed(entries...), "}") + `,"meta":{"last_page":1}}`
		}

		if before == nil {
			return 0, ""
		}

		return before(path)
	}
}

// KickOff is the start of the matches of the tests: slot 0.
var KickOff = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// At returns the due time of slot n, counted from KickOff.
func At(n int) time.Time { return KickOff.Add(time.Duration(n) * match.SlotLength) }

const (
	bundle   = "app.matchday.test"
	APIToken = "provider-token"
)

// World is the room in one test, with simulators of the provider and Apple.
type World struct {
	*testkit.World
	SportMonks
	Phones *apns.Server // nil before WithPhones
}

// New returns a world whose clock is an hour before KickOff.
func New(t testing.TB) *World {
	t.Helper()
	w := &World{World: testkit.New(t, cricket.Room(), KickOff.Add(-time.Hour))}
	w.Feed = sportmonks.New(w.Clock, APIToken)
	w.World.Provider = &w.SportMonks
	w.Settings[tables.SportMonksURL], w.Settings[tables.SportMonksToken] = "http://provider"+providerPath, APIToken

	return w
}

// WithPhones adds the simulator of Apple and its phones.
func (w *World) WithPhones() *World {
	w.T.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(w.T, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(w.T, err)
	w.Phones = apns.New(w.Clock, apns.Config{
		TeamID: "TEAM", KeyID: "KEY", PublicKey: &key.PublicKey, Bundle: bundle, ContentState: ios.Decodes, Attributes: ios.Starts,
	})
	testkit.Must(w.T, w.Phones.Listen())
	w.T.Cleanup(func() { w.Phones.Close() })
	ca := filepath.Join(w.T.TempDir(), "ca.pem")
	testkit.Must(w.T, os.WriteFile(ca, w.Phones.CA(), 0o600))
	maps.Copy(w.Settings, map[string]string{
		push.SettingURL: w.Phones.URL(), push.SettingTeamID: "TEAM", push.SettingKeyID: "KEY", tables.APNSBundle: bundle, push.SettingCAFile: ca,
		tables.APNSKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})

	return w
}

// SportMonks is the provider as the room's HTTP client sees it.
type SportMonks struct {
	Feed     *sportmonks.Server
	Override func(path string) (status int, body string) // overrides the answer of Feed, unless status is 0
}

const providerPath = "/api/v2.0"

// RoundTrip sends the request to the simulator. A simulated timeout is returned at once.
func (p *SportMonks) RoundTrip(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()

	if p.Override != nil {
		if status, body := p.Override(strings.TrimPrefix(r.URL.Path, providerPath)); status != 0 {
			out.WriteHeader(status)
			out.WriteString(body)

			return out.Result(), nil
		}
	}

	ctx, cancel := context.WithCancel(r.Context())
	cancel() // the simulator hangs until its caller gives up

	hung := p.Feed.Counts()[sportmonks.Timeout]
	p.Feed.ServeHTTP(out, r.WithContext(ctx))

	if p.Feed.Counts()[sportmonks.Timeout] > hung {
		return nil, context.DeadlineExceeded
	}

	return out.Result(), nil
}

// Ticker opens tick as a new process.
func (w *World) Ticker() *live.Ticker {
	w.T.Helper()
	return testkit.Open(w.World, live.TickFunction(), live.OpenTicker)
}

// TickAt runs the tick of slot n. It fails the test for an error.
func (w *World) TickAt(t *live.Ticker, n int) live.TickDone {
	w.T.Helper()
	done, err := t.Tick(w.NewContext(), TickOf(n))
	testkit.Must(w.T, err)

	return done
}

// TickOf returns the tick of slot n after KickOff, as plan-ticks sends it.
func TickOf(n int) live.Tick { return live.Tick{Slot: match.SlotOf(At(n)), Due: At(n).UnixMilli()} }

// MatchOf returns the row of a match that was scheduled and not polled.
func MatchOf(m *script.Match, start time.Time) match.Fixture {
	return match.Fixture{
		MatchID: ID(m.ID), LeagueCode: m.League.Code, LeagueID: ID(m.League.ID), SeasonID: ID(m.Season.ID),
		StartTime: start.UTC().Format(tables.TimeLayout), Round: m.Round, Type: m.Type, Status: "NS",
		LocalTeamID: ID(m.Local.ID), VisitorTeamID: ID(m.Visitor.ID), VenueName: m.Venue.Name,
	}
}

// ID writes the id of a generated match or team.
func ID(n int64) string { return fmt.Sprint(n) }

// Play schedules a generated match from KickOff, with a frame every frameEvery, and
// stores its row.
func (w *World) Play(seed int64, format cricsheet.Format, frameEvery time.Duration) *script.Match {
	w.T.Helper()

	m := script.Generate(seed, format)
	w.Feed.Play(m, KickOff, sportmonks.Pace{Every: frameEvery, Linger: 20 * time.Second})
	testkit.PutRows(w.World, tables.Fixtures, MatchOf(m, KickOff))
	w.AddSummary(MatchOf(m, KickOff))

	return m
}

// Token returns the push token of the phone with that name.
func Token(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// TokenID returns the id of the push token of the phone with that name.
func TokenID(name string) string { return string(push.Token(Token(name)).ID()) }

// Subscribe stores an activity.
func (w *World) Subscribe(matchID, name, team string) activity.Subscription {
	w.T.Helper()
	now := w.Clock.Now()
	s := activity.Subscription{
		MatchID: matchID, PushToken: Token(name), UserID: name, TeamID: team,
		CreatedAt: now.UnixMilli(), UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(24 * time.Hour).Unix(),
	}
	w.AddActivities(s)

	return s
}

// AddActivities stores activities as start-activity does: also in the lists of their
// users.
func (w *World) AddActivities(all ...activity.Subscription) {
	w.T.Helper()
	testkit.PutRows(w.World, tables.Subscriptions, all...)

	lists := map[[2]string]dynamo.List{}

	for _, s := range all {
		key := [2]string(follower.ActivityList(s.UserID, s.MatchID))

		list, ok := lists[key]
		if !ok {
			list, _, _ = dynamo.Get[dynamo.List](w.T.Context(), w.DB(), spec.Access{Table: tables.Subscriptions}, key[:]...)
		}

		list.IDs, list.ExpiresAt = append(list.IDs, s.PushToken), max(list.ExpiresAt, s.ExpiresAt)
		lists[key] = list
	}

	rows := make([]any, 0, len(lists))
	for key, list := range lists {
		rows = append(rows, struct {
			MatchID   string `dynamodbav:"matchId"`
			PushToken string `dynamodbav:"pushToken"`
			dynamo.List
		}{key[0], key[1], list})
	}

	testkit.PutRows(w.World, tables.Subscriptions, rows...)
}

// PhoneState returns the content state that a phone shows, "" before the first, and whether
// the activity has ended.
func (w *World) PhoneState(name string) (state string, ended bool) {
	d, _ := w.Phones.Device(Token(name))
	return string(d.State), d.Ended
}

// Outcome is the state of the world without values that depend on when each step ran:
// slots, times, locks and repeated messages.
type Outcome struct {
	Fixtures map[string]match.Fixture
	States   map[string]string // by match
	Shown    map[string]string // by cache key
	Hashes   map[string]string
	Balls    map[string]string // by match
	Cards    map[string]string // by match
	Listed   map[string]match.SummaryRow
	Players  map[string]string // by key
	Follows  int
	Phones   map[string]string // by token: the state of the activity
	// Unqueued are the displays without a message of their slot or a later one in the
	// queue of pushes.
	Unqueued []string
	// Ahead are the rows with a later slot than the match: no poll before that slot replaces them.
	Ahead    []string
	Messages []string // of the end of matches, without repetitions and without those that finish-match drops
	Alerts   []string // likewise
	Ledger   []string
}

// sentRow is what Outcome reads of live.Sent.
type sentRow struct {
	MatchID  string            `dynamodbav:"matchTeamKey"`
	Hashes   map[string]string `dynamodbav:"hashes"`
	LastSlot int64             `dynamodbav:"lastSlot"`
	Ledger   struct {
		Events []struct {
			Key  string `dynamodbav:"k"`
			Sent bool   `dynamodbav:"t"`
		} `dynamodbav:"events"`
	} `dynamodbav:"ledger"`
}

// drops reports whether finish-match does nothing for a message: the match is finished, or was polled since.
func drops(f match.Fixture, m live.MatchLeft) bool {
	polled := !m.Listed && (f.LiveUpdatedAt > m.Since*1000 || f.ArchivedAt > m.Since)
	return f.FinishedAt != 0 || f.EndingAt == 0 && polled
}

// endOf says whether at is when the end was decided that a match has now.
func endOf(f match.Fixture, at int64) string {
	if at == f.EndingAt {
		return "the present end"
	}

	return "an end that was withdrawn"
}

// Players returns the rows of players by key, with endOf in place of the times of the ends.
func (w *World) Players() map[string]string {
	w.T.Helper()

	fixtures := w.fixtures()

	all := map[string]string{}
	for _, r := range testkit.Rows[map[string]any](w.World, tables.Players) {
		if at, ok := r["endingAt"].(float64); ok {
			r["endingAt"] = endOf(fixtures[fmt.Sprint(r["matchId"])], int64(at))
		}

		text, err := json.Marshal(r)
		testkit.Must(w.T, err)

		all[fmt.Sprint(r["playerId"], " ", r["at"])] = string(text)
	}

	return all
}

// fixtures returns the rows of matches, by id.
func (w *World) fixtures() map[string]match.Fixture {
	w.T.Helper()

	all := map[string]match.Fixture{}
	for _, f := range testkit.Rows[match.Fixture](w.World, tables.Fixtures) {
		all[f.MatchID] = f
	}

	return all
}

// Outcome reads the outcome of the world.
func (w *World) Outcome() Outcome {
	w.T.Helper()
	o := Outcome{
		Fixtures: map[string]match.Fixture{}, States: map[string]string{}, Shown: map[string]string{}, Hashes: map[string]string{},
		Balls: map[string]string{}, Cards: map[string]string{}, Phones: map[string]string{}, Listed: map[string]match.SummaryRow{},
		Players: w.Players(), Follows: len(w.Follows()),
	}

	fixtures := w.fixtures()
	changes := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)

	for _, f := range fixtures {
		f.LiveUpdatedAt, f.ArchivedAt = min(f.LiveUpdatedAt, 1), min(f.ArchivedAt, 1)
		f.EndingAt, f.FinishedAt = min(f.EndingAt, 1), min(f.FinishedAt, 1)
		f.LeftAt, f.ReopenedAt, f.MissingSince = min(f.LeftAt, 1), min(f.ReopenedAt, 1), min(f.MissingSince, 1)
		f.LastSlot, f.BodySum, f.Polls, f.LeaseHolder, f.LeaseUntil = 0, "", 0, "", 0
		o.Fixtures[f.MatchID] = f
	}

	ahead := func(what, matchID string, slot int64) {
		if slot > fixtures[matchID].LastSlot {
			o.Ahead = append(o.Ahead, what+" "+matchID)
		}
	}

	for _, c := range testkit.Rows[match.ScoreRow](w.World, tables.FixtureCache) {
		o.States[c.MatchID] = c.StateJSON
		ahead("score", c.MatchID, c.LastSlot)
	}

	for _, s := range testkit.Rows[match.DisplayRow](w.World, tables.Displays) {
		o.Shown[s.CacheKey] = string(s.Display)

		match, view, _ := strings.Cut(strings.TrimPrefix(s.CacheKey, "DISPLAY#"), "#")
		if !slices.ContainsFunc(changes, func(m activity.MatchChanged) bool {
			return m.MatchID == match && slices.Contains(m.Changed, view) && m.Slot >= s.Slot
		}) {
			o.Unqueued = append(o.Unqueued, s.CacheKey)
		}

		ahead("display", match, s.Slot)
	}

	slices.Sort(o.Unqueued)

	for _, r := range testkit.Rows[match.SummaryRow](w.World, tables.Summaries) {
		ahead("summary", r.MatchID, r.LastSlot)

		r.LastSlot, r.Score.OverAt = 0, min(r.Score.OverAt, 1)
		o.Listed[r.MatchID] = r
	}

	for _, s := range testkit.Rows[sentRow](w.World, tables.StateHashes) {
		for view, hash := range s.Hashes {
			o.Hashes[s.MatchID+"#"+view] = hash
		}

		ahead("sent", s.MatchID, s.LastSlot)

		for _, e := range s.Ledger.Events {
			o.Ledger = append(o.Ledger, fmt.Sprint(s.MatchID, " ", e.Key, " ", e.Sent))
		}
	}

	for id := range o.Fixtures {
		o.Balls[id] = w.balls(id)
		o.Cards[id] = w.card(id)
	}

	slices.Sort(o.Ledger)
	slices.Sort(o.Ahead)

	for _, a := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
		o.Alerts = append(o.Alerts, a.MatchID+" "+a.Key+" "+a.Title)
	}

	slices.Sort(o.Alerts)

	o.Alerts = slices.Compact(o.Alerts)
	for _, s := range w.Subscriptions() {
		o.Phones[s.PushToken] = "subscribed"
	}

	if w.Phones != nil {
		for _, token := range w.Phones.Tokens() {
			d, _ := w.Phones.Device(token)
			o.Phones[token] += fmt.Sprintf(" ended=%v %s", d.Ended, d.State)
		}
	}

	for _, m := range changes {
		if m.Ended != 0 {
			o.Messages = append(o.Messages, fmt.Sprintf("ended %s, %s", m.MatchID, endOf(fixtures[m.MatchID], m.Ended)))
		}
	}

	for _, m := range testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue) {
		if !drops(fixtures[m.MatchID], m) {
			o.Messages = append(o.Messages, "left "+m.MatchID)
		}
	}

	slices.Sort(o.Messages)
	o.Messages = slices.Compact(o.Messages)

	return o
}

// balls returns all balls of a match, as JSON, from the pages of list-balls.
func (w *World) balls(matchID string) string {
	w.T.Helper()
	s := testkit.Open(w.World, match.ListBallsFunction(), match.OpenMatches)

	var all []any

	for in := (match.ListBalls{ID: matchID}); ; {
		page, err := s.ListBalls(w.NewContext(), &in)
		if errors.Is(err, match.ErrBallsExpired) {
			return "expired"
		}

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

// card returns the scorecard of a match as JSON, "" if there is none.
func (w *World) card(matchID string) string {
	w.T.Helper()

	out := testkit.Call(w.Routes(), match.GetScorecardFunction(), "/matches/"+matchID+"/scorecard", "", "")
	if out.StatusCode == http.StatusNotFound {
		return ""
	}

	if out.StatusCode != http.StatusOK {
		w.T.Errorf("the scorecard of %s answers %d %s", matchID, out.StatusCode, out.Body)
	}

	return out.Body
}

// Ball is a delivery in a Payload.
type Ball struct {
	ID, Runs int
	Out      bool
}

// Payload returns a fixture as the provider encodes it, with these balls in the first
// innings. The totals are those of the balls.
func Payload(f match.Fixture, status string, balls ...Ball) string {
	total, wickets := 0, 0
	list := []any{}

	for i, b := range balls {
		total += b.Runs

		name, outID := fmt.Sprintf("%d Run", b.Runs), 0
		if b.Out {
			wickets, name, outID = wickets+1, "Clean Bowled", 1000+wickets
		}

		list = append(list, map[string]any{
			"id": b.ID, "scoreboard": "S1", "team_id": json.Number(f.LocalTeamID), "ball": json.Number(fmt.Sprintf("%d.%d", i/6, i%6+1)),
			"batsman_id": 1000, "bowler_id": 2000, "batsmanout_id": outID,
			"batsman": map[string]any{"id": 1000, "fullname": "A Batter"}, "bowler": map[string]any{"id": 2000, "fullname": "A Bowler"},
			"score": map[string]any{"id": b.Runs + 1, "name": name, "runs": b.Runs, "out": b.Out, "is_wicket": b.Out, "ball": true},
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

// Feed returns the body of /livescores with these fixtures.
func Feed(entries ...string) string { return `{"data":[` + strings.Join(entries, ",") + `]}` }

// SetPayload makes the provider answer /livescores with these fixtures.
func (w *World) SetPayload(entries ...string) {
	w.Override = func(path string) (int, string) {
		if path != "/livescores" {
			return 0, ""
		}

		return http.StatusOK, Feed(entries...)
	}
}

// AddFixture stores and returns the row of a match that the simulated provider does not
// have. SetPayload supplies its fixture.
func (w *World) AddFixture(id string) match.Fixture {
	w.T.Helper()

	f := match.Fixture{
		MatchID: id, LeagueCode: "T20", LeagueID: "3", SeasonID: "5", StartTime: KickOff.Format(tables.TimeLayout), Type: "T20",
		Status: "NS", LocalTeamID: "11", VisitorTeamID: "12",
	}
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.AddSummary(f)

	return f
}

// AddSummary stores the summary of a match as the sync does before the first poll.
func (w *World) AddSummary(f match.Fixture) {
	w.T.Helper()

	league := catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{Name: "The League"}}
	testkit.PutRows(w.World, tables.Summaries, match.NewSummary(f, score.State{}, league, nil, 0))
}
