package schedule_test

import (
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/tables"
)

func writes(calls map[string]int) int {
	return calls["PutItem"] + calls["UpdateItem"] + calls["BatchWriteItem"] + calls["DeleteItem"]
}

func TestSyncs(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture, script.Generate(2, cricsheet.Test).Fixture)
	w.Feed.AnnounceMore(1, 110, crickettest.KickOff.Add(-24*time.Hour)) // two pages
	w.Sync()
	first := w.Reference()
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
	if calls := w.Count(w.Sync); writes(calls) > 2 { // the lease comes and goes
		t.Errorf("a second run makes the calls %v", calls)
	}

	w.Stale()
	w.Sync()
	if got := w.Reference(); !reflect.DeepEqual(got, first) {
		t.Error("what was old is not as it was copied first")
	}
}

// TestSyncsSpare has the syncs leave alone what is not theirs.
func TestSyncsSpare(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := script.Generate(1, cricsheet.T20)
	idle := script.Generate(2, cricsheet.Test)
	w.Feed.Play(m, crickettest.KickOff, sportmonks.Pace{Every: match.SlotLength})
	w.Feed.Announce(crickettest.KickOff, idle.Fixture)
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction, catalog.OpenSyncer).SyncLeagues(w.Ctx()))
	l := testkit.Row[catalog.ProvidedLeague](w.World, tables.Leagues, crickettest.ID(idle.League.ID))
	l.Active, l.Name = false, "old"
	testkit.Put(w.World, tables.Leagues, l)
	w.Sync()
	if l := testkit.Row[catalog.ProvidedLeague](w.World, tables.Leagues, crickettest.ID(idle.League.ID)); l.Active || l.Name == "old" {
		t.Errorf("the league is %+v", l)
	}
	if f := testkit.Rows[match.Fixture](w.World, tables.Fixtures); len(f) != 1 || f[0].MatchID != crickettest.ID(m.ID) {
		t.Errorf("the matches are %+v, want that of the active league", f)
	}
	if s := testkit.Rows[catalog.SeasonTeam](w.World, tables.TeamSeasons); len(s) != 2 {
		t.Errorf("in seasons are %+v", s)
	}

	w.TickAt(w.Ticker(), 30)
	live := w.Outcome()
	w.Sync()
	if got := w.Outcome(); !reflect.DeepEqual(got, live) {
		t.Errorf("a sync makes of a live match\n%+v\nof\n%+v", got, live)
	}

	// One that has left the feed keeps what the ticker knows of it.
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID))
	f.Live, f.LiveUpdatedAt, f.ArchivedAt, f.Round = "", 0, 77, "old"
	testkit.Put(w.World, tables.Fixtures, f)
	w.Sync()
	got := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID))
	if f.Round = m.Round; got != f {
		t.Errorf("a sync makes of an archived match\n%+v, want\n%+v", got, f)
	}
	f.EndingAt, f.FinishedAt, f.Round = 78, 78, "old"
	testkit.Put(w.World, tables.Fixtures, f)
	w.Sync()
	if got := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID)); got != f {
		t.Errorf("a sync makes of a finished match %+v", got)
	}
}

// TestSyncRace has a match go live while its schedule is being copied.
func TestSyncRace(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(1, cricsheet.T20, match.SlotLength)
	testkit.Put(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: crickettest.ID(m.League.ID), Code: m.League.Code, Active: true})
	s := testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer)
	w.TickAt(w.Ticker(), 30)
	want := w.Outcome()
	stale := crickettest.MatchOf(m, crickettest.KickOff)
	is := stale
	is.Round = "moved"
	testkit.Must(t, s.Reschedule(w.Ctx(), stale, is)) // it read the row before the tick
	page, err := (*s.Provider()).Fixture(w.Ctx(), crickettest.ID(m.ID))
	testkit.Must(t, err)
	score, err := schedule.ScoreOf(stale, page, crickettest.KickOff)
	testkit.Must(t, err)
	testkit.Must(t, s.Rescore(w.Ctx(), score))
	if got := w.Outcome(); !reflect.DeepEqual(got, want) {
		t.Errorf("it makes\n%+v\nof\n%+v", got, want)
	}
}

// TestSyncOddities has what the provider gets wrong cost no more than itself.
func TestSyncOddities(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	entry := func(id string) string {
		return crickettest.Payload(match.Fixture{MatchID: id, LeagueID: "3", SeasonID: "5", LocalTeamID: "11", VisitorTeamID: "12", StartTime: crickettest.KickOff.Format(tables.TimeLayout)}, "NS")
	}
	w.Said = func(path string) (int, string) {
		switch path {
		case "/leagues":
			return http.StatusOK, `{"data":[{"id":3,"name":"No Code","code":null,"season_id":5}]}`
		case "/teams":
			return http.StatusOK, `{"data":[{"id":11,"name":"Harbour","code":"HAR"},{"id":12,"name":"Valley","code":"VAL"}]}`
		}
		body := crickettest.Feed(entry("7"), `{"id":8,"runs":[1 2]}`, `{"name":"no id"}`, entry("9"), entry("7"))
		return http.StatusOK, strings.TrimSuffix(body, "}") + `,"meta":{"last_page":1}}`
	}
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction, catalog.OpenSyncer).SyncLeagues(w.Ctx()))
	if l := testkit.Row[catalog.ProvidedLeague](w.World, tables.Leagues, "3"); l.Code != "3" {
		t.Errorf("a league without a code has %q, want its id: an index takes no empty key", l.Code)
	}
	if err := testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()); err == nil {
		t.Error("nobody is told of the fixtures that cannot be read")
	}
	var ids []string
	for _, f := range testkit.Rows[match.Fixture](w.World, tables.Fixtures) {
		ids = append(ids, f.MatchID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"7", "9"}) {
		t.Errorf("copied are %q, want those that can be read", ids)
	}
	testkit.Must(t, testkit.Open(w.World, catalog.SyncTeamsFunction, catalog.OpenSyncer).SyncTeams(w.Ctx()))
	if n := len(testkit.Rows[catalog.SeasonTeam](w.World, tables.TeamSeasons)); n != 2 {
		t.Errorf("%d teams are in the season", n)
	}

	// A provider that fails changes nothing.
	want := w.Reference()
	w.Said = func(string) (int, string) { return http.StatusOK, "<html>" }
	for _, s := range crickettest.Syncs {
		if err := s.Do(w.World); err == nil {
			t.Errorf("%s takes a page of HTML", s.Fn.Name)
		}
	}
	if got := w.Reference(); !reflect.DeepEqual(got, want) {
		t.Error("a failing provider has changed something")
	}
}

// TestSyncFindsEnds: what is over by the schedule is looked into, unless the
// ticker or the finisher does already.
func TestSyncFindsEnds(t *testing.T) {
	t.Parallel()
	now := crickettest.KickOff.Add(-time.Hour)
	for name, c := range map[string]struct {
		status string
		row    func(*match.Fixture)
		want   bool
	}{
		"cancelled, never polled": {"Cancl.", func(*match.Fixture) {}, true},
		"abandoned, never polled": {"Aban.", func(*match.Fixture) {}, true},
		"finished, polled":        {"Finished", func(f *match.Fixture) { f.LastSlot, f.ArchivedAt = 5, 5 }, true},
		"known to be over":        {"Finished", func(f *match.Fixture) { f.LastSlot, f.ArchivedAt, f.Status = 5, 5, "Finished" }, true},
		"to come":                 {"NS", func(*match.Fixture) {}, false},
		"postponed":               {"Postp.", func(*match.Fixture) {}, false},
		"between days":            {"Stump Day 1", func(f *match.Fixture) { f.LastSlot, f.ArchivedAt = 5, 5 }, false},
		"unknown status":          {"?", func(*match.Fixture) {}, false},
		"in the feed":             {"Finished", func(f *match.Fixture) { f.LastSlot, f.Live, f.LiveUpdatedAt = 5, match.Live, 5 }, false},
		"ending":                  {"Finished", func(f *match.Fixture) { f.LastSlot, f.EndingAt = 5, 5 }, false},
		"looked into":             {"Cancl.", func(f *match.Fixture) { f.LeftAt = now.Add(1-schedule.EndRetryInterval).Unix() + 1 }, false},
		"looked into long ago":    {"Cancl.", func(f *match.Fixture) { f.LeftAt = now.Add(-schedule.EndRetryInterval).Unix() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			testkit.Put(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
			f := w.Scripted("7")
			c.row(&f)
			testkit.Put(w.World, tables.Fixtures, f)
			w.Lists(crickettest.Payload(f, c.status))
			for range 2 { // the second has nothing to add
				testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
			}
			got := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)
			if c.want && !slices.Equal(got, []live.MatchLeft{{MatchID: "7", Since: now.Unix()}}) || !c.want && got != nil {
				t.Errorf("the finisher is told %+v", got)
			}
			if is := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); c.want && is.LeftAt != now.Unix() || is.Live != f.Live || is.LastSlot != f.LastSlot || is.ArchivedAt != f.ArchivedAt {
				t.Errorf("of %+v it makes %+v", f, is)
			}
		})
	}
}

// called is a world with a match that some follow, that was never polled and is
// called off.
func called(t *testing.T) *crickettest.World {
	w := crickettest.New(t)
	testkit.Put(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
	f := w.Scripted("7")
	testkit.Put(w.World, tables.Follows, follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: "ann"}, ExpiresAt: crickettest.KickOff.Add(time.Hour).Unix()})
	w.Subscribe("7", "fan", "11")
	w.Said = func(path string) (int, string) {
		if path == "/fixtures/7" {
			return http.StatusOK, `{"data":` + crickettest.Payload(f, "Cancl.") + `}`
		}
		return 0, ""
	}
	w.Lists(crickettest.Payload(f, "Cancl."))
	return w
}

// TestCancelledMatchEnds, with all that fans left at it.
func TestCancelledMatchEnds(t *testing.T) {
	t.Parallel()
	w := called(t)
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
	}
	sync()
	testkit.Drain(w.World, tables.FinishQueue, 5*time.Minute+time.Hour, testkit.Open(w.World, live.FinishMatchFunction, live.OpenFinisher).FinishMatch)
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	if f.EndingAt == 0 || f.FinishedAt == 0 || len(testkit.Rows[follower.FollowRow](w.World, tables.Follows)) != 0 {
		t.Errorf("the match is %+v, and followed by %+v", f, testkit.Rows[follower.FollowRow](w.World, tables.Follows))
	}
	if got := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); !slices.ContainsFunc(got, func(m activity.MatchChanged) bool { return m.Ended == f.EndingAt }) {
		t.Errorf("the activities are told %+v", got)
	}
	w.To(w.Clock.Now().Add(2 * schedule.EndRetryInterval))
	sync()
	if got := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue); got != nil || testkit.Row[match.Fixture](w.World, tables.Fixtures, "7") != f {
		t.Errorf("a match that has ended is ended again: %+v", got)
	}
}

func TestSyncCrashesAtAnEnd(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := called(t)
		crashed := testkit.OpenWith(w.World, w.Crashing(schedule.SyncFixturesFunction, p), schedule.OpenSyncer)
		crashed.SyncFixtures(w.Ctx())
		w.To(w.Clock.Now().Add(2 * tables.JobTimeout)) // until its lease has run out
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
		o := w.Outcome()
		f := o.Fixtures["7"]
		f.LeftAt = min(f.LeftAt, 1)
		o.Fixtures["7"] = f
		return o
	})
}

// TestOneSyncAtATime: a second one ends, and says why.
func TestOneSyncAtATime(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction, catalog.OpenSyncer).SyncLeagues(w.Ctx()))
	s := testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer)
	held := map[string]any{"lockKey": "sync-fixtures", "holder": "another", "expiresAtMs": w.Clock.Now().Add(tables.JobTimeout).UnixMilli()}
	testkit.Put(w.World, tables.Locks, held)
	if calls := w.Count(func() { testkit.Must(t, s.SyncFixtures(w.Ctx())) }); !reflect.DeepEqual(calls, map[string]int{"PutItem": 1}) {
		t.Errorf("beside another it makes the calls %v", calls)
	}
	lines := w.Logs.Lines()
	if last := lines[len(lines)-1]; last.Level != slog.LevelInfo || !strings.Contains(last.Text, "another sync of the fixtures is running") {
		t.Errorf("it says %+v", last)
	}
	w.To(w.Clock.Now().Add(tables.JobTimeout + time.Millisecond))
	testkit.Must(t, s.SyncFixtures(w.Ctx()))
	if f, l := testkit.Rows[match.Fixture](w.World, tables.Fixtures), testkit.Rows[map[string]any](w.World, tables.Locks); len(f) != 1 || len(l) != 0 {
		t.Errorf("alone it copies %+v and leaves the lease %+v", f, l)
	}
}

// TestSyncLosesItsLease: a sync that was overtaken writes no new row over one
// that has gone live since.
func TestSyncLosesItsLease(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := script.Generate(1, cricsheet.T20)
	w.Feed.Play(m, crickettest.KickOff, sportmonks.Pace{Every: match.SlotLength})
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction, catalog.OpenSyncer).SyncLeagues(w.Ctx()))
	env := w.Env(schedule.SyncFixturesFunction)
	next, overtaken := env.AWS.HTTPClient, false
	var want crickettest.Outcome
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if !overtaken && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") { // it found nothing, and is about to write
			overtaken = true
			w.To(w.Clock.Now().Add(2 * tables.JobTimeout))
			testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
			w.TickAt(w.Ticker(), 30)
			want = w.Outcome()
		}
		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, schedule.OpenSyncer)
	testkit.Must(t, s.SyncFixtures(w.Ctx()))
	if got := w.Outcome(); !overtaken || !reflect.DeepEqual(got, want) || got.Fixtures[crickettest.ID(m.ID)].Live == "" {
		t.Errorf("it makes\n%+v\nof\n%+v", got, want)
	}
	if c := w.Logs.Complaints(); c != nil {
		t.Errorf("it complains: %q", c)
	}
}
