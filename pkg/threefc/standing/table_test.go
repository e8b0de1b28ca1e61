package standing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
)

// finished returns a finished game with goals against the three teams: own goals, so that
// conceded and scored are independent of each other.
func finished(n int, conceded, scored [3]int) item.Listing {
	ids := []string{"red", "blue", "yellow"}

	l := item.Listing{GameID: fmt.Sprintf("G%03d", n), StartTs: fmt.Sprintf("2026-06-%02dT18:00:00Z", n%28+1), Status: item.Finished}
	for i, id := range ids {
		l.Teams = append(l.Teams, item.Team{TeamID: id, Name: id, Color: "#000000"})
		l.Scores = append(l.Scores, item.Score{TeamID: id, Count: item.Count{Scored: scored[i], Conceded: conceded[i]}})
	}

	r := item.ResultOf(l.Scores)
	l.Result = &r

	return l
}

func TestOrderOfTeams(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name  string
		games []item.Listing
		want  []string // rank and team
	}{
		{"no games", nil, nil},
		{"more wins come first, whatever the goals", []item.Listing{
			finished(1, [3]int{0, 1, 1}, [3]int{1, 0, 0}), finished(2, [3]int{0, 1, 1}, [3]int{1, 0, 0}),
			finished(3, [3]int{9, 0, 9}, [3]int{0, 9, 0}),
		}, []string{"1 red", "2 blue", "3 yellow"}},
		{"then more draws", []item.Listing{finished(1, [3]int{3, 3, 4}, [3]int{0, 0, 0}), finished(2, [3]int{5, 0, 0}, [3]int{0, 0, 0})},
			[]string{"1 blue", "2 yellow", "3 red"}},
		{"then fewer conceded", []item.Listing{
			finished(1, [3]int{0, 1, 2}, [3]int{}), finished(2, [3]int{3, 0, 2}, [3]int{}), finished(3, [3]int{3, 3, 0}, [3]int{}),
		}, []string{"1 blue", "1 yellow", "3 red"}},
		{"then more scored", []item.Listing{
			finished(1, [3]int{0, 2, 2}, [3]int{3, 0, 0}), finished(2, [3]int{2, 0, 2}, [3]int{0, 2, 0}),
			finished(3, [3]int{2, 2, 0}, [3]int{0, 0, 1}),
		}, []string{"1 red", "2 blue", "3 yellow"}},
		{"equal numbers share a place", []item.Listing{finished(1, [3]int{}, [3]int{})}, []string{"1 blue", "1 red", "1 yellow"}},
	} {
		var got []string
		for _, s := range standing.Teams(c.games, item.Rules{}) {
			got = append(got, fmt.Sprint(s.Rank, " ", s.TeamID))
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestTeamsOfAnyGames compares the standings with an oracle: each number is counted by
// itself, each place is one more than the number of better teams.
func TestTeamsOfAnyGames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		three := func(name string) (all [3]int) {
			copy(all[:], rapid.SliceOfN(rapid.IntRange(0, 3), 3, 3).Draw(t, name))
			return all
		}

		var games []item.Listing

		for n := range rapid.IntRange(0, 6).Draw(t, "games") {
			g := finished(n, three("conceded"), three("scored"))
			g.Status = rapid.SampledFrom([]string{item.Finished, item.Finished, item.Live, item.Scheduled}).Draw(t, "status")
			games = append(games, g)
		}

		type line struct{ wins, draws, conceded, scored, played, losses int }

		lines := map[string]line{}

		for _, g := range games {
			if g.Status != item.Finished {
				continue
			}

			for i, team := range g.Teams {
				l := lines[team.TeamID]
				l.played++
				l.conceded += g.Scores[i].Conceded
				l.scored += g.Scores[i].Scored
				better, equal := 0, 0

				for j := range g.Teams {
					a, b := g.Scores[j], g.Scores[i]
					if a.Conceded < b.Conceded || a.Conceded == b.Conceded && a.Scored > b.Scored {
						better++
					} else if i != j && a.Conceded == b.Conceded && a.Scored == b.Scored {
						equal++
					}
				}

				switch {
				case better > 0:
					l.losses++
				case equal > 0:
					l.draws++
				default:
					l.wins++
				}

				lines[team.TeamID] = l
			}
		}

		better := func(a, b line) bool {
			switch {
			case a.wins != b.wins:
				return a.wins > b.wins
			case a.draws != b.draws:
				return a.draws > b.draws
			case a.conceded != b.conceded:
				return a.conceded < b.conceded
			}

			return a.scored > b.scored
		}

		got := standing.Teams(games, item.Rules{})
		if len(got) != len(lines) {
			t.Fatalf("%d teams, want %d", len(got), len(lines))
		}

		for i, s := range got {
			l, rank := lines[s.TeamID], 1
			for _, other := range lines {
				if better(other, l) {
					rank++
				}
			}

			want := standing.TeamStanding{
				TeamID:   s.TeamID,
				Name:     s.TeamID,
				Color:    "#000000",
				Rank:     rank,
				Played:   l.played,
				Wins:     l.wins,
				Draws:    l.draws,
				Losses:   l.losses,
				Scored:   l.scored,
				Conceded: l.conceded,
			}
			if diff := cmp.Diff(want, s); diff != "" {
				t.Errorf("a team (-want +got):\n%s", diff)
			}

			if i > 0 && got[i-1].Rank > s.Rank {
				t.Errorf("the teams are not in order of their places: %+v", got)
			}
		}
	})
}

// TestLatestNameOfATeam: a team that was renamed has the name of its latest game.
func TestLatestNameOfATeam(t *testing.T) {
	t.Parallel()

	early, late := finished(1, [3]int{}, [3]int{}), finished(2, [3]int{}, [3]int{})

	late.Teams[0].Name = "Reds"
	for _, games := range [][]item.Listing{{early, late}, {late, early}} {
		all := standing.Teams(games, item.Rules{})
		if i := slices.IndexFunc(all, func(s standing.TeamStanding) bool { return s.TeamID == "red" }); all[i].Name != "Reds" {
			t.Errorf("the name is %s, want Reds", all[i].Name)
		}
	}
}

// played returns a finished game with what its players did.
func played(players map[string]item.Tally) item.Listing {
	l := finished(1, [3]int{}, [3]int{})
	l.Players = players

	return l
}

// TestOwnGoalsOfTeams: those of the score, and in games of an earlier release, whose scores have none, those of the
// players.
func TestOwnGoalsOfTeams(t *testing.T) {
	t.Parallel()

	now := played(map[string]item.Tally{"a": {TeamID: "red", OwnGoals: 1}})
	now.Scores[0].Own = 2 // one without a scorer
	then := played(map[string]item.Tally{"a": {TeamID: "red", OwnGoals: 1}, "b": {TeamID: "blue", OwnGoals: 2}, "c": {OwnGoals: 1}})

	got := map[string]int{}
	for _, s := range standing.Teams([]item.Listing{now, then}, item.Rules{}) {
		got[s.TeamID] = s.OwnGoals
	}

	if diff := cmp.Diff(map[string]int{"red": 3, "blue": 2, "yellow": 0}, got); diff != "" {
		t.Errorf("the own goals (-want +got):\n%s", diff)
	}
}

func TestPerGame(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		goals, games int
		want         float64
	}{{0, 0, 0}, {3, 2, 1.5}, {2, 3, 0.67}, {1, 3, 0.33}} {
		if got := standing.PerGame(c.goals, c.games); got != c.want {
			t.Errorf("%d in %d: %v, want %v", c.goals, c.games, got, c.want)
		}
	}
}

func TestOrderOfPlayers(t *testing.T) {
	t.Parallel()

	names := map[string]item.Player{}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		names[id] = item.Player{ID: id, Nickname: id}
	}

	games := []item.Listing{
		played(map[string]item.Tally{
			"a": {Games: 1},
			"b": {Games: 1, Goals: 1},
			"c": {Games: 1, Goals: 1, Assists: 1},
			"d": {Games: 1, OwnGoals: 3},
			"e": {Games: 1, Goals: 1},
		}),
		played(map[string]item.Tally{"b": {Games: 1}}),
	}

	var got []string
	for _, p := range standing.Players(games, names) {
		got = append(got, fmt.Sprintf("%s %d in %d, assists %d, own %d", p.Nickname, p.Goals, p.Games, p.Assists, p.OwnGoals))
	}

	want := []string{"c 1 in 1, assists 1, own 0", "e 1 in 1, assists 0, own 0", "b 1 in 2, assists 0, own 0",
		"a 0 in 1, assists 0, own 0", "d 0 in 1, assists 0, own 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("most goals, then assists, then fewest games; own goals are no goals (-want +got):\n%s", diff)
	}
}

// TestPlayerOfTheTable has the name and the avatar of the player, and counts the games on whose
// roster the player was.
func TestPlayerOfTheTable(t *testing.T) {
	t.Parallel()

	got := standing.Players([]item.Listing{
		played(map[string]item.Tally{"a": {Games: 1, Goals: 2, Assists: 3, OwnGoals: 4}}),
		played(map[string]item.Tally{"a": {Goals: 1, Assists: 1, OwnGoals: 1}}),
	}, map[string]item.Player{"a": {ID: "a", Nickname: "Ada", Avatar: "🦊"}})

	want := []standing.PlayerTotals{{PlayerID: "a", Nickname: "Ada", Avatar: "🦊", Games: 1, Goals: 3, Assists: 4, OwnGoals: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the players (-want +got):\n%s", diff)
	}
}

// TestPlayersWithAnyMerges: nothing gets lost when players are merged, nobody who is merged
// is in the table, and a game in which both were on the roster counts once.
func TestPlayersWithAnyMerges(t *testing.T) {
	t.Parallel()

	ids := []string{"a", "b", "c", "d"}

	rapid.Check(t, func(t *rapid.T) {
		names := map[string]item.Player{}

		for i, id := range ids { // into a later one: without circles, as MergePlayer makes them
			p := item.Player{ID: id, Nickname: id}
			if i+1 < len(ids) && rapid.Bool().Draw(t, "merged") {
				p.MergedInto = rapid.SampledFrom(ids[i+1:]).Draw(t, "into")
			}

			names[id] = p
		}

		var games []item.Listing

		for range rapid.IntRange(0, 4).Draw(t, "games") {
			all := map[string]item.Tally{}

			for _, id := range ids {
				if rapid.Bool().Draw(t, "plays") {
					all[id] = item.Tally{
						Games:    1,
						Goals:    rapid.IntRange(0, 2).Draw(t, "goals"),
						Assists:  rapid.IntRange(0, 2).Draw(t, "assists"),
						OwnGoals: rapid.IntRange(0, 1).Draw(t, "own"),
					}
				}
			}

			games = append(games, played(all))
		}

		var last func(id string) string

		last = func(id string) string {
			if to := names[id].MergedInto; to != "" {
				return last(to)
			}

			return id
		}
		want := map[string]standing.PlayerTotals{}

		for _, g := range games {
			in := map[string]bool{}

			for id, tally := range g.Players {
				to := last(id)
				p := want[to]
				p.PlayerID, p.Nickname = to, to

				p.Goals, p.Assists, p.OwnGoals = p.Goals+tally.Goals, p.Assists+tally.Assists, p.OwnGoals+tally.OwnGoals
				if !in[to] {
					p.Games++
				}

				in[to] = true
				want[to] = p
			}
		}

		got := map[string]standing.PlayerTotals{}
		for _, p := range standing.Players(games, names) {
			got[p.PlayerID] = p
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the players (-want +got):\n%s", diff)
		}
	})
}
