package activity

import (
	"time"

	"matchday/pkg/kit/push"
)

// The tests of the package use these unexported names.

const (
	ChannelClaim  = channelClaim
	CloseChannels = closeChannels
	DismissAfter  = dismissAfter
	MaxSwept      = maxSwept
	MaxTries      = maxTries
	PerMessage    = perMessage
	PerPage       = perPage
	RetryBatch    = retryBatch
	RetryDelay    = retryDelay
	SweepAfter    = sweepAfter
	BroadcastEnd  = broadcastEnd
)

var SenderOnce = senderOnce

var EndAgainAfter = endAgainAfter[:]

// CloseAfter is the time from the end of a match to the deletion of its channels.
const CloseAfter = 30 * time.Minute

var MaxActivities = maxActivities.Max

func (x *Activities) Channels() *Channels { return &x.channels }

func (x *Pusher) Sender() **push.Sender { return &x.sender }

func (x *Pusher) Environment() *string { return &x.environment }

func (x *Pusher) PerMessage() *int { return &x.perMessage }

func (x *Pusher) PageTimeout() *time.Duration { return &x.pageTimeout }
