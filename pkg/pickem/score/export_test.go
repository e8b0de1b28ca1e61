package score

import (
	"context"

	"matchday/pkg/pickem/item"
)

// Exported for the tests of the package.

var Sum = sum

// ScoreMember scores the prediction of one member.
func (s *Scorer) ScoreMember(ctx context.Context, on item.EventWithCard, userID string) error {
	_, _, err := s.score(ctx, on, userID)
	return err
}
