package alert

import (
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/words"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/push"
)

// The tests of the package use these unexported names.

type (
	ActivityAttributes = activity.Attributes
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
	Translated    = translated
)

func StartsIn(d time.Duration) string { return startsIn(d).In(words.English) }

func (x *Alerter) Sender() **push.Sender { return &x.sender }

func (x *Alerter) Locks() **lock.Locks { return &x.locks }

func (x *Alerter) Channels() *activity.Channels { return &x.channels }

func (x *Alerter) Now() *func() time.Time { return &x.now }

func (x *Alerter) Environment() *string { return &x.environment }

func (x *Alerter) Sizes() *batchSizes { return &x.sizes }

func (x *Alerter) SendTimeout() *time.Duration { return &x.sendTimeout }

func (x Alert) Part() string { return x.part() }

func (x Alert) CollapseID() string { return x.collapseID() }

func (x Alert) LanguageOf(p push.Phone) words.Language { return x.languageOf(p) }

func (x Alert) Banner(l words.Language, spoilerFree bool) push.Banner {
	return x.banner(l, spoilerFree)
}

func ForAndroid(a push.Alert) push.Alert { return forAndroid(a) }
