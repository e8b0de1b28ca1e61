package match

import (
	"context"
	"slices"
	"strings"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// PagedMatches are matches of a list that is paged both ways, in order of their start.
type PagedMatches struct {
	httpapi.Cached
	Body struct {
		Matches  []Match `json:"matches" doc:"The matches of this page, in order of their start."`
		Next     string  `json:"next,omitempty" doc:"The cursor of the page with later matches. Absent: there are none."`
		Previous string  `json:"previous,omitempty" doc:"The cursor of the page with earlier matches. That page may be empty. Absent: there are none."`
	}
}

// ListTeamMatches is the request for the matches of a team.
type ListTeamMatches struct {
	ID     string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the team."`
	Cursor string `query:"cursor" pattern:"^[NP][0-9A-Z:-]{20}/[0-9]{1,19}$" doc:"The value of next or previous of another page. Without it the page begins with the matches of the last seven days."`
	Limit  int32  `query:"limit" minimum:"1" maximum:"20" default:"20" doc:"The maximum number of matches in the page."`
}

// ListTeamMatchesFunction answers with the matches of a team.
func ListTeamMatchesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-team-matches",
		Does:   "Lists the matches of a team, past and to come.",
		IfDown: "Team pages show no matches.",
		On:     spec.Route{Method: "GET", Path: "/teams/{id}/matches", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.LocalSummaries, tables.VisitorSummaries},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).ListTeamMatches, httpapi.ErrBadCursor)
}

// ListTeamMatches returns a page of the matches of a team, from the last week on or as the cursor says. The
// list is empty for an unknown team. It returns httpapi.ErrBadCursor for a cursor that is not a time.
// It costs 4 read units at most: a page of matches at home, and one of matches away.
func (m *Matches) ListTeamMatches(ctx context.Context, in *ListTeamMatches) (*PagedMatches, error) {
	return m.page(ctx, in.ID, in.Cursor, in.Limit, tables.LocalSummaries, tables.VisitorSummaries)
}

// ListMatchesOfLeague is the request for the matches of a league.
type ListMatchesOfLeague struct {
	ID     string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the league."`
	Cursor string `query:"cursor" pattern:"^[NP][0-9A-Z:-]{20}/[0-9]{1,19}$" doc:"The value of next or previous of another page. Without it the page begins with the matches of the last seven days."`
	Limit  int32  `query:"limit" minimum:"1" maximum:"30" default:"30" doc:"The maximum number of matches in the page."`
}

// ListMatchesOfLeagueFunction answers with the matches of a league.
func ListMatchesOfLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-matches-of-league",
		Does:   "Lists the matches of a league, past and to come.",
		IfDown: "League pages show no matches.",
		On:     spec.Route{Method: "GET", Path: "/leagues/{id}/matches", Auth: spec.Public, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.LeagueSummaries},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).ListMatchesOfLeague, httpapi.ErrBadCursor)
}

// ListMatchesOfLeague returns a page of the matches of a league, as ListTeamMatches does for a team. It
// costs 4 read units at most.
func (m *Matches) ListMatchesOfLeague(ctx context.Context, in *ListMatchesOfLeague) (*PagedMatches, error) {
	return m.page(ctx, in.ID, in.Cursor, in.Limit, tables.LeagueSummaries)
}

// The first letters of the cursors of PagedMatches: of the page after a match, and of that before it.
const (
	nextPage     = "N"
	previousPage = "P"
)

// page reads a page of the matches in the partitions of several indexes by start.
func (m *Matches) page(ctx context.Context, partition, cursor string, limit int32, indexes ...spec.Access) (*PagedMatches, error) {
	backward := strings.HasPrefix(cursor, previousPage)
	start, id := m.now().Add(-recently).UTC().Format(tables.TimeLayout), ""

	if cursor != "" {
		var err error
		if _, _, id, err = parseCursor(cursor[1:]); err != nil {
			return nil, err
		}

		start = cursor[1:]
	}

	var (
		found []SummaryRow
		more  bool
	)

	for _, a := range indexes {
		r := dynamo.Range{Key: dynamo.KeyAtLeast(a, partition, start), Limit: limit, Backward: backward}
		if backward {
			r.Key = dynamo.KeyAtMost(a, partition, start)
		}

		if id != "" {
			r.After = dynamo.StartKey(a, partition, start, id)
		}

		rows, last, err := dynamo.Query[SummaryRow](ctx, m.eventual, a, r)
		if err != nil {
			return nil, err
		}

		found, more = append(found, rows...), more || last != nil
	}

	slices.SortFunc(found, inOrder)

	found = slices.CompactFunc(found, sameMatch)

	if over := len(found) - int(limit); over > 0 && backward {
		found, more = found[over:], true
	} else if over > 0 {
		found, more = found[:limit], true
	}

	out := &PagedMatches{}
	out.Body.Matches, out.Cached = matchesOf(found)

	if len(found) == 0 {
		if cursor == "" { // all matches, if there are any, have begun earlier
			out.Body.Previous = previousPage + start + "/0"
		}

		return out, nil
	}

	if first := found[0]; !backward || more {
		out.Body.Previous = previousPage + first.at()
	}

	if last := found[len(found)-1]; backward || more {
		out.Body.Next = nextPage + last.at()
	}

	return out, nil
}
