package item

import (
	"context"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/spec"
)

// Counter is the row of the window of a limit.
type Counter struct {
	PK, SK, Type string
	Limit        spec.Limit
}

// Take reads the window, and returns the write that counts one more in it. Errors: the
// limit's, if it allows no more.
func (c Counter) Take(ctx context.Context, db dynamo.DB, a spec.Access, now time.Time) (dynamo.Write, error) {
	row, found, err := dynamo.Get[Row[limit.Window]](ctx, db, a, c.PK, c.SK)
	if err != nil {
		return nil, err
	}

	w, err := row.V().Take(c.Limit, now)
	if err != nil {
		return nil, err
	}

	if !found {
		row = New(c.PK, c.SK, c.Type, w, now)
		row.TTL = w.Begins.Add(c.Limit.Per).Unix()

		return row.Create(), nil
	}

	*row.V(), row.TTL = w, w.Begins.Add(c.Limit.Per).Unix()
	_, saved := row.Save(now)

	return saved, nil
}
