package activity

import (
	"time"

	"matchday/pkg/kit/push"
)

// What the tests of the package may see.

const (
	ChannelClaim  = channelClaim
	CloseAfter    = closeAfter
	CloseChannels = closeChannels
	DismissAfter  = dismissAfter
	KeptEnd       = keptEnd
	KeptPause     = keptPause
	MaxSwept      = maxSwept
	MaxTries      = maxTries
	PerMessage    = perMessage
	PerPage       = perPage
	RetryBatch    = retryBatch
	RetryDelay    = retryDelay
	SweepAfter    = sweepAfter
	TellChannels  = tellChannels
)

func (x *Activities) Channels() *Channels { return &x.channels }

func (x *Pusher) Sender() **push.Sender { return &x.sender }

func (x *Pusher) Patience() *time.Duration { return &x.patience }
