package match

import (
	"context"
	"encoding/json"
	"slices"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
)

// ListBalls is the request for the balls of a match.
type ListBalls struct {
	ID      string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Innings int    `query:"innings" minimum:"1" maximum:"99" doc:"Only balls of this innings."`
	After   int    `query:"after" minimum:"0" doc:"Only balls with a higher id: those that the client does not have yet."`
	Cursor  string `query:"cursor" pattern:"^S[0-9]{1,2}-[0-9]{2,3}$" doc:"The value of next in the previous page."`
}

// BallList is a page of balls in the order of play. It has whole groups of five overs:
// at least 60 balls, unless the list ends. Next is the cursor of the next page; the
// last page has none.
type BallList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Balls []score.Ball `json:"balls" doc:"The balls of this page, the oldest first."`
		Next  string       `json:"next,omitempty"`
	}
}

// ballsPerPage is the size from which a page takes no further group of overs.
const ballsPerPage = 60

// ListBalls returns a page of the stored balls. It returns ErrNotFound if there is no
// such match, and httpapi.ErrBadCursor for a cursor of no group of overs.
func (m *Matches) ListBalls(ctx context.Context, in *ListBalls) (*BallList, error) {
	f, ok, err := dynamo.Get[Fixture](ctx, m.db, tables.GetFixture, in.ID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotFound
	}
	index, _, err := dynamo.Get[BallIndex](ctx, m.db, tables.GetProcessed, in.ID)
	if err != nil {
		return nil, err
	}
	first := 0
	if in.Cursor != "" {
		first = slices.IndexFunc(index.Chunks, func(c ChunkInfo) bool { return c.cursor() == in.Cursor })
		if first < 0 {
			return nil, httpapi.ErrBadCursor
		}
	}
	out := &BallList{CacheControl: cacheFor(f.Phase())}
	out.Body.Balls = []score.Ball{}
	for _, c := range index.Chunks[first:] {
		if c.Last <= in.After || in.Innings != 0 && c.innings() != in.Innings {
			continue
		}
		if len(out.Body.Balls) >= ballsPerPage {
			out.Body.Next = c.cursor()
			break
		}
		balls, err := m.chunk(ctx, in.ID, c)
		if err != nil {
			return nil, err
		}
		out.Body.Balls = append(out.Body.Balls, slices.DeleteFunc(balls, func(b score.Ball) bool { return b.ID <= in.After })...)
	}
	return out, nil
}

// chunk reads the balls of a chunk. An expired chunk has none.
func (m *Matches) chunk(ctx context.Context, matchID string, meta ChunkInfo) (balls []score.Ball, err error) {
	c, ok, err := dynamo.Get[BallChunk](ctx, m.db, tables.Hydrate, matchID+"#"+meta.Key)
	if err != nil || !ok {
		return nil, err
	}
	return balls, json.Unmarshal([]byte(c.Balls), &balls)
}
