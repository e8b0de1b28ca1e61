package match

import (
	"cmp"
	"context"
	"slices"
	"time"

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

	c, ok, err := ReadCard(ctx, m.eventual, f, m.now())
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, errNoScorecard
	}

	out := &ScorecardPage{Cached: cacheFor(f.Phase())}
	out.Body.MatchID, out.Body.Match, out.Body.Innings = in.ID, c.Match, c.Innings

	return out, nil
}

// ReadCard reads the scorecard of a match, with the titles that administrators have set. It returns false if there is
// none.
func ReadCard(ctx context.Context, db dynamo.DB, f Fixture, now time.Time) (c card.Card, ok bool, err error) {
	rows, err := dynamo.QueryAll[CardRow](ctx, db, tables.GetCard, dynamo.Range{Key: dynamo.KeyIs(tables.GetCard, f.MatchID)})
	if err != nil {
		return c, false, err
	}

	c.Match.Teams, c.Innings = []card.Side{}, []card.Innings{}

	for _, r := range rows {
		if len(r.Card) == 0 || r.TTL <= now.Unix() {
			continue
		}

		ok = true

		if r.Part == wholeMatch {
			err = r.decode(&c.Match)
		} else {
			var n card.Innings

			err = r.decode(&n)
			c.Innings = append(c.Innings, n)
		}

		if err != nil {
			return c, false, err
		}
	}

	slices.SortFunc(c.Innings, func(a, b card.Innings) int { return cmp.Compare(a.Number, b.Number) })
	f.Retitle(c.Match.Teams)

	return c, ok, nil
}

// Retitle displays the sides of a scorecard by the titles that administrators have set.
func (t Titles) Retitle(sides []card.Side) {
	if len(sides) != 2 {
		return
	}

	local, visitor := &sides[0], &sides[1]
	local.Name, local.Code = cmp.Or(t.LocalTitle, local.Name), cmp.Or(t.LocalShort, local.Code)
	visitor.Name, visitor.Code = cmp.Or(t.VisitorTitle, visitor.Name), cmp.Or(t.VisitorShort, visitor.Code)
}
