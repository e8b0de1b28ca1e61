package ios

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/codable"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/push"
)

var update = flag.Bool("update", false, "write the files of clients/ios")

// published is where the files for app developers are.
const published = "../../../../clients/ios"

// golden compares a file with what it must have, or writes it.
func golden(t *testing.T, name string, want []byte) {
	t.Helper()

	path := filepath.Join(published, name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is pushed (%v): go test ./infra/rooms/cricket/ios -update", path, err)
	}
}

// TestSwiftAndSchema: the published files are those of the types that are pushed.
func TestSwiftAndSchema(t *testing.T) {
	t.Parallel()
	golden(t, "MatchActivityAttributes.swift", []byte(Swift()))

	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}

	golden(t, "content-state.schema.json", append(schema, '\n'))
}

// TestReleased: phones with the last release decode what is pushed today, and the types of today decode
// what a card of the last release has stored. So properties are only added, and those are optional.
func TestReleased(t *testing.T) {
	t.Parallel()

	was, err := codable.Parse(released)
	if err != nil {
		t.Fatal(err)
	}

	is, err := codable.Parse(Swift())
	if err != nil {
		t.Fatal(err)
	}

	for name, s := range was {
		for _, p := range s.Properties {
			if !slices.Contains(is[name].Properties, p) {
				t.Errorf("%s of the last release has %s: %s, which phones need", name, p.Name, p.Type)
			}
		}

		for _, p := range is[name].Properties {
			if !slices.Contains(s.Properties, p) && !strings.HasSuffix(p.Type, "?") {
				t.Errorf("%s has the new property %s: %s, which a card of the last release lacks: it must be optional", name, p.Name, p.Type)
			}
		}
	}
}

// TestEveryDisplayDecodes: whatever the provider sends, and for every perspective.
func TestEveryDisplayDecodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := scorer.Read(scoretest.DrawFixture(t), score.State{})
		for _, view := range []string{"", "1", "2"} {
			text, err := json.Marshal(s.For(view))
			if err != nil {
				t.Fatal(err)
			}

			if err := Decodes(text); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	})
}

// TestAttributesDecode: of a user who supports a side, and of another.
func TestAttributesDecode(t *testing.T) {
	t.Parallel()

	for _, team := range []string{"", "11"} {
		text, err := json.Marshal(activity.Attributes{MatchID: "42", TeamID: team, Local: "India", Visitor: "Australia"})
		if err == nil {
			err = Starts(text)
		}

		if err != nil {
			t.Error(err)
		}
	}
}

// at is the time of the payloads.
var at = time.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC)

const full = "1 . 4 1 . 6 1 . . W 2 1 4 . 1 1 . 1 6 4 . 1 1 2"

// phases are matches in each phase of a match, in its order.
var phases = []struct {
	name  string
	scene func() *scoretest.Scene
}{
	{"01-upcoming", func() *scoretest.Scene { return between("T20I").SetStatus("NS") }},
	{"02-toss", func() *scoretest.Scene { return toss(between("T20I")).SetStatus("NS") }},
	{"03-first-innings", func() *scoretest.Scene { return toss(between("T20I")).AddInnings(1, full+" 4 4 1") }},
	{"04-wicket", func() *scoretest.Scene { return toss(between("T20I")).AddInnings(1, full+" 4 W") }},
	{"05-innings-break", func() *scoretest.Scene {
		return toss(between("T20I")).AddInnings(1, full).SetStatus("Innings Break")
	}},
	{"06-chase", func() *scoretest.Scene {
		return toss(between("T20I")).AddInnings(1, full).AddInnings(2, "1 4 . 1 6 . 1 2").SetStatus("2nd Innings")
	}},
	{"07-interrupted", func() *scoretest.Scene {
		return toss(between("T20I")).AddInnings(1, full).AddInnings(2, "1 4 . 1").SetStatus("Int.")
	}},
	{"08-stumps", func() *scoretest.Scene {
		return toss(between("Test/5day")).AddInnings(1, full).SetStatus("Stump Day 1")
	}},
	{"09-result", func() *scoretest.Scene {
		return toss(between("T20I")).AddInnings(1, full).AddInnings(2, "6 6 6 6 6 6 6 6").Finish(2, "Australia won by 10 wickets")
	}},
	{"10-abandoned", func() *scoretest.Scene { return toss(between("T20I")).SetStatus("Aban.") }},
}

// between returns a match of two sides that people know.
func between(kind string) *scoretest.Scene {
	return scoretest.NewScene(kind).Set(func(f *sportmonks.Fixture) {
		f.Localteam.Name, f.Localteam.Code, f.Visitorteam.Name, f.Visitorteam.Code = "India", "IND", "Australia", "AUS"
	})
}

// toss has the home side win the toss and bat.
func toss(s *scoretest.Scene) *scoretest.Scene {
	return s.Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 1, "batting" })
}

// shown is the file with which the console shows the payloads.
const shown = "../../infra/rooms/cricket/panel/payloads.json"

// TestPayloads are what Apple gets in each phase of a match. An app's tests and previews decode them, and the console
// shows them.
func TestPayloads(t *testing.T) {
	t.Parallel()

	var lines []string

	for _, phase := range phases {
		s, _ := scorer.Read(phase.scene().Fixture, score.State{})
		state := push.State{Content: s.For("1"), Time: at, Stale: at.Add(activity.StaleAfter)}

		encode := push.Update
		if s.Phase.Over() {
			state.Stale = time.Time{}
			encode = func(s push.State) (*push.Message, error) { return push.End(s, at.Add(30*time.Minute)) }
		}

		m, err := encode(state)
		if err != nil {
			t.Fatal(err)
		}

		text, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			t.Fatal(err)
		}

		var p struct {
			APS struct {
				State json.RawMessage `json:"content-state"`
			} `json:"aps"`
		}
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}

		if err := Decodes(p.APS.State); err != nil {
			t.Errorf("%s: %v", phase.name, err)
		}

		golden(t, "payloads/"+phase.name+".json", append(text, '\n'))

		line, err := json.Marshal(map[string]any{"file": phase.name + ".json", "payload": m})
		if err != nil {
			t.Fatal(err)
		}

		lines = append(lines, string(line))
	}

	golden(t, shown, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"))
}
