package view

import "time"

// Live is the state of a match in play. It is no result: a goal may be taken back.
type Live struct {
	_ struct{} `schema:"LiveScore"`

	Home   int       `json:"home" doc:"The goals of the home team, also those of extra time, without penalties."`
	Away   int       `json:"away" doc:"The goals of the away team."`
	Minute *int      `json:"minute,omitempty" doc:"The minute of play, without added time; absent if it is not known."`
	Period string    `json:"period,omitempty" enum:"first-half,half-time,second-half,extra-time,shoot-out,interrupted" doc:"What is played; absent if it is not known. extra-time also has the breaks before it and in it."`
	AsOf   time.Time `json:"asOf" doc:"When the provider said so."`
}

// LiveRow is the state of a match in play as the database has it. All are nil if the match is not in play.
type LiveRow struct {
	LiveHome   *int       `db:"live_home"`
	LiveAway   *int       `db:"live_away"`
	LiveMinute *int       `db:"live_minute"`
	LivePeriod *string    `db:"live_period"`
	LiveAt     *time.Time `db:"live_at"`
}

// Live returns the state as members see it, nil if the match is not in play.
func (r LiveRow) Live() *Live {
	if r.LiveAt == nil {
		return nil
	}

	l := &Live{Home: *r.LiveHome, Away: *r.LiveAway, Minute: r.LiveMinute, AsOf: r.LiveAt.UTC()}
	if r.LivePeriod != nil {
		l.Period = *r.LivePeriod
	}

	return l
}
