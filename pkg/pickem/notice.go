package pickem

import (
	"context"
	"slices"
	"time"

	"matchday/pkg/kit/queue"
)

// Notice asks for a notification to the phones of up to maxUsers members, each of
// whom gets it once.
type Notice struct {
	ID      string    `json:"id"` // of what is told: a member is told once for each
	Title   string    `json:"title"`
	Body    string    `json:"body"`
	EventID string    `json:"eventId"` // what a tap opens
	Until   time.Time `json:"until"`   // when it is of no use any more
	UserIDs []string  `json:"userIds"`
}

// maxUsers is how many members one message is for.
const maxUsers = 100

// sendNotices has members told, in messages of maxUsers.
func sendNotices(ctx context.Context, q queue.Sender, n Notice, userIDs []string) error {
	for users := range slices.Chunk(userIDs, maxUsers) {
		n.UserIDs = users
		if err := q.Send(ctx, noticeQueue, n, 0); err != nil {
			return err
		}
	}
	return nil
}
