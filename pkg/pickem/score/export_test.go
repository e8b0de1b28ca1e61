package score

import (
	"context"
	"time"

	"matchday/pkg/pickem/item"
)

// Exported for the tests of the package.

var Sum = sum

// ScoreMember scores the prediction of one member.
func (s *Scorer) ScoreMember(ctx context.Context, on item.EventWithCard, userID string) error {
	_, _, err := s.score(ctx, on, userID)
	return err
}

// Bound bounds the work of a message, the members of a page, and the rows that are ordered at once.
// Leagues, and tables of one league, are written one by one.
func (s *Scorer) Bound(budget time.Duration, page, group int) *Scorer {
	s.budget, s.pageSize, s.maxGroup, s.atOnce = budget, page, group, 1
	return s
}

// Write counts write units as a message does that has begun now.
func (s *Scorer) Write(ctx context.Context, units ...int) error {
	r := s.begin()
	for _, n := range units {
		if err := r.pace(ctx, n); err != nil {
			return err
		}
	}

	return nil
}
