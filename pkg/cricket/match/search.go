package match

import (
	"context"
	"slices"
	"strings"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Search is the request for teams, leagues, players and matches to come by words of their names.
type Search struct {
	Query string `query:"q" required:"true" minLength:"1" maxLength:"64" example:"ind" doc:"The beginnings of words, without regard to accents and case. A result has a word for each of them."`
}

// Found is a team, a league or a player that was found.
type Found struct {
	_ struct{} `schema:"SearchFound"`

	ID    string `json:"id" doc:"The id."`
	Title string `json:"title" doc:"The display name: an administrator's title, or the provider's name."`
	Code  string `json:"code,omitempty" doc:"The short display name of the team, the code of the league, or the code of the player's last team."`
	Image string `json:"image,omitempty" doc:"The address of the provider's image."`
}

// SearchPage is the response with what was found.
type SearchPage struct {
	httpapi.Cached
	Body struct {
		Teams   []Found `json:"teams" nullable:"false" doc:"The teams, in the order of the words that were found."`
		Leagues []Found `json:"leagues" nullable:"false" doc:"The active leagues, in the order of the words that were found."`
		Players []Found `json:"players" nullable:"false" doc:"The players of matches that were polled, in the order of the words that were found."`
		Matches []Match `json:"matches" doc:"The next matches of the first two teams and of the first league whose names have the words, in order of their start."`
	}
}

const (
	// mostFound is the largest number of results.
	mostFound = 20
	// wordsRead is how many words of teams, and how many of leagues, a search reads: 4 kB, half a read unit.
	wordsRead = 20
	// The first searchedTeams and searchedLeagues have their next matches searched, of which nextMatches are
	// read: 4 kB, half a read unit. A team costs two, at home and away.
	searchedTeams   = 2
	searchedLeagues = 1
	nextMatches     = 5
)

// cacheSearch is how long clients may cache what was found.
var cacheSearch = httpapi.Cached{CacheControl: "public, max-age=60"}

// SearchFunction finds teams, leagues, players and matches to come.
func SearchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/search",
		Does:   "Finds teams, leagues, players and matches to come by the beginnings of words.",
		IfDown: "The search finds nothing.",
		On:     spec.Route{Method: "GET", Path: "/search", Auth: spec.Public, Queries: []string{"q"}},
		Uses: []spec.Access{
			tables.SearchWords, tables.SearchPlayers, tables.LocalSummaries, tables.VisitorSummaries, tables.LeagueSummaries,
		},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).Search)
}

// Search returns at most mostFound teams, leagues, players and matches to come. Of a word that many names have it reads
// the first wordsRead. It returns Invalid for a text without a letter or digit. It costs 4 read
// units at most, whatever the number of teams, leagues, players and matches.
func (m *Matches) Search(ctx context.Context, in *Search) (*SearchPage, error) {
	query := catalog.Fold(in.Query)
	if len(query) == 0 {
		return nil, problem.In("query.q", "q must have a letter or a digit")
	}

	teams, err := m.words(ctx, catalog.TeamKind, query)
	if err != nil {
		return nil, err
	}

	leagues, err := m.words(ctx, catalog.LeagueKind, query)
	if err != nil {
		return nil, err
	}

	players, err := player.Search(ctx, m.eventual, query)
	if err != nil {
		return nil, err
	}

	next, err := m.searchMatches(ctx, teams, leagues, query)
	if err != nil {
		return nil, err
	}

	out := &SearchPage{Cached: cacheSearch}
	out.Body.Teams, out.Body.Leagues, out.Body.Players = foundOf(teams, query), foundOf(leagues, query), []Found{}

	for _, w := range players {
		out.Body.Players = append(out.Body.Players, Found{ID: w.ID, Title: w.Name, Code: w.Team, Image: w.Image})
	}

	n := shares(len(out.Body.Leagues), len(out.Body.Teams), len(out.Body.Players), len(next))
	out.Body.Leagues, out.Body.Teams, out.Body.Players = out.Body.Leagues[:n[0]], out.Body.Teams[:n[1]], out.Body.Players[:n[2]]
	out.Body.Matches, _ = matchesOf(next[:n[3]])

	return out, nil
}

// shares returns how many of each kind are among the mostFound results. Each has an equal share, if it has so
// many, and the kinds before have what is left.
func shares(found ...int) []int {
	left, all := mostFound, make([]int, len(found))

	for i, n := range found {
		all[i] = min(n, mostFound/len(found))
		left -= all[i]
	}

	for i, n := range found {
		more := min(left, n-all[i])
		all[i] += more
		left -= more
	}

	return all
}

// words reads what of a kind has a word that begins with the longest word of the query, each team and
// league once.
func (m *Matches) words(ctx context.Context, kind string, query []string) ([]catalog.Word, error) {
	longest := catalog.Longest(query)

	rows, _, err := dynamo.Query[catalog.Word](ctx, m.eventual, tables.SearchWords, dynamo.Range{
		Key:   dynamo.KeyBeginsWith(tables.SearchWords, catalog.LetterOf(kind, longest), longest),
		Limit: wordsRead,
	})

	var found []catalog.Word

	for _, r := range rows {
		if !slices.ContainsFunc(found, func(w catalog.Word) bool { return w.ID == r.ID }) {
			found = append(found, r)
		}
	}

	return found, err
}

// foundOf returns those whose names have all words of the query.
func foundOf(words []catalog.Word, query []string) []Found {
	all := []Found{}

	for _, w := range words {
		if catalog.Begin(strings.Fields(w.Names), query) {
			all = append(all, Found{ID: w.ID, Title: w.Title, Code: w.Code, Image: w.Image})
		}
	}

	return all
}

// searchMatches reads the next matches of the first teams and leagues, as far as their names have all words
// of the query.
func (m *Matches) searchMatches(ctx context.Context, teams, leagues []catalog.Word, query []string) ([]SummaryRow, error) {
	var all []SummaryRow

	from := m.now().UTC().Format(tables.TimeLayout)

	for _, in := range []struct {
		index spec.Access
		words []catalog.Word
		lists int
	}{
		{tables.LocalSummaries, teams, searchedTeams}, {tables.VisitorSummaries, teams, searchedTeams},
		{tables.LeagueSummaries, leagues, searchedLeagues},
	} {
		for _, w := range in.words[:min(len(in.words), in.lists)] {
			rows, _, err := dynamo.Query[SummaryRow](ctx, m.eventual, in.index,
				dynamo.Range{Key: dynamo.KeyAtLeast(in.index, w.ID, from), Limit: nextMatches})
			if err != nil {
				return nil, err
			}

			all = append(all, rows...)
		}
	}

	slices.SortFunc(all, inOrder)

	return slices.DeleteFunc(slices.CompactFunc(all, sameMatch), func(r SummaryRow) bool {
		names := []string{r.LeagueName, r.LeagueCode, r.Local.Title, r.Local.ShortName, r.Visitor.Title, r.Visitor.ShortName}
		return !catalog.Begin(catalog.FoldAll(names), query)
	}), nil
}
