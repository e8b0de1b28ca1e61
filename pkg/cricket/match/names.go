package match

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Names is a row of cricket-fixture-cache beside that of a match's score: what
// to call those who play, in the administrators' words or else the provider's.
// It is a row of its own, so that no write of the score can take them away, and
// has no leagueId, so that the index by league does not list it.
type Names struct {
	MatchID string            `dynamodbav:"matchId"` // {matchId}#names
	Local   sideNames         `dynamodbav:"local"`
	Visitor sideNames         `dynamodbav:"visitor"`
	League  string            `dynamodbav:"leagueTitle"`
	Season  []catalog.TeamRef `dynamodbav:"seasonTeams"`
	ReadAt  int64             `dynamodbav:"readAt"` // of the reference data, epoch s; 0 while it is the provider's words
	TTL     int64             `dynamodbav:"ttl"`
}

type sideNames struct {
	Title     string `dynamodbav:"title"`
	ShortName string `dynamodbav:"shortName"`
	Color     string `dynamodbav:"color"`
	Image     string `dynamodbav:"image"`
}

// keepNames is how long the names of a match are taken from their row before
// its page reads the reference data again.
const keepNames = 10 * time.Minute

// NewNames are a match's in the provider's words.
func NewNames(f Fixture, s score.State, league string, now time.Time) Names {
	return Names{
		MatchID: NamesKey(f.MatchID), League: league, TTL: keepUntil(f, now),
		Local:   sideNames{Title: s.Local.Name, ShortName: s.Local.Code, Image: s.Local.Image},
		Visitor: sideNames{Title: s.Visitor.Name, ShortName: s.Visitor.Code, Image: s.Visitor.Image},
	}
}

// NamesKey is the key of a match's names in cricket-fixture-cache.
func NamesKey(matchID string) string { return matchID + "#names" }

// names returns what to call those who play in a match. What is stored and older
// than keepNames is brought up to date; a row that is not there is not made,
// which the sync does.
func (m *Matches) names(ctx context.Context, f Fixture, s score.State) (Names, error) {
	n, stored, err := dynamo.Get[Names](ctx, m.db, tables.GetCached, NamesKey(f.MatchID))
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
	n.ReadAt, n.TTL = now.Unix(), keepUntil(f, now)
	set := expression.Set(expression.Name("local"), expression.Value(n.Local)).
		Set(expression.Name("visitor"), expression.Value(n.Visitor)).
		Set(expression.Name("leagueTitle"), expression.Value(n.League)).
		Set(expression.Name("seasonTeams"), expression.Value(n.Season)).
		Set(expression.Name("readAt"), expression.Value(n.ReadAt)).
		Set(expression.Name("ttl"), expression.Value(n.TTL))
	err = dynamo.Update(ctx, m.db, tables.EnrichCached, dynamo.Key(tables.EnrichCached, n.MatchID), set, dynamo.Exists[Names]("matchId"))
	return n, dynamo.IgnoreRefused(err) // refused: it expired meanwhile
}

// enrich takes from the reference data what that knows.
func (m *Matches) enrich(ctx context.Context, f Fixture, n *Names) error {
	l, _, err := dynamo.Get[catalog.LeagueRow](ctx, m.db, tables.GetLeague, f.LeagueID)
	if err != nil {
		return err
	}
	n.League = cmp.Or(l.Title, l.Name, n.League)
	for id, side := range map[string]*sideNames{f.LocalTeamID: &n.Local, f.VisitorTeamID: &n.Visitor} {
		t, ok, err := dynamo.Get[catalog.TeamRow](ctx, m.db, tables.GetTeam, id)
		if err != nil {
			return err
		}
		if ok {
			*side = sideNames{cmp.Or(t.Title, t.Name), cmp.Or(t.ShortName, t.Code), t.Color, t.Image}
		}
	}
	playing, _, err := dynamo.Query[catalog.SeasonTeam](ctx, m.db, tables.TeamsOfSeason, dynamo.Range{Key: catalog.OfSeason(f.SeasonID), Limit: 100})
	if err != nil {
		return err
	}
	n.Season = make([]catalog.TeamRef, len(playing))
	for i, t := range playing {
		n.Season[i] = catalog.TeamRef{ID: t.TeamID, Code: t.Code, Name: t.Name}
	}
	return nil
}
