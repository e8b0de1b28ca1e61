package player

import (
	"context"
	"slices"
	"strings"

	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Players serves the players.
type Players struct{ db dynamo.DB }

// OpenPlayers opens the service.
func OpenPlayers(_ context.Context, env app.Env) (*Players, error) {
	return &Players{dynamo.Open(env.AWS, env.Prefix).Eventual()}, nil
}

// GetPlayer is the request for a player.
type GetPlayer struct {
	ID     string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the player."`
	Cursor string `query:"cursor" pattern:"^[0-9]{4}[0-9TZ:-]{16}/[0-9]{1,19}$" example:"2026-06-06T14:30:00Z/70" doc:"The value of next of another page. Without it the page begins with the last match."`
	Limit  int32  `query:"limit" minimum:"1" maximum:"20" default:"20" doc:"The maximum number of matches in the page."`
}

// Page is the response with a player.
type Page struct {
	httpapi.Cached
	Body struct {
		_ struct{} `schema:"Player"`

		ID   string `json:"id" doc:"The id of the player."`
		Name string `json:"name" doc:"The name of the player."`
		card.Profile
		Teams   []catalog.TeamRef `json:"teams" nullable:"false" doc:"The teams of the player in the matches that were polled, the last one first."`
		Matches []Appearance      `json:"matches" nullable:"false" doc:"The ended matches in which the player was one of the eleven, or batted or bowled as a substitute, the last one first."`
		Next    string            `json:"next,omitempty" doc:"The cursor of the page with earlier matches. Absent: there are none."`
	}
}

// cachePlayer is how long clients may cache a player.
var cachePlayer = httpapi.Cached{CacheControl: "public, max-age=60"}

var errNoPlayer = problem.New(problem.NotFound, "player_not_found", "no scorecard has the player")

// GetPlayerFunction answers with a player.
func GetPlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-player",
		Does:   "Returns a player, with what the player did in each match that was polled.",
		IfDown: "The pages of players do not open.",
		On:     spec.Route{Method: "GET", Path: "/players/{id}", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.GetPlayer, tables.MatchesOfPlayer},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenPlayers, (*Players).GetPlayer, errNoPlayer)
}

// GetPlayer returns a player and a page of matches. It returns NotFound for one whom no scorecard has.
// It costs 4 read units at most, whatever the number of matches and players.
func (p *Players) GetPlayer(ctx context.Context, in *GetPlayer) (*Page, error) {
	row, ok, err := dynamo.Get[Row](ctx, p.db, tables.GetPlayer, in.ID, profileKey)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, errNoPlayer
	}

	r := dynamo.Range{Key: dynamo.KeyAtLeast(tables.MatchesOfPlayer, in.ID, "0"), Limit: in.Limit, Backward: true}
	if in.Cursor != "" {
		r.After = dynamo.Key(tables.MatchesOfPlayer, in.ID, in.Cursor)
	}

	matches, more, err := dynamo.Query[Appearance](ctx, p.db, tables.MatchesOfPlayer, r)
	if err != nil {
		return nil, err
	}

	out := &Page{Cached: cachePlayer}
	out.Body.ID, out.Body.Name, out.Body.Profile, out.Body.Teams = row.PlayerID, row.Name, row.Profile, row.Teams
	out.Body.Matches = append([]Appearance{}, matches...)

	if more != nil {
		out.Body.Next = matches[len(matches)-1].At
	}

	return out, nil
}

// wordsRead is how many words a search reads: 4 kB of the longest names and images, half a read unit.
const wordsRead = 8

// Search returns the players whose names have words that begin with each of the query's, folded as
// catalog.Fold does, in the order of the words. Of a word that many names have it reads the first wordsRead.
func Search(ctx context.Context, db dynamo.DB, query []string) ([]Word, error) {
	longest := catalog.Longest(query)

	rows, _, err := dynamo.Query[Word](ctx, db, tables.SearchPlayers,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.SearchPlayers, letterOf(longest), longest), Limit: wordsRead})

	var found []Word

	for _, r := range rows {
		if catalog.Begin(strings.Fields(r.Names), query) && !slices.ContainsFunc(found, func(w Word) bool { return w.ID == r.ID }) {
			found = append(found, r)
		}
	}

	return found, err
}
