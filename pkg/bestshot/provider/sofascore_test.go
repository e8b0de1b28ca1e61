package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/bestshot/provider"
)

const base = "https://provider.test/api/v1"

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 6, 6, 12, 0, 30, 0, time.UTC) }

// answers are the answers of a provider, by their paths below base. Any other path has none.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := a[strings.TrimPrefix(r.URL.String(), base)]

	status := http.StatusOK
	if !ok {
		status, body = http.StatusNotFound, `{"error":{"code":404}}`
	}

	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// check fails the test unless a call fails with a message of its own, or returns what is
// wanted.
func check[T any](t *testing.T, want T, wrong string, got T, err error) {
	t.Helper()

	if wrong != "" {
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("got %+v, %v; want an error with %q", got, err, wrong)
		}

		return
	}

	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRoundsOfTheProvider: rounds of a season have their numbers as slugs, and those of a cup
// their names, with a prefix if two have one name.
func TestRoundsOfTheProvider(t *testing.T) {
	t.Parallel()

	second := []provider.Round{{Slug: "2", Label: "Round 2", Order: 1, Type: "season", Path: "/events/round/2"}}
	for name, c := range map[string]struct {
		rounds string
		want   []provider.Round
		wrong  string
	}{
		"of a season": {`{"round":1},{"round":2}`, []provider.Round{
			{Slug: "1", Label: "Round 1", Order: 0, Type: "season", Path: "/events/round/1"},
			{Slug: "2", Label: "Round 2", Order: 1, Type: "season", Path: "/events/round/2"},
		}, ""},
		"of a cup": {`{"round":5,"name":"Round of 16","slug":"round-of-16"},{"round":29,"slug":"final"}`, []provider.Round{
			{Slug: "round-of-16", Label: "Round of 16", Order: 0, Type: "knockout", Path: "/events/round/5/slug/round-of-16"},
			{Slug: "final", Label: "final", Order: 1, Type: "knockout", Path: "/events/round/29/slug/final"},
		}, ""},
		"two of one name": {`{"round":29,"name":"Final","slug":"final"},{"round":29,"name":"Final","slug":"final","prefix":"Play Off"}`,
			[]provider.Round{
				{Slug: "final", Label: "Final", Order: 0, Type: "knockout", Path: "/events/round/29/slug/final"},
				{Slug: "play-off-final", Label: "Play Off: Final", Order: 1, Type: "knockout", Path: "/events/round/29/slug/final/prefix/Play%20Off"},
			}, ""},
		"none":             {``, nil, "a season without rounds"},
		"without number":   {`{"round":0},{"round":2}`, second, "a round with the number 0"},
		"two of one slug":  {`{"round":2},{"round":2}`, nil, "two rounds with the slug 2"},
		"no Latin letters": {`{"round":5,"slug":"финал"},{"round":2}`, second, "the round 5 has no name"},
		"too long a name":  {`{"round":5,"slug":"` + strings.Repeat("x", 101) + `"},{"round":2}`, second, "the round 5 has no name"},
		"control characters and spaces": {`{"round":5,"name":" A\u0000\nB ","slug":"final"}`, []provider.Round{
			{Slug: "final", Label: "AB", Order: 0, Type: "knockout", Path: "/events/round/5/slug/final"},
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := provider.NewSofascore(answers{"/unique-tournament/17/season/61/rounds": `{"rounds":[` + c.rounds + `]}`}, base, now)
			got, err := p.Rounds(t.Context(), "17", "61")
			check(t, c.want, c.wrong, got, err)

			if diff := cmp.Diff(c.want, got); c.want != nil && diff != "" {
				t.Errorf("the others (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatusOfTheProvider: a match has ended if it was played and has a score; then its score
// has extra time and no penalties. Before that the score is the current one.
func TestStatusOfTheProvider(t *testing.T) {
	t.Parallel()

	const changes = `"changes":{"changes":["status.type"],"changeTimestamp":1780756500}`

	finished := time.Date(2026, 6, 6, 14, 35, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		status, home, away, more string
		want                     string // status, score and penalties
		finished                 time.Time
	}{
		"to be played": {`"notstarted","code":0`, ``, ``, ``, "open -:-", time.Time{}},
		"being played": {`"inprogress","code":7`, `"current":1`, `"current":0`, changes, "open 1:0", time.Time{}},
		"in a shoot-out": {`"inprogress","code":50`, `"current":5,"display":1,"penalties":4`, `"current":4,"display":1,"penalties":3`,
			changes, "open 1:1 (4:3)", time.Time{}},
		"after 90 minutes": {`"finished","code":100`, `"current":2,"display":2`, `"current":0,"display":0`, changes, "ended 2:0", finished},
		"after extra time": {`"finished","code":110`, `"current":2,"display":2`, `"current":1,"display":1`, changes, "ended 2:1", finished},
		"after penalties": {`"finished","code":120`, `"current":5,"display":1,"penalties":4`, `"current":4,"display":1,"penalties":3`,
			changes, "ended 1:1 (4:3)", finished},
		"walkover": {`"finished","code":92`, `"current":3,"display":3`, `"current":0,"display":0`, changes,
			"not-defined 3:0", time.Time{}},
		"finished, no home":    {`"finished","code":100`, `"current":2`, `"current":0,"display":0`, changes, "not-defined 2:0", time.Time{}},
		"finished, no away":    {`"finished","code":100`, `"current":2,"display":2`, ``, changes, "not-defined 2:-", time.Time{}},
		"postponed":            {`"postponed","code":60`, ``, ``, changes, "not-defined -:-", time.Time{}},
		"cancelled":            {`"canceled","code":70`, ``, ``, changes, "not-defined -:-", time.Time{}},
		"interrupted":          {`"interrupted","code":80`, `"current":1`, `"current":1`, changes, "not-defined 1:1", time.Time{}},
		"suspended":            {`"suspended","code":81`, ``, ``, changes, "not-defined -:-", time.Time{}},
		"to be continued":      {`"willcontinue","code":93`, ``, ``, changes, "not-defined -:-", time.Time{}},
		"of an unknown status": {`"strange","code":7`, ``, ``, changes, "unknown -:-", time.Time{}},
		"the end has no time":  {`"finished","code":100`, `"display":2`, `"display":0`, `"changes":{}`, "ended 2:0", time.Time{}},
		"the score has changed": {`"finished","code":100`, `"display":2`, `"display":0`,
			`"changes":{"changes":["homeScore.display"],"changeTimestamp":1780756500}`, "ended 2:0", time.Time{}},
		"the change has no time": {`"finished","code":100`, `"display":2`, `"display":0`,
			`"changes":{"changes":["status.type"]}`, "ended 2:0", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.more == "" {
				c.more = `"changes":{}`
			}

			event := fmt.Sprintf(`{"id":9001,"startTimestamp":1780750800,"status":{"type":%s},`+
				`"homeTeam":{"id":3,"name":"Home"},"awayTeam":{"id":4,"name":"Away"},`+
				`"homeScore":{%s},"awayScore":{%s},%s}`, c.status, c.home, c.away, c.more)
			p := provider.NewSofascore(answers{"/unique-tournament/17/season/61/events/round/1": `{"events":[` + event + `]}`}, base+"/", now)

			all, err := p.Matches(t.Context(), "17", "61", provider.Round{Path: "/events/round/1"})
			if err != nil || len(all) != 1 {
				t.Fatalf("got %+v, %v", all, err)
			}

			f := all[0]

			got := fmt.Sprintf("%s %s:%s", f.Status, goals(f.Home.Score), goals(f.Away.Score))
			if f.Home.Penalties != nil || f.Away.Penalties != nil {
				got += fmt.Sprintf(" (%s:%s)", goals(f.Home.Penalties), goals(f.Away.Penalties))
			}

			if got != c.want || !f.FinishedAt.Equal(c.finished) {
				t.Errorf("got %s, finished at %v; want %s, finished at %v", got, f.FinishedAt, c.want, c.finished)
			}

			kind, code, _ := strings.Cut(c.status, `,"code":`)
			status := strings.Trim(kind, `"`) + "/" + code

			f = provider.Fixture{
				ID:             f.ID,
				KickOff:        f.KickOff,
				ProviderStatus: f.ProviderStatus,
				Home:           provider.Side{Team: f.Home.Team},
				Away:           provider.Side{Team: f.Away.Team},
			}
			if diff := cmp.Diff(provider.Fixture{
				ID: "9001", KickOff: time.Date(2026, 6, 6, 13, 0, 0, 0, time.UTC), ProviderStatus: status,
				Home: provider.Side{Team: provider.Team{ID: "3", Name: "Home"}}, Away: provider.Side{Team: provider.Team{ID: "4", Name: "Away"}},
			}, f); diff != "" {
				t.Errorf("the match (-want +got):\n%s", diff)
			}
		})
	}
}

func goals(n *int) string {
	if n == nil {
		return "-"
	}

	return fmt.Sprint(*n)
}

// TestWrongMatchIsReported: a match with a missing or an impossible value, or one that comes twice, is
// left out of the answer and reported.
func TestWrongMatchIsReported(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ from, to, wrong string }{
		"complete":            {``, ``, ""},
		"the highest score":   {`"current":1`, `"current":99`, ""},
		"too high a score":    {`"current":1`, `"current":100`, "the match 9001 has a score of 100"},
		"a negative score":    {`"current":0`, `"current":-1`, "the match 9001 has a score of -1"},
		"no id":               {`"id":9001`, `"id":0`, "the match 0 lacks"},
		"no kick-off":         {`"startTimestamp":1780750800`, `"startTimestamp":0`, "the match 9001 lacks"},
		"no home team":        {`"id":3`, `"id":0`, "the match 9001 lacks"},
		"no away team":        {`"id":4`, `"id":0`, "the match 9001 lacks"},
		"against itself":      {`"id":4`, `"id":3`, "the match 9001 lacks"},
		"penalties too high":  {`"awayScore":{`, `"awayScore":{"penalties":100,`, "the match 9001 has a score of 100"},
		"penalties too low":   {`"homeScore":{`, `"homeScore":{"penalties":-1,`, "the match 9001 has a score of -1"},
		"an id of letters":    {`"id":9001`, `"id":"9001"`, "cannot unmarshal"},
		"in the year 10000":   {`"startTimestamp":1780750800`, `"startTimestamp":253402300800`, "the match 9001 lacks"},
		"in milliseconds":     {`"startTimestamp":1780750800`, `"startTimestamp":1780750800000`, "the match 9001 lacks"},
		"the id of the other": {`"id":9001`, `"id":9002`, "the match 9002 comes twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const event = `{"id":9001,"startTimestamp":1780750800,"status":{"type":"inprogress","code":7},` +
				`"homeTeam":{"id":3,"name":"Home"},"awayTeam":{"id":4,"name":"Away"},` +
				`"homeScore":{"current":1},"awayScore":{"current":0}}`

			p := provider.NewSofascore(answers{
				"/unique-tournament/17/season/61/events/round/1": `{"events":[` + strings.Replace(event, "9001", "9002", 1) + "," +
					strings.Replace(event, c.from, c.to, 1) + `]}`,
			}, base, now)
			all, err := p.Matches(t.Context(), "17", "61", provider.Round{Path: "/events/round/1"})
			check(t, 2, c.wrong, len(all), err)

			if len(all) == 0 || all[0].ID != "9002" || c.wrong != "" && len(all) != 1 {
				t.Errorf("the others are %+v", all)
			}
		})
	}
}

// TestStandingsOfTheProvider: one table has no group; several have their names, and so has one
// that is a group. A cup has no standings.
func TestStandingsOfTheProvider(t *testing.T) {
	t.Parallel()

	row := func(team, position int) string {
		return fmt.Sprintf(`{"team":{"id":%d,"name":"Team %[1]d"},"position":%d,"matches":6,`+
			`"wins":3,"draws":2,"losses":1,"scoresFor":9,"scoresAgainst":5,"points":11}`, team, position)
	}

	standing := func(team, position int, group *string) provider.Standing {
		return provider.Standing{
			Team: provider.Team{ID: fmt.Sprint(team), Name: fmt.Sprint("Team ", team)}, Group: group, Position: position,
			Points: 11, Games: 6, Wins: 3, Draws: 2, Losses: 1, For: 9, Against: 5,
		}
	}
	for name, c := range map[string]struct {
		tables string
		want   []provider.Standing
		wrong  string
	}{
		"one table": {`{"name":"League","rows":[` + row(3, 1) + `,` + row(4, 2) + `]}`,
			[]provider.Standing{standing(3, 1, nil), standing(4, 2, nil)}, ""},
		"two groups": {`{"name":"A","rows":[` + row(3, 1) + `]},{"name":"B","rows":[` + row(4, 1) + `]}`,
			[]provider.Standing{standing(3, 1, new("A")), standing(4, 1, new("B"))}, ""},
		"one group": {`{"name":"A","tournament":{"isGroup":true},"rows":[` + row(3, 1) + `]}`,
			[]provider.Standing{standing(3, 1, new("A"))}, ""},
		"without tables": {``, nil, "standings without a table"},
		"without a team": {`{"name":"A","rows":[` + row(0, 1) + `]}`, nil, "a team without id"},
		"a huge number":  {`{"name":"A","rows":[` + row(3, 10_000) + `]}`, nil, "the standings have 10000 for the team 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := provider.NewSofascore(answers{"/unique-tournament/17/season/61/standings/total": `{"standings":[` + c.tables + `]}`}, base, now)
			got, err := p.Standings(t.Context(), "17", "61")
			check(t, c.want, c.wrong, got, err)
		})
	}

	p := provider.NewSofascore(answers{}, base, now)
	if got, err := p.Standings(t.Context(), "17", "61"); err != nil || got != nil {
		t.Errorf("of a cup: %+v, %v", got, err)
	}

	if _, err := p.Rounds(t.Context(), "17", "61"); !errors.Is(err, provider.ErrAbsent) {
		t.Errorf("rounds of a season that does not exist: %v", err)
	}
}
