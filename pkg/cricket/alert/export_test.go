package alert

import (
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/push"
)

// What the tests of the package may see.

type (
	ActivityAttributes = activityAttributes
	AlertRow           = alertRow
	Portions           = portions
	Reminded           = reminded
)

const (
	AlertLease    = alertLease
	AlertLife     = alertLife
	KeepAlerts    = keepAlerts
	KeepReminder  = keepReminder
	MaxAlertTries = maxAlertTries
	MaxKey        = maxKey
	ReminderKey   = reminderKey
	RunTime       = runTime
	StartKey      = startKey
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

func (x *Alerter) Portions() *portions { return &x.portions }

func (x *Alerter) Patience() *time.Duration { return &x.patience }

func (x Alert) Part() string { return x.part() }
