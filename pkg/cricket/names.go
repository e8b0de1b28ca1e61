package cricket

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo"
)

// names is a row of cricket-fixture-cache beside that of a match's score: what
// to call those who play, in the administrators' words or else the provider's.
// It is a row of its own, so that no write of the score can take them away, and
// has no leagueId, so that the index by league does not list it.
type names struct {
	MatchID string    `dynamodbav:"matchId"` // {matchId}#names
	Local   sideNames `dynamodbav:"local"`
	Visitor sideNames `dynamodbav:"visitor"`
	League  string    `dynamodbav:"leagueTitle"`
	Season  []TeamRef `dynamodbav:"seasonTeams"`
	ReadAt  int64     `dynamodbav:"readAt"` // of the reference data, epoch s; 0 while it is the provider's words
	TTL     int64     `dynamodbav:"ttl"`
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

// newNames are a match's in the provider's words.
func newNames(f fixture, s score.State, league string, now time.Time) names {
	return names{
		MatchID: namesKey(f.MatchID), League: league, TTL: keepCached(f, now),
		Local:   sideNames{Title: s.Local.Name, ShortName: s.Local.Code, Image: s.Local.Image},
		Visitor: sideNames{Title: s.Visitor.Name, ShortName: s.Visitor.Code, Image: s.Visitor.Image},
	}
}

func namesKey(matchID string) string { return matchID + "#names" }

// names returns what to call those who play in a match. What is stored and older
// than keepNames is brought up to date; a row that is not there is not made,
// which the sync does.
func (m *Matches) names(ctx context.Context, f fixture, s score.State) (names, error) {
	n, stored, err := dynamo.Get[names](ctx, m.db, getCached, namesKey(f.MatchID))
	now := m.now()
	if err != nil || now.Sub(time.Unix(n.ReadAt, 0)) < keepNames {
		return n, err
	}
	if !stored {
		n = newNames(f, s, "", now)
	}
	if err := m.enrich(ctx, f, &n); err != nil || !stored {
		return n, err
	}
	n.ReadAt, n.TTL = now.Unix(), keepCached(f, now)
	set := expression.Set(expression.Name("local"), expression.Value(n.Local)).
		Set(expression.Name("visitor"), expression.Value(n.Visitor)).
		Set(expression.Name("leagueTitle"), expression.Value(n.League)).
		Set(expression.Name("seasonTeams"), expression.Value(n.Season)).
		Set(expression.Name("readAt"), expression.Value(n.ReadAt)).
		Set(expression.Name("ttl"), expression.Value(n.TTL))
	err = dynamo.Update(ctx, m.db, enrichCached, dynamo.Key(enrichCached, n.MatchID), set, dynamo.Exists[names]("matchId"))
	return n, dynamo.IgnoreRefused(err) // refused: it expired meanwhile
}

// enrich takes from the reference data what that knows.
func (m *Matches) enrich(ctx context.Context, f fixture, n *names) error {
	l, _, err := dynamo.Get[leagueRow](ctx, m.db, getLeague, f.LeagueID)
	if err != nil {
		return err
	}
	n.League = cmp.Or(l.Title, l.Name, n.League)
	for id, side := range map[string]*sideNames{f.LocalTeamID: &n.Local, f.VisitorTeamID: &n.Visitor} {
		t, ok, err := dynamo.Get[teamRow](ctx, m.db, getTeam, id)
		if err != nil {
			return err
		}
		if ok {
			*side = sideNames{cmp.Or(t.Title, t.Name), cmp.Or(t.ShortName, t.Code), t.Color, t.Image}
		}
	}
	playing, _, err := dynamo.Query[seasonTeam](ctx, m.db, teamsOfSeason, dynamo.Range{Key: ofSeason(f.SeasonID), Limit: 100})
	if err != nil {
		return err
	}
	n.Season = make([]TeamRef, len(playing))
	for i, t := range playing {
		n.Season[i] = TeamRef{t.TeamID, t.Code, t.Name}
	}
	return nil
}
