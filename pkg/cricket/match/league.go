package match

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// ListLeagueMatches is the request for all matches of a league, of any date.
type ListLeagueMatches struct {
	auth.Admin
	LeagueID string `query:"leagueId" required:"true" pattern:"^[0-9]{1,19}$" doc:"The id of the league."`
	Cursor   string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"The value of next in the previous page."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// A request scans up to scanPages pages of scanRows matches: about 4 MB at most.
const (
	scanPages = 10
	scanRows  = 500
)

// ListLeagueMatchesFunction answers an administrator with every match of a league.
func ListLeagueMatchesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-league-matches",
		Does:   "Lists all matches of a league by a scan of the table.",
		IfDown: "Administrators cannot list all matches of a league.",
		On:     spec.Route{Method: "GET", Path: "/admin/matches", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ScanByLeague},
		Memory: 256, Timeout: 15 * time.Second,
	}, OpenMatches, (*Matches).ListLeagueMatches)
}

// ListLeagueMatches returns a page of the matches of a league, unordered and without
// scores. It scans a part of the table: a page may have fewer matches than the limit,
// even none, and is the last only if it has no Next.
func (m *Matches) ListLeagueMatches(ctx context.Context, in *ListLeagueMatches) (*MatchList, error) {
	out := &MatchList{}
	out.Body.Matches = []Match{}
	ofLeague := dynamo.Equal[Fixture]("leagueId", in.LeagueID)

	var after dynamo.Item
	if in.Cursor != "" {
		after = dynamo.Key(tables.ScanByLeague, in.Cursor)
	}

	for range scanPages {
		found, last, err := dynamo.Scan[Fixture](ctx, m.db, tables.ScanByLeague, &ofLeague, after, scanRows)
		if err != nil {
			return nil, err
		}

		for _, f := range found {
			if len(out.Body.Matches) == in.Limit {
				out.Body.Next = out.Body.Matches[in.Limit-1].ID
				return out, nil
			}

			out.Body.Matches = append(out.Body.Matches, summary(f, score.State{}, Names{}))
		}

		if last == nil {
			return out, nil
		}

		after = last
	}

	var end Fixture

	err := attributevalue.UnmarshalMap(after, &end)
	out.Body.Next = end.MatchID

	return out, err
}
