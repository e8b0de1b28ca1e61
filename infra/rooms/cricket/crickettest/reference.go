package crickettest

import (
	"context"
	"slices"
	"strings"

	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// syncJob is one of the syncs.
type syncJob struct {
	Fn  app.Function
	Run func(context.Context, *testkit.World, app.Env) error
}

// Do runs the sync with the environment of its function.
func (s syncJob) Do(w *testkit.World) error { return s.Run(w.NewContext(), w, w.Env(s.Fn)) }

// Syncs lists the syncs. Each needs the rows of the ones before.
var Syncs = [...]syncJob{
	{catalog.SyncLeaguesFunction(), func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, catalog.OpenSyncer).SyncLeagues(ctx)
	}},
	{schedule.SyncFixturesFunction(), func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, schedule.OpenSyncer).SyncFixtures(ctx)
	}},
	{catalog.SyncTeamsFunction(), func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, catalog.OpenSyncer).SyncTeams(ctx)
	}},
	{catalog.SyncStandingsFunction(), func(ctx context.Context, w *testkit.World, env app.Env) error {
		return testkit.OpenWith(w, env, catalog.OpenSyncer).SyncStandings(ctx)
	}},
}

// Reference has all rows that the syncs write, by key.
type Reference struct {
	Leagues  map[string]catalog.ProvidedLeague
	Teams    map[string]catalog.ProvidedTeam
	Seasons  map[string]catalog.SeasonTeam
	Fixtures map[string]match.Fixture
	Scores   map[string]match.ScoreRow
	Names    map[string]match.Names
	Listed   map[string]match.SummaryRow
	Words    map[string]catalog.Word // with the checksum
	Tables   map[string]catalog.StandingsRow
}

// Reference reads the rows that the syncs write.
func (w *World) Reference() Reference {
	w.T.Helper()

	r := Reference{
		map[string]catalog.ProvidedLeague{},
		map[string]catalog.ProvidedTeam{},
		map[string]catalog.SeasonTeam{},
		map[string]match.Fixture{},
		map[string]match.ScoreRow{},
		map[string]match.Names{},
		map[string]match.SummaryRow{},
		map[string]catalog.Word{},
		map[string]catalog.StandingsRow{},
	}
	for _, l := range testkit.Rows[catalog.ProvidedLeague](w.World, tables.Leagues) {
		r.Leagues[l.LeagueID] = l
	}

	for _, t := range testkit.Rows[catalog.ProvidedTeam](w.World, tables.Teams) {
		r.Teams[t.TeamID] = t
	}

	for _, s := range testkit.Rows[catalog.SeasonTeam](w.World, tables.TeamSeasons) {
		r.Seasons[s.SeasonID+"/"+s.TeamID] = s
	}

	for _, f := range testkit.Rows[match.Fixture](w.World, tables.Fixtures) {
		r.Fixtures[f.MatchID] = f
	}

	for _, c := range w.scores() {
		r.Scores[c.MatchID] = c
	}

	for _, n := range testkit.Rows[match.Names](w.World, tables.FixtureCache) {
		if strings.HasSuffix(n.MatchID, "#names") {
			r.Names[n.MatchID] = n
		}
	}

	for _, s := range testkit.Rows[match.SummaryRow](w.World, tables.Summaries) {
		r.Listed[s.MatchID] = s
	}

	for _, word := range testkit.Rows[catalog.Word](w.World, tables.Words) {
		r.Words[word.Key] = word
	}

	for _, table := range testkit.Rows[catalog.StandingsRow](w.World, tables.Standings) {
		table.ReadAt = 0 // a second run reads it later
		r.Tables[table.SeasonID] = table
	}

	for _, sum := range testkit.Rows[catalog.WordsSum](w.World, tables.Words) {
		if sum.Sum != "" {
			r.Words[sum.Key] = catalog.Word{Key: sum.Sum}
		}
	}

	return r
}

// scores returns the scores in cricket-fixture-cache, without the rows of names.
func (w *World) scores() []match.ScoreRow {
	return slices.DeleteFunc(testkit.Rows[match.ScoreRow](w.World, tables.FixtureCache),
		func(c match.ScoreRow) bool { return c.LeagueID == "" })
}

// MakeStale makes one row of each table outdated. Empty tables remain empty.
func (w *World) MakeStale() {
	w.T.Helper()
	editFirst(w, tables.Leagues, testkit.Rows[catalog.ProvidedLeague](w.World, tables.Leagues),
		func(l *catalog.ProvidedLeague) { l.Name = "an old name" })
	editFirst(w, tables.Teams, testkit.Rows[catalog.ProvidedTeam](w.World, tables.Teams),
		func(t *catalog.ProvidedTeam) { t.Name = "an old name" })
	editFirst(w, tables.Fixtures, testkit.Rows[match.Fixture](w.World, tables.Fixtures), func(f *match.Fixture) { f.Round = "an old round" })
	editFirst(w, tables.Summaries, testkit.Rows[match.SummaryRow](w.World, tables.Summaries),
		func(r *match.SummaryRow) { r.LeagueName = "an old name" })
	editFirst(w, tables.Words, testkit.Rows[catalog.Word](w.World, tables.Words), func(word *catalog.Word) { word.Title = "an old name" })

	if len(testkit.Rows[catalog.WordsSum](w.World, tables.Words)) > 0 {
		testkit.PutRows(w.World, tables.Words, catalog.WordsSum{Letter: catalog.SumKey, Key: catalog.SumKey, Sum: "old"})
	}

	editFirst(w, tables.FixtureCache, w.scores(), func(c *match.ScoreRow) { c.StateJSON = `{}` })
}

// editFirst edits the first row of a table, if there is one.
func editFirst[T any](w *World, table spec.Table, rows []T, edit func(*T)) {
	w.T.Helper()

	if len(rows) > 0 {
		edit(&rows[0])
		testkit.PutRows(w.World, table, rows[0])
	}
}
