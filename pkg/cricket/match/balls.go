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

// ListBalls asks for the balls of a match.
type ListBalls struct {
	ID      string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The match."`
	Innings int    `query:"innings" minimum:"1" maximum:"99" doc:"Only this innings."`
	After   int    `query:"after" minimum:"0" doc:"Only balls with a higher id: those that are new to a client."`
	Cursor  string `query:"cursor" pattern:"^S[0-9]{1,2}-[0-9]{2,3}$" doc:"Next of the page before."`
}

// BallList is a page of balls in the order of play: whole groups of five overs,
// 60 balls or more. Next is the cursor of the page that follows, absent at the
// end.
type BallList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Balls []score.Ball `json:"balls"`
		Next  string       `json:"next,omitempty"`
	}
}

const ballsPerPage = 60

// ListBalls returns the stored balls, a page at a time.
func (m *Matches) ListBalls(ctx context.Context, in *ListBalls) (*BallList, error) {
	f, ok, err := dynamo.Get[Fixture](ctx, m.db, tables.GetFixture, in.ID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotFound
	}
	h, _, err := dynamo.Get[BallIndex](ctx, m.db, tables.GetProcessed, in.ID)
	if err != nil {
		return nil, err
	}
	first := 0
	if in.Cursor != "" {
		first = slices.IndexFunc(h.Chunks, func(c ChunkInfo) bool { return c.cursor() == in.Cursor })
		if first < 0 {
			return nil, httpapi.ErrBadCursor
		}
	}
	out := &BallList{CacheControl: cacheFor(f.Phase())}
	out.Body.Balls = []score.Ball{}
	for _, c := range h.Chunks[first:] {
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

// chunk reads the balls of a chunk; there are none once they have expired.
func (m *Matches) chunk(ctx context.Context, matchID string, meta ChunkInfo) (balls []score.Ball, err error) {
	c, ok, err := dynamo.Get[BallChunk](ctx, m.db, tables.Hydrate, matchID+"#"+meta.Key)
	if err != nil || !ok {
		return nil, err
	}
	return balls, json.Unmarshal([]byte(c.Balls), &balls)
}
