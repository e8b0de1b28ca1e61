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

	"matchday/infra/local/sportmonks"
	"matchday/pkg/kit/dynamo/dynamotest"
	"matchday/pkg/spec"
)

var syncs = [...]struct {
	fn  spec.Function
	run func(*Syncer, context.Context) error
}{
	{SyncLeaguesFunction, (*Syncer).SyncLeagues},
	{SyncFixturesFunction, (*Syncer).SyncFixtures},
	{SyncTeamsFunction, (*Syncer).SyncTeams},
}

// sync runs them all.
func (w *world) sync() {
	w.t.Helper()
	for _, s := range syncs {
		must(w.t, s.run(open(w, s.fn, OpenSyncer), w.ctx()))
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
	w.t.Helper()
	r := reference{map[string]league{}, map[string]team{}, map[string]seasonTeam{}, map[string]fixture{}, map[string]cached{}, map[string]names{}}
	for _, l := range rows[league](w, leagues) {
		r.Leagues[l.LeagueID] = l
	}
	for _, t := range rows[team](w, teams) {
		r.Teams[t.TeamID] = t
	}
	for _, s := range rows[seasonTeam](w, teamSeasons) {
		r.Seasons[s.SeasonID+"/"+s.TeamID] = s
	}
	for _, f := range rows[fixture](w, fixtures) {
		r.Fixtures[f.MatchID] = f
	}
	for _, c := range w.scores() {
		r.Scores[c.MatchID] = c
	}
	for _, n := range rows[names](w, fixtureCache) {
		if strings.HasSuffix(n.MatchID, "#names") {
			r.Names[n.MatchID] = n
		}
	}
	return r
}

// scores are the rows of cricket-fixture-cache without the names.
func (w *world) scores() []cached {
	return slices.DeleteFunc(rows[cached](w, fixtureCache), func(c cached) bool { return c.LeagueID == "" })
}

// stale makes one row of each table old, as far as there is one.
func (w *world) stale() {
	w.t.Helper()
	for _, l := range rows[league](w, leagues)[:min(1, len(rows[league](w, leagues)))] {
		l.Name = "an old name"
		w.put(leagues, l)
	}
	for _, t := range rows[team](w, teams)[:min(1, len(rows[team](w, teams)))] {
		t.Name = "an old name"
		w.put(teams, t)
	}
	for _, f := range rows[fixture](w, fixtures)[:min(1, len(rows[fixture](w, fixtures)))] {
		f.Round = "an old round"
		w.put(fixtures, f)
	}
	for _, c := range w.scores()[:min(1, len(w.scores()))] {
		c.StateJSON = `{}`
		w.put(fixtureCache, c)
	}
}

func writes(calls map[string]int) int {
	return calls["PutItem"] + calls["UpdateItem"] + calls["BatchWriteItem"] + calls["DeleteItem"]
}

func TestSyncs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed.Announce(kickOff, sportmonks.Generate(1, sportmonks.T20).Fixture, sportmonks.Generate(2, sportmonks.Test).Fixture)
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
	if calls := w.count(w.sync); writes(calls) > 2 { // the lease comes and goes
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
	m := sportmonks.Generate(1, sportmonks.T20)
	idle := sportmonks.Generate(2, sportmonks.Test)
	w.feed.Play(m, kickOff, sportmonks.Pace{Every: slotLength})
	w.feed.Announce(kickOff, idle.Fixture)
	must(t, (*Syncer).SyncLeagues(open(w, SyncLeaguesFunction, OpenSyncer), w.ctx()))
	l := row[league](w, getLeague, id(idle.League.ID))
	l.Active, l.Name = false, "old"
	w.put(leagues, l)
	w.sync()
	if l := row[league](w, getLeague, id(idle.League.ID)); l.Active || l.Name == "old" {
		t.Errorf("the league is %+v", l)
	}
	if f := rows[fixture](w, fixtures); len(f) != 1 || f[0].MatchID != id(m.ID) {
		t.Errorf("the matches are %+v, want that of the active league", f)
	}
	if s := rows[seasonTeam](w, teamSeasons); len(s) != 2 {
		t.Errorf("in seasons are %+v", s)
	}

	w.tickAt(open(w, TickFunction, OpenTicker), 30)
	live := w.outcome()
	w.sync()
	if got := w.outcome(); !reflect.DeepEqual(got, live) {
		t.Errorf("a sync makes of a live match\n%+v\nof\n%+v", got, live)
	}

	// One that has left the feed keeps what the ticker knows of it.
	f := row[fixture](w, getFixture, id(m.ID))
	f.Live, f.LiveUpdatedAt, f.ArchivedAt, f.Round = "", 0, 77, "old"
	w.put(fixtures, f)
	w.sync()
	got := row[fixture](w, getFixture, id(m.ID))
	if f.Round = m.Round; got != f {
		t.Errorf("a sync makes of an archived match\n%+v, want\n%+v", got, f)
	}
	f.EndingAt, f.FinishedAt, f.Round = 78, 78, "old"
	w.put(fixtures, f)
	w.sync()
	if got := row[fixture](w, getFixture, id(m.ID)); got != f {
		t.Errorf("a sync makes of a finished match %+v", got)
	}
}

// TestSyncRace has a match go live while its schedule is being copied.
func TestSyncRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.play(1, sportmonks.T20, slotLength)
	w.put(leagues, league{LeagueID: id(m.League.ID), Code: m.League.Code, Active: true})
	s := open(w, SyncFixturesFunction, OpenSyncer)
	w.tickAt(open(w, TickFunction, OpenTicker), 30)
	want := w.outcome()
	stale := matchOf(m, kickOff)
	is := stale
	is.Round = "moved"
	must(t, s.move(w.ctx(), stale, is)) // it read the row before the tick
	page, err := s.provider.Fixture(w.ctx(), id(m.ID))
	must(t, err)
	score, err := scheduledMatch{stale, page, ""}.score(kickOff)
	must(t, err)
	must(t, s.rescore(w.ctx(), score))
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
	must(t, (*Syncer).SyncLeagues(open(w, SyncLeaguesFunction, OpenSyncer), w.ctx()))
	if l := row[league](w, getLeague, "3"); l.Code != "3" {
		t.Errorf("a league without a code has %q, want its id: an index takes no empty key", l.Code)
	}
	if err := open(w, SyncFixturesFunction, OpenSyncer).SyncFixtures(w.ctx()); err == nil {
		t.Error("nobody is told of the fixtures that cannot be read")
	}
	var ids []string
	for _, f := range rows[fixture](w, fixtures) {
		ids = append(ids, f.MatchID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"7", "9"}) {
		t.Errorf("copied are %q, want those that can be read", ids)
	}
	must(t, open(w, SyncTeamsFunction, OpenSyncer).SyncTeams(w.ctx()))
	if n := len(rows[seasonTeam](w, teamSeasons)); n != 2 {
		t.Errorf("%d teams are in the season", n)
	}

	// A provider that fails changes nothing.
	want := w.reference()
	w.said = func(string) (int, string) { return http.StatusOK, "<html>" }
	for _, s := range syncs {
		if err := s.run(open(w, s.fn, OpenSyncer), w.ctx()); err == nil {
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
			w.put(leagues, league{LeagueID: "3", Code: "T20", Active: true})
			f := w.scripted("7")
			c.row(&f)
			w.put(fixtures, f)
			w.lists(saidOf(f, c.status))
			for range 2 { // the second has nothing to add
				must(t, open(w, SyncFixturesFunction, OpenSyncer).SyncFixtures(w.ctx()))
			}
			got := messages[MatchLeft](w, finishQueue)
			if c.want && !slices.Equal(got, []MatchLeft{{MatchID: "7", Since: now.Unix()}}) || !c.want && got != nil {
				t.Errorf("the finisher is told %+v", got)
			}
			if is := row[fixture](w, getFixture, "7"); c.want && is.LeftAt != now.Unix() || is.Live != f.Live || is.LastSlot != f.LastSlot || is.ArchivedAt != f.ArchivedAt {
				t.Errorf("of %+v it makes %+v", f, is)
			}
		})
	}
}

// called is a world with a match that some follow, that was never polled and is
// called off.
func called(t *testing.T) *world {
	w := newWorld(t)
	w.put(leagues, league{LeagueID: "3", Code: "T20", Active: true})
	f := w.scripted("7")
	w.put(follows, following{follow: follow{"7", "ann"}, ExpiresAt: kickOff.Add(time.Hour).Unix()})
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
	sync := func() { must(t, open(w, SyncFixturesFunction, OpenSyncer).SyncFixtures(w.ctx())) }
	sync()
	drain(w, finishQueue, calledOff+lastWords, open(w, FinishMatchFunction, OpenFinisher).FinishMatch)
	f := row[fixture](w, getFixture, "7")
	if f.EndingAt == 0 || f.FinishedAt == 0 || len(rows[following](w, follows)) != 0 {
		t.Errorf("the match is %+v, and followed by %+v", f, rows[following](w, follows))
	}
	if got := messages[MatchChanged](w, activityQueue); !slices.ContainsFunc(got, func(m MatchChanged) bool { return m.Ended == f.EndingAt }) {
		t.Errorf("the activities are told %+v", got)
	}
	w.to(w.clock.Now().Add(2 * askEndAgain))
	sync()
	if got := messages[MatchLeft](w, finishQueue); got != nil || row[fixture](w, getFixture, "7") != f {
		t.Errorf("a match that has ended is ended again: %+v", got)
	}
}

func TestSyncCrashesAtAnEnd(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := called(t)
		crashed, err := OpenSyncer(t.Context(), w.crashing(SyncFixturesFunction, p))
		must(t, err)
		crashed.SyncFixtures(w.ctx())
		w.to(w.clock.Now().Add(2 * jobTimeout)) // until its lease has run out
		must(t, open(w, SyncFixturesFunction, OpenSyncer).SyncFixtures(w.ctx()))
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
	w.feed.Announce(kickOff, sportmonks.Generate(1, sportmonks.T20).Fixture)
	must(t, open(w, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.ctx()))
	s := open(w, SyncFixturesFunction, OpenSyncer)
	held := map[string]any{"lockKey": "sync-fixtures", "holder": "another", "expiresAtMs": w.clock.Now().Add(jobTimeout).UnixMilli()}
	w.put(locks, held)
	if calls := w.count(func() { must(t, s.SyncFixtures(w.ctx())) }); !reflect.DeepEqual(calls, map[string]int{"PutItem": 1}) {
		t.Errorf("beside another it makes the calls %v", calls)
	}
	if last := w.logs.lines[len(w.logs.lines)-1]; last.level != slog.LevelInfo || !strings.Contains(last.text, "another sync") {
		t.Errorf("it says %+v", last)
	}
	w.to(w.clock.Now().Add(jobTimeout + time.Millisecond))
	must(t, s.SyncFixtures(w.ctx()))
	if f, l := rows[fixture](w, fixtures), rows[map[string]any](w, locks); len(f) != 1 || len(l) != 0 {
		t.Errorf("alone it copies %+v and leaves the lease %+v", f, l)
	}
}

// TestSyncLosesItsLease: a sync that was overtaken writes no new row over one
// that has gone live since.
func TestSyncLosesItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := sportmonks.Generate(1, sportmonks.T20)
	w.feed.Play(m, kickOff, sportmonks.Pace{Every: slotLength})
	must(t, open(w, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.ctx()))
	env := w.env(SyncFixturesFunction)
	next, overtaken := env.AWS.HTTPClient, false
	var want outcome
	env.AWS.HTTPClient = doer(func(r *http.Request) (*http.Response, error) {
		if !overtaken && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") { // it found nothing, and is about to write
			overtaken = true
			w.to(w.clock.Now().Add(2 * jobTimeout))
			must(t, open(w, SyncFixturesFunction, OpenSyncer).SyncFixtures(w.ctx()))
			w.tickAt(open(w, TickFunction, OpenTicker), 30)
			want = w.outcome()
		}
		return next.Do(r)
	})
	s, err := OpenSyncer(w.ctx(), env)
	must(t, err)
	must(t, s.SyncFixtures(w.ctx()))
	if got := w.outcome(); !overtaken || !reflect.DeepEqual(got, want) || got.Fixtures[id(m.ID)].Live == "" {
		t.Errorf("it makes\n%+v\nof\n%+v", got, want)
	}
	if c := w.logs.complaints(); c != nil {
		t.Errorf("it complains: %q", c)
	}
}
