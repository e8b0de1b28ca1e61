package provider_test

import (
	"context"
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

// What the adapter asks for of the season 2026 of the league 39.
const (
	apiRounds    = "/fixtures/rounds?league=39&season=2026"
	apiFixtures  = "/fixtures?league=39&round=Regular+Season+-+1&season=2026"
	apiStandings = "/standings?league=39&season=2026"
)

// ok wraps a response of API-Football.
func ok(response string) string {
	return `{"get":"x","parameters":{},"errors":[],"results":1,"paging":{"current":1,"total":1},"response":` + response + `}`
}

// key returns the key.
func key(context.Context) (string, error) { return "secret", nil }

// openAPIFootball returns the adapter whose provider answers so.
func openAPIFootball(t http.RoundTripper) *provider.APIFootball {
	return provider.NewAPIFootball(t, base+"/", base+"/media", key, now)
}

var firstRound = provider.Round{Path: "Regular Season - 1"}

// respond answers every request, and keeps the last.
type respond struct {
	status int
	header http.Header
	body   string
	last   *http.Request
}

func (r *respond) RoundTrip(in *http.Request) (*http.Response, error) {
	r.last = in

	return &http.Response{StatusCode: r.status, Header: r.header, Body: io.NopCloser(strings.NewReader(r.body)), Request: in}, nil
}

// TestStatusOfAPIFootball: what each status means. The score counts extra time and no shoot-out; the
// running score that the first half has as its half-time score is not read.
func TestStatusOfAPIFootball(t *testing.T) {
	t.Parallel()

	const (
		none = `"goals":{"home":null,"away":null},"score":{}`
		late = `"goals":{"home":2,"away":1},"score":{"halftime":{"home":9,"away":9},"fulltime":{"home":1,"away":1},` +
			`"extratime":{"home":1,"away":0},"penalty":{"home":null,"away":null}}`
		pens = `"goals":{"home":2,"away":2},"score":{"penalty":{"home":2,"away":3}}`
		half = `"goals":{"home":2,"away":2},"score":{"penalty":{"home":2,"away":null}}`
	)

	periods := map[string]provider.Period{
		"1H":   provider.FirstHalf,
		"HT":   provider.HalfTime,
		"2H":   provider.SecondHalf,
		"ET":   provider.ExtraTime,
		"BT":   provider.ExtraTime,
		"P":    provider.ShootOut,
		"SUSP": provider.Interrupted,
		"INT":  provider.Interrupted,
	}

	for name, c := range map[string]struct {
		short, elapsed, goals string
		want                  string
		minute                int
	}{
		"to be played":                {"NS", "null", none, "open -:-", 0},
		"its date to be defined":      {"TBD", "null", none, "not-defined -:-", 0},
		"in the first half":           {"1H", "23", late, "open 2:1 in play", 23},
		"at half time":                {"HT", "45", late, "open 2:1 in play", 45},
		"in the second half":          {"2H", "90", late, "open 2:1 in play", 90},
		"in extra time":               {"ET", "105", late, "open 2:1 in play", 105},
		"in a break of extra time":    {"BT", "105", late, "open 2:1 in play", 105},
		"in a shoot-out":              {"P", "120", pens, "open 2:2 in play", 120},
		"in play, without a period":   {"LIVE", "null", late, "open 2:1 in play", 0},
		"suspended":                   {"SUSP", "60", late, "not-defined 2:1 in play", 60},
		"interrupted":                 {"INT", "60", late, "not-defined 2:1 in play", 60},
		"after 90 minutes":            {"FT", "90", late, "ended 2:1 over", 90},
		"after extra time":            {"AET", "120", late, "ended 2:1 over", 120},
		"after penalties":             {"PEN", "120", pens, "ended 2:2 (2:3) over", 120},
		"after half of the shoot-out": {"PEN", "120", half, "ended 2:2 over", 120},
		"over without goals":          {"FT", "90", none, "not-defined -:- over", 90},
		"over with goals of one":      {"AET", "120", `"goals":{"home":2,"away":null},"score":{}`, "not-defined 2:- over", 120},
		"technical loss":              {"AWD", "null", late, "not-defined 2:1 over", 0},
		"walkover":                    {"WO", "null", none, "not-defined -:- over", 0},
		"postponed":                   {"PST", "null", none, "not-defined -:-", 0},
		"cancelled":                   {"CANC", "null", none, "not-defined -:-", 0},
		"abandoned":                   {"ABD", "30", late, "not-defined 2:1", 30},
		"of an unknown status":        {"NEW", "30", late, "unknown 2:1", 30},
		"without a status":            {"", "null", none, "unknown -:-", 0},
		"in an impossible minute":     {"1H", "201", late, "open 2:1 in play", 0},
		"in a negative minute":        {"1H", "-1", late, "open 2:1 in play", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := openAPIFootball(answers{apiFixtures: ok(`[{"fixture":{"id":9001,"date":"2026-06-06T13:00:00+00:00","timestamp":1780750800,` +
				`"periods":{"first":1780750860,"second":null},"status":{"long":"x","short":"` + c.short + `","elapsed":` + c.elapsed + `}},` +
				`"teams":{"home":{"id":3,"name":"Home"},"away":{"id":4,"name":"Away"}},` + c.goals + `}]`)})

			all, err := p.Matches(t.Context(), "39", "2026", firstRound)
			if err != nil || len(all) != 1 {
				t.Fatalf("got %+v, %v", all, err)
			}

			if got := describe(all[0]); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}

			f := all[0]
			f.Home, f.Away = provider.Side{Team: f.Home.Team}, provider.Side{Team: f.Away.Team}
			f.Status, f.InPlay, f.Over = "", false, false
			kickOff := time.Date(2026, 6, 6, 13, 0, 0, 0, time.UTC)

			if diff := cmp.Diff(provider.Fixture{
				ID:             "9001",
				KickOff:        kickOff,
				ProviderStatus: c.short,
				Home:           provider.Side{Team: provider.Team{ID: "3", Name: "Home"}},
				Away:           provider.Side{Team: provider.Team{ID: "4", Name: "Away"}},
				Minute:         c.minute,
				Period:         periods[c.short],
				StartedAt:      kickOff.Add(time.Minute),
			}, f); diff != "" {
				t.Errorf("the match (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWrongMatchOfAPIFootball: a match with a missing or an impossible value, or one that comes twice,
// is left out of the answer and reported.
func TestWrongMatchOfAPIFootball(t *testing.T) {
	t.Parallel()

	const row = `{"fixture":{"id":9001,"timestamp":1780750800,"periods":{"first":null},"status":{"short":"PEN","elapsed":1}},` +
		`"teams":{"home":{"id":3,"name":"Home"},"away":{"id":4,"name":"Away"}},"goals":{"home":1,"away":0},` +
		`"score":{"penalty":{"home":null,"away":null}}}`

	for name, c := range map[string]struct{ from, to, wrong string }{
		"complete":            {``, ``, ""},
		"the highest score":   {`"home":1`, `"home":99`, ""},
		"too high a score":    {`"home":1`, `"home":100`, "the match 9001 has a score of 100"},
		"a negative score":    {`"away":0`, `"away":-1`, "the match 9001 has a score of -1"},
		"no id":               {`"id":9001`, `"id":0`, "the match 0 lacks"},
		"no kick-off":         {`1780750800`, `null`, "the match 9001 lacks"},
		"in the year 10000":   {`1780750800`, `253402300800`, "the match 9001 lacks"},
		"no home team":        {`"id":3`, `"id":null`, "the match 9001 lacks"},
		"against itself":      {`"id":4`, `"id":3`, "the match 9001 lacks"},
		"penalties too high":  {`"home":null,"away":null`, `"home":100,"away":1`, "the match 9001 has a score of 100"},
		"penalties too low":   {`"home":null,"away":null`, `"home":1,"away":-1`, "the match 9001 has a score of -1"},
		"an id of letters":    {`"id":9001`, `"id":"9001"`, "cannot unmarshal"},
		"a list":              {row, `[]`, "cannot unmarshal"},
		"the id of the other": {`"id":9001`, `"id":9002`, "the match 9002 comes twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := openAPIFootball(answers{apiFixtures: ok("[" + strings.Replace(row, "9001", "9002", 1) + "," +
				strings.Replace(row, c.from, c.to, 1) + "]")})
			all, err := p.Matches(t.Context(), "39", "2026", firstRound)
			check(t, 2, c.wrong, len(all), err)

			if len(all) == 0 || all[0].ID != "9002" || c.wrong != "" && len(all) != 1 {
				t.Errorf("the others are %+v", all)
			}
		})
	}
}

// TestRoundsOfAPIFootball: a numbered round of the main stage has its number as the slug. Knockout
// rounds have the slugs that the other provider has. A round of another stage has the stage in its slug.
func TestRoundsOfAPIFootball(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]provider.Round{
		"Regular Season - 14":               {Slug: "14", Label: "Round 14", Type: "season"},
		"Group Stage - 3":                   {Slug: "3", Label: "Round 3", Type: "season"},
		"League Stage - 08":                 {Slug: "8", Label: "Round 8", Type: "season"},
		"Relegation Round - 3":              {Slug: "relegation-round-3", Type: "season"},
		"Apertura - 3":                      {Slug: "apertura-3", Type: "season"},
		"Group A - 1":                       {Slug: "group-a-1", Type: "season"},
		"Round of 32":                       {Slug: "round-of-32", Type: "knockout"},
		"16th Finals":                       {Slug: "round-of-32", Type: "knockout"},
		"Round of 16":                       {Slug: "round-of-16", Type: "knockout"},
		"8th Finals":                        {Slug: "round-of-16", Type: "knockout"},
		"Quarter-finals":                    {Slug: "quarterfinals", Type: "knockout"},
		"Semi-finals":                       {Slug: "semifinals", Type: "knockout"},
		"3rd Place Final":                   {Slug: "match-for-3rd-place", Type: "knockout"},
		"Final":                             {Slug: "final", Type: "knockout"},
		"1st Qualifying Round":              {Slug: "1st-qualifying-round", Type: "knockout"},
		"Promotion Play-offs - Final":       {Slug: "promotion-play-offs-final", Type: "knockout"},
		"Promotion Play-offs - Semi-finals": {Slug: "promotion-play-offs-semifinals", Type: "knockout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if want.Label == "" {
				want.Label = name
			}

			want.Path = name

			got, err := openAPIFootball(answers{apiRounds: ok(`["` + name + `"]`)}).Rounds(t.Context(), "39", "2026")
			check(t, []provider.Round{want}, "", got, err)
		})
	}

	second := []provider.Round{{Slug: "2", Label: "Round 2", Order: 1, Type: "season", Path: "Regular Season - 2"}}

	for name, c := range map[string]struct {
		first string
		want  []provider.Round
		wrong string
	}{
		"no Latin letters":   {`"финал"`, second, `the round "финал" has no name`},
		"empty":              {`""`, second, "has no name"},
		"control characters": {`"Fi\u0000nal"`, second, `the round "Final" has no name`},
		"spaces around":      {`" Final "`, second, `the round "Final" has no name`},
		"too long":           {`"` + strings.Repeat("x", 101) + `"`, second, "has no name"},
		"a number":           {`7`, second, "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := openAPIFootball(answers{apiRounds: ok(`[` + c.first + `,"Regular Season - 2"]`)}).Rounds(t.Context(), "39", "2026")
			check(t, nil, c.wrong, got, err)

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the others (-want +got):\n%s", diff)
			}
		})
	}

	for response, wrong := range map[string]string{
		`[]`: "a season without rounds",
		`["Regular Season - 1","League Stage - 1"]`: "two rounds with the slug 1",
	} {
		_, err := openAPIFootball(answers{apiRounds: ok(response)}).Rounds(t.Context(), "39", "2026")
		check(t, nil, wrong, []provider.Round(nil), err)
	}
}

// TestRefusalsOfAPIFootball: most refusals have the status 200 and an object of errors. A budget of the
// day is used up until 00:00 UTC, and one of the minute until the next minute.
func TestRefusalsOfAPIFootball(t *testing.T) {
	t.Parallel()

	const rate = `{"errors":{"rateLimit":"Too many requests. Your rate limit is 10 requests per minute."},"response":[]}`

	until := func(h, m, s int) error {
		return &provider.LimitedError{Until: time.Date(2026, 6, 6, h, m, s, 0, time.UTC)}
	}
	midnight, minute := until(24, 0, 0), until(12, 1, 0) // now is 12:00:30

	for name, c := range map[string]struct {
		status int
		body   string
		header http.Header
		want   error  // nil for any
		text   string // in the error
	}{
		"no key":         {200, `{"errors":{"token":"Error/Missing application key."},"response":[]}`, nil, provider.ErrKey, ""},
		"no key, as 403": {403, `{"errors":{"token":"Error/Missing application key."}}`, nil, provider.ErrKey, ""},
		"the plan": {200, `{"errors":{"plan":"Free plans do not have access to this season, try from 2022 to 2024."},"response":[]}`, nil,
			provider.ErrPlan, ""},
		"the day":                {200, `{"errors":{"requests":"You have reached the request limit"},"response":[]}`, nil, midnight, ""},
		"the day, as 429":        {429, `{"errors":{"requests":"You have reached the request limit for the day"}}`, nil, midnight, ""},
		"the day and the minute": {200, `{"errors":{"rateLimit":"x","requests":"y"}}`, nil, midnight, ""},
		"the minute":             {200, rate, nil, minute, ""},
		"the minute, as 429":     {429, rate, nil, minute, ""},
		"429 without a body":     {429, ``, nil, minute, ""},
		"429 with Retry-After":   {429, ``, http.Header{"Retry-After": {"90"}}, until(12, 2, 0), ""},
		"429 for ever":           {429, ``, http.Header{"Retry-After": {"999999999"}}, until(13, 0, 30), ""},
		"429 for no time":        {429, ``, http.Header{"Retry-After": {"-5"}}, minute, ""},
		"another reason":         {200, `{"errors":{"season":"The Season field is required."},"response":[]}`, nil, nil, "is refused: season"},
		"an empty object":        {200, `{"errors":{},"response":[]}`, nil, nil, "is refused"},
		"a list of reasons":      {200, `{"errors":["no"],"response":[]}`, nil, nil, "is refused"},
		"a text":                 {200, `{"errors":"no","response":[]}`, nil, nil, "is refused"},
		"no response":            {200, `{"errors":[]}`, nil, nil, "without a response"},
		"another response":       {200, ok(`{}`), nil, nil, "other JSON than expected"},
		"more pages":             {200, `{"errors":[],"paging":{"current":1,"total":3},"response":[]}`, nil, nil, "answers with 3 pages"},
		"403 as a page":          {403, `<html>`, nil, nil, "/fixtures/rounds answers 403"},
		"500":                    {500, `{"message":"secret"}`, nil, nil, "/fixtures/rounds answers 500"},
		"a redirection":          {302, ``, http.Header{"Location": {"https://elsewhere.test/"}}, nil, "answers 302"},
		"404":                    {404, `{}`, nil, provider.ErrAbsent, ""},
		"JSON that is cut":       {200, rate[:20], nil, nil, "other JSON than expected"},
		"a page":                 {200, `<html>`, nil, nil, "other JSON than expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := &respond{status: c.status, header: c.header, body: c.body}
			all, err := openAPIFootball(in).Rounds(t.Context(), "39", "2026")

			if err == nil || all != nil {
				t.Fatalf("got %+v, %v", all, err)
			}

			limited, ok := errors.AsType[*provider.LimitedError](err)
			if want, is := errors.AsType[*provider.LimitedError](c.want); ok != is || ok && !limited.Until.Equal(want.Until) {
				t.Errorf("got %v, want %v", err, c.want)
			}

			if !ok && c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %v %q", err, c.want, c.text)
			}

			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "league=") {
				t.Errorf("the error has the body, the key or the query: %v", err)
			}

			if in.last.URL.Host != "provider.test" || in.last.Header.Get("x-apisports-key") != "secret" {
				t.Errorf("the last request is %s with %v", in.last.URL, in.last.Header)
			}
		})
	}
}

// TestKeyCannotBeRead: a request fails without being sent. Images need no key.
func TestKeyCannotBeRead(t *testing.T) {
	t.Parallel()

	in := &respond{status: 200, body: "PNG"}
	missing := errors.New("the secret is not set")
	p := provider.NewAPIFootball(in, base, "", func(context.Context) (string, error) { return "", missing }, now)

	if all, err := p.Rounds(t.Context(), "39", "2026"); !errors.Is(err, missing) || all != nil || in.last != nil {
		t.Errorf("got %+v, %v after %v", all, err, in.last)
	}

	if _, err := p.Badge(t.Context(), "33"); err != nil {
		t.Error(err)
	}
}

// TestImagesOfAPIFootball: they are below a base URL of their own, and their requests have no key.
func TestImagesOfAPIFootball(t *testing.T) {
	t.Parallel()

	in := &respond{status: 200, header: http.Header{}, body: "PNG"}

	for _, c := range []struct{ media, want string }{
		{base + "/media/", base + "/media/teams/33.png"},
		{"", "https://media.api-sports.io/football/teams/33.png"},
	} {
		got, err := provider.NewAPIFootball(in, base, c.media, key, now).Badge(t.Context(), "33")
		if err != nil || string(got) != "PNG" || in.last.URL.String() != c.want || in.last.Header.Get("x-apisports-key") != "" {
			t.Errorf("got %q, %v from %s with %v, want %s", got, err, in.last.URL, in.last.Header, c.want)
		}
	}

	in.body = strings.Repeat("x", provider.MaxImage+1)

	if _, err := openAPIFootball(in).Logo(t.Context(), "39"); err == nil || !strings.Contains(err.Error(), "more than 262144 bytes") {
		t.Errorf("too large an image: %v", err)
	}
}

// TestStandingsOfAPIFootball: one table has no group unless it is called one. A team that is in several
// tables has the row of the first. A cup has no standings.
func TestStandingsOfAPIFootball(t *testing.T) {
	t.Parallel()

	row := func(team, rank int, group string) string {
		return fmt.Sprintf(`{"rank":%d,"team":{"id":%d,"name":"Team %[2]d","logo":"x"},"points":11,"goalsDiff":4,"group":%q,"form":"W",`+
			`"status":"same","description":null,"all":{"played":6,"win":3,"draw":2,"lose":1,"goals":{"for":9,"against":5}},`+
			`"home":{"played":3},"update":"2026-06-06T00:00:00+00:00"}`, rank, team, group)
	}

	standing := func(team, position int, group *string) provider.Standing {
		return provider.Standing{
			Team:  provider.Team{ID: fmt.Sprint(team), Name: fmt.Sprint("Team ", team)},
			Group: group, Position: position, Points: 11, Games: 6, Wins: 3, Draws: 2, Losses: 1, For: 9, Against: 5,
		}
	}

	of := func(tables string) string { return ok(`[{"league":{"id":39,"standings":[` + tables + `]}}]`) }

	for name, c := range map[string]struct {
		body  string
		want  []provider.Standing
		wrong string
	}{
		"one table": {of(`[` + row(3, 1, "Premier League") + `,` + row(4, 2, "Premier League") + `]`),
			[]provider.Standing{standing(3, 1, nil), standing(4, 2, nil)}, ""},
		"two groups": {of(`[` + row(3, 1, "Group A") + `],[` + row(4, 1, "Group B") + `]`),
			[]provider.Standing{standing(3, 1, new("Group A")), standing(4, 1, new("Group B"))}, ""},
		"one group": {of(`[` + row(3, 1, "Group A") + `]`), []provider.Standing{standing(3, 1, new("Group A"))}, ""},
		"the third-placed teams": {of(`[` + row(3, 3, "Group A") + `],[` + row(3, 1, "Ranking of third-placed teams") + `]`),
			[]provider.Standing{standing(3, 3, new("Group A"))}, ""},
		"of a cup":       {ok(`[]`), nil, ""},
		"without tables": {of(``), nil, "standings without a table"},
		"without a team": {of(`[` + row(0, 1, "A") + `]`), nil, "a team without id"},
		"a huge number":  {of(`[` + row(3, 10_000, "A") + `]`), nil, "the standings have 10000 for the team 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := openAPIFootball(answers{apiStandings: c.body}).Standings(t.Context(), "39", "2026")
			check(t, c.want, c.wrong, got, err)
		})
	}

	if got, err := openAPIFootball(answers{}).Standings(t.Context(), "39", "2026"); err != nil || got != nil {
		t.Errorf("404: %+v, %v", got, err)
	}
}
