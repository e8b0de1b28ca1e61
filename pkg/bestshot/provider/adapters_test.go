package provider_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"matchday/infra/sim/apifootball"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/football"
	"matchday/infra/sim/openfootball"
	"matchday/pkg/bestshot/provider"
)

// This is the conformance suite: every adapter passes the same cases against its simulator. The
// simulators say the same of the same matches, so what the adapters return is the same, too.

// cup is a season with groups, and a league a season with one table.
const (
	cup = `{"name": "Cup 2026", "matches": [
		{"round": "Matchday 1", "date": "2026-08-14", "time": "18:00",
			"team1": "Ayr", "team2": "Ely", "group": "Group A", "score": {"ht": [1, 0], "ft": [2, 1]}},
		{"round": "Matchday 1", "date": "2026-08-14", "time": "20:00",
			"team1": "Rye", "team2": "Wem", "group": "Group B", "score": {"ft": [0, 0]}},
		{"round": "Matchday 2", "date": "2026-08-21", "time": "18:00",
			"team1": "Ely", "team2": "Ayr", "group": "Group A", "score": {"ft": [0, 3]}},
		{"round": "Matchday 2", "date": "2026-08-21",
			"team1": "Wem", "team2": "Rye", "group": "Group B", "score": {}, "status": "cancelled"},
		{"round": "Semi-finals", "date": "2026-08-24", "time": "18:00",
			"team1": "Rye", "team2": "Ely", "score": {"ht": [0, 0], "ft": [1, 1], "et": [3, 2]}},
		{"round": "Semi-finals", "date": "2026-08-24", "time": "20:00",
			"team1": "Ayr", "team2": "Wem", "score": {"ht": [0, 1], "ft": [1, 1], "et": [1, 1], "p": [4, 5]}},
		{"round": "Match for third place", "date": "2026-08-28", "time": "18:00",
			"team1": "Ely", "team2": "Ayr", "score": {"ft": [4, 2]}},
		{"round": "Final", "date": "2026-08-29", "time": "18:00",
			"team1": "Rye", "team2": "Wem", "score": {"ft": [1, 0]}},
		{"round": "Relegation, Quarter-finals", "date": "2026-08-30", "time": "16:00",
			"team1": "Ayr", "team2": "Ely", "score": {"ft": [1, 0]}}
	]}`
	league = `{"name": "League 2026", "matches": [
		{"round": "Matchday 1", "date": "2026-08-14", "time": "18:00",
			"team1": "Ayr", "team2": "Ely", "score": {"ft": [2, 1]}},
		{"round": "Matchday 2", "date": "2026-08-21", "time": "18:00",
			"team1": "Ely", "team2": "Ayr", "score": {"ft": [1, 1]}}
	]}`
)

// The matches of cup that the cases name.
const (
	plain    = 0
	goalless = 1
	void     = 3
	extra    = 4
	shootout = 5
)

// seasonEnd is a time at which everything has happened.
var seasonEnd = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// simulated answers the requests of an adapter.
type simulated struct{ http.Handler }

func (s simulated) RoundTrip(r *http.Request) (*http.Response, error) {
	out := httptest.NewRecorder()
	s.ServeHTTP(out, r)

	return out.Result(), nil
}

// adapters open every adapter with its simulator.
var adapters = map[string]func(*clock.Clock, *football.Server) provider.Provider{
	"sofascore": func(c *clock.Clock, events *football.Server) provider.Provider {
		return provider.NewSofascore(simulated{events}, "http://sofascore.test/api/v1", c.Now)
	},
	"api-football": func(c *clock.Clock, events *football.Server) provider.Provider {
		s := simulated{apifootball.New(c, events, "secret", apifootball.Plan{Minute: 10, Day: 100})}
		return provider.NewAPIFootball(s, "http://api.test", "http://media.test/football", key, c.Now)
	},
}

// at returns the simulated events of a season at a time, with faults by match.
func at(t *testing.T, now time.Time, season string, faults map[int][]football.Kind) (*clock.Clock, *football.Server) {
	t.Helper()

	s, err := openfootball.Parse([]byte(season))
	if err != nil {
		t.Fatal(err)
	}

	c := clock.New(now, clock.Free)
	t.Cleanup(c.Stop)

	events := football.New(c, 1)
	if err := events.Add(football.Tournament{ID: 17, SeasonID: 61, Season: s, Faults: faults}); err != nil {
		t.Fatal(err)
	}

	return c, events
}

// changes returns the times at which something changes in a season, in order.
func changes(events *football.Server) []time.Time {
	all := []time.Time{time.Date(2026, 8, 13, 0, 0, 0, 0, time.UTC)}

	for _, e := range events.Finals(17, 61) {
		for !e.Changed.IsZero() {
			all = append(all, e.Changed)
			e, _ = events.At(e.ID, e.Changed.Add(-time.Nanosecond))
		}
	}

	slices.SortFunc(all, time.Time.Compare)

	return all
}

// when returns the first time at which an event of a match is so, and the event.
func when(t *testing.T, events *football.Server, match int, is func(football.Detail) bool) (time.Time, football.Detail) {
	t.Helper()

	for _, now := range changes(events) {
		all, _ := events.Snapshot(17, 61, now)
		for _, d := range all.Details {
			if d.Match == match && is(d) {
				return now, d
			}
		}
	}

	t.Fatalf("no event of the match %d is so", match)

	return time.Time{}, football.Detail{}
}

func code(n int) func(football.Detail) bool {
	return func(d football.Detail) bool { return d.Code == n }
}

// shows is a code with a score.
func shows(code, home, away int) func(football.Detail) bool {
	return func(d football.Detail) bool {
		return d.Code == code && d.Scored && d.Score == openfootball.Goals{home, away}
	}
}

// moved is an event to be played that has another kick-off than at first.
func moved(d football.Detail) bool { return d.Code == 0 && !d.Changed.IsZero() }

// describe returns what the room knows of a match.
func describe(f provider.Fixture) string {
	text := fmt.Sprintf("%s %s:%s", f.Status, goals(f.Home.Score), goals(f.Away.Score))
	if f.Home.Penalties != nil || f.Away.Penalties != nil {
		text += fmt.Sprintf(" (%s:%s)", goals(f.Home.Penalties), goals(f.Away.Penalties))
	}

	if f.InPlay {
		text += " in play"
	}

	if f.Over {
		text += " over"
	}

	return text
}

// matches returns all matches of a season, round after round.
func matches(t *testing.T, p provider.Provider) (all []provider.Fixture) {
	t.Helper()

	rounds, err := p.Rounds(t.Context(), "17", "61")
	if err != nil {
		t.Fatal(err)
	}

	for _, r := range rounds {
		of, err := p.Matches(t.Context(), "17", "61", r)
		if err != nil {
			t.Fatal(err)
		}

		all = append(all, of...)
	}

	return all
}

// TestAdapters: what a match is at each stage, and with each thing that happens to it.
func TestAdapters(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		match int
		fault football.Kind
		is    func(football.Detail) bool
		want  string
	}{
		"to be played":         {plain, "", code(0), "open -:-"},
		"in the first half":    {plain, "", code(6), "open 0:0 in play"},
		"after its first goal": {plain, "", shows(6, 1, 0), "open 1:0 in play"},
		"at half time":         {plain, "", code(31), "open 1:0 in play"},
		"in the second half":   {plain, "", code(7), "open 1:0 in play"},
		"after 90 minutes":     {plain, "", code(100), "ended 2:1 over"},
		"in extra time":        {extra, "", code(41), "open 1:1 in play"},
		"after extra time":     {extra, "", code(110), "ended 3:2 over"},
		"in a shoot-out":       {shootout, "", code(50), "open 1:1 in play"},
		"after a shoot-out":    {shootout, "", code(120), "ended 1:1 (4:5) over"},
		"without a date":       {plain, football.Postponed, code(60), "not-defined -:-"},
		"rescheduled":          {plain, football.Postponed, moved, "open -:-"},
		"moved by hours":       {plain, football.MovedHours, moved, "open -:-"},
		"cancelled":            {void, "", code(70), "not-defined -:-"},
		"interrupted":          {goalless, football.Interrupted, code(80), "not-defined 0:0 in play"},
		"resumed":              {goalless, football.Interrupted, code(100), "ended 0:0 over"},
		"a walkover":           {plain, football.Walkover, code(91), "not-defined -:- over"},
		"without a score yet":  {goalless, football.LateScore, shows(100, 0, 0), "ended 0:0 over"},
		"with a wrong score":   {shootout, football.Corrected, code(120), "ended 2:2 (4:5) over"},
		"corrected":            {shootout, football.Corrected, shows(120, 1, 1), "ended 1:1 (4:5) over"},
		"open again": {plain, football.Reopened, func(d football.Detail) bool {
			return d.Code == 7 && d.Score == openfootball.Goals{2, 1} && d.Changed.Sub(d.Second) > 47*time.Minute
		}, "open 2:1 in play"},
	} {
		for adapter, open := range adapters {
			t.Run(name+"/"+adapter, func(t *testing.T) {
				t.Parallel()

				faults := map[int][]football.Kind{}
				if c.fault != "" {
					faults[c.match] = []football.Kind{c.fault}
				}

				_, events := at(t, seasonEnd, cup, faults)
				now, d := when(t, events, c.match, c.is)
				clock, events := at(t, now, cup, faults)

				all := matches(t, open(clock, events))

				i := slices.IndexFunc(all, func(f provider.Fixture) bool { return f.ID == fmt.Sprint(d.ID) })
				if i < 0 {
					t.Fatalf("the match %d is not among %+v", d.ID, all)
				}

				f := all[i]
				if got := describe(f); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}

				if !f.KickOff.Equal(d.KickOff) || f.Home.Name != d.Home.Name || f.Away.Name != d.Away.Name ||
					f.Home.ID != fmt.Sprint(d.Home.ID) || f.Away.ID != fmt.Sprint(d.Away.ID) {
					t.Errorf("the match is %+v, want %+v", f, d)
				}

				if (d.Code == 6 || !f.StartedAt.IsZero()) && !f.StartedAt.Equal(d.Began) {
					t.Errorf("it began at %v, want %v", f.StartedAt, d.Began)
				}
			})
		}
	}
}

// TestAdaptersAgree: in a season in which much goes wrong the adapters return the same matches whenever
// something changes.
func TestAdaptersAgree(t *testing.T) {
	t.Parallel()

	faults := map[int][]football.Kind{
		0: {football.Postponed, football.LateScore},
		1: {football.Replaced, football.Interrupted},
		2: {football.MovedMinutes, football.Corrected, football.Reopened},
		4: {football.MovedDay, football.Overwritten, football.Corrected},
		5: {football.LateScore, football.Corrected},
		6: {football.Walkover},
		7: {football.Interrupted, football.Reopened},
	}

	_, events := at(t, seasonEnd, cup, faults)

	times := changes(events)
	if len(times) < 60 {
		t.Fatalf("only %d changes", len(times))
	}

	for _, now := range times {
		seen := map[string][]string{}

		for adapter, open := range adapters {
			clock, events := at(t, now, cup, faults)
			for _, f := range matches(t, open(clock, events)) {
				if f.Status == provider.NotDefined && f.Over { // what is shown of it does not count
					f.Home, f.Away = provider.Side{Team: f.Home.Team}, provider.Side{Team: f.Away.Team}
				}

				seen[adapter] = append(seen[adapter], fmt.Sprint(f.ID, f.KickOff, f.Home.Team, f.Away.Team, describe(f)))
			}
		}

		if diff := gocmp.Diff(seen["sofascore"], seen["api-football"]); diff != "" || len(seen["sofascore"]) == 0 {
			t.Fatalf("at %v (-sofascore +api-football):\n%s", now, diff)
		}
	}
}

// TestAdaptersListRounds: both providers have the same slugs for the rounds of leagues and cups.
func TestAdaptersListRounds(t *testing.T) {
	t.Parallel()

	want := []string{"1 season 0", "2 season 1", "semifinals knockout 2", "match-for-3rd-place knockout 3", "final knockout 4",
		"relegation-quarterfinals knockout 5"}

	for adapter, open := range adapters {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()

			all, err := open(at(t, seasonEnd, cup, nil)).Rounds(t.Context(), "17", "61")
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, r := range all {
				got = append(got, fmt.Sprint(r.Slug, " ", r.Type, " ", r.Order))
			}

			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAdaptersReadStandings: the rows of one table have no group, and those of several have its name.
func TestAdaptersReadStandings(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		season string
		want   []string
	}{
		"one table": {league, []string{"- 1 Ayr 4 2 1 1 0 3:2", "- 2 Ely 1 2 0 1 1 2:3"}},
		"groups": {cup, []string{
			"Group A 1 Ayr 6 2 2 0 0 5:1", "Group A 2 Ely 0 2 0 0 2 1:5", "Group B 1 Rye 1 1 0 1 0 0:0", "Group B 2 Wem 1 1 0 1 0 0:0",
		}},
	} {
		for adapter, open := range adapters {
			t.Run(name+"/"+adapter, func(t *testing.T) {
				t.Parallel()

				all, err := open(at(t, seasonEnd, c.season, nil)).Standings(t.Context(), "17", "61")
				if err != nil {
					t.Fatal(err)
				}

				var got []string

				for _, s := range all {
					group := "-"
					if s.Group != nil {
						group = *s.Group
					}

					got = append(got, fmt.Sprintf("%s %d %s %d %d %d %d %d %d:%d", group, s.Position, s.Team.Name,
						s.Points, s.Games, s.Wins, s.Draws, s.Losses, s.For, s.Against))
				}

				if diff := gocmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestAdaptersFetchImages: the images of a team and a tournament, and ErrAbsent for those of others.
func TestAdaptersFetchImages(t *testing.T) {
	t.Parallel()

	for adapter, open := range adapters {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()

			clock, events := at(t, seasonEnd, cup, nil)
			p, team := open(clock, events), fmt.Sprint(events.TeamID("Ayr"))

			badge, err := p.Badge(t.Context(), team)
			if err != nil || !slices.Equal(badge, football.Shield("team "+team)) {
				t.Errorf("the badge has %d bytes: %v", len(badge), err)
			}

			logo, err := p.Logo(t.Context(), "17")
			if err != nil || !slices.Equal(logo, football.Shield("tournament 17")) {
				t.Errorf("the logo has %d bytes: %v", len(logo), err)
			}

			if _, err := p.Badge(t.Context(), "1"); !errors.Is(err, provider.ErrAbsent) {
				t.Errorf("the badge of no team: %v", err)
			}

			if _, err := p.Logo(t.Context(), "18"); !errors.Is(err, provider.ErrAbsent) {
				t.Errorf("the logo of no tournament: %v", err)
			}
		})
	}
}

// TestAdaptersFail: an answer that is refused or damaged is an error without data, and so are the rounds
// of a season that the provider does not have. A refusal because of too many requests says until when.
func TestAdaptersFail(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		fault football.Kind
		wrong string
	}{
		{"", ""}, // of a season that does not exist
		{football.Forbidden, ""},
		{football.TooManyRequests, "takes no request until 2026-10-01T12:0"},
		{football.ServerError, "answers 500"},
		{football.Truncated, "other JSON than expected"},
		{football.HTML, "other JSON than expected"},
		{football.TooLarge, "more than 4194304 bytes"},
	} {
		for adapter, open := range adapters {
			t.Run(cmp.Or(string(c.fault), "404")+"/"+adapter, func(t *testing.T) {
				t.Parallel()

				clock, events := at(t, seasonEnd, cup, nil)
				p := open(clock, events)

				rounds, err := p.Rounds(t.Context(), "17", "61")
				if err != nil {
					t.Fatal(err)
				}

				season := "62"
				if c.fault != "" {
					season = "61"

					if err := events.Misbehave(map[football.Kind]float64{c.fault: 1}); err != nil {
						t.Fatal(err)
					}
				}

				check := func(data int, err error) {
					t.Helper()

					if err == nil || data > 0 || !strings.Contains(err.Error(), c.wrong) {
						t.Errorf("got %d, %v; want an error with %q", data, err, c.wrong)
					}

					l, ok := errors.AsType[*provider.LimitedError](err)
					if ok != (c.fault == football.TooManyRequests) ||
						ok && (!l.Until.After(seasonEnd) || l.Until.After(seasonEnd.Add(time.Minute))) {
						t.Errorf("the error is %v", err)
					}
				}

				all, err := p.Rounds(t.Context(), "17", season)
				check(len(all), err)

				if c.fault == "" {
					return
				}

				fixtures, err := p.Matches(t.Context(), "17", season, rounds[0])
				check(len(fixtures), err)

				standings, err := p.Standings(t.Context(), "17", season)
				check(len(standings), err)
			})
		}
	}
}

// TestAdaptersGiveUp: a request ends with its context.
func TestAdaptersGiveUp(t *testing.T) {
	t.Parallel()

	for adapter, open := range adapters {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()

			clock, events := at(t, seasonEnd, cup, nil)
			if err := events.Misbehave(map[football.Kind]float64{football.Timeout: 1}); err != nil {
				t.Fatal(err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			cancel()

			if all, err := open(clock, events).Rounds(ctx, "17", "61"); err == nil {
				t.Errorf("got %+v", all)
			}
		})
	}
}
