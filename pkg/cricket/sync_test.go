package cricket

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/cricsheet"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// syncJob is one of the syncs.
type syncJob struct {
	fn  spec.Function
	run func(context.Context, *testkit.World, app.Env) error
}

// do runs the sync as its function does.
func (s syncJob) do(w *testkit.World) error { return s.run(w.Ctx(), w, w.Env(s.fn)) }

// syncs are in the order in which each finds what it needs.
var syncs = [...]syncJob{
	{SyncLeaguesFunction, func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, OpenSyncer).SyncLeagues(ctx)
	}},
	{SyncFixturesFunction, func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, OpenFixtureSyncer).SyncFixtures(ctx)
	}},
	{SyncTeamsFunction, func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, OpenSyncer).SyncTeams(ctx)
	}},
}

// sync runs them all.
func (w *world) sync() {
	w.T.Helper()
	for _, s := range syncs {
		testkit.Must(w.T, s.do(w.World))
	}
}

// reference is all that the syncs write, by key.
type reference struct {
	Leagues  map[string]league
	Teams    map[string]team
	Seasons  map[string]seasonTeam
	Fixtures map[string]fixture
	Scores   map[string]cached
	Names    map[string]names
}

func (w *world) reference() reference {
	w.T.Helper()
	r := reference{map[string]league{}, map[string]team{}, map[string]seasonTeam{}, map[string]fixture{}, map[string]cached{}, map[string]names{}}
	for _, l := range testkit.Rows[league](w.World, leagues) {
		r.Leagues[l.LeagueID] = l
	}
	for _, t := range testkit.Rows[team](w.World, teams) {
		r.Teams[t.TeamID] = t
	}
	for _, s := range testkit.Rows[seasonTeam](w.World, teamSeasons) {
		r.Seasons[s.SeasonID+"/"+s.TeamID] = s
	}
	for _, f := range testkit.Rows[fixture](w.World, fixtures) {
		r.Fixtures[f.MatchID] = f
	}
	for _, c := range w.scores() {
		r.Scores[c.MatchID] = c
	}
	for _, n := range testkit.Rows[names](w.World, fixtureCache) {
		if strings.HasSuffix(n.MatchID, "#names") {
			r.Names[n.MatchID] = n
		}
	}
	return r
}

// scores are the rows of cricket-fixture-cache without the names.
func (w *world) scores() []cached {
	return slices.DeleteFunc(testkit.Rows[cached](w.World, fixtureCache), func(c cached) bool { return c.LeagueID == "" })
}

// stale makes one row of each table old, as far as there is one.
func (w *world) stale() {
	w.T.Helper()
	age(w, leagues, testkit.Rows[league](w.World, leagues), func(l *league) { l.Name = "an old name" })
	age(w, teams, testkit.Rows[team](w.World, teams), func(t *team) { t.Name = "an old name" })
	age(w, fixtures, testkit.Rows[fixture](w.World, fixtures), func(f *fixture) { f.Round = "an old round" })
	age(w, fixtureCache, w.scores(), func(c *cached) { c.StateJSON = `{}` })
}

// age edits the first of a table's rows, as far as there is one.
func age[T any](w *world, table spec.Table, rows []T, edit func(*T)) {
	w.T.Helper()
	if len(rows) > 0 {
		edit(&rows[0])
		testkit.Put(w.World, table, rows[0])
	}
}

func writes(calls map[string]int) int {
	return calls["PutItem"] + calls["UpdateItem"] + calls["BatchWriteItem"] + calls["DeleteItem"]
}

func TestSyncs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed.Announce(kickOff, script.Generate(1, cricsheet.T20).Fixture, script.Generate(2, cricsheet.Test).Fixture)
	w.feed.AnnounceMore(1, 110, kickOff.Add(-24*time.Hour)) // two pages
	w.sync()
	first := w.reference()
	if len(first.Leagues) < 2 || len(first.Teams) < 4 || len(first.Seasons) < 4 || len(first.Fixtures) < 100 || len(first.Scores) != len(first.Fixtures) || len(first.Names) != len(first.Fixtures) {
		t.Fatalf("%d leagues, %d teams, %d in seasons, %d fixtures, %d scores and %d names were copied",
			len(first.Leagues), len(first.Teams), len(first.Seasons), len(first.Fixtures), len(first.Scores), len(first.Names))
	}
	for _, f := range first.Fixtures {
		l := first.Leagues[f.LeagueID]
		if l.Code != f.LeagueCode || !l.Active || first.Seasons[l.SeasonID+"/"+f.LocalTeamID].Name == "" && f.SeasonID == l.SeasonID {
			t.Errorf("the match %+v is of the league %+v", f, l)
		}
		if f.Status != "NS" || f.Live != "" || f.LastSlot != 0 {
			t.Errorf("a match to come is %+v", f)
		}
	}
	if calls := w.Count(w.sync); writes(calls) > 2 { // the lease comes and goes
		t.Errorf("a second run makes the calls %v", calls)
	}

	w.stale()
	w.sync()
	if got := w.reference(); !reflect.DeepEqual(got, first) {
		t.Error("what was old is not as it was copied first")
	}
}

// TestSyncsSpare has the syncs leave alone what is not theirs.
func TestSyncsSpare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := script.Generate(1, cricsheet.T20)
	idle := script.Generate(2, cricsheet.Test)
	w.feed.Play(m, kickOff, sportmonks.Pace{Every: slotLength})
	w.feed.Announce(kickOff, idle.Fixture)
	testkit.Must(t, testkit.Open(w.World, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.Ctx()))
	l := testkit.Row[league](w.World, leagues, id(idle.League.ID))
	l.Active, l.Name = false, "old"
	testkit.Put(w.World, leagues, l)
	w.sync()
	if l := testkit.Row[league](w.World, leagues, id(idle.League.ID)); l.Active || l.Name == "old" {
		t.Errorf("the league is %+v", l)
	}
	if f := testkit.Rows[fixture](w.World, fixtures); len(f) != 1 || f[0].MatchID != id(m.ID) {
		t.Errorf("the matches are %+v, want that of the active league", f)
	}
	if s := testkit.Rows[seasonTeam](w.World, teamSeasons); len(s) != 2 {
		t.Errorf("in seasons are %+v", s)
	}

	w.tickAt(w.ticker(), 30)
	live := w.outcome()
	w.sync()
	if got := w.outcome(); !reflect.DeepEqual(got, live) {
		t.Errorf("a sync makes of a live match\n%+v\nof\n%+v", got, live)
	}

	// One that has left the feed keeps what the ticker knows of it.
	f := testkit.Row[fixture](w.World, fixtures, id(m.ID))
	f.Live, f.LiveUpdatedAt, f.ArchivedAt, f.Round = "", 0, 77, "old"
	testkit.Put(w.World, fixtures, f)
	w.sync()
	got := testkit.Row[fixture](w.World, fixtures, id(m.ID))
	if f.Round = m.Round; got != f {
		t.Errorf("a sync makes of an archived match\n%+v, want\n%+v", got, f)
	}
	f.EndingAt, f.FinishedAt, f.Round = 78, 78, "old"
	testkit.Put(w.World, fixtures, f)
	w.sync()
	if got := testkit.Row[fixture](w.World, fixtures, id(m.ID)); got != f {
		t.Errorf("a sync makes of a finished match %+v", got)
	}
}

// TestSyncRace has a match go live while its schedule is being copied.
func TestSyncRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.play(1, cricsheet.T20, slotLength)
	testkit.Put(w.World, leagues, league{LeagueID: id(m.League.ID), Code: m.League.Code, Active: true})
	s := testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer)
	w.tickAt(w.ticker(), 30)
	want := w.outcome()
	stale := matchOf(m, kickOff)
	is := stale
	is.Round = "moved"
	testkit.Must(t, s.move(w.Ctx(), stale, is)) // it read the row before the tick
	page, err := s.provider.Fixture(w.Ctx(), id(m.ID))
	testkit.Must(t, err)
	score, err := ScoreOf(stale, page, kickOff)
	testkit.Must(t, err)
	testkit.Must(t, s.rescore(w.Ctx(), score))
	if got := w.outcome(); !reflect.DeepEqual(got, want) {
		t.Errorf("it makes\n%+v\nof\n%+v", got, want)
	}
}

// TestSyncOddities has what the provider gets wrong cost no more than itself.
func TestSyncOddities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	match := func(id string) string {
		return saidOf(fixture{MatchID: id, LeagueID: "3", SeasonID: "5", LocalTeamID: "11", VisitorTeamID: "12", StartTime: kickOff.Format(timeLayout)}, "NS")
	}
	w.said = func(path string) (int, string) {
		switch path {
		case "/leagues":
			return http.StatusOK, `{"data":[{"id":3,"name":"No Code","code":null,"season_id":5}]}`
		case "/teams":
			return http.StatusOK, `{"data":[{"id":11,"name":"Harbour","code":"HAR"},{"id":12,"name":"Valley","code":"VAL"}]}`
		}
		body := feedOf(match("7"), `{"id":8,"runs":[1 2]}`, `{"name":"no id"}`, match("9"), match("7"))
		return http.StatusOK, strings.TrimSuffix(body, "}") + `,"meta":{"last_page":1}}`
	}
	testkit.Must(t, testkit.Open(w.World, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.Ctx()))
	if l := testkit.Row[league](w.World, leagues, "3"); l.Code != "3" {
		t.Errorf("a league without a code has %q, want its id: an index takes no empty key", l.Code)
	}
	if err := testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()); err == nil {
		t.Error("nobody is told of the fixtures that cannot be read")
	}
	var ids []string
	for _, f := range testkit.Rows[fixture](w.World, fixtures) {
		ids = append(ids, f.MatchID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"7", "9"}) {
		t.Errorf("copied are %q, want those that can be read", ids)
	}
	testkit.Must(t, testkit.Open(w.World, SyncTeamsFunction, OpenSyncer).SyncTeams(w.Ctx()))
	if n := len(testkit.Rows[seasonTeam](w.World, teamSeasons)); n != 2 {
		t.Errorf("%d teams are in the season", n)
	}

	// A provider that fails changes nothing.
	want := w.reference()
	w.said = func(string) (int, string) { return http.StatusOK, "<html>" }
	for _, s := range syncs {
		if err := s.do(w.World); err == nil {
			t.Errorf("%s takes a page of HTML", s.fn.Name)
		}
	}
	if got := w.reference(); !reflect.DeepEqual(got, want) {
		t.Error("a failing provider has changed something")
	}
}

// lists has the provider answer /fixtures with these matches, and any other path
// as it does.
func (w *world) lists(entries ...string) {
	before := w.said
	w.said = func(path string) (int, string) {
		if path == "/fixtures" {
			return http.StatusOK, strings.TrimSuffix(feedOf(entries...), "}") + `,"meta":{"last_page":1}}`
		}
		if before == nil {
			return 0, ""
		}
		return before(path)
	}
}

// TestSyncFindsEnds: what is over by the schedule is looked into, unless the
// ticker or the finisher does already.
func TestSyncFindsEnds(t *testing.T) {
	t.Parallel()
	now := kickOff.Add(-time.Hour)
	for name, c := range map[string]struct {
		status string
		row    func(*fixture)
		want   bool
	}{
		"cancelled, never polled": {"Cancl.", func(*fixture) {}, true},
		"abandoned, never polled": {"Aban.", func(*fixture) {}, true},
		"finished, polled":        {"Finished", func(f *fixture) { f.LastSlot, f.ArchivedAt = 5, 5 }, true},
		"known to be over":        {"Finished", func(f *fixture) { f.LastSlot, f.ArchivedAt, f.Status = 5, 5, "Finished" }, true},
		"to come":                 {"NS", func(*fixture) {}, false},
		"postponed":               {"Postp.", func(*fixture) {}, false},
		"between days":            {"Stump Day 1", func(f *fixture) { f.LastSlot, f.ArchivedAt = 5, 5 }, false},
		"unknown status":          {"?", func(*fixture) {}, false},
		"in the feed":             {"Finished", func(f *fixture) { f.LastSlot, f.Live, f.LiveUpdatedAt = 5, live, 5 }, false},
		"ending":                  {"Finished", func(f *fixture) { f.LastSlot, f.EndingAt = 5, 5 }, false},
		"looked into":             {"Cancl.", func(f *fixture) { f.LeftAt = now.Add(1-askEndAgain).Unix() + 1 }, false},
		"looked into long ago":    {"Cancl.", func(f *fixture) { f.LeftAt = now.Add(-askEndAgain).Unix() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			testkit.Put(w.World, leagues, league{LeagueID: "3", Code: "T20", Active: true})
			f := w.scripted("7")
			c.row(&f)
			testkit.Put(w.World, fixtures, f)
			w.lists(saidOf(f, c.status))
			for range 2 { // the second has nothing to add
				testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
			}
			got := testkit.Messages[MatchLeft](w.World, finishQueue)
			if c.want && !slices.Equal(got, []MatchLeft{{MatchID: "7", Since: now.Unix()}}) || !c.want && got != nil {
				t.Errorf("the finisher is told %+v", got)
			}
			if is := testkit.Row[fixture](w.World, fixtures, "7"); c.want && is.LeftAt != now.Unix() || is.Live != f.Live || is.LastSlot != f.LastSlot || is.ArchivedAt != f.ArchivedAt {
				t.Errorf("of %+v it makes %+v", f, is)
			}
		})
	}
}

// called is a world with a match that some follow, that was never polled and is
// called off.
func called(t *testing.T) *world {
	w := newWorld(t)
	testkit.Put(w.World, leagues, league{LeagueID: "3", Code: "T20", Active: true})
	f := w.scripted("7")
	testkit.Put(w.World, follows, following{follow: follow{"7", "ann"}, ExpiresAt: kickOff.Add(time.Hour).Unix()})
	w.subscribe("7", "fan", "11")
	w.said = func(path string) (int, string) {
		if path == "/fixtures/7" {
			return http.StatusOK, `{"data":` + saidOf(f, "Cancl.") + `}`
		}
		return 0, ""
	}
	w.lists(saidOf(f, "Cancl."))
	return w
}

// TestCancelledMatchEnds, with all that fans left at it.
func TestCancelledMatchEnds(t *testing.T) {
	t.Parallel()
	w := called(t)
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
	}
	sync()
	testkit.Drain(w.World, finishQueue, 5*time.Minute+time.Hour, testkit.Open(w.World, FinishMatchFunction, OpenFinisher).FinishMatch)
	f := testkit.Row[fixture](w.World, fixtures, "7")
	if f.EndingAt == 0 || f.FinishedAt == 0 || len(testkit.Rows[following](w.World, follows)) != 0 {
		t.Errorf("the match is %+v, and followed by %+v", f, testkit.Rows[following](w.World, follows))
	}
	if got := testkit.Messages[MatchChanged](w.World, activityQueue); !slices.ContainsFunc(got, func(m MatchChanged) bool { return m.Ended == f.EndingAt }) {
		t.Errorf("the activities are told %+v", got)
	}
	w.To(w.Clock.Now().Add(2 * askEndAgain))
	sync()
	if got := testkit.Messages[MatchLeft](w.World, finishQueue); got != nil || testkit.Row[fixture](w.World, fixtures, "7") != f {
		t.Errorf("a match that has ended is ended again: %+v", got)
	}
}

func TestSyncCrashesAtAnEnd(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := called(t)
		crashed := testkit.OpenWith(w.World, w.Crashing(SyncFixturesFunction, p), OpenFixtureSyncer)
		crashed.SyncFixtures(w.Ctx())
		w.To(w.Clock.Now().Add(2 * jobTimeout)) // until its lease has run out
		testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
		o := w.outcome()
		f := o.Fixtures["7"]
		f.LeftAt = min(f.LeftAt, 1)
		o.Fixtures["7"] = f
		return o
	})
}

// TestOneSyncAtATime: a second one ends, and says why.
func TestOneSyncAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed.Announce(kickOff, script.Generate(1, cricsheet.T20).Fixture)
	testkit.Must(t, testkit.Open(w.World, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.Ctx()))
	s := testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer)
	held := map[string]any{"lockKey": "sync-fixtures", "holder": "another", "expiresAtMs": w.Clock.Now().Add(jobTimeout).UnixMilli()}
	testkit.Put(w.World, locks, held)
	if calls := w.Count(func() { testkit.Must(t, s.SyncFixtures(w.Ctx())) }); !reflect.DeepEqual(calls, map[string]int{"PutItem": 1}) {
		t.Errorf("beside another it makes the calls %v", calls)
	}
	lines := w.Logs.Lines()
	if last := lines[len(lines)-1]; last.Level != slog.LevelInfo || !strings.Contains(last.Text, "another sync") {
		t.Errorf("it says %+v", last)
	}
	w.To(w.Clock.Now().Add(jobTimeout + time.Millisecond))
	testkit.Must(t, s.SyncFixtures(w.Ctx()))
	if f, l := testkit.Rows[fixture](w.World, fixtures), testkit.Rows[map[string]any](w.World, locks); len(f) != 1 || len(l) != 0 {
		t.Errorf("alone it copies %+v and leaves the lease %+v", f, l)
	}
}

// TestSyncLosesItsLease: a sync that was overtaken writes no new row over one
// that has gone live since.
func TestSyncLosesItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := script.Generate(1, cricsheet.T20)
	w.feed.Play(m, kickOff, sportmonks.Pace{Every: slotLength})
	testkit.Must(t, testkit.Open(w.World, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.Ctx()))
	env := w.Env(SyncFixturesFunction)
	next, overtaken := env.AWS.HTTPClient, false
	var want outcome
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if !overtaken && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") { // it found nothing, and is about to write
			overtaken = true
			w.To(w.Clock.Now().Add(2 * jobTimeout))
			testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
			w.tickAt(w.ticker(), 30)
			want = w.outcome()
		}
		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, OpenFixtureSyncer)
	testkit.Must(t, s.SyncFixtures(w.Ctx()))
	if got := w.outcome(); !overtaken || !reflect.DeepEqual(got, want) || got.Fixtures[id(m.ID)].Live == "" {
		t.Errorf("it makes\n%+v\nof\n%+v", got, want)
	}
	if c := w.Logs.Complaints(); c != nil {
		t.Errorf("it complains: %q", c)
	}
}
