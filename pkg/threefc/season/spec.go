package season

import (
	"matchday/pkg/spec"
)

// Limits of seasons.
var (
	MaxSeasons  = spec.Limit{Name: "seasons per league", Max: 50, Code: "too_many_seasons"}
	MaxTeams    = spec.Limit{Name: "teams per season", Max: 12, Code: "too_many_teams"}
	MaxSessions = spec.Limit{Name: "sessions per season", Max: 120, Code: "too_many_sessions"}
	// MaxOfDay bounds the reminders that a user gets of a season on one day.
	MaxOfDay = spec.Limit{Name: "sessions per season and day", Max: 10, Code: "too_many_sessions_of_day"}
)
