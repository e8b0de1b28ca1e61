package league

import (
	"context"
	"slices"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// triedCodes is the item of the wrong codes that a user has tried within maxCodes.Per. A
// code is listed before it is looked up, and removed if it is right, so that concurrent
// requests cannot try more than the limit. A code that is tried again counts once.
type triedCodes struct {
	Codes []string `dynamodbav:"codes,omitempty"`
	Since int64    `dynamodbav:"since"` // of the first, epoch s
	TTL   int64    `dynamodbav:"ttl"`   // epoch s
}

const triedSK = "CODES"

// countWrong lists a code. It returns too_many_codes if maxCodes others are listed.
func (s *Leagues) countWrong(ctx context.Context, userID, code string) error {
	return s.changeTried(ctx, userID, func(tried *triedCodes) error {
		now := s.Now()

		was := limit.Window{Begins: time.Unix(tried.Since, 0), Count: len(tried.Codes)}
		if was.Left(maxCodes, now) > 0 && slices.Contains(tried.Codes, code) {
			return nil
		}

		w, err := was.Take(maxCodes, now)
		if err != nil {
			return err
		}

		if w.Count == 1 {
			*tried = triedCodes{Since: w.Begins.Unix(), TTL: w.Begins.Add(maxCodes.Per).Unix()}
		}

		tried.Codes = append(tried.Codes, code)

		return nil
	})
}

// uncountWrong removes a code from the list.
func (s *Leagues) uncountWrong(ctx context.Context, userID, code string) error {
	return s.changeTried(ctx, userID, func(tried *triedCodes) error {
		tried.Codes = slices.DeleteFunc(tried.Codes, func(c string) bool { return c == code })
		return nil
	})
}

// changeTried applies change to the user's item, and deletes the item when it lists no code. If
// another request has changed it meanwhile, changeTried begins again.
func (s *Leagues) changeTried(ctx context.Context, userID string, change func(*triedCodes) error) error {
	return dynamo.Retry(ctx, item.Attempts, func() error {
		was, _, err := dynamo.Get[triedCodes](ctx, s.Db, tables.TryCode, item.UserRef(userID), triedSK)
		if err != nil {
			return err
		}

		next := was

		next.Codes = slices.Clone(was.Codes)
		if err := change(&next); err != nil {
			return err
		}

		key, unchanged := item.Key(item.UserRef(userID), triedSK), dynamo.Unchanged(was, "codes")
		if len(next.Codes) == 0 {
			_, err = dynamo.Delete(ctx, s.Db, tables.TryCode, key, unchanged)
			return err
		}

		return dynamo.Update(ctx, s.Db, tables.TryCode, key, dynamo.Set(next, "codes", "since", "ttl"), unchanged)
	})
}
