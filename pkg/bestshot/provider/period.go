package provider

import "time"

// Period is a part of a match.
type Period string

// The periods.
const (
	FirstHalf   Period = "first-half"
	HalfTime    Period = "half-time"
	SecondHalf  Period = "second-half"
	ExtraTime   Period = "extra-time" // with the breaks before it and in it
	ShootOut    Period = "shoot-out"
	Interrupted Period = "interrupted"
)

// span is the first and the last minute of a period.
type span struct{ first, last int }

// secondExtra is the second half of extra time. MinuteAt distinguishes it by the status.
var (
	minutes     = map[Period]span{FirstHalf: {1, 45}, HalfTime: {45, 45}, SecondHalf: {46, 90}, ExtraTime: {91, 105}, ShootOut: {120, 120}}
	secondExtra = span{106, 120}
)

// MinuteAt returns the minute of play at a time, without added time; 0 if it is not known. It is the
// provider's minute, or else counted from the start of the period.
func (f Fixture) MinuteAt(at time.Time) int {
	s, ok := minutes[f.Period]

	switch {
	case f.Minute > 0:
		return f.Minute
	case !ok:
		return 0
	case s.first == s.last: // nothing to count
		return s.last
	case f.PeriodStart.IsZero() || at.Before(f.PeriodStart):
		return 0
	}

	if f.ProviderStatus == secondExtraStatus {
		s = secondExtra
	}

	return min(s.first+int(min(at.Sub(f.PeriodStart)/time.Minute, maxMinute)), s.last)
}
