package member

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/pg"
)

// Once returns the answer of do, which writes in tx, or the stored answer of the same request of the
// member. The answer is stored in tx. The caller has locked the member, so that two requests at once
// run one after the other. Errors: idem.ErrConflict; those of do.
func Once[Out any](ctx context.Context, tx pgx.Tx, function, memberID string, in idem.Request,
	do func() (Out, error)) (out Out, err error) {
	id, hash, ok := idem.Identify(function, in)
	if !ok {
		return do()
	}

	stored, found, err := pg.One[struct {
		Hash string          `db:"hash"`
		Body json.RawMessage `db:"body"`
	}](ctx, tx, sql.FindAnswer, memberID, id)

	switch {
	case err != nil:
		return out, err
	case found && stored.Hash != hash:
		return out, idem.ErrConflict
	case found:
		return out, json.Unmarshal(stored.Body, &out)
	}

	if _, err := pg.Do(ctx, tx, sql.DeleteAnswers, memberID); err != nil {
		return out, err
	}

	if out, err = do(); err != nil {
		return out, err
	}

	body, err := json.Marshal(out)
	if err != nil {
		return out, err
	}

	_, err = pg.Do(ctx, tx, sql.StoreAnswer, memberID, id, hash, body)

	return out, err
}
