package cricket

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/fault"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// Broadcast channels, which the seed does not know.
var (
	channelTable = spec.Table{Name: "cricket-channels", Key: spec.Key{Partition: "matchId", Sort: "view"}}

	channelsOfMatch = channelTable.On("Get channels of match", "PK=matchId", perChange, spec.Query)
	claimChannel    = channelTable.On("Claim channel", "PK=matchId, SK=view, absent or given up", "first subscriber of a match and perspective", spec.GetItem, spec.UpdateItem)
)

// channel is a row of cricket-channels: the broadcast channel of a match as one
// perspective sees it. A row without an id says that one is being made.
type channel struct {
	MatchID   string `dynamodbav:"matchId"`
	View      string `dynamodbav:"view"` // a team's id, or neutral
	ChannelID string `dynamodbav:"channelId,omitempty"`
	ClaimedAt int64  `dynamodbav:"claimedAt"` // epoch ms
}

// channels opens and closes broadcast channels.
type channels struct {
	db     dynamo.DB
	sender *push.Sender
	now    func() time.Time
}

// channelClaim is how long one may take to make a channel before another tries.
const channelClaim = 30 * time.Second

// errChannelBusy says that another is making the channel at this moment.
var errChannelBusy = fault.New(fault.Unavailable, "the channel is being opened: try again")

// open returns the channel of the match and perspective, and makes it if there
// is none. The row is claimed before Apple is asked, so that of two at once one
// makes it, and a channel that no row names is known to be nobody's.
func (c *channels) open(ctx context.Context, matchID, view string) (string, error) {
	row, ok, err := dynamo.Get[channel](ctx, c.db, claimChannel, matchID, view)
	if err != nil || ok && row.ChannelID != "" {
		return row.ChannelID, err
	}
	now := c.now().UnixMilli()
	mine := expression.Equal(expression.Name("claimedAt"), expression.Value(now))
	free := expression.AttributeNotExists(expression.Name("matchId")).
		Or(expression.AttributeNotExists(expression.Name("channelId")).
			And(expression.LessThan(expression.Name("claimedAt"), expression.Value(now-channelClaim.Milliseconds()))))
	key := dynamo.Key(claimChannel, matchID, view)
	err = dynamo.Update(ctx, c.db, claimChannel, key, expression.Set(expression.Name("claimedAt"), expression.Value(now)), free)
	if dynamo.IsRefused(err) {
		return "", errChannelBusy
	}
	if err != nil {
		return "", err
	}
	id, err := c.sender.CreateChannel(ctx, push.KeepNothing)
	if err != nil {
		return "", err
	}
	return id, dynamo.Update(ctx, c.db, claimChannel, key, expression.Set(expression.Name("channelId"), expression.Value(id)), mine)
}
