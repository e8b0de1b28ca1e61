package provider_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"matchday/pkg/bestshot/provider"
)

// slugs are those that the database takes.
var slugs = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkName reports a name that is not stored as it is.
func checkName(t *testing.T, name string) {
	t.Helper()

	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > 100 || strings.ContainsFunc(name, unicode.IsControl) {
		t.Errorf("the name %q", name)
	}
}

func checkID(t *testing.T, id string) {
	t.Helper()

	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n <= 0 {
		t.Errorf("the id %q", id)
	}
}

// FuzzRounds: the rounds of an answer have slugs that differ and that the database takes, and
// paths that can be asked for.
func FuzzRounds(f *testing.F) {
	for _, rounds := range []string{
		`{"round":1},{"round":2}`, `{"round":5,"name":"Round of 16","slug":"round-of-16"},{"round":29,"slug":"final"}`,
		`{"round":29,"name":"Final","slug":"final"},{"round":29,"name":"Final","slug":"final","prefix":"Play Off"}`,
		``, `{"round":0},{"round":2}`, `{"round":2},{"round":2}`, `{"round":5,"slug":"финал"}`,
		`{"round":5,"name":" A\u0000\nB ","slug":"final"}`,
		`{"round":5,"slug":"a/../b?c#d%2e","prefix":"\ud800"}`, `{"round":5,"slug":"1"},{"round":1}`, `null`, `{"round":1e9,"slug":"\u0000a"}`,
	} {
		f.Add(`{"rounds":[` + rounds + `]}`)
	}

	f.Fuzz(func(t *testing.T, body string) {
		p := provider.NewSofascore(answers{"/unique-tournament/17/season/61/rounds": body}, base, now)

		all, err := p.Rounds(t.Context(), "17", "61")
		if err == nil && len(all) == 0 {
			t.Error("no rounds, and no error")
		}

		checkRounds(t, all)

		for _, r := range all {
			if u, err := url.Parse(base + r.Path); err != nil || u.RawQuery != "" || u.Fragment != "" ||
				!strings.HasPrefix(r.Path, "/events/round/") {
				t.Errorf("the path %q: %v", r.Path, err)
			}
		}
	})
}

// checkRounds reports rounds that the database does not take.
func checkRounds(t *testing.T, all []provider.Round) {
	t.Helper()

	seen := map[string]bool{}

	for _, r := range all {
		if seen[r.Slug] || len(r.Slug) > 100 || !slugs.MatchString(r.Slug) || r.Label == "" || r.Type != "season" && r.Type != "knockout" {
			t.Errorf("got %+v", r)
		}

		seen[r.Slug] = true
		checkName(t, r.Label)
	}
}

// FuzzMatches: the matches of an answer come once each, with two teams, a kick-off that can be
// stored and an accepted score.
func FuzzMatches(f *testing.F) {
	const teams = `"homeTeam":{"id":1,"name":"Ann\u0000"},"awayTeam":{"id":2,"name":"Bob"}`
	for _, more := range []string{
		`"status":{"type":"notstarted","code":0}`, `"status":{"type":"inprogress","code":7},"homeScore":{"current":1},"awayScore":{"current":0}`,
		`"status":{"type":"finished","code":100},"homeScore":{"current":2,"display":2},"awayScore":{"current":0,"display":0},` +
			`"changes":{"changes":["status.type"],"changeTimestamp":1780756500}`,
		`"status":{"type":"finished","code":120},"homeScore":{"current":5,"display":1,"penalties":4},` +
			`"awayScore":{"current":4,"display":1,"penalties":3}`,
		`"status":{"type":"finished","code":92},"homeScore":{"display":3},"awayScore":{"display":0}`,
		`"status":{"type":"finished","code":100},"homeScore":{"current":2},"awayScore":{}`,
		`"status":{"type":"\u0000strange","code":-7}`, `"homeScore":{"current":-1},"awayScore":{"penalties":100}`,
		`"changes":{"changes":["status.type"],"changeTimestamp":1e18}`,
		`"status":{"type":"inprogress","code":42},"time":{"currentPeriodStartTimestamp":1780747200}`,
		`"status":{"type":"inprogress","code":6},"time":{"currentPeriodStartTimestamp":-1}`,
	} {
		f.Add(`{"events":[{"id":9001,"startTimestamp":1780747200,` + teams + `,` + more + `}]}`)
	}

	for _, events := range []string{
		``, `null`, `7`, `{"id":1}`, `{"id":1,"startTimestamp":253402300800,` + teams + `}`,
		`{"id":1,"startTimestamp":1,` + teams + `},{"id":1,"startTimestamp":1,` + teams + `}`,
		`{"id":1,"startTimestamp":1,"homeTeam":{"id":1},"awayTeam":{"id":1}}`, `{"id":1.5}`,
	} {
		f.Add(`{"events":[` + events + `]}`)
	}

	f.Fuzz(func(t *testing.T, body string) {
		p := provider.NewSofascore(answers{"/unique-tournament/17/season/61/events/round/5": body}, base, now)
		all, _ := p.Matches(t.Context(), "17", "61", provider.Round{Path: "/events/round/5"})
		checkMatches(t, all)
	})
}

// checkMatches reports matches that the database does not take.
func checkMatches(t *testing.T, all []provider.Fixture) {
	t.Helper()

	seen := map[string]bool{}

	for _, m := range all {
		checkID(t, m.ID)

		if seen[m.ID] || m.Home.ID == m.Away.ID {
			t.Errorf("got %+v", m)
		}

		if n := m.MinuteAt(now()); n < 0 || n > 200 || !m.InPlay && m.Period != "" {
			t.Errorf("the minute %d of %+v", n, m)
		}

		for _, at := range []time.Time{m.KickOff, m.PeriodStart, m.StartedAt, m.FinishedAt} {
			if !at.IsZero() && at.Year() < 1970 || at.Year() > 9999 || m.KickOff.IsZero() {
				t.Errorf("the time %v of %+v", at, m)
			}
		}

		if m.Minute < 0 || m.Minute > 200 || m.InPlay && m.Over {
			t.Errorf("got %+v", m)
		}

		seen[m.ID] = true
		checkName(t, m.ProviderStatus)

		switch m.Status {
		case provider.Open, provider.NotDefined, provider.Unknown:
		case provider.Ended:
			if m.Home.Score == nil || m.Away.Score == nil || !m.Over {
				t.Errorf("it has ended without a score: %+v", m)
			}
		default:
			t.Errorf("the status %q", m.Status)
		}

		for _, s := range []provider.Side{m.Home, m.Away} {
			checkID(t, s.ID)
			checkName(t, s.Name)

			for _, n := range []*int{s.Score, s.Penalties} {
				if n != nil && (*n < 0 || *n > 99) {
					t.Errorf("the score %d", *n)
				}
			}
		}
	}
}

// FuzzStandings: the rows of an answer have a team and accepted numbers.
func FuzzStandings(f *testing.F) {
	row := `{"team":{"id":1,"name":"Ann"},"position":1,"matches":2,"wins":1,"draws":1,"losses":0,"scoresFor":3,"scoresAgainst":1,"points":4}`
	for _, standings := range []string{
		`{"name":"Premier League","rows":[` + row + `]}`, `{"name":"Group A\u0000","tournament":{"isGroup":true},"rows":[` + row + `]}`,
		`{"name":"A","rows":[` + row + `]},{"name":"B","rows":[` + row + `]}`, ``, `null`, `{"rows":null}`, `{"rows":[{"team":{"id":0}}]}`,
		`{"rows":[{"team":{"id":1},"points":-10000}]}`, `{"rows":[{"team":{"id":1},"points":1e3}]}`,
	} {
		f.Add(`{"standings":[` + standings + `]}`)
	}

	f.Fuzz(func(t *testing.T, body string) {
		p := provider.NewSofascore(answers{"/unique-tournament/17/season/61/standings/total": body}, base, now)

		all, err := p.Standings(t.Context(), "17", "61")
		if err != nil && all != nil {
			t.Errorf("got %+v and %v", all, err)
		}

		checkStandings(t, all)
	})
}

// checkStandings reports rows that the database does not take.
func checkStandings(t *testing.T, all []provider.Standing) {
	t.Helper()

	for _, s := range all {
		checkID(t, s.Team.ID)
		checkName(t, s.Team.Name)

		if s.Group != nil {
			checkName(t, *s.Group)
		}

		for _, n := range []int{s.Position, s.Points, s.Games, s.Wins, s.Draws, s.Losses, s.For, s.Against} {
			if n < -9999 || n > 9999 {
				t.Errorf("got %+v", s)
			}
		}
	}
}

// FuzzRoundsOfAPIFootball: as FuzzRounds. The path is asked for as the provider has it.
func FuzzRoundsOfAPIFootball(f *testing.F) {
	for _, rounds := range []string{
		`"Regular Season - 1","Regular Season - 2"`, `"Round of 16","Quarter-finals","3rd Place Final","Final"`,
		`"Relegation Round - 3","Promotion Play-offs - Final"`, ``, `""`, `7`, `null`, `"Regular Season - 1","League Stage - 1"`,
		`"финал"`, `" Fi\u0000nal"`, `"\ud800 - 1"`, `" - 1"`, `" - Quarter-finals"`, `"a&round=b#c%2e - 001"`,
	} {
		f.Add(ok(`[` + rounds + `]`))
	}

	for _, body := range []string{`{"errors":{"token":"x"}}`, `{"errors":["x"]}`, `{"errors":[],"response":{}}`, `{}`, `[]`, ``} {
		f.Add(body)
	}

	f.Fuzz(func(t *testing.T, body string) {
		all, err := openAPIFootball(answers{apiRounds: body}).Rounds(t.Context(), "39", "2026")
		if err == nil && len(all) == 0 {
			t.Error("no rounds, and no error")
		}

		checkRounds(t, all)

		for _, r := range all {
			checkName(t, r.Path)

			in := &respond{status: 200, body: ok(`[]`)}
			if _, err := openAPIFootball(in).Matches(t.Context(), "39", "2026", r); err != nil || in.last.URL.Query().Get("round") != r.Path {
				t.Errorf("the round %q is asked for as %s: %v", r.Path, in.last.URL, err)
			}
		}
	})
}

// FuzzMatchesOfAPIFootball: as FuzzMatches.
func FuzzMatchesOfAPIFootball(f *testing.F) {
	const teams = `"teams":{"home":{"id":1,"name":"Ann\u0000"},"away":{"id":2,"name":"Bob"}}`

	for _, status := range []string{"NS", "TBD", "1H", "P", "INT", "FT", "PEN", "WO", "ABD", "\u0000X", ""} {
		f.Add(ok(`[{"fixture":{"id":9001,"timestamp":1780750800,"periods":{"first":1780750860},"status":{"short":"` + status +
			`","elapsed":45}},` + teams + `,"goals":{"home":1,"away":0},"score":{"penalty":{"home":4,"away":3}}}]`))
	}

	for _, rows := range []string{
		``, `null`, `7`, `{"fixture":{"id":1}}`,
		`{"fixture":{"id":1,"timestamp":1,"periods":{"first":1e18},"status":{"short":"FT"}},` + teams + `}`,
		`{"fixture":{"id":1,"timestamp":1,"status":{"short":"PEN"}},` + teams + `,"goals":{"home":-1,"away":100}}`,
		`{"fixture":{"id":1,"timestamp":253402300800},` + teams + `}`,
	} {
		f.Add(ok(`[` + rows + `]`))
	}

	f.Fuzz(func(t *testing.T, body string) {
		all, _ := openAPIFootball(answers{apiFixtures: body}).Matches(t.Context(), "39", "2026", firstRound)
		checkMatches(t, all)
	})
}

// FuzzStandingsOfAPIFootball: as FuzzStandings. No team comes twice.
func FuzzStandingsOfAPIFootball(f *testing.F) {
	row := `{"rank":1,"team":{"id":1,"name":"Ann"},"points":4,"group":"Group A\u0000",` +
		`"all":{"played":2,"win":1,"goals":{"for":3,"against":1}}}`
	for _, tables := range []string{
		``, `[]`, `[` + row + `]`, `[` + row + `],[` + row + `]`, `null`, `[null]`, `[{"team":{"id":0}}]`, `[{"team":{"id":1},"points":-10000}]`,
	} {
		f.Add(ok(`[{"league":{"standings":[` + tables + `]}}]`))
	}

	f.Add(ok(`[]`))
	f.Add(ok(`null`))

	f.Fuzz(func(t *testing.T, body string) {
		all, err := openAPIFootball(answers{apiStandings: body}).Standings(t.Context(), "39", "2026")
		if err != nil && all != nil {
			t.Errorf("got %+v and %v", all, err)
		}

		checkStandings(t, all)

		seen := map[string]bool{}
		for _, s := range all {
			if seen[s.Team.ID] {
				t.Errorf("the team %s comes twice", s.Team.ID)
			}

			seen[s.Team.ID] = true
		}
	})
}
