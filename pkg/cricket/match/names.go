package match

import (
	"cmp"
	"context"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Names is a row of cricket-fixture-cache with the names of the league and the teams
// of a match: those of the administrators, or else those of the provider. It is
// separate from the row of the score, so that no write of the score removes it, and
// has no leagueId, so that the index by league does not list it.
type Names struct {
	MatchID string            `dynamodbav:"matchId"` // {matchId}#names
	Local   sideNames         `dynamodbav:"local"`
	Visitor sideNames         `dynamodbav:"visitor"`
	League  string            `dynamodbav:"leagueTitle"`
	Season  []catalog.TeamRef `dynamodbav:"seasonTeams"`
	ReadAt  int64             `dynamodbav:"readAt"` // when the names were copied from the catalog, epoch s; 0 for names of the provider
	TTL     int64             `dynamodbav:"ttl"`    // epoch s
}

// sideNames are the names of a team in a match.
type sideNames struct {
	Title     string `dynamodbav:"title"`
	ShortName string `dynamodbav:"shortName"`
	Color     string `dynamodbav:"color"`
	Image     string `dynamodbav:"image"`
}

// keepNames is the maximum age of a row of names: get-match replaces an older one by
// the names of the catalog.
const keepNames = 10 * time.Minute

// NewNames returns the names of a match as the provider has them.
func NewNames(f Fixture, s score.State, league string, now time.Time) Names {
	return Names{
		MatchID: NamesKey(f.MatchID), League: league, TTL: keepUntil(f, now, keepResult),
		Local:   sideNames{Title: s.Local.Name, ShortName: s.Local.Code, Image: s.Local.Image},
		Visitor: sideNames{Title: s.Visitor.Name, ShortName: s.Visitor.Code, Image: s.Visitor.Image},
	}
}

// NamesKey returns the matchId of the row of names.
func NamesKey(matchID string) string { return matchID + "#names" }

// names returns the names of the league and the teams of a match. It updates a stored
// row that is older than keepNames from the catalog. It does not create a missing
// row: sync-fixtures does.
func (m *Matches) names(ctx context.Context, f Fixture, s score.State) (Names, error) {
	n, stored, err := dynamo.Get[Names](ctx, m.eventual, tables.GetCached, NamesKey(f.MatchID))

	now := m.now()
	if err != nil || now.Sub(time.Unix(n.ReadAt, 0)) < keepNames {
		return n, err
	}

	if !stored {
		n = NewNames(f, s, "", now)
	}

	if err := m.enrich(ctx, f, &n); err != nil || !stored {
		return n, err
	}

	n.ReadAt, n.TTL = now.Unix(), keepUntil(f, now, keepResult)
	changes := dynamo.Set(n, "local", "visitor", "leagueTitle", "seasonTeams", "readAt", "ttl")
	err = dynamo.Update(ctx, m.db, tables.EnrichCached, dynamo.Key(tables.EnrichCached, n.MatchID), changes, dynamo.Exists[Names]("matchId"))

	return n, dynamo.IgnoreRefused(err) // refused: the row expired meanwhile
}

// enrich replaces the names by those of the catalog. It keeps the names of a league or
// a team that the catalog does not have.
func (m *Matches) enrich(ctx context.Context, f Fixture, n *Names) error {
	l, _, err := dynamo.Get[catalog.LeagueRow](ctx, m.eventual, tables.GetLeague, f.LeagueID)
	if err != nil {
		return err
	}

	n.League = cmp.Or(l.Title, l.Name, n.League)
	for id, side := range map[string]*sideNames{f.LocalTeamID: &n.Local, f.VisitorTeamID: &n.Visitor} {
		t, ok, err := dynamo.Get[catalog.TeamRow](ctx, m.eventual, tables.GetTeam, id)
		if err != nil {
			return err
		}

		if ok {
			*side = sideNames{cmp.Or(t.Title, t.Name), cmp.Or(t.ShortName, t.Code), t.Color, t.Image}
		}
	}

	playing, _, err := dynamo.Query[catalog.SeasonTeam](ctx, m.eventual, tables.TeamsOfSeason,
		dynamo.Range{Key: catalog.OfSeason(f.SeasonID), Limit: 100})
	if err != nil {
		return err
	}

	n.Season = make([]catalog.TeamRef, len(playing))
	for i, t := range playing {
		n.Season[i] = catalog.TeamRef{ID: t.TeamID, Code: t.Code, Name: t.Name}
	}

	return nil
}
