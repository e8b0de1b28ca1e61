package openfootball_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/openfootball"
	"matchday/infra/sim/samples"
)

func Example() {
	season, err := openfootball.Parse([]byte(`{"name": "League 2026/27", "matches": [
		{"round": "Matchday 1", "date": "2026-08-14", "time": "20:00", "team1": "Ayr", "team2": "Ely", "score": {"ht": [0, 1], "ft": [2, 1]}},
		{"round": "Matchday 1", "date": "2026-08-15", "team1": "Rye", "team2": "Wem", "score": {}}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, row := range openfootball.Tables(season.Matches)[0].Rows {
		fmt.Println(row.Team, row.Played, row.Points)
	}
	// Output:
	// Ayr 1 3
	// Rye 0 0
	// Wem 0 0
	// Ely 1 0
}

// file returns a file with one match, whose fields are overridden; null removes a field.
func file(fields string) []byte {
	m := map[string]any{"round": "Matchday 3", "date": "2022-11-20", "time": "19:00", "team1": "Ayr", "team2": "Ely"}
	if err := json.Unmarshal([]byte(fields), &m); err != nil {
		panic(err)
	}

	for k, v := range m {
		if v == nil {
			delete(m, k)
		}
	}

	data, err := json.Marshal(map[string]any{"name": "Cup", "matches": []any{m}})
	if err != nil {
		panic(err)
	}

	return data
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}

	return t
}

func TestParse(t *testing.T) {
	t.Parallel()

	goals := func(home, away int) *openfootball.Goals { return &openfootball.Goals{home, away} }
	for name, c := range map[string]struct {
		fields string
		want   openfootball.Match // what differs from the match of file
	}{
		"no score":        {`{}`, openfootball.Match{}},
		"empty score":     {`{"score": {}}`, openfootball.Match{}},
		"group":           {`{"group": "Group A"}`, openfootball.Match{Group: "Group A"}},
		"offset":          {`{"time": "13:00 UTC+3"}`, openfootball.Match{KickOff: at("2022-11-20T10:00:00Z")}},
		"west, half hour": {`{"time": "21:00 UTC-4:30"}`, openfootball.Match{KickOff: at("2022-11-21T01:30:00Z")}},
		"UTC":             {`{"time": "21:00 UTC"}`, openfootball.Match{KickOff: at("2022-11-20T21:00:00Z")}},
		"no time":         {`{"time": null}`, openfootball.Match{KickOff: at("2022-11-20T15:00:00Z")}},
		"cancelled":       {`{"status": "cancelled", "score": {}}`, openfootball.Match{Void: true}},
		"without half time": {`{"score": {"ft": [1, 0]}}`, openfootball.Match{
			Score: openfootball.Score{FullTime: goals(1, 0)}}},
		"penalties": {`{"score": {"p": [4, 2], "et": [3, 3], "ft": [2, 2], "ht": [2, 0]}}`, openfootball.Match{
			Score: openfootball.Score{HalfTime: goals(2, 0), FullTime: goals(2, 2), ExtraTime: goals(3, 3), Penalties: goals(4, 2)}}},
		"league":    {`{"round": "League, Matchday 3"}`, openfootball.Match{}},
		"final":     {`{"round": "Final"}`, openfootball.Match{Round: openfootball.Round{Number: 29, Name: "Final", Slug: "final"}}},
		"of finals": {`{"round": "Finals, Final"}`, openfootball.Match{Round: openfootball.Round{Number: 29, Name: "Final", Slug: "final"}}},
		"quarter": {`{"round": "Quarter-final"}`,
			openfootball.Match{Round: openfootball.Round{Number: 27, Name: "Quarterfinals", Slug: "quarterfinals"}}},
		"semi": {`{"round": "Semi-final"}`,
			openfootball.Match{Round: openfootball.Round{Number: 28, Name: "Semifinals", Slug: "semifinals"}}},
		"third match": {`{"round": "Third-place match"}`,
			openfootball.Match{Round: openfootball.Round{Number: 50, Name: "Match for 3rd place", Slug: "match-for-3rd-place"}}},
		"play-off": {`{"round": "Group 2 Play-off"}`,
			openfootball.Match{Round: openfootball.Round{Number: 636, Name: "Group 2 Play-off", Slug: "group-2-play-off"}}},
		"label group": {`{"round": "Group A"}`, openfootball.Match{Round: openfootball.Round{Number: 1}, Group: "Group A"}},
		"first round": {`{"round": "First round", "group": "Group 1"}`,
			openfootball.Match{Round: openfootball.Round{Number: 1}, Group: "Group 1"}},
		"in a group": {`{"round": "21. Runde", "group": "Group 1"}`,
			openfootball.Match{Round: openfootball.Round{Number: 21}, Group: "Group 1"}},
		"team objects": {`{"team1": {"name": "Ayr", "code": "AYR"}, "team2": {"name": "Ely", "code": "ELY"}}`, openfootball.Match{}},
		"old score": {`{"score1": 2, "score2": 2, "score1i": 2, "score2i": 0, "score1et": 3, "score2et": 3, "score1p": 4, "score2p": 2}`,
			openfootball.Match{
				Score: openfootball.Score{HalfTime: goals(2, 0), FullTime: goals(2, 2), ExtraTime: goals(3, 3), Penalties: goals(4, 2)}}},
		"old score, unplayed": {`{"score1": null, "score2": null}`, openfootball.Match{}},
		"quarters": {`{"round": "Quarter-finals"}`,
			openfootball.Match{Round: openfootball.Round{Number: 27, Name: "Quarterfinals", Slug: "quarterfinals"}}},
		"semis": {`{"round": "Semifinals"}`,
			openfootball.Match{Round: openfootball.Round{Number: 28, Name: "Semifinals", Slug: "semifinals"}}},
		"third": {`{"round": "Match for third place"}`,
			openfootball.Match{Round: openfootball.Round{Number: 50, Name: "Match for 3rd place", Slug: "match-for-3rd-place"}}},
		"sixteen": {`{"round": "Round of 16"}`,
			openfootball.Match{Round: openfootball.Round{Number: 5, Name: "Round of 16", Slug: "round-of-16"}}},
		"round of cup": {`{"round": "Round 2"}`, openfootball.Match{Round: openfootball.Round{Number: 2, Name: "Round 2", Slug: "round-2"}}},
		"unknown": {`{"round": "Première Étape"}`,
			openfootball.Match{Round: openfootball.Round{Number: 636, Name: "Première Étape", Slug: "premiere-etape"}}},
		"prefix": {`{"round": "Relegation, Round of 16"}`,
			openfootball.Match{Round: openfootball.Round{Number: 5, Name: "Round of 16", Slug: "round-of-16", Prefix: "Relegation"}}},
		"of play-offs": {`{"round": "Playoffs, Matchday 1"}`,
			openfootball.Match{Round: openfootball.Round{Number: 1, Name: "Matchday 1", Slug: "matchday-1", Prefix: "Playoffs"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want := c.want

			want.Home, want.Away = "Ayr", "Ely"
			if want.Round == (openfootball.Round{}) {
				want.Round.Number = 3
			}

			if want.KickOff.IsZero() {
				want.KickOff = at("2022-11-20T19:00:00Z")
			}

			got, err := openfootball.Parse(file(c.fields))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff([]openfootball.Match{want}, got.Matches); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// series returns a file with two matches of the same four teams in each round.
func series(rounds ...string) []byte {
	var all []map[string]any

	for i, fields := range rounds {
		for _, pair := range [][2]string{{"Ayr", "Ely"}, {"Rye", "Wem"}} {
			m := map[string]any{
				"date":  time.Date(2022, 8, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*i).Format(time.DateOnly),
				"team1": pair[0],
				"team2": pair[1],
			}
			if err := json.Unmarshal([]byte(fields), &m); err != nil {
				panic(err)
			}

			all = append(all, m)
		}
	}

	data, err := json.Marshal(map[string]any{"name": "Cup", "matches": all})
	if err != nil {
		panic(err)
	}

	return data
}

func TestNumberedRoundsOfTheSameTeamsAreALeague(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		data []byte
		want string // of the rounds: number, slug, and group in parentheses
	}{
		"Matchday":       {series(`{"round": "Matchday 1"}`, `{"round": "Matchday 2"}`), "1 () 2 ()"},
		"Runde":          {series(`{"round": "1. Runde"}`, `{"round": "2. Runde"}`), "1 () 2 ()"},
		"Spieltag":       {series(`{"round": "Spieltag 1"}`, `{"round": "Spieltag 2"}`), "1 () 2 ()"},
		"Regular Season": {series(`{"round": "Regular Season - 1"}`, `{"round": "Regular Season - 2"}`), "1 () 2 ()"},
		"Apertura, Clausura": {
			series(`{"round": "Apertura, Matchday 1"}`, `{"round": "Apertura, Matchday 2"}`, `{"round": "Clausura, Matchday 1"}`,
				`{"round": "Clausura, Matchday 2"}`),
			"1 () 2 () 3 () 4 ()"},
		"parts at one time": {
			series(`{"round": "Matchday 1"}`, `{"round": "Matchday 2"}`, `{"round": "Championship, Matchday 3"}`,
				`{"round": "Relegation, Matchday 3"}`, `{"round": "Championship, Matchday 4"}`, `{"round": "Relegation, Matchday 4"}`),
			"1 () 2 () 3 () 4 ()"},
		"stages": {
			series(`{"stage": "Regular Season", "round": "Round 1"}`, `{"stage": "Regular Season", "round": "Round 2"}`,
				`{"stage": "Relegation", "round": "Round 3"}`, `{"stage": "Relegation", "round": "Round 4"}`),
			"1 () 2 () 3 () 4 ()"},
		"groups by the label": {[]byte(`{"name": "Cup", "matches": [
			{"round": "Group A", "date": "2022-08-01", "team1": "Ayr", "team2": "Ely"}, {"round": "Group A", "date": "2022-08-01", "team1": "Rye", "team2": "Wem"},
			{"round": "Group A", "date": "2022-08-05", "team1": "Ayr", "team2": "Rye"}, {"round": "Group A", "date": "2022-08-05", "team1": "Ely", "team2": "Wem"}]}`), "1 (Group A) 2 (Group A)"},
		"groups of a stage": {series(`{"round": "Group, Matchday 1", "group": "Group A"}`, `{"round": "Group, Matchday 2", "group": "Group A"}`),
			"1 (Group A) 2 (Group A)"},
	} {
		s, err := openfootball.Parse(c.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}

		var got []string

		for _, m := range s.Matches {
			text := fmt.Sprintf("%d%s (%s)", m.Round.Number, m.Round.Slug, m.Group)
			if !slices.Contains(got, text) {
				got = append(got, text)
			}
		}

		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestNumberedRoundsThatTheLosersLeaveAreKnockout(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"Round %d", "Qualification, Round %d", "%d. Runde"} {
		var all []string

		for round, teams := range [][]string{{"A", "B", "C", "D", "E", "F", "G", "H"}, {"A", "C", "E", "G"}, {"A", "E"}} {
			for i := 0; i < len(teams); i += 2 {
				all = append(all, fmt.Sprintf(`{"round": %q, "date": "2022-08-0%d", "team1": %q, "team2": %q}`, fmt.Sprintf(name, round+1),
					round+1, teams[i], teams[i+1]))
			}
		}

		s, err := openfootball.Parse([]byte(`{"name": "Cup", "matches": [` + strings.Join(all, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}

		for _, m := range s.Matches {
			if !m.Round.Knockout() {
				t.Errorf("%s: the round is %+v, want a knockout round", name, m.Round)
			}
		}
	}
}

func TestRoundsWithMatchesAreRead(t *testing.T) {
	t.Parallel()

	s, err := openfootball.Parse([]byte(`{"name": "League 2013/14", "rounds": [
		{"name": "Matchday 1", "matches": [{"date": "2013-08-10", "team1": {"name": "Ayr", "code": "AYR"}, "team2": {"name": "Ely", "code": "ELY"}, "score1": 2, "score2": 1}]},
		{"name": "Matchday 2", "matches": [
			{"date": "2013-08-17", "team1": {"name": "Ely", "code": "ELY"}, "team2": {"name": "Ayr", "code": "AYR"}, "score1": null, "score2": null},
			{"date": "2013-08-17", "team1": "N.N.", "team2": "N.N."}]}
	]}`))
	if err != nil {
		t.Fatal(err)
	}

	want := []openfootball.Match{
		{
			Round:   openfootball.Round{Number: 1},
			KickOff: at("2013-08-10T15:00:00Z"),
			Home:    "Ayr",
			Away:    "Ely",
			Score:   openfootball.Score{FullTime: &openfootball.Goals{2, 1}},
		},
		{Round: openfootball.Round{Number: 2}, KickOff: at("2013-08-17T15:00:00Z"), Home: "Ely", Away: "Ayr"},
	}
	if diff := cmp.Diff(want, s.Matches); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for data, want := range map[string]string{
		"":                "not an openfootball file",
		"<html>":          "not an openfootball file",
		"[]":              "not an openfootball file",
		`{"name": "Cup"}`: "neither matches nor rounds",
		`{"name": "Cup", "clubs": [{"name": "Ayr"}]}`:                               "neither matches nor rounds",
		`{"name": "Cup", "matches": []}`:                                            "lacks a name or matches",
		string(file(`{"team1": "N.N.", "team2": "N.N."}`)):                          "no match has two teams that are known",
		string(file(`{"team1": "N.N.", "team2": "N.N.", "score": {"ft": [1, 0]}}`)): "two names",
		string(file(`{"score1": 1}`)):                                               "score1 and score2 must both be numbers",
		string(file(`{"score1": 1, "score2": 0, "score1i": 2, "score2i": 0}`)):      "score.ft is less than score.ht",
		string(file(`{"round": "Group"}`)):                                          `round "Group" must have a number`,
		`{"rounds": [], "name": "Cup"}`:                                             "lacks a name or matches",
		`{"matches": [{}]}`:                                                         "lacks a name or matches",
		string(file(`{"team1": null}`)):                                             "two names",
		string(file(`{"team2": ""}`)):                                               "two names",
		string(file(`{"team1": {"code": "AYR"}}`)):                                  "two names",
		string(file(`{"team1": ["Ayr"]}`)):                                          "not an openfootball file",
		string(file(`{"round": null}`)):                                             "round must be a name",
		string(file(`{"round": "-"}`)):                                              "round must be a name",
		string(file(`{"round": "Matchday"}`)):                                       `round "Matchday" must have a number`,
		string(file(`{"round": "Matchday 0"}`)):                                     "from 1 to 999",
		string(file(`{"date": null}`)):                                              `date "" and time "19:00" must be like`,
		string(file(`{"date": "2022-02-30"}`)):                                      `date "2022-02-30"`,
		string(file(`{"time": "7 pm"}`)):                                            `time "7"`,
		string(file(`{"time": "19:00 CET"}`)):                                       `time zone "CET"`,
		string(file(`{"time": "19:00 UTC3"}`)):                                      `time zone "UTC3"`,
		string(file(`{"time": "19:00 UTC+15"}`)):                                    `time zone "UTC+15"`,
		string(file(`{"time": "19:00 UTC+3:60"}`)):                                  `time zone "UTC+3:60"`,
		string(file(`{"status": "awarded"}`)):                                       `unknown status "awarded"`,
		string(file(`{"status": "cancelled", "score": {"ft": [1, 0]}}`)):            "cancelled and has a score",
		string(file(`{"score": {"ft": [1]}}`)):                                      "score.ft must be two numbers",
		string(file(`{"score": {"ft": []}}`)):                                       "score.ft must be two numbers",
		string(file(`{"score": {"ft": [-1, 0]}}`)):                                  "score.ft must be two numbers",
		string(file(`{"score": {"ft": [1.5, 0]}}`)):                                 "not an openfootball file",
		string(file(`{"score": {"ht": [1, 0]}}`)):                                   "score lacks ft",
		string(file(`{"score": {"et": [1, 0]}}`)):                                   "score lacks ft",
		string(file(`{"score": {"ht": [1, 0], "ft": [0, 3]}}`)):                     "score.ft is less than score.ht",
		string(file(`{"score": {"ft": [1, 1], "et": [3, 0]}}`)):                     "score.et is less than score.ft",
		string(file(`{"score": {"ft": [1, 1], "et": [1, 1], "p": [3, 3]}}`)):        "score.p has no winner",
		strings.Replace(string(file(`{}`)), `}]`, `},`+match(file(`{}`)),
			1): "match 2, Ayr - Ely on 2022-11-20: the round has this match twice",
		string(file(`{"team2": "Ayr", "score": {"ft": [1, 0]}}`)): "match 1, Ayr - Ayr",
	} {
		if _, err := openfootball.Parse([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", data, err, want)
		}
	}
}

// match returns the match of a file and the end of its list.
func match(file []byte) string {
	_, m, _ := strings.Cut(string(file), `[`)
	m, _, _ = strings.Cut(m, `]`)

	return m + "]"
}

func TestResultCountsExtraTimeAndNoPenalties(t *testing.T) {
	t.Parallel()

	for fields, want := range map[string]string{
		`{}`: "[0 0] false",
		`{"score": {"ft": [2, 1], "ht": [0, 1]}}`:                      "[2 1] true",
		`{"score": {"ft": [2, 2], "et": [3, 2]}}`:                      "[3 2] true",
		`{"score": {"ft": [2, 2], "et": [3, 3], "p": [4, 2]}}`:         "[3 3] true",
		`{"score": {"ft": [2, 2], "p": [4, 2]}}`:                       "[2 2] true",
		`{"score": {"ft": [2, 2], "et": null, "p": null, "ht": null}}`: "[2 2] true",
		`{"status": "cancelled"}`:                                      "[0 0] false",
	} {
		s, err := openfootball.Parse(file(fields))
		if err != nil {
			t.Fatal(err)
		}

		goals, ok := s.Matches[0].Result()
		if got := fmt.Sprint(goals, " ", ok); got != want {
			t.Errorf("%s: the result is %s, want %s", fields, got, want)
		}
	}
}

// play returns a match of a round of a group.
func play(group, home, away string, goals ...int) openfootball.Match {
	m := openfootball.Match{Round: openfootball.Round{Number: 1}, Group: group, Home: home, Away: away}
	if len(goals) == 2 {
		m.Score.FullTime = &openfootball.Goals{goals[0], goals[1]}
	}

	return m
}

func TestTables(t *testing.T) {
	t.Parallel()

	final := play("", "A", "B", 9, 0)
	final.Round = openfootball.Round{Number: 29, Name: "Final", Slug: "final"}
	extra := play("", "A", "B", 1, 1)
	extra.Score.ExtraTime = &openfootball.Goals{1, 2}
	void := play("", "C", "D")

	void.Void = true
	for name, c := range map[string]struct {
		matches []openfootball.Match
		want    []openfootball.Table
	}{
		"nothing":     {},
		"no knockout": {matches: []openfootball.Match{final}},
		"win, draw, loss, no result": {
			[]openfootball.Match{play("", "A", "B", 2, 0), play("", "A", "C", 1, 1), play("", "C", "B"), void},
			[]openfootball.Table{{Rows: []openfootball.Row{
				{Team: "A", Played: 2, Won: 1, Drawn: 1, For: 3, Against: 1, Points: 4},
				{Team: "C", Played: 1, Drawn: 1, For: 1, Against: 1, Points: 1},
				{Team: "D"},
				{Team: "B", Played: 1, Lost: 1, Against: 2},
			}}},
		},
		"points before difference": {
			[]openfootball.Match{play("", "A", "X", 1, 0), play("", "A", "Y", 1, 0), play("", "B", "Z", 9, 0)},
			[]openfootball.Table{{Rows: []openfootball.Row{
				{Team: "A", Played: 2, Won: 2, For: 2, Points: 6},
				{Team: "B", Played: 1, Won: 1, For: 9, Points: 3},
				{Team: "X", Played: 1, Lost: 1, Against: 1},
				{Team: "Y", Played: 1, Lost: 1, Against: 1},
				{Team: "Z", Played: 1, Lost: 1, Against: 9},
			}}},
		},
		"difference, goals, name": {
			[]openfootball.Match{play("", "D", "W", 1, 0), play("", "C", "X", 1, 0), play("", "B", "Y", 3, 2), play("", "A", "Z", 2, 0)},
			[]openfootball.Table{{Rows: []openfootball.Row{
				{Team: "A", Played: 1, Won: 1, For: 2, Points: 3},
				{Team: "B", Played: 1, Won: 1, For: 3, Against: 2, Points: 3},
				{Team: "C", Played: 1, Won: 1, For: 1, Points: 3},
				{Team: "D", Played: 1, Won: 1, For: 1, Points: 3},
				{Team: "Y", Played: 1, Lost: 1, For: 2, Against: 3},
				{Team: "W", Played: 1, Lost: 1, Against: 1},
				{Team: "X", Played: 1, Lost: 1, Against: 1},
				{Team: "Z", Played: 1, Lost: 1, Against: 2},
			}}},
		},
		"groups, extra time": {
			[]openfootball.Match{extra, play("Group B", "C", "D", 0, 1), play("Group A", "E", "F", 1, 0)},
			[]openfootball.Table{
				{Rows: []openfootball.Row{
					{Team: "B", Played: 1, Won: 1, For: 2, Against: 1, Points: 3},
					{Team: "A", Played: 1, Lost: 1, For: 1, Against: 2},
				}},
				{Group: "Group A", Rows: []openfootball.Row{
					{Team: "E", Played: 1, Won: 1, For: 1, Points: 3},
					{Team: "F", Played: 1, Lost: 1, Against: 1},
				}},
				{Group: "Group B", Rows: []openfootball.Row{
					{Team: "D", Played: 1, Won: 1, For: 1, Points: 3},
					{Team: "C", Played: 1, Lost: 1, Against: 1},
				}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(c.want, openfootball.Tables(c.matches)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRoundsFollowTheFileAndTheirNumbers(t *testing.T) {
	t.Parallel()

	s := openfootball.Season{}
	for _, r := range []openfootball.Round{
		{Number: 1, Name: "Round 1", Slug: "round-1", Prefix: "Qualification"},
		{Number: 2}, {Number: 10}, {Number: 3}, {Number: 2},
		{Number: 28, Name: "Semifinals", Slug: "semifinals"}, {Number: 29, Name: "Final", Slug: "final"},
	} {
		s.Matches = append(s.Matches, openfootball.Match{Round: r})
	}

	var got []int
	for _, r := range s.Rounds() {
		got = append(got, r.Number)
	}

	if diff := cmp.Diff([]int{1, 2, 3, 10, 28, 29}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"FC Bayern München": "fc-bayern-munchen", "1. FSV Mainz 05": "1-fsv-mainz-05", "  ": "",
		"Brighton & Hove Albion": "brighton-hove-albion", "Côte d'Ivoire": "cote-divoire", "東京": "",
	} {
		if got := openfootball.Slug(name); got != want {
			t.Errorf("Slug(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestRealSeasons checks what is known of the recordings: numbers of matches, rounds and
// void matches, and the final tables.
func TestRealSeasons(t *testing.T) {
	t.Parallel()

	type facts struct {
		Matches, Void, Unplayed, Extra, Penalties int
		Rounds, Last                              string // the number of each kind, and the last
		Leaders                                   []string
	}

	league := func(n int) string { return fmt.Sprintf("%d numbered, 0 knockout", n) }
	want := map[string]facts{
		"at.cup-2018-19.json": {Matches: 63, Extra: 8, Penalties: 4, Rounds: "0 numbered, 6 knockout", Last: "Final"},
		"de.1-2022-23.json":   {Matches: 306, Rounds: league(34), Leaders: []string{" FC Bayern München 71"}},
		"en.1-2023-24.json":   {Matches: 380, Rounds: league(38), Leaders: []string{" Manchester City FC 91"}},
		"fr.1-2019-20.json":   {Matches: 380, Void: 101, Rounds: league(38), Leaders: []string{" Paris Saint-Germain 68"}},
		"worldcup-2022.json": {Matches: 64, Extra: 5, Penalties: 5, Rounds: "13 numbered, 5 knockout", Last: "Final", Leaders: []string{
			"Group A Netherlands 7", "Group B England 7", "Group C Argentina 6", "Group D France 6",
			"Group E Japan 6", "Group F Morocco 7", "Group G Brazil 6", "Group H Portugal 6",
		}},
	}

	for _, path := range samples.Glob(t, "openfootball/*.json") {
		name := filepath.Base(path)

		s, err := openfootball.Parse(samples.Read(t, "openfootball/"+name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}

		got := facts{Matches: len(s.Matches)}
		for _, m := range s.Matches {
			if _, played := m.Result(); m.Void {
				got.Void++
			} else if !played {
				got.Unplayed++
			}

			if m.Score.ExtraTime != nil {
				got.Extra++
			}

			if m.Score.Penalties != nil {
				got.Penalties++
			}
		}

		rounds := s.Rounds()

		numbered := slices.IndexFunc(rounds, openfootball.Round.Knockout)
		if numbered < 0 {
			numbered = len(rounds)
		}

		got.Rounds, got.Last = fmt.Sprintf("%d numbered, %d knockout", numbered, len(rounds)-numbered), rounds[len(rounds)-1].Name
		for _, table := range openfootball.Tables(s.Matches) {
			got.Leaders = append(got.Leaders, fmt.Sprint(table.Group, " ", table.Rows[0].Team, " ", table.Rows[0].Points))
		}

		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// FuzzParse checks that what is accepted is consistent.
func FuzzParse(f *testing.F) {
	f.Add(file(`{"score": {"p": [4, 2], "et": [3, 3], "ft": [2, 2], "ht": [2, 0]}, "round": "Final"}`))
	f.Add(file(`{"time": "13:00 UTC-4:30", "group": "Group A"}`))
	f.Add(file(`{"status": "cancelled", "score": {}, "time": null}`))
	f.Add(file(`{"round": "Qualification, Round 1"}`))
	f.Add([]byte(`{"name": "", "matches": [null]}`))
	f.Add(file(`{"round": "Group A"}`))
	f.Add(file(`{"round": "First round", "group": "Group 2"}`))
	f.Add(file(`{"round": "Group 2 Play-off"}`))
	f.Add(file(`{"team1": "N.N.", "team2": "N.N."}`))
	f.Add(file(`{"team1": {"name": "Ayr", "code": "AYR"}, "score1": 2, "score2": 2, "score1et": 3, "score2et": 2, "score1i": 0, "score2i": 1}`))
	f.Add(file(`{"score1": 1, "score2": 1, "score1p": 4, "score2p": 5}`))
	f.Add(series(`{"round": "1. Runde", "stage": "Grunddurchgang"}`, `{"round": "2. Runde", "stage": "Grunddurchgang"}`,
		`{"round": "1. Runde", "stage": "Play-off"}`))
	f.Add(series(`{"round": "Apertura, Matchday 1"}`, `{"round": "Apertura, Matchday 2"}`, `{"round": "Clausura, Matchday 1"}`))
	f.Add(series(`{"round": "Round of 128"}`, `{"round": "Round of 64"}`, `{"round": "Regular Season - 1"}`))
	f.Add([]byte(`{"name": "Cup", "rounds": [{"name": "Matchday 1", "matches": [{"date": "2013-08-10", "team1": "Ayr", "team2": "Ely"}]}]}`))
	f.Add([]byte(`{"name": "Cup", "clubs": [{"name": "Ayr"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := openfootball.Parse(data)
		if err != nil {
			if err.Error() == "" || len(s.Matches) > 0 {
				t.Fatalf("a refused file gives %d matches and the error %q", len(s.Matches), err)
			}

			return
		}

		for _, m := range s.Matches {
			goals, played := m.Result()
			if m.Home == m.Away || m.Void && played || min(goals[0], goals[1]) < 0 || m.Round.Number < 1 ||
				m.Round.Knockout() != (m.Round.Name != "") || m.KickOff.Location() != time.UTC {
				t.Fatalf("%+v", m)
			}
		}

		if len(s.Rounds()) == 0 {
			t.Fatal("no rounds")
		}

		games, points := 0, 0

		for _, table := range openfootball.Tables(s.Matches) {
			for _, r := range table.Rows {
				if r.Won+r.Drawn+r.Lost != r.Played || 3*r.Won+r.Drawn != r.Points {
					t.Fatalf("%+v", r)
				}

				games += r.Played
				points += r.For - r.Against
			}
		}

		if games%2 != 0 || points != 0 {
			t.Fatalf("the tables have %d games of teams, and a goal difference of %d in all", games, points)
		}
	})
}
