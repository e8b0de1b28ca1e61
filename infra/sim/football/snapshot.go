package football

import (
	"slices"
	"time"

	"matchday/infra/sim/openfootball"
)

// Snapshot is what the provider knows of a season at a time, for simulators of other APIs over the same
// events.
type Snapshot struct {
	Name, League string               // of the season, "Cup 2026", and of the tournament, "Cup"
	Rounds       []openfootball.Round // with events, in the order of their list
	Details      []Detail
	Tables       []openfootball.Table // they lag behind the events
	Updated      time.Time            // when the tables changed; zero if they never did
}

// Detail is an event at a time.
type Detail struct {
	Event
	Round      openfootball.Round
	Group      string // "Group A"; empty if the round has no groups
	Home, Away Team
	Winner     int // 1 for the home team, 2 for the away team, 3 for a draw; 0 while it is not known
	// When the second half and the current period began; zero before that.
	Second, Period time.Time
	// The goals of the first half, of both halves and of extra time, each while it is played too, and
	// those of a shoot-out after it. What is not known is nil.
	HalfTime, Normal, Extra, Penalties *openfootball.Goals
}

// Team is a team of an event.
type Team struct {
	ID   int64
	Name string
}

// Snapshot returns a season at a time, or false if there is no such season. The events are in the order
// of the matches.
func (s *Server) Snapshot(tournament, season int64, t time.Time) (Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	se := s.seasons[[2]int64{tournament, season}]
	if se == nil {
		return Snapshot{}, false
	}

	matches, updated := se.counted(t.Add(-se.lag))

	out := Snapshot{Name: se.Season.Name, League: se.name, Tables: openfootball.Tables(matches)}
	if !updated.IsZero() {
		out.Updated = updated.Add(se.lag)
	}

	for _, e := range se.events {
		if v, visible := e.at(t); visible {
			out.Details = append(out.Details, e.detail(v))
		}
	}

	for _, r := range se.rounds {
		if slices.ContainsFunc(out.Details, func(d Detail) bool { return d.Round == r }) {
			out.Rounds = append(out.Rounds, r)
		}
	}

	return out, true
}

// TeamID returns the id of a team of an event.
func (s *Server) TeamID(name string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.team(name).ID
}

// Badge returns the picture of a team, nil if there is no such team.
func (s *Server) Badge(team int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.badge(team)
}

// Logo returns the picture of a tournament, nil if there is no such tournament.
func (s *Server) Logo(tournament int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.logo(tournament)
}

// detail returns the event with a view.
func (e *event) detail(v view) Detail {
	d := Detail{
		Event:     e.report(v),
		Round:     e.match.Round,
		Group:     e.match.Group,
		Home:      Team{e.info.HomeTeam.ID, e.info.HomeTeam.Name},
		Away:      Team{e.info.AwayTeam.ID, e.info.AwayTeam.Name},
		Winner:    v.winner,
		Period:    v.period,
		HalfTime:  both(v.home.Period1, v.away.Period1),
		Normal:    both(v.home.NormalTime, v.away.NormalTime),
		Extra:     both(v.home.Overtime, v.away.Overtime),
		Penalties: both(v.home.Penalties, v.away.Penalties),
	}

	for _, o := range e.views {
		if o.at.After(v.at) {
			break
		}

		if o.status == secondHalf && d.Second.IsZero() {
			d.Second = o.period
		}
	}

	return d
}

func both(home, away *int) *openfootball.Goals {
	if home == nil || away == nil {
		return nil
	}

	return &openfootball.Goals{*home, *away}
}
