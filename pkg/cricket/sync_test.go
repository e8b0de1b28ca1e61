package cricket

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/local/sportmonks"
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
}

func (w *world) reference() reference {
	w.t.Helper()
	r := reference{map[string]league{}, map[string]team{}, map[string]seasonTeam{}, map[string]fixture{}, map[string]cached{}}
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
	for _, c := range rows[cached](w, fixtureCache) {
		r.Scores[c.MatchID] = c
	}
	return r
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
	for _, c := range rows[cached](w, fixtureCache)[:min(1, len(rows[cached](w, fixtureCache)))] {
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
	if len(first.Leagues) < 2 || len(first.Teams) < 4 || len(first.Seasons) < 4 || len(first.Fixtures) < 100 || len(first.Scores) != len(first.Fixtures) {
		t.Fatalf("%d leagues, %d teams, %d in seasons, %d fixtures and %d scores were copied",
			len(first.Leagues), len(first.Teams), len(first.Seasons), len(first.Fixtures), len(first.Scores))
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
	if calls := w.count(w.sync); writes(calls) > 0 {
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
	score, err := scheduledMatch{stale, page}.score(kickOff)
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
