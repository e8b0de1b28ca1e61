package cricket

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// edit is what an administrator changes of a row.
type edit struct {
	set   expression.UpdateBuilder
	given bool
}

// give adds an attribute, if v gives one. Empty text takes it away.
func give[T any](e *edit, name string, v *T) {
	switch {
	case v == nil:
		return
	case any(*v) == any(""):
		e.set = e.set.Remove(expression.Name(name))
	default:
		e.set = e.set.Set(expression.Name(name), expression.Value(*v))
	}
	e.given = true
}

// apply changes the row under id, or returns absent when there is none.
func (e *edit) apply(ctx context.Context, db dynamo.DB, a spec.Access, id string, absent error) error {
	if !e.given {
		return problem.In("body", "say what to change")
	}
	err := dynamo.Update(ctx, db, a, dynamo.Key(a, id), e.set, expression.AttributeExists(expression.Name(a.Table.Key.Partition)))
	return dynamo.RefusedAs(err, absent)
}

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
		after = dynamo.Key(scanByLeague, in.Cursor)
	}
	for range scanPages {
		found, last, err := dynamo.Scan[fixture](ctx, m.db, scanByLeague, &ofLeague, after, scanRows)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if len(out.Body.Matches) == in.Limit {
				out.Body.Next = out.Body.Matches[in.Limit-1].ID
				return out, nil
			}
			out.Body.Matches = append(out.Body.Matches, summary(f, score.State{}, names{}))
		}
		if last == nil {
			return out, nil
		}
		after = last
	}
	var end fixture
	err := attributevalue.UnmarshalMap(after, &end)
	out.Body.Next = end.MatchID
	return out, err
}
