package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/chaos"
	"matchday/infra/sim/sportmonks"
	"matchday/pkg/cricket/score/event"
)

// A season has some fixtures an evening, in one league. All fixtures of an evening begin with it.
const (
	perEvening = 8
	evening    = 24 * time.Hour // from one to the next
	notice     = evening + 5*time.Minute
)

// fixture is a match of the season. Of the habits it has at most one.
type fixture struct {
	paper
	evening int
	habit   *sportmonks.Habit
	off     bool // it is called off for good
}

// followed returns the id under which users follow the fixture.
func (f fixture) followed() string {
	if f.habit != nil && f.habit.OldID != 0 {
		return local.ID(f.habit.OldID)
	}

	return local.ID(f.id)
}

// member is a user of the season: a phone on which pushes start the activities.
type member struct {
	local.Phone
	team    string   // whose matches the user is told of, "" for all of the league
	follows []string // teams and leagues, as kind/id; nil for a user who follows each fixture
}

// season is one run of a season.
type season struct {
	*replay.World
	world    *local.World
	fixtures []fixture
	members  []member
	problems []string

	mu    sync.Mutex
	begun map[string]int // activities that pushes have started, by push-to-start token and match
}

// fixtures returns the first n fixtures of the season. Every eighth is moved, and from the second evening on one is
// listed again under another id, and one is called off.
func fixtures(n int) (all []fixture) {
	for i := range n {
		home, away := i%perEvening, (i+1+i/perEvening)%perEvening
		if home == away {
			away = (away + 1) % perEvening
		}

		f := fixture{paper: paper{
			id: int64(800_001 + i), local: fmt.Sprint("Club ", home+1), visitor: fmt.Sprint("Club ", away+1), overs: 1, number: i + 1,
		}, evening: i / perEvening}

		switch {
		case f.evening > 0 && i%perEvening == 3: // a day earlier than announced
			f.habit = &sportmonks.Habit{Kind: sportmonks.CalledOff, Notice: notice, Moved: -evening}
		case i == perEvening+4:
			f.habit = &sportmonks.Habit{Kind: sportmonks.NewID, OldID: f.id - 100_000, Status: "Postp.", Notice: notice, Moved: -evening}
		case i == perEvening+5: // it would begin after the season
			f.off = true
			f.habit = &sportmonks.Habit{Kind: sportmonks.CalledOff, Notice: 1000*time.Hour + notice, For: 3000 * time.Hour, Moved: 1000 * time.Hour}
		}

		all = append(all, f)
	}

	return all
}

// RunSeason plays the first n fixtures of a season, and compares the alerts and activities of four users: of one
// who follows a team, of one who follows the league, of one who follows both, and of one who follows each fixture. It
// returns replay.ErrFailed if one differs.
func RunSeason(ctx context.Context, cfg replay.Config, n int) error {
	s := &season{World: replay.NewWorld(cfg), world: local.New(), fixtures: fixtures(n), begun: map[string]int{}}
	first := s.fixtures[0].script()
	team, league := "team/"+local.ID(first.Local.ID), "league/"+local.ID(first.League.ID)

	for _, m := range []member{
		{team: s.fixtures[0].local, follows: []string{team}}, {follows: []string{league}}, {follows: []string{league, team}}, {},
	} {
		m.Phone = local.NewStarter(fmt.Sprint("user ", len(s.members)+1), s.fixtures[0].followed(), "")
		s.members = append(s.members, m)
	}

	rooms := []fleet.Room{s.world.Room()}
	if s.Trial = replay.NewTrial(cfg, rooms, habitOdds, regexp.MustCompile(`\b\B`)); s.Trial != nil {
		s.Trial.Faults.Messages[chaos.Redelivered] = 0.005
	}

	awake := func(at time.Time) bool {
		into := (at.Sub(start) + evening) % evening
		return into < 6*time.Minute || into >= evening-16*time.Minute
	}
	if err := s.Play(ctx, start.Add(-30*time.Minute), fleet.Config{Rooms: rooms, Started: s.started, Expiry: 24 * time.Hour}, awake,
		s.play); err != nil {
		return err
	}

	for _, m := range s.members {
		s.compare(m)
	}

	for _, p := range s.problems[:min(len(s.problems), 20)] {
		s.Printf("      %s\n", p)
	}

	return s.Summarize(len(s.problems) == 0, "a season of %d fixtures and %d users, in %s", n, len(s.members), s.Elapsed())
}

// started counts an activity that a push has started.
func (s *season) started(a apns.Start) {
	var of struct{ MatchID string }

	_ = json.Unmarshal(a.Attributes, &of) // one without a match is counted as of none

	s.mu.Lock()
	defer s.mu.Unlock()

	s.begun[a.Token+of.MatchID]++
}

func (s *season) play(ctx context.Context) error {
	for _, f := range s.fixtures {
		pace := sportmonks.Pace{Every: time.Second, Phase: slot / 2, Lead: time.Minute, Linger: linger}
		if f.habit != nil {
			pace.Habits = []sportmonks.Habit{*f.habit}
		}

		at := start.Add(time.Duration(f.evening) * evening)
		if f.off {
			at = at.Add(f.habit.Moved)
		}

		s.world.Provider.Play(f.script(), at, pace)
	}

	if err := s.world.Sync(ctx); err != nil {
		return err
	}

	for _, m := range s.members {
		if err := s.world.Enroll(ctx, m.Phone); err != nil {
			return err
		}

		for _, subject := range m.follows {
			err := s.world.Call(ctx, m.Owner, http.MethodPut, "/cricket/user/subscriptions/"+subject, map[string]string{}, nil)
			if err != nil {
				return err
			}
		}
	}

	s.Trial.Start()

	last := s.fixtures[len(s.fixtures)-1].evening
	for e := -1; e <= last; e++ { // the day before the evening, the fixtures are followed
		if e >= 0 {
			if err := s.Until(ctx, start.Add(time.Duration(e)*evening-20*time.Minute)); err != nil {
				return err
			}
		}

		for _, f := range s.fixtures {
			if f.evening == e+1 {
				if err := s.follow(ctx, f); err != nil {
					return err
				}
			}
		}
	}

	return s.Until(ctx, start.Add(time.Duration(last)*evening+3*time.Hour))
}

// wants reports whether a user follows a fixture.
func (m member) wants(f fixture) bool {
	return m.team == "" || m.team == f.local || m.team == f.visitor
}

// follow makes the users followers of a fixture who follow nothing else.
func (s *season) follow(ctx context.Context, f fixture) error {
	for _, m := range s.members {
		if m.follows != nil {
			continue
		}

		_, _, err := s.Try(ctx, func() error {
			return s.world.Call(ctx, m.Owner, http.MethodPost, "/cricket/user/follow/"+f.followed(), map[string]string{}, nil)
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// compare compares what a user was told of each fixture, and how many activities pushes have started: one for its
// day of play.
func (s *season) compare(m member) {
	told := map[string][]string{}

	for _, a := range s.world.Alerts(m.Phone) {
		var is alert
		if json.Unmarshal(a.Payload, &is) == nil && slices.Contains([]event.Kind{event.Start, event.Result}, is.Kind) &&
			!strings.HasPrefix(a.Body, "Starts in ") {
			told[is.MatchID] = append(told[is.MatchID], a.Title)
		}
	}

	for _, f := range s.fixtures {
		title := f.local + " v " + f.visitor
		id, want, begun := local.ID(f.id), []string{f.local + " won by 1 run"}, 1

		switch {
		case f.off:
			want, begun = []string{"Match cancelled"}, 0
		case f.habit != nil: // it was moved
			want = append([]string{title}, want...)
		}

		if !m.wants(f) {
			want, begun = nil, 0
		}

		got, started := told[id], s.begun[m.Starter+id]
		if i := slices.Index(got, "Play has begun"); i >= 0 && s.Trial != nil {
			// Its push could not start the activity, or lost its answer: a notification follows.
			got, started = slices.Delete(slices.Clone(got), i, i+1), begun
		}

		if !slices.Equal(got, want) {
			s.problems = append(s.problems, fmt.Sprintf("%s was told %q of fixture %d, want %q", m.Owner, got, f.number, want))
		}

		if started != begun {
			s.problems = append(s.problems, fmt.Sprintf("pushes have started %d activities of fixture %d for %s, want %d",
				started, f.number, m.Owner, begun))
		}
	}
}
