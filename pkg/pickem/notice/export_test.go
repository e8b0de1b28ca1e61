package notice

import (
	"time"

	"matchday/pkg/kit/device"
	"matchday/pkg/kit/push"
)

// What the tests of this package look at beside what it exports.

const DayAhead = dayAhead
const HoursAhead = hoursAhead

var InWords = inWords

const KeepNotices = keepNotices

const NoticeDone = noticeDone

var NoticeRef = noticeRef

type Delivery = delivery

// Check is check.
func (n Notice) Check() error { return n.check() }

// SetApple replaces the client of Apple.
func (s *Notifier) SetApple(sender *push.Sender) { s.sender = device.NewSender(sender, nil, s.now) }

// SetPatience sets the time for one message.
func (s *Notifier) SetPatience(d time.Duration) { s.phones.Limit = d }

// Bound bounds a run of the job, and the members of a page.
func (s *Reminder) Bound(budget time.Duration, page int32) *Reminder {
	s.budget, s.page = budget, page
	return s
}
