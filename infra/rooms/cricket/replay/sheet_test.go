package replay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// doc is a JSON object.
type doc map[string]any

// sheet builds a Cricsheet file: by default a T20, Harbour v Meadow.
type sheet struct {
	meta, info doc
	innings    []doc
}

func t20(overs int) *sheet {
	return &sheet{
		meta: doc{"data_version": "1.1.0", "created": "2024-05-01", "revision": 1},
		info: doc{
			"balls_per_over": 6, "city": "Port", "dates": []string{"2024-04-30"}, "event": doc{"name": "Quay Cup", "match_number": 7},
			"gender": "male", "match_type": "T20", "overs": overs, "season": "2024", "team_type": "club",
			"officials": doc{"umpires": []string{"A Raised", "B Finger"}}, "player_of_match": []string{"Harbour 1"},
			"players": doc{"Harbour": eleven("Harbour"), "Meadow": eleven("Meadow")}, "registry": doc{"people": doc{"Harbour 1": "0a0b0c0d"}},
			"teams": []string{"Harbour", "Meadow"}, "toss": doc{"winner": "Meadow", "decision": "field"}, "venue": "The Quay",
		},
	}
}

// days makes it a match limited by days.
func days(kind string, n int) *sheet {
	dates := []string{}
	for i := range n {
		dates = append(dates, fmt.Sprintf("2024-04-%02d", 20+i))
	}

	return t20(0).set("match_type", kind).set("overs", nil).set("dates", dates)
}

func eleven(team string) (names []string) {
	for i := range 11 {
		names = append(names, batter(team, i))
	}

	return names
}

func batter(team string, i int) string { return team + " " + strconv.Itoa(i+1) }

// set sets or deletes a key of info.
func (s *sheet) set(key string, value any) *sheet {
	s.info[key] = value
	if value == nil {
		delete(s.info, key)
	}

	return s
}

// teams renames both sides, before they bat.
func (s *sheet) teams(home, away string) *sheet {
	s.set("toss", doc{"winner": away, "decision": "field"}).set("player_of_match", []string{batter(home, 0)})
	return s.set("teams", []string{home, away}).set("players", doc{home: eleven(home), away: eleven(away)})
}

// won sets the outcome of the match: the winner and more members of outcome.
func (s *sheet) won(winner string, more doc) *sheet {
	o := doc{"winner": winner}
	maps.Copy(o, more)

	return s.set("outcome", o)
}

func (s *sheet) ended(outcome doc) *sheet { return s.set("outcome", outcome) }

func by(what string, n int) doc { return doc{"by": doc{what: n}} }

// bat adds an innings, with a token for each ball: ".", "3" and "4n" (run, no boundary)
// off the bat; "wd", "5wd", "nb", "2b", "1lb", "5p" (penalty); joined by "+", as in
// "nb+2b"; then the wickets on the ball, as in "1:run_out@" ("@" for the
// non-striker). Overs end by themselves, or at each "|" where there is one. more
// goes into the innings.
func (s *sheet) bat(team, balls string, more doc) *sheet {
	teams := s.info["teams"].([]string)

	other := teams[0]
	if team == other {
		other = teams[1]
	}

	per := 6
	if n, ok := s.info["balls_per_over"].(int); ok {
		per = n
	}

	pair, next, legal := [2]int{0, 1}, 2, 0
	overs := []doc{}
	deliveries := []doc{}
	end := func() {
		overs = append(overs, doc{"over": len(overs), "deliveries": deliveries})
		deliveries, legal = nil, 0
		pair[0], pair[1] = pair[1], pair[0]
	}

	for _, token := range strings.Fields(balls) {
		if token == "|" {
			end()
			continue
		}

		d, ran := delivery(token)
		d["batter"], d["non_striker"] = batter(team, pair[0]), batter(team, pair[1])
		d["bowler"] = batter(other, 10-len(overs)%2)

		wickets, _ := d["wickets"].([]doc)
		for _, w := range wickets {
			out := 0
			if w["player_out"] == "@" {
				out = 1
			}

			w["player_out"] = batter(team, pair[out])
			pair[out] = min(next, 10)
			next++
		}

		if x, _ := d["extras"].(doc); x["wides"] == nil && x["noballs"] == nil {
			legal++
		}

		if ran%2 == 1 {
			pair[0], pair[1] = pair[1], pair[0]
		}

		if deliveries = append(deliveries, d); legal == per && !strings.Contains(balls, "|") {
			end()
		}
	}

	if len(deliveries) > 0 {
		end()
	}

	in := doc{"team": team, "overs": overs}
	maps.Copy(in, more)
	s.innings = append(s.innings, in)

	return s
}

// delivery returns the delivery of a token, and how often the batters crossed.
func delivery(token string) (d doc, ran int) {
	parts := strings.Split(token, ":")
	bat, extra, x := 0, 0, doc{}
	runs := doc{}

	for part := range strings.SplitSeq(parts[0], "+") {
		digits := strings.TrimRight(part, "abcdefghijklmnopqrstuvwxyz.")
		n, err := strconv.Atoi(digits)
		kind := part[len(digits):]

		name := map[string]string{"wd": "wides", "nb": "noballs", "b": "byes", "lb": "legbyes", "p": "penalty"}[kind]
		switch {
		case name != "":
			if err != nil {
				n = 1
			}

			x[name] = n
			extra += n
		case kind == "n":
			bat = n
			runs["non_boundary"] = true
		default:
			bat = n
		}
	}

	runs["batter"], runs["extras"], runs["total"] = bat, extra, bat+extra

	d = doc{"runs": runs}
	if len(x) > 0 {
		d["extras"] = x
	}

	wickets := []doc{}

	for _, kind := range parts[1:] {
		kind, other := strings.CutSuffix(kind, "@")

		w := doc{"kind": strings.ReplaceAll(kind, "_", " "), "player_out": ""}
		if other {
			w["player_out"] = "@"
		}

		if kind == "caught" || kind == "run_out" {
			w["fielders"] = []doc{{"name": "Substitute", "substitute": true}, {"substitute": true}}
		}

		wickets = append(wickets, w)
	}

	if len(wickets) > 0 {
		d["wickets"] = wickets
	}

	return d, bat
}

func (s *sheet) json() []byte {
	all := doc{"meta": s.meta, "info": s.info}
	if s.innings != nil {
		all["innings"] = s.innings
	}

	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings, numbers and lists of them
	}

	return b
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()

	if err := os.WriteFile(filepath.Join(dir, name+".json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
