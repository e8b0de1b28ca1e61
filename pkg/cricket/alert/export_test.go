package alert

import (
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/push"
)

// The tests of the package use these unexported names.

type (
	ActivityAttributes = activityAttributes
	AlertRow           = alertRow
	BatchSizes         = batchSizes
	PrematchRow        = prematchRow
)

const (
	AlertLease    = alertLease
	MaxAlertAge   = maxAlertAge
	KeepAlerts    = keepAlerts
	KeepReminder  = follower.KeepClaims
	MaxAlertTries = maxAlertTries
	MaxKey        = maxKey
	ReminderKey   = reminderKey
	RunTimeout    = runTimeout
	StartKey      = event.FirstStart
	WholeMatch    = wholeMatch
)

var (
	StartsIn = startsIn
)

func (x *Alerter) Sender() **push.Sender { return &x.sender }

func (x *Alerter) Locks() **lock.Locks { return &x.locks }

func (x *Alerter) Channels() *activity.Channels { return &x.channels }

func (x *Alerter) Now() *func() time.Time { return &x.now }

func (x *Alerter) Environment() *string { return &x.environment }

func (x *Alerter) Sizes() *batchSizes { return &x.sizes }

func (x *Alerter) SendTimeout() *time.Duration { return &x.sendTimeout }

func (x Alert) Part() string { return x.part() }

func (x Alert) CollapseID() string { return x.collapseID() }
