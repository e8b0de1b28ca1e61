package sportmonks

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/samples"
)

func TestSplitReturnsEachFixture(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, body, ids string // ids joined by a blank; "!" is an entry with Err
	}{
		{"live", `{"data":[{"id":1,"balls":[]},{"id":2}]}`, "1 2"},
		{"one", `{"data":{"id":7}}`, "7"},
		{"none", `{"data":[]}`, ""},
		{"data last", `{"links":{"data":[{"id":9}]},"meta":null, "data" : [ {"id":1} ] } `, "1"},
		{"data twice", `{"data":[{"id":1}],"data":[{"id":2}]}`, "1"},
		{"data after null", `{"data":null,"data":[{"id":2}]}`, "2"},
		{"id late, as text", `{"data":[{"balls":[{"id":5}],"note":"{\"id\":4}]}","id":"3"}]}`, "3"},
		{"escapes", `{"data":[{"note":"a\\","id":1},{"note":"\"","id":2}]}`, "1 2"},
		{"no id", `{"data":[{"status":"NS"},{"id":2}]}`, "! 2"},
		{"id of no number", `{"data":[{"id":"x"},{"id":null},{"id":-1},{"id":99999999999999999999},{"id":2}]}`, "! ! ! ! 2"},
		{"no objects", `{"data":[null,3,"x",[1],{"id":2}]}`, "! ! ! ! 2"},
		{"broken inside", `{"data":[{"id":1,"balls":[{,}]},{"id":2}]}`, "1 2"},
		{"id twice", `{"data":[{"id":1,"id":2},{"id":null,"id":3}]}`, "1 3"},
		{"id of zero", `{"data":[{"id":0},{"id":1}]}`, "! 1"},
		{"white space", "\r\n\t {\r\n\t \"a\"\r\n\t :\r\n\t 1\r\n\t ,\r\n\t \"data\"\r\n\t :\r\n\t [\r\n\t {\r\n\t \"id\"\r\n\t :\r\n\t " +
			"1\r\n\t }\r\n\t ,\r\n\t 7\r\n\t ]\r\n\t }\r\n\t ", "1 !"},
		{"a number ends with a space", `{"a":1 ,"data":[2 ,3]}`, "! !"},
		{"a number ends with a tab", "{\"a\":1\t,\"data\":[2\t,3\t]}", "! !"},
		{"a number ends with a line", "{\"a\":1\n,\"data\":[2\n,3\n]}", "! !"},
		{"a number ends with a return", "{\"a\":1\r,\"data\":[2\r,3\r]}", "! !"},
		{"a number ends the object", `{"data":[{"id":1}],"a":1}`, "1"},
		{"brackets in texts", `{"a":{"x":"}"},"b":["]"],"data":[{"id":1}]}`, "1"},
		{"empty objects", `{"a":{},"data":[{},{"id":1}],"b":[]}`, "! 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			entries, err := Split([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}

			var ids []string

			for _, e := range entries {
				if e.Err != nil {
					ids = append(ids, "!")
					continue
				}

				ids = append(ids, e.ID)
				if string(c.body[e.At:e.At+len(e.Raw)]) != string(e.Raw) {
					t.Errorf("entry %s does not begin at byte %d", e.ID, e.At)
				}

				if len(e.Sum) != 32 || !strings.HasPrefix(string(e.Raw), "{") {
					t.Errorf("entry %+v", e)
				}
			}

			if got := strings.Join(ids, " "); got != c.ids {
				t.Fatalf("got %q, want %q", got, c.ids)
			}
		})
	}
}

func TestSplitRefusesMalformedBodies(t *testing.T) {
	t.Parallel()

	whole := `{"data":[{"id":1,"note":"a\"]}"},{"id":2,"balls":[{"id":1},{"id":2}]}],"meta":{"last_page":1}}`

	bodies := []string{
		"<!DOCTYPE html><html>502 Bad Gateway</html>", `[{"id":1}]`, `"data"`, `{"message":"Too Many Attempts."}`,
		`{"data":null}`, `{"data":7}`, whole + "x", whole + whole, `{"data":[{"id":1},]}`, `{"data":[{"id":1}`, `{"data" [1]}`,
		`{"a":,"data":[]}`, `{"a"::1,"data":[]}`, `{"a":}`, `{"data":[],"a":]}`, `{"data":[:]}`, `{"data":[}]}`, `{"data":[{"id":1} {"id":2}]}`,
		`{"data":[],}`, `{data:[]}`, `{"data":[]]`, "", " ", `{"data":[{"id":1},{"id":2,"a":}]}`,
	}
	for i := range len(whole) {
		bodies = append(bodies, whole[:i])
	}

	for _, body := range bodies {
		entries, err := Split([]byte(body))
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Malformed {
			t.Errorf("%q: got %v, want an error of kind Malformed", body, err)
		}

		for n, e := range entries {
			if e.Err != nil || e.ID != strconv.Itoa(n+1) || !json.Valid(e.Raw) {
				t.Errorf("%q: entry %d is %q, %v; want a whole fixture", body, n, e.Raw, e.Err)
			}
		}

		if !strings.HasPrefix(whole, body) {
			continue
		}

		n := 0

		for _, end := range []int{strings.Index(whole, `,{"id":2`), strings.Index(whole, `],"meta`)} {
			if len(body) >= end {
				n++
			}
		}

		if len(entries) != n {
			t.Errorf("%q: got %d entries, want %d", body, len(entries), n)
		}
	}
}

// TestCutListHasItsWholeFixtures: the last entry of a body that is cut short may be the beginning
// of a number, and is left out.
func TestCutListHasItsWholeFixtures(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"data":[{"id":1},7`:          "1",
		`{"data":[{"id":1},{"id":2}`:   "1 2",
		`{"data":[7`:                   "",
		`{"data":[`:                    "",
		`{"data":[7,8`:                 "!",
		`{"data":[{"id":1},8,{"id":2}`: "1 ! 2",
		`{"data":[{"id":1},8,9`:        "1 !",
	} {
		entries, err := Split([]byte(body))

		var got []string

		for _, e := range entries {
			if e.Err != nil {
				e.ID = "!"
			}

			got = append(got, e.ID)
		}

		if strings.Join(got, " ") != want || err == nil {
			t.Errorf("%s: got %q, %v; want %q and an error", body, got, err, want)
		}
	}
}

// TestErrorsQuoteTheBody: an error names what is wrong, and has the first 60 bytes of the body.
func TestErrorsQuoteTheBody(t *testing.T) {
	t.Parallel()

	split := func(body string) error { _, err := Split([]byte(body)); return err }
	decode := func(body string) error { _, err := Decode([]byte(body)); return err }

	entry := func(body string) error {
		entries, err := Split([]byte(body))
		if err != nil {
			return err
		}

		return entries[0].Err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{split("<html>"), `sportmonks: body is cut short or is not JSON: starts "<html>"`},
		{split(" \n" + strings.Repeat("x", 60) + "\n"), `sportmonks: body is cut short or is not JSON: starts "` + strings.Repeat("x", 60) + `"`},
		{split(strings.Repeat("x", 61)), `sportmonks: body is cut short or is not JSON: starts "` + strings.Repeat("x", 60) + `"`},
		{split(`{"a":1}`), `sportmonks: body has no data: starts "{\"a\":1}"`},
		{entry(`{"data":[{"a":1}]}`), `sportmonks: fixture has no id: starts "{\"a\":1}"`},
		{decode(`[]`), `sportmonks: fixture is not an object: starts "[]"`},
		{decode(`{"id":1`), `sportmonks: fixture is not valid JSON: starts "{\"id\":1"`},
		{decode(`{"id":1}x`), `sportmonks: fixture is followed by other data: starts "{\"id\":1}x"`},
		{decode(`{"id":0}`), `sportmonks: fixture has no id: starts "{\"id\":0}"`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func TestSplitReadsTheLeague(t *testing.T) {
	t.Parallel()

	entries, err := Split([]byte(`{"data":[{"id":1,"league":{"league_id":9},"league_id":3},{"league_id":"4","id":"2"},{"id":3,"league_id":null},{"id":4}]}`))
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, e := range entries {
		got = append(got, e.ID+" of "+e.League)
	}

	if diff := cmp.Diff([]string{"1 of 3", "2 of 4", "3 of ", "4 of "}, got); diff != "" {
		t.Errorf("leagues (-want +got):\n%s", diff)
	}
}

func TestSumDependsOnTheContentOnly(t *testing.T) {
	t.Parallel()

	entries, err := Split([]byte(`{"data":[{"id":1},{"id": 1},{"id":1}]}`))
	if err != nil {
		t.Fatal(err)
	}

	if entries[0].Sum != entries[2].Sum || entries[0].Sum == entries[1].Sum {
		t.Fatalf("sums %s %s %s", entries[0].Sum, entries[1].Sum, entries[2].Sum)
	}
}

// TestDecodeReadsEachMember: each member of the rows of a score is a field of its own.
func TestDecodeReadsEachMember(t *testing.T) {
	t.Parallel()

	got, err := Decode([]byte(`{"id":1,
		"runs":[{"x":1,"team_id":2,"inning":3,"score":4,"wickets":5,"overs":6.1}],
		"scoreboards":[{"x":1,"team_id":2,"scoreboard":"s3","type":"extra","wide":4,"noball_runs":5,"bye":6,"leg_bye":7,"penalty":8,"total":9,"wickets":10,"overs":11.2}],
		"batting":[{"x":1,"team_id":2,"scoreboard":"S3","sort":4,"player_id":5,"score":6,"ball":7,"four_x":8,"six_x":9,"fow_score":10,"fow_balls":11.3,
			"wicket_id":54,"bowling_player_id":12,"catch_stump_player_id":13,"runout_by_id":14,"result":{"id":54,"name":"Catch Out","out":true},
			"catchstump":{"id":13,"fullname":"C"},"runoutby":{"id":14,"fullname":"D"}}],
		"manofmatch":{"id":20,"fullname":"E"},"firstumpire":{"id":21,"fullname":"F"},"secondumpire":{"id":22,"fullname":"G"},
		"tvumpire":{"data":{"id":23,"firstname":"H","lastname":"I"}},"referee":{"id":24,"fullname":"J"},
		"bowling":[{"x":1,"team_id":2,"scoreboard":"S3","sort":4,"player_id":5,"overs":6.4,"medians":7,"runs":8,"wickets":9,"wide":10,"noball":11}],
		"balls":[{"id":2,"team_id":3,"scoreboard":"S4","ball":5.6,"batsman_one_on_creeze_id":7,"batsman_two_on_creeze_id":8,"batsman_id":9,"bowler_id":10,
			"batsmanout_id":11,"catchstump_id":12,"runout_by_id":13,"batsman":{"id":14,"fullname":"A"},"bowler":{"id":15,"fullname":"B"},"score":{"id":16,"name":"C","runs":17}}]}`))
	if err != nil {
		t.Fatal(err)
	}

	want := Fixture{
		ID:   1,
		Runs: []Runs{{TeamID: 2, Innings: 3, Score: 4, Wickets: 5, Overs: Overs{6, 1}}},
		Scoreboards: []Scoreboard{{
			TeamID:  2,
			Innings: 3,
			Type:    "extra",
			Wide:    4,
			NoBall:  5,
			Bye:     6,
			LegBye:  7,
			Penalty: 8,
			Total:   9,
			Wickets: 10,
			Overs:   Overs{11, 2},
		}},
		Batting: []Batting{{
			TeamID:    2,
			Innings:   3,
			Sort:      4,
			PlayerID:  5,
			Score:     6,
			Balls:     7,
			Fours:     8,
			Sixes:     9,
			Out:       true,
			FallScore: 10,
			FallAt:    Overs{11, 3},
			ResultID:  54,
			Result:    Score{ID: 54, Name: "Catch Out", Out: true},
			BowlerID:  12,
			CatchID:   13,
			RunOutID:  14,
			Catch:     Player{ID: 13, Name: "C"},
			RunOut:    Player{ID: 14, Name: "D"},
		}},
		ManOfMatch:   Player{ID: 20, Name: "E"},
		FirstUmpire:  Official{21, "F"},
		SecondUmpire: Official{22, "G"},
		TVUmpire:     Official{23, "H I"},
		Referee:      Official{24, "J"},
		Bowling: []Bowling{{
			TeamID:   2,
			Innings:  3,
			Sort:     4,
			PlayerID: 5,
			Overs:    Overs{6, 4},
			Maidens:  7,
			Runs:     8,
			Wickets:  9,
			Wides:    10,
			NoBalls:  11,
		}},
		Balls: []Ball{{
			ID: 2, TeamID: 3, Innings: 4, At: Overs{5, 6}, OneID: 7, TwoID: 8, BatterID: 9, BowlerID: 10, OutID: 11, CatchID: 12, RunOutID: 13,
			Batter: Player{ID: 14, Name: "A"}, Bowler: Player{ID: 15, Name: "B"}, Score: Score{ID: 16, Name: "C", Runs: 17},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fixture (-want +got):\n%s", diff)
	}
}

// everything has each member of a fixture that is read outside of the rows of its score.
const everything = `{"id":1,"league_id":2,"season_id":3,"stage_id":4,"venue_id":5,"localteam_id":6,"visitorteam_id":7,"round":"8","starting_at":"2026-10-09T13:00:00Z",
	"type":"10","status":"11","live":true,"note":"13","elected":"14","toss_won_team_id":15,"winner_team_id":16,"draw_noresult":"17","man_of_match_id":18,
	"super_over":true,"follow_on":true,"total_overs_played":21,"rpc_overs":22.1,"rpc_target":23,
	"localteam_dl_data":{"score":24,"overs":25.1,"wickets_out":26,"x":{"id":1}},"visitorteam_dl_data":{"score":27,"overs":28.1,"wickets_out":29},
	"league":{"x":1,"id":30,"season_id":31,"country_id":32,"name":"33","code":"34","image_path":"35","type":"36","updated_at":"2026-10-09T13:00:00Z","season":{"id":37}},
	"season":{"x":1,"id":40,"league_id":41,"name":"42","code":"43","updated_at":"2026-10-09T13:00:00Z"},
	"x":[{"y":1}],"venue":{"x":1,"id":50,"name":"51","city":"52"},
	"localteam":{"id":60,"country_id":61,"name":"62","code":"63","image_path":"64","national_team":true,"updated_at":"2026-10-09T13:00:00Z"},
	"visitorteam":{"id":70,"x":1},
	"lineup":[{"x":[1],"id":80,"fullname":"81","firstname":"x","lastname":"y","image_path":"83","battingstyle":"84","bowlingstyle":"85",
		"position":{"x":1,"id":1,"name":"86"},"lineup":{"team_id":82,"captain":true,"wicketkeeper":true,"substitution":true,"x":1}}],
	"balls":[{"id":90,"x":1,"score":{"x":1,"id":91,"name":"92","runs":93,"bye":94,"leg_bye":95,"noball":96,"noball_runs":97,"four":true,"six":true,"is_wicket":true,"out":true}}]}`

// TestDecodeReadsEachMemberOfAFixture: each member is a field of its own; a fixture that is cut
// off anywhere is none.
func TestDecodeReadsEachMemberOfAFixture(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC)
	want := Fixture{
		ID: 1, LeagueID: 2, SeasonID: 3, StageID: 4, VenueID: 5, LocalID: 6, VisitorID: 7, Round: "8", Start: at,
		Type: "10", Status: "11", Live: true, Note: "13", Elected: "14", TossWonID: 15, WinnerID: 16, DrawNoResult: "17", ManOfMatchID: 18,
		SuperOver: true, FollowOn: true, Overs: 21, RPCOvers: Overs{22, 1}, RPCTarget: 23,
		LocalDL: DL{Score: 24, Overs: Overs{25, 1}, Wickets: 26}, VisitorDL: DL{Score: 27, Overs: Overs{28, 1}, Wickets: 29},
		League: League{
			ID:        30,
			SeasonID:  31,
			CountryID: 32,
			Name:      "33",
			Code:      "34",
			Image:     "35",
			Type:      "36",
			UpdatedAt: at,
			Season:    Season{ID: 37},
		},
		Season:      Season{ID: 40, LeagueID: 41, Name: "42", Code: "43", UpdatedAt: at},
		Venue:       Venue{ID: 50, Name: "51", City: "52"},
		Localteam:   Team{ID: 60, CountryID: 61, Name: "62", Code: "63", Image: "64", National: true, UpdatedAt: at},
		Visitorteam: Team{ID: 70},
		Lineup: []Member{{
			ID: 80, Name: "81", TeamID: 82, Captain: true, Keeper: true, Substitute: true,
			Image: "83", BattingStyle: "84", BowlingStyle: "85", Role: "86",
		}},
		Balls: []Ball{{
			ID: 90,
			Score: Score{
				ID:         91,
				Name:       "92",
				Runs:       93,
				Bye:        94,
				LegBye:     95,
				NoBall:     96,
				NoBallRuns: 97,
				Four:       true,
				Six:        true,
				Wicket:     true,
				Out:        true,
			},
		}},
	}

	got, err := Decode([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fixture (-want +got):\n%s", diff)
	}

	for i := range len(everything) {
		if f, err := Decode([]byte(everything[:i])); err == nil || f.ID != 0 {
			t.Errorf("cut off after %q: got %+v, %v; want an error", everything[:i][max(0, i-20):], f, err)
		}
	}
}

// TestTextsOfAFixture: escapes are decoded, invalid UTF-8 is replaced, and of more than 512 bytes
// the first 512 are read.
func TestTextsOfAFixture(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`"a"`:                                "a",
		`" a "`:                              "a",
		`"a\"b\\"`:                           `a"b\`,
		`"\u00e9"`:                           "é",
		"\"\xff\"":                           "\uFFFD",
		`"` + strings.Repeat("x", 512) + `"`: strings.Repeat("x", 512),
		`"` + strings.Repeat("x", 513) + `"`: strings.Repeat("x", 512),
		`7`:                                  "7",
		`-7.5`:                               "-7.5",
		`0`:                                  "0",
		`9`:                                  "9",
		`true`:                               "true",
		`false`:                              "",
		`"false"`:                            "",
		`null`:                               "",
		`{"a":"b"}`:                          "",
		`["a"]`:                              "",
	} {
		f, err := Decode([]byte(`{"id":1,"round":` + raw + `,"note":` + raw + `}`))
		if err != nil || f.Round != want || f.Note != want {
			t.Errorf("%.40s: got %q and %q, %v; want %q", raw, f.Round, f.Note, err, want)
		}
	}

	for _, raw := range []string{`x`, `+1`, `/`, `:`, `nul`, `True`} {
		if f, err := Decode([]byte(`{"id":1,"note":` + raw + `}`)); err == nil {
			t.Errorf("%s: got %q, want an error", raw, f.Note)
		}
	}
}

// TestScoreboardsNameTheInnings: "S1" is innings 1. What is no innings from 1 to 99 is 0.
func TestScoreboardsNameTheInnings(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]int{
		`"S1"`:   1,
		`"s2"`:   2,
		`"3"`:    3,
		`4`:      4,
		`"S99"`:  99,
		`"S100"`: 0,
		`"S0"`:   0,
		`"S-1"`:  0,
		`"S"`:    0,
		`""`:     0,
		`"T1"`:   0,
		`null`:   0,
	} {
		f, err := Decode([]byte(`{"id":1,"balls":[{"scoreboard":` + raw + `}]}`))
		if err != nil || f.Balls[0].Innings != want {
			t.Errorf("%s: got innings %d, %v; want %d", raw, f.Balls[0].Innings, err, want)
		}
	}
}

// TestTimesOfTheProvider: with a zone, or in UTC without one; a date is its midnight.
func TestTimesOfTheProvider(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`"2026-10-09T15:00:00+02:00"`: "2026-10-09T13:00:00Z",
		`"2026-10-09 13:00:00"`:       "2026-10-09T13:00:00Z",
		`"2026-10-09"`:                "2026-10-09T00:00:00Z",
		`"09.10.2026"`:                "0001-01-01T00:00:00Z",
		`null`:                        "0001-01-01T00:00:00Z",
	} {
		f, err := Decode([]byte(`{"id":1,"starting_at":` + raw + `}`))
		if got := f.Start.Format(time.RFC3339); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", raw, got, err, want)
		}
	}
}

// TestBattersAreOut: by the id of the wicket or, without one, of the score, unless it is 84, or
// by the place of the fall.
func TestBattersAreOut(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]bool{
		`{}`:                               false,
		`{"wicket_id":54}`:                 true,
		`{"wicket_id":84}`:                 false,
		`{"wicket_id":83}`:                 true,
		`{"wicket_id":85}`:                 true,
		`{"score_id":54}`:                  true,
		`{"score_id":84}`:                  false,
		`{"wicket_id":84,"score_id":54}`:   false,
		`{"wicket_id":54,"score_id":84}`:   true,
		`{"wicket_id":0,"score_id":54}`:    true,
		`{"wicket_id":84,"fow_balls":0.1}`: true,
	} {
		f, err := Decode([]byte(`{"id":1,"batting":[` + raw + `]}`))
		if err != nil || f.Batting[0].Out != want {
			t.Errorf("%s: out %t, %v; want %t", raw, f.Batting[0].Out, err, want)
		}
	}
}

func TestDecodeIsTolerant(t *testing.T) {
	t.Parallel()

	start := time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, raw string
		want      Fixture
	}{
		{"numbers of any type", `{"id":"71","localteam_id":1.0,"visitorteam_id":"39","league_id":null,"live":1,"super_over":"true","follow_on":0,"total_overs_played":"20","rpc_target":155.0,"rpc_overs":"33","winner_team_id":false}`,
			Fixture{ID: 71, LocalID: 1, VisitorID: 39, Live: true, SuperOver: true, Overs: 20, RPCTarget: 155, RPCOvers: Overs{33, 0}}},
		{"text of any type", `{"id":1,"note":" Target 183 runs ","draw_noresult":true,"round":7,"status":null,"type":["x"]}`,
			Fixture{ID: 1, Note: "Target 183 runs", DrawNoResult: "true", Round: "7"}},
		{"large ids", `{"id":9007199254740991,"balls":[{"id":1000000000004,"scoreboard":"S1"}],"rpc_target":1e300}`,
			Fixture{ID: 1<<53 - 1, RPCTarget: 1<<53 - 1, Balls: []Ball{{ID: 1000000000004, Innings: 1}}}},
		{"draw is false", `{"id":1,"draw_noresult":false}`, Fixture{ID: 1}},
		{"time", `{"id":1,"starting_at":"2026-10-09T13:00:00.000000Z"}`, Fixture{ID: 1, Start: start}},
		{"time of another zone", `{"id":1,"starting_at":"2026-10-09T15:00:00+02:00"}`, Fixture{ID: 1, Start: start}},
		{"no time", `{"id":1,"starting_at":"soon"}`, Fixture{ID: 1}},
		{"wrapped includes", `{"id":1,"localteam":{"data":{"id":2,"name":"A\u00e9\/B"}},"runs":{"data":[{"inning":1,"score":"9","overs":1.2}]},"balls":{"data":[{"id":3,"scoreboard":"S1","ball":0.6,"batsman":{"data":{"id":4,"fullname":"X"}},"score":{"data":{"id":69,"runs":1}}}]}}`,
			Fixture{
				ID: 1, Localteam: Team{ID: 2, Name: "Aé/B"}, Runs: []Runs{{Innings: 1, Score: 9, Overs: Overs{1, 2}}},
				Balls: []Ball{{ID: 3, Innings: 1, At: Overs{0, 6}, Batter: Player{ID: 4, Name: "X"}, Score: Score{ID: 69, Runs: 1}}},
			}},
		{"includes of another shape", `{"id":1,"localteam":[],"runs":"none","balls":[null,3,[],{"id":2,"batsman":null,"score":7}],"lineup":null}`,
			Fixture{ID: 1, Balls: []Ball{{ID: 2}}}},
		{"invalid JSON in a member that is skipped", `{"id":1,"weather_report":[NaN,{"x":01}],"note":"a\u0009b"}`, Fixture{ID: 1, Note: "a\tb"}},
		{"data of another shape", `{"id":1,"runs":{"x":[{"inning":1}],"data":{"inning":2}},"balls":{"data":7,"x":1},"batting":{"meta":1,"data":[{"player_id":5}]}}`, Fixture{
			ID:      1,
			Batting: []Batting{{PlayerID: 5}},
		}},
		{"white space before what is repeated",
			`{"id":1,"balls":[{"batsman": {"id":4,"fullname":"X"}},{"batsman":{"id":4,"fullname":"X"},"bowler":{"id":5}}]}`,
			Fixture{ID: 1, Balls: []Ball{{Batter: Player{ID: 4, Name: "X"}}, {Batter: Player{ID: 4, Name: "X"}, Bowler: Player{ID: 5}}}}},
		{"names sent twice", `{"id":1,"note":"a","note":"b"}`, Fixture{ID: 1, Note: "b"}},
		{"lineup", `{"id":1,"lineup":[{"id":6,"firstname":"Fakhar","lastname":"Zaman","position":{"id":1},"bowlingstyle":null,"lineup":{"team_id":1,"captain":true,"wicketkeeper":1}}]}`,
			Fixture{ID: 1, Lineup: []Member{{ID: 6, Name: "Fakhar Zaman", TeamID: 1, Captain: true, Keeper: true}}}},
		{"batting", `{"id":1,"batting":[{"player_id":5,"scoreboard":"S2","wicket_id":84,"score":7,"fow_balls":0},{"player_id":6,"score_id":54,"fow_balls":3.6,"fow_score":18},{"player_id":7,"wicket_id":null}]}`,
			Fixture{ID: 1, Batting: []Batting{
				{PlayerID: 5, Innings: 2, Score: 7, ResultID: 84},
				{PlayerID: 6, Out: true, FallAt: Overs{3, 6}, FallScore: 18, ResultID: 54},
				{PlayerID: 7},
			}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			got, err := Decode([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatalf("fixture (-want +got):\n%s", diff)
			}
		})
	}

	for _, raw := range []string{"", "null", "[]", `{"id":1`, `{"id":1}{}`, `{"id":0}`, `{}`, `{"id":1,"balls":[{,}]}`, `{"id":1,"note":NaN}`,
		`{"id":1,"note":tru}`, `{"id":1,"note":"x}`, `{"id":1,"balls":[{"id":2]}`, `{"id":1,"runs":[1,]}`, `{"id":1,}`, `{"id":1 "note":2}`} {
		_, err := Decode([]byte(raw))
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Malformed {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// TestIntegersAreExact: a number that not every JSON decoder reads exactly is the nearest
// that is.
func TestIntegersAreExact(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]int{
		"0": 0, "-1": -1, "7": 7, "7.9": 7, " 7.0 ": 7, "1e3": 1000, "true": 1, "false": 0, "": 0, "x": 0, "NaN": 0,
		"9007199254740991": 1<<53 - 1, "9007199254740992": 1<<53 - 1, "1e300": 1<<53 - 1, "Inf": 1<<53 - 1,
		"-9007199254740991": 1 - 1<<53, "-9007199254740992": 1 - 1<<53, "-1e300": 1 - 1<<53, "-Inf": 1 - 1<<53,
	} {
		if got := parseInt(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestOversAreReadAsText(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]Overs{
		"0":                  {},
		"20":                 {20, 0},
		"19.4":               {19, 4},
		"0.6":                {0, 6},
		"18.40":              {18, 4},
		"19.400000000000002": {19, 4},
		"3.5999999999999996": {3, 6},
		"1.84e1":             {18, 4},
		" 7.3 ":              {7, 3},
		"":                   {},
		"x":                  {},
		"-1.2":               {},
		"1e99":               {},
		"NaN":                {},
		"1000000":            {1e6, 0},
		"1000001":            {},
		"1000000.00":         {1e6, 0},
		"1000001.00":         {},
		"1e6":                {1e6, 0},
		"1000000.20":         {},
		"-0.25":              {},
		"0.20":               {0, 2},
		"x.25":               {},
		"-1":                 {},
		"-0.0":               {},
		"3.x":                {3, 0},
	} {
		if got := parseOvers(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestBallCountsRunsAndWickets(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		score      Score
		out        int
		total, bat int
		legal      bool
		wicket     bool
	}{
		{Score{Name: "No Run"}, 0, 0, 0, true, false},
		{Score{Name: "FOUR", Runs: 4, Four: true}, 0, 4, 4, true, false},
		{Score{Name: "5 Wides", Runs: 5}, 0, 5, 0, false, false},
		{Score{Name: "1 Leg Bye", LegBye: 1}, 0, 1, 0, true, false},
		{Score{Name: "1 No Ball + 4 Runs", Runs: 5, NoBall: 1, NoBallRuns: 1}, 0, 5, 4, false, false},
		{Score{Name: "1 WIDE + Stump Out", Runs: 1, Wicket: true}, 0, 1, 0, false, true},
		{Score{Name: "1 Bye + Retired Hurt", Bye: 1}, 9, 1, 0, true, false},
		{Score{Name: "Retired Not Out"}, 0, 0, 0, true, false},
		{Score{Name: "Retired Not Out", Wicket: true}, 9, 0, 0, true, false},
		{Score{Name: "Retired Hurt", Out: true}, 0, 0, 0, true, false},
		{Score{Name: "Retired Out", Out: true}, 0, 0, 0, true, true},
		{Score{Name: "wide", Runs: 1}, 0, 1, 0, false, false},
		{Score{Name: "1 No Ball", NoBall: 1, NoBallRuns: 1}, 0, 0, 0, false, false}, // runs that are not listed are not below 0
		{Score{Name: "Run Out", Runs: 1}, 9, 1, 1, true, true},
		{Score{Name: "Clean Bowled", Out: true}, 0, 0, 0, true, true},
	} {
		b := Ball{BatterID: 3, OutID: c.out, Score: c.score}
		if b.Total() != c.total || b.Bat() != c.bat || b.Legal() != c.legal || b.Wicket() != c.wicket {
			t.Errorf("%s: total %d bat %d legal %t wicket %t", c.score.Name, b.Total(), b.Bat(), b.Legal(), b.Wicket())
		}

		want := c.out
		if want == 0 && (c.wicket || b.Retired()) {
			want = b.BatterID
		}

		if out := b.Dismissed(); out != want {
			t.Errorf("%s: %d is out, want %d", c.score.Name, out, want)
		}
	}
}

func TestPhaseOfEachStatus(t *testing.T) {
	t.Parallel()

	for status, want := range map[string]Phase{
		"NS":            Upcoming,
		"Delayed":       Upcoming,
		"Postp.":        Upcoming,
		"1st Innings":   Live,
		"2nd Innings":   Live,
		"3rd Innings":   Live,
		"4th Innings":   Live,
		"Innings Break": Break,
		"Tea Break":     Break,
		"Tea":           Break,
		"Lunch":         Break,
		"Dinner":        Break,
		"Stump Day 1":   Stumps,
		"Stump Day 5":   Stumps,
		"Int.":          Interrupted,
		"Finished":      Result,
		"Aban.":         Closed,
		"Cancl.":        Closed,
		"Cancl":         Closed,
		" finished ":    Result,
		"":              "",
		"Stump Day":     "",
		"Stump Day .":   "",
		"Stump Day x":   "",
		"Stump Day 1x":  "",
		"Stump Day 0":   Stumps,
		"Stump Day 9":   Stumps,
		"Stump Day 10":  Stumps,
		"5th Innings":   "",
		"Drinks":        "",
		"2":             "",
		"Day 2":         "",
	} {
		if got, ok := PhaseOf(status); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %t, want %q", status, got, ok, want)
		}
	}
}

// TestOverPhases: a match is over with a result, or closed without one.
func TestOverPhases(t *testing.T) {
	t.Parallel()

	for p, want := range map[Phase]bool{
		Upcoming:    false,
		Live:        false,
		Break:       false,
		Stumps:      false,
		Interrupted: false,
		Result:      true,
		Closed:      true,
	} {
		if got := p.Over(); got != want {
			t.Errorf("%s: over %t, want %t", p, got, want)
		}
	}
}

// sample returns a body that the provider sent.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	return samples.Read(t, "sportmonks/"+name)
}

// TestCapturedBodies reads bodies that the provider sent.
func TestCapturedBodies(t *testing.T) {
	t.Parallel()

	entries, err := Split(sample(t, "livescores-71344-71010.assembled.json"))
	if err != nil || len(entries) != 2 || entries[0].ID != "71344" || entries[1].ID != "71010" {
		t.Fatalf("%d entries, %v", len(entries), err)
	}

	f, err := Decode(entries[0].Raw)
	if err != nil {
		t.Fatal(err)
	}

	if f.Localteam != (Team{
		ID:        1,
		CountryID: 190324,
		Name:      "Pakistan",
		Code:      "PAK",
		Image:     "https://cdn.sportmonks.com/images/cricket/teams/1/1.png",
		National:  true,
		UpdatedAt: f.Localteam.UpdatedAt,
	}) ||
		f.Start != time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC) || f.League.Code != "T20I" || f.Venue.City != "Rawalpindi" ||
		len(f.Balls) != 25 || len(f.Batting) != 12 || len(f.Bowling) != 8 || len(f.Lineup) != 15 || len(f.Runs) != 2 {
		t.Fatalf("%+v", f)
	}

	if want := (Runs{TeamID: 1, Innings: 2, Score: 10, Overs: Overs{1, 2}}); f.Runs[1] != want {
		t.Fatalf("runs %+v", f.Runs[1])
	}

	if b := f.Balls[4]; b.ID != 11917190 || b.At != (Overs{0, 5}) || b.Batter.Name != "Kusal Mendis" || b.Bowler.Name != "Naseem Shah" ||
		!b.Wicket() || b.CatchID != 4319 {
		t.Fatalf("ball %+v", b)
	}
	// encoding/json reads the same.
	var plain struct {
		Data []struct {
			Balls []struct{ Score struct{ Name string } }
		}
	}
	if err := json.Unmarshal(sample(t, "livescores-71344-71010.assembled.json"), &plain); err != nil {
		t.Fatal(err)
	}

	for i, b := range plain.Data[0].Balls {
		if f.Balls[i].Score.Name != b.Score.Name {
			t.Errorf("ball %d: %q, want %q", i, f.Balls[i].Score.Name, b.Score.Name)
		}
	}

	page := sample(t, "fixtures-page-envelope-24915.json")
	if entries, err := Split(page); err != nil || len(entries) != 1 || entries[0].ID != "24915" {
		t.Fatalf("%v %v", entries, err)
	}

	if last, err := lastPage(page); last != 1 || err != nil {
		t.Fatalf("last page %d, %v", last, err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":1,"balls":[{"id":2}]},{"id":"2"}],"meta":{"last_page":2}}`))
	f.Add([]byte(`{"data":{"id":1,"note":"\\\"}"}}`))
	f.Add([]byte(`<html>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		entries, err := Split(body)
		if json.Valid(body) && err == nil {
			for _, e := range entries {
				if e.Err == nil && !json.Valid(e.Raw) {
					t.Fatalf("entry %q of a valid body is not valid", e.Raw)
				}
			}
		}

		for _, e := range entries {
			if e.Err != nil {
				continue
			}

			if f, err := Decode(e.Raw); err == nil && f.ID <= 0 {
				t.Fatalf("decoded without an id: %q", e.Raw)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":1,"runs":[{"inning":1,"overs":19.4,"score":"7"}],"balls":{"data":[{"id":1,"scoreboard":"S1","ball":0.1,"batsman":{"id":1},"score":{"name":"1 Wide","runs":1}}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, err := Decode(raw); err == nil && got.ID <= 0 {
			t.Fatalf("decoded without an id: %q", raw)
		}
	})
}

// FuzzStanding: whatever the provider sends, a form has single letters, and few, and a rate is one that can be.
func FuzzStanding(f *testing.F) {
	f.Add([]byte(`{"team_id":12,"position":"2","overs_for":"79.1","netto_run_rate":-0.05,"recent_form":["L","W","l"]}`))
	f.Add([]byte(`{"netto_run_rate":"NaN","recent_form":"W,é L"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s Standing

		newDecoder(raw).standing(&s)

		if !(s.NetRunRate >= -maxRate && s.NetRunRate <= maxRate) || len(s.Form) > maxForm {
			t.Fatalf("%q is decoded as %+v", raw, s)
		}

		for _, letter := range s.Form {
			if len(letter) != 1 || letter < "A" || letter > "Z" {
				t.Fatalf("%q has the form %q", raw, s.Form)
			}
		}
	})
}
