package threefc_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// started is when the game of a match is to start.
const started = "2026-06-06T18:00:00Z"

// tallied returns the tallies of the game, and whether they have a row.
func (m *match) tallied() (item.Row[item.GameTallies], bool) {
	m.T.Helper()

	row, ok, err := dynamo.Get[item.Row[item.GameTallies]](m.NewContext(), m.DB(), spec.Access{Table: tables.App},
		item.SeasonKey(m.l.SeasonID), item.TalliesKey(m.id))
	testkit.Must(m.T, err)

	return row, ok
}

// credit names another scorer of the first goal, and nothing else.
func (m *match) credit() {
	m.T.Helper()

	first := m.goals()[0]
	m.Do("ann", "PATCH", m.path("goals", first.EventID), goal{
		Third: first.Third, Scoring: first.Scoring, Conceding: first.Conceding, Scorer: m.l.Players[1],
	})
}

// undivide writes the rows of the finished game as releases have written them before the tallies had a row of their
// own, with the given tallies.
func (m *match) undivide(players map[string]item.Tally) {
	m.T.Helper()

	for _, pk := range []string{item.SeasonKey(m.l.SeasonID), item.SessionKey(m.l.SessionID)} {
		set(m, pk, item.StartKey(started, m.id), func(l *item.Listing) { l.Players = players })
	}
}

// earlier leaves the rows of the finished game as such a release leaves them.
func (m *match) earlier() {
	m.T.Helper()

	row, _ := m.tallied()
	m.undivide(row.V().Players)
	testkit.Must(m.T, m.DeleteRow(tables.App, row.PK, row.SK))
}

// changeByEarlier writes the listing of the game as a release that writes no tallies leaves it after a change.
func (m *match) changeByEarlier(change func(*item.Listing)) {
	m.T.Helper()

	for _, pk := range []string{item.SeasonKey(m.l.SeasonID), item.SessionKey(m.l.SessionID)} {
		row := testkit.Row[item.Row[item.Listing]](m.World.World, tables.App, pk, item.StartKey(started, m.id))
		row.Rev++
		change(row.V())
		testkit.PutRows(m.World.World, tables.App, row)
	}
}

// recompute computes the tables, and returns the leaders.
func (m *match) recompute() string {
	m.T.Helper()
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"rules": map[string]any{"order": []string{"wins"}}})
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"rules": map[string]any{"order": []string{"draws"}}})
	m.settle()

	return m.leaders()
}

// TestTalliesHaveARowOfTheirOwn while the game is finished: the listing has none, and both have the same revision.
func TestTalliesHaveARowOfTheirOwn(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.score("sam", m.goalOf(0, "blue"))

	check := func(what string, want int) {
		t.Helper()

		row, ok := m.tallied()
		if ok != (want > 0) || len(row.V().Players) != want {
			t.Errorf("%s: the tallies are %v of %v, want %d", what, ok, row.V().Players, want)
		}

		l := testkit.Row[item.Row[item.Listing]](m.World.World, tables.App, item.SeasonKey(m.l.SeasonID), item.StartKey(started, m.id))
		if l.V().Players != nil || ok && l.Rev != row.Rev {
			t.Errorf("%s: the listing of revision %d has %v, the tallies are of %d", what, l.Rev, l.V().Players, row.Rev)
		}
	}

	check("live", 0)
	m.Play("sam", m.id)
	check("finished", 9)

	// The score stays: only what a player has done is another.
	m.credit()
	check("another scorer", 9)

	row, _ := m.tallied()
	same(t, "the tallies", []item.Tally{row.V().Players[m.l.Players[0]], row.V().Players[m.l.Players[1]]},
		[]item.Tally{{TeamID: "red", Games: 1}, {TeamID: "red", Games: 1, Goals: 1}})

	m.step("reopen")
	check("reopened", 0)
	m.step("finish")
	check("finished again", 9)

	for _, p := range m.l.Players {
		if p != m.l.Players[1] {
			m.Do("ann", "DELETE", m.path("roster", p), nil)
		}
	}

	m.Do("ann", "DELETE", m.path("goals", m.goals()[0].EventID), nil)
	check("one player", 1)
	m.Do("ann", "DELETE", m.path("roster", m.l.Players[1]), nil)
	check("nobody", 0)
	m.consistent()
}

// TestTalliesOfAnEarlierRelease count where that release has written them, until the next change of the game divides
// its rows.
func TestTalliesOfAnEarlierRelease(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*match){
		"another scorer": (*match).credit,
		"a goal less":    func(m *match) { m.Do("ann", "DELETE", m.path("goals", m.goals()[0].EventID), nil) },
		"another seat":   func(m *match) { m.Do("ann", "DELETE", m.path("roster", m.l.Players[8]), nil) },
		"reopened":       func(m *match) { m.step("reopen") },
		"finished again": func(m *match) { m.step("reopen", "finish") },
		"deleted":        func(m *match) { m.Do("ann", "DELETE", m.path(), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := club(t)
			m.played()

			want := m.leaders()
			m.earlier()
			same(t, "the leaders by the rows of an earlier release", m.recompute(), want)

			change(m)
			m.settle()

			other := club(t)
			other.played()
			change(other)
			other.settle()
			same(t, "the leaders after the change", m.leaders(), other.leaders())

			_, ok := m.tallied()
			_, has := other.tallied()
			same(t, "whether the tallies have a row", ok, has)

			for _, r := range everything(m.World) {
				if r["entityType"] == "SessionGame" && strings.Contains(fmt.Sprint(r["data"]), `"players"`) {
					t.Errorf("the listing %s is not divided: %v", r["pk"], r["data"])
				}
			}
		})
	}
}

// TestTalliesUnderAnEarlierRelease: a release that reads what begins with GAME# as listings, and takes the players of
// each, computes the same tables from the divided rows.
func TestTalliesUnderAnEarlierRelease(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()

	ctx, pk := m.NewContext(), item.SeasonKey(m.l.SeasonID)
	rows, err := item.List[item.Listing](ctx, m.DB(), tables.ReadSeason, pk, item.Games)
	testkit.Must(t, err)
	players, err := item.ReadPlayers(ctx, m.DB(), tables.ReadPlayers, m.l.Players)
	testkit.Must(t, err)

	computed, err := item.List[standing.TeamStanding](ctx, m.DB(), tables.ReadSeason, pk, standing.TeamRows)
	testkit.Must(t, err)
	leaders, err := item.Read[[]standing.PlayerTotals](ctx, m.DB(), tables.ReadSeason, pk, standing.Leaders, item.ErrScope)
	testkit.Must(t, err)

	teams := standing.Teams(item.Values(rows), item.Rules{})
	slices.SortFunc(teams, func(a, b standing.TeamStanding) int { return cmp.Compare(a.TeamID, b.TeamID) })
	same(t, "the standings", teams, item.Values(computed))
	same(t, "the players", standing.Players(item.Values(rows), players), *leaders.V())
	same(t, "how many players", len(*leaders.V()), len(m.l.Players))
}

// TestTalliesBesideAnEarlierRelease: while functions of both releases write, the tallies of another revision than that
// of the listing do not count.
func TestTalliesBesideAnEarlierRelease(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*item.Listing, map[string]item.Tally)
		want   string
	}{
		"corrected": {func(l *item.Listing, all map[string]item.Tally) { l.Players = all }, "Ada 3 0 1, Ed 1 0 1"},
		"reopened": {func(l *item.Listing, _ map[string]item.Tally) {
			l.Status, l.Scores, l.Result = item.Live, nil, nil
		}, ""},
		"without players": {func(*item.Listing, map[string]item.Tally) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := club(t)
			m.played()

			ada, ed := m.l.Players[0], m.l.Players[4]
			m.changeByEarlier(func(l *item.Listing) {
				c.change(l, map[string]item.Tally{ada: {TeamID: "red", Games: 1, Goals: 3}, ed: {TeamID: "blue", Games: 1, Goals: 1}})
			})
			same(t, "the leaders", m.recompute(), c.want)
		})
	}

	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		m := club(t)
		m.played()

		for _, pk := range []string{item.SeasonKey(m.l.SeasonID), item.SessionKey(m.l.SessionID)} {
			testkit.Must(t, m.DeleteRow(tables.App, pk, item.StartKey(started, m.id)))
		}

		same(t, "the leaders", m.recompute(), "")
	})
}

// season plants n finished games more, each with so many players, as the room writes them or, if undivided, as
// releases have written them before the tallies had a row of their own.
func (m *match) season(n, players int, undivided bool) {
	m.T.Helper()

	tallies := map[string]item.Tally{}
	for i := range players {
		tallies[fmt.Sprintf("01JZ%022d", i)] = item.Tally{TeamID: sides[i%3], Games: 1, Goals: 1}
	}

	listed := testkit.Row[item.Row[item.Listing]](m.World.World, tables.App, item.SeasonKey(m.l.SeasonID), item.StartKey(started, m.id))
	tallied, _ := m.tallied()

	for i := range n {
		id := fmt.Sprintf("01JW%022d", i)
		start := item.Format(m.Clock.Now().Add(-time.Duration(i+24) * time.Hour))
		l, row := listed, tallied
		l.SK, l.V().GameID, l.V().StartTs = item.StartKey(start, id), id, start

		if undivided {
			l.V().Players = tallies
		} else {
			row.SK, row.Data.Value = item.TalliesKey(id), item.GameTallies{GameID: id, Status: item.Finished, Players: tallies}
			testkit.PutRows(m.World.World, tables.App, row)
		}

		testkit.PutRows(m.World.World, tables.App, l)
		l.PK = item.SessionKey(m.l.SessionID)
		testkit.PutRows(m.World.World, tables.App, l)
	}
}

// TestListsReadNoTallies: what lists games costs the same whatever the number of their players, and less than before
// the tallies had a row of their own; the tables read a little more.
func TestListsReadNoTallies(t *testing.T) {
	t.Parallel()

	measure := func(players int, undivided bool) map[string]float64 {
		m := club(t)
		m.played()
		m.season(45, players, undivided)

		all := map[string]float64{}
		count := func(name string, do func()) { all[name] = m.CountUnits(do).Reads }

		for name, path := range map[string]string{
			"season page":         "/l/parkside/spring-2026",
			"calendar":            "/l/parkside/spring-2026/calendar.ics",
			"league page":         "/l/parkside",
			"games of a session":  "/v1/sessions/" + m.l.SessionID + "/games",
			"page of the session": m.manage()[2],
		} {
			count(name, func() { m.Do("ann", "GET", path, nil) })
		}

		m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"rules": map[string]any{"order": []string{"wins"}}})
		count("tables", func() { m.Aggregate() })

		return all
	}

	before, few, many := measure(15, true), measure(15, false), measure(45, false)
	for name, n := range few {
		t.Logf("%-20s %5.1f reads with the tallies in the listing, %5.1f with a row of their own, %5.1f with 45 players", name, before[name], n,
			many[name])

		switch {
		case name == "tables":
			if n > before[name]*1.25 {
				t.Errorf("the tables cost %.1f reads, and %.1f before", n, before[name])
			}
		case n != many[name]:
			t.Errorf("the %s costs %.1f reads with 15 players a game, and %.1f with 45", name, n, many[name])
		case n >= before[name]:
			t.Errorf("the %s costs %.1f reads, not less than %.1f", name, n, before[name])
		}
	}
}
