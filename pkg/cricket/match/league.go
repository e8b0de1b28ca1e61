package match

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
)

// ListLeagueMatches asks for every match of a league, whenever it is.
type ListLeagueMatches struct {
	auth.Admin
	LeagueID string `query:"leagueId" required:"true" pattern:"^[0-9]{1,19}$" doc:"The league."`
	Cursor   string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"Next of the page before."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// What one request reads of the table: up to scanPages pages of scanRows matches,
// which are some 4 MB at most.
const (
	scanPages = 10
	scanRows  = 500
)

// ListLeagueMatches returns the schedule's rows of a league's matches, without
// scores and in no order. It reads the table through for them, a part of it at a
// time: a page may hold fewer than the limit, even none, and others follow it as
// long as it has a next.
func (m *Matches) ListLeagueMatches(ctx context.Context, in *ListLeagueMatches) (*MatchList, error) {
	out := &MatchList{CacheControl: httpapi.NoStore}
	out.Body.Matches = []Match{}
	ofLeague := expression.Equal(expression.Name("leagueId"), expression.Value(in.LeagueID))
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
