package match

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// ListBalls is the request for the balls of a match.
type ListBalls struct {
	ID      string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Innings int    `query:"innings" minimum:"1" maximum:"99" doc:"Only balls of this innings."`
	After   int64  `query:"after" minimum:"0" doc:"The revision of an earlier answer: only groups of overs that have changed since."`
	Cursor  string `query:"cursor" pattern:"^S[0-9]{1,2}-[0-9]{2,3}-[0-9]{1,12}$" doc:"The value of next in the previous page."`
}

// BallList is a page of balls in the order of play. It has whole groups of five overs:
// at least 60 balls, unless the list ends. Next is the cursor of the next page; the
// last page has none.
//
// A client that has a match's balls asks for those after its revision. For each group in
// overs it replaces all balls of these overs by those of the answer. So it learns of
// corrections and of balls that the provider has deleted, too: a group of which no ball is
// left is in overs alone.
type BallList struct {
	httpapi.Cached
	Body struct {
		Revision int64        `json:"revision" doc:"Of the list when the first page was read: the value of after in the next request."`
		Overs    []OverGroup  `json:"overs" doc:"The groups of overs of which this page has all balls."`
		Balls    []score.Ball `json:"balls" doc:"The balls of this page, the oldest first."`
		Next     string       `json:"next,omitempty"`
	}
}

// OverGroup is some overs of an innings.
type OverGroup struct {
	Innings int `json:"innings" doc:"The number of the innings, from 1."`
	From    int `json:"from" doc:"The first over, from 0, as in the labels of balls."`
	To      int `json:"to" doc:"The over after the last."`
}

// ErrBallsExpired reports that the balls of a match are no longer kept.
var ErrBallsExpired = problem.New(problem.NotFound, "balls_expired", "the balls of the match are no longer kept")

// ballsPerPage is the size from which a page takes no further group of overs.
const ballsPerPage = 60

// ListBallsFunction answers with the balls of a match.
func ListBallsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-balls",
		Does:   "Lists the balls of a match in the order of play.",
		IfDown: "The ball-by-ball page does not load.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/balls", Auth: spec.Public, Queries: []string{"after", "cursor", "innings"}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetProcessed, tables.Hydrate},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).ListBalls, ErrBallsExpired, ErrNotFound, httpapi.ErrBadCursor)
}

// ListBalls returns a page of the stored balls. It returns ErrNotFound if there is no
// such match, ErrBallsExpired if its balls have expired, and httpapi.ErrBadCursor for a
// cursor of no group of overs.
func (m *Matches) ListBalls(ctx context.Context, in *ListBalls) (*BallList, error) {
	f, ok, err := dynamo.Get[Fixture](ctx, m.db, tables.GetFixture, in.ID)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, ErrNotFound
	}

	index, ok, err := dynamo.Get[BallIndex](ctx, m.db, tables.GetProcessed, in.ID)
	if err != nil {
		return nil, err
	}

	if now := m.now(); ok && index.TTL <= now.Unix() || !ok && !f.ballsUntil(time.Time{}).After(now) {
		return nil, ErrBallsExpired
	}

	out := &BallList{Cached: cacheFor(f.Phase())}
	out.Body.Revision, out.Body.Overs, out.Body.Balls = index.revision(), []OverGroup{}, []score.Ball{}
	first := 0

	if in.Cursor != "" {
		key, revision, _ := strings.Cut(strings.Replace(in.Cursor, "-", "#", 1), "-")
		first = slices.IndexFunc(index.Chunks, func(c ChunkInfo) bool { return c.Key == key })

		out.Body.Revision, err = strconv.ParseInt(revision, 10, 64)
		if first < 0 || err != nil {
			return nil, httpapi.ErrBadCursor
		}
	}

	for _, c := range index.Chunks[first:] {
		overs := c.overs()
		if c.Slot <= in.After || in.Innings != 0 && overs.Innings != in.Innings {
			continue
		}

		if len(out.Body.Balls) >= ballsPerPage {
			out.Body.Next = fmt.Sprintf("%s-%d", strings.Replace(c.Key, "#", "-", 1), out.Body.Revision)
			break
		}

		chunk, ok, err := dynamo.Get[BallChunk](ctx, m.db, tables.Hydrate, in.ID+"#"+c.Key)
		if err != nil {
			return nil, err
		}

		if !ok {
			return nil, ErrBallsExpired
		}

		var balls []score.Ball
		if err := json.Unmarshal([]byte(chunk.Balls), &balls); err != nil {
			return nil, err
		}

		out.Body.Overs, out.Body.Balls = append(out.Body.Overs, overs), append(out.Body.Balls, balls...)
	}

	return out, nil
}
