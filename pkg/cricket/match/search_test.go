package match_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
)

// found decodes the answer of a search.
type found struct {
	Teams, Leagues, Players []match.Found
	Matches                 []match.Match
}

// String returns the titles of the teams and the leagues, and the ids of the matches.
func (f found) String() string {
	var all []string
	for _, t := range slices.Concat(f.Teams, f.Leagues) {
		all = append(all, t.Title)
	}

	return strings.Join(append(all, page{Matches: f.Matches}.ids()...), ", ")
}

// named returns the row of a team.
func named(id, name, code string) catalog.TeamRow {
	return catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: id, Name: name, Code: code}}
}

// TestSearch: each word of a query is the beginning of a word of what is found, without accents and case. A match
// is found by the names of both teams and of its league, as long as it is to come.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	teams := []catalog.TeamRow{
		named("1", "Mumbai Indians", "MI"), named("2", "India", "IND"), named("3", "São Tomé Lions", "STL"),
		named("4", "Australia Women's XI", "AUSW"), named("5", "West Indies", "WI"),
	}
	teams[4].Title = "Windies"
	league := catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "9", Name: "Indian Premier League", Code: "IPL"}}

	testkit.PutRows(w.World, tables.Words, catalog.Words(teams, []catalog.LeagueRow{league})...)

	for id, sides := range map[string][2]string{"70": {"2", "4"}, "71": {"1", "3"}, "72": {"5", "2"}, "73": {"2", "5"}} {
		f := fixtureOf(id, "T20", crickettest.KickOff)
		f.LeagueID, f.LeagueCode, f.LocalTeamID, f.VisitorTeamID = "9", "IPL", sides[0], sides[1]

		if id == "73" { // is over
			f.StartTime = crickettest.KickOff.AddDate(0, 0, -1).Format(tables.TimeLayout)
		}

		testkit.PutRows(w.World, tables.Summaries, match.NewSummary(f, score.State{}, league, teams, 0))
	}

	routes := w.Routes()

	for q, want := range map[string]string{
		"mumbai":       "Mumbai Indians, 71",
		"MUM":          "Mumbai Indians, 71",
		"sao":          "São Tomé Lions, 71",
		"SÃO tome":     "São Tomé Lions, 71",
		"lion":         "São Tomé Lions, 71",
		"ions":         "",
		"womens":       "Australia Women's XI, 70",
		"women’s":      "Australia Women's XI, 70",
		"india aus":    "70",
		"aus, ind":     "70",
		"mumbai ind":   "Mumbai Indians, 71",
		"premier":      "Indian Premier League, 70, 71, 72",
		"windies":      "Windies, 72",
		"west indies":  "Windies",
		"ipl":          "Indian Premier League, 70, 71, 72",
		"ind":          "India, Mumbai Indians, Windies, Indian Premier League, 70, 71, 72",
		"indianapolis": "",
		"x y z":        "",
	} {
		if got, _ := crickettest.Get[found](t, routes, match.SearchFunction(), "/search?q="+url.QueryEscape(q)); got.String() != want {
			t.Errorf("%q finds %q, want %q", q, got, want)
		}
	}

	for q, want := range map[string]int{"": 422, "%20": 400, "!?": 400, strings.Repeat("a", 65): 422, "%CC%81": 400} {
		if err := testkit.CheckProblemField(testkit.Call(routes, match.SearchFunction(), "/search?q="+q, "", ""), want, "query.q"); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
}

// TestMostFound: a search returns 20 results at most, at least a quarter of each kind, and costs at most 4 read
// units with 10 names and matches, and with 1,000 names and 10,000 matches.
func TestMostFound(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	for from, to := 0, 10; from < 10_000; from, to = to, 10_000 {
		var (
			words     []catalog.Word
			summaries []match.SummaryRow
			players   []player.Word
		)

		for i := from; i < to; i++ {
			team := named(fmt.Sprint(1000+i), "Northern Superchargers", "NOS")
			team.Image = "https://cdn.sportmonks.com/images/cricket/teams/11/101.png"
			league := catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: fmt.Sprint(i), Name: "Northern League", Code: "NL", Image: team.Image}}
			if i < 1000 {
				name := "north" + strings.Repeat("n", 75) // as long as a name may be
				players = append(players, player.Word{
					Letter: "#/n", Key: fmt.Sprint(name, "/", i), ID: fmt.Sprint(i), Name: name, Names: name, Image: strings.Repeat("i", 200), Team: "NOS",
				})
				words = append(words, catalog.Words([]catalog.TeamRow{team}, []catalog.LeagueRow{league})...)
			}

			f := fixtureOf(fmt.Sprint(1_000_000+i), "T20", crickettest.KickOff.Add(time.Duration(i)*time.Minute))
			f.LeagueID, f.LocalTeamID, f.VisitorTeamID = fmt.Sprint(i%2), fmt.Sprint(1000+i%2), fmt.Sprint(1001-i%2)
			summaries = append(summaries, match.NewSummary(f, score.State{}, league, []catalog.TeamRow{team, named(f.LocalTeamID, team.Name, "")}, 0))
		}

		testkit.PutRows(w.World, tables.Words, words...)
		testkit.PutRows(w.World, tables.Players, players...)
		testkit.PutRows(w.World, tables.Summaries, summaries...)

		routes := w.Routes()

		var got found

		units := w.CountUnits(func() { got, _ = crickettest.Get[found](t, routes, match.SearchFunction(), "/search?q=nor") }).Reads
		t.Logf("%d matches: %g read units", to, units)

		counts := []int{len(got.Teams), len(got.Leagues), len(got.Players), len(got.Matches)}
		if total := counts[0] + counts[1] + counts[2] + counts[3]; total != 20 || slices.Min(counts) < 5 || units > 4 {
			t.Errorf("%d matches: %v are found for %g read units, want 20, at least 5 of each kind, for at most 4", to, counts, units)
		}
	}
}

// TestWords: the rows of the words of a name, each word once.
func TestWords(t *testing.T) {
	t.Parallel()

	var keys []string
	for _, w := range catalog.Words([]catalog.TeamRow{named("7", "Élan  ÉLAN-Cricket", "EC")}, nil) {
		keys = append(keys, w.Letter+" "+w.Key)
	}

	if diff := cmp.Diff([]string{"team/c cricket/7", "team/e ec/7", "team/e elan/7"}, keys); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
