package match

import (
	"cmp"
	"context"
	"slices"

	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// GetScorecard is the request for the scorecard of a match.
type GetScorecard struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
}

// ScorecardPage is the response with a scorecard.
type ScorecardPage struct {
	httpapi.Cached
	Body Scorecard
}

// Scorecard is the scorecard of a match.
type Scorecard struct {
	MatchID string `json:"matchId" doc:"The id of the match."`
	card.Match
	Innings []card.Innings `json:"innings" doc:"The innings in the order of their numbers. Empty: none has begun."`
}

var errNoScorecard = problem.New(problem.NotFound, "scorecard_not_found", "the match has no scorecard yet")

// GetScorecardFunction answers with the scorecard of a match.
func GetScorecardFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-scorecard",
		Does:   "Returns the scorecard of a match: the players of both sides from the toss on, and each innings.",
		IfDown: "Scorecards do not open.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/scorecard", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCard},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).GetScorecard, ErrNotFound, errNoScorecard)
}

// GetScorecard returns the stored scorecard. It returns ErrNotFound if the match does not exist, and
// NotFound if it has no scorecard yet: the provider has named no player.
func (m *Matches) GetScorecard(ctx context.Context, in *GetScorecard) (*ScorecardPage, error) {
	f, ok, err := dynamo.Get[Fixture](ctx, m.eventual, tables.GetFixture, in.ID)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, ErrNotFound
	}

	rows, err := dynamo.QueryAll[CardRow](ctx, m.eventual, tables.GetCard, dynamo.Range{Key: dynamo.KeyIs(tables.GetCard, in.ID)})
	if err != nil {
		return nil, err
	}

	rows = slices.DeleteFunc(rows, func(r CardRow) bool { return len(r.Card) == 0 || r.TTL <= m.now().Unix() })
	if len(rows) == 0 {
		return nil, errNoScorecard
	}

	out := &ScorecardPage{Cached: cacheFor(f.Phase())}
	out.Body.MatchID, out.Body.Teams, out.Body.Innings = in.ID, []card.Side{}, []card.Innings{}

	for _, r := range rows {
		if r.Part == wholeMatch {
			err = r.decode(&out.Body.Match)
		} else {
			var n card.Innings

			err = r.decode(&n)
			out.Body.Innings = append(out.Body.Innings, n)
		}

		if err != nil {
			return nil, err
		}
	}

	slices.SortFunc(out.Body.Innings, func(a, b card.Innings) int { return cmp.Compare(a.Number, b.Number) })
	f.retitle(out.Body.Teams)

	return out, nil
}

// retitle displays the sides of a scorecard by the titles that administrators have set since.
func (t Titles) retitle(sides []card.Side) {
	if len(sides) != 2 {
		return
	}

	local, visitor := &sides[0], &sides[1]
	local.Name, local.Code = cmp.Or(t.LocalTitle, local.Name), cmp.Or(t.LocalShort, local.Code)
	visitor.Name, visitor.Code = cmp.Or(t.VisitorTitle, visitor.Name), cmp.Or(t.VisitorShort, visitor.Code)
}
