package football

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/openfootball"
	"matchday/infra/sim/samples"
)

// shape collects the fields of JSON objects: the type by the last key of the object and the
// key of the field. A team has the same fields whatever it is called.
type shape map[string]string

func (s shape) read(t testing.TB, data []byte) {
	t.Helper()

	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()

	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}

	s.add("", "", v)
}

func (s shape) add(object, key string, v any) {
	field := object + "." + key
	switch key {
	case "homeTeam", "awayTeam":
		key = "team"
	case "currentRound", "rounds":
		key = "roundInfo"
	case "event":
		key = "events"
	}

	switch v := v.(type) {
	case map[string]any:
		s[field] = "object"
		for k, inner := range v {
			s.add(key, k, inner)
		}
	case []any:
		for _, inner := range v {
			s.add(object, key, inner)
		}

		s[field] = "list"
	case json.Number:
		s[field] = "number"
		if strings.ContainsAny(string(v), ".e") {
			s[field] = "fraction"
		}
	case nil:
	default:
		s[field] = fmt.Sprintf("%T", v)
	}
}

// notRecorded are fields that the recordings lack, as no recorded event has them.
var notRecorded = []string{"roundInfo.prefix"}

// TestShapesAreThoseOfTheProvider compares all fields of all answers, over a season with all
// faults, with the recorded answers of the provider.
func TestShapesAreThoseOfTheProvider(t *testing.T) {
	t.Parallel()

	recorded, statuses := shape{}, map[status]bool{}

	for _, path := range append(samples.Glob(t, "sofascore/*.json"), samples.Glob(t, "sofascore/status/*.json")...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) { // a list of events
			data = slices.Concat([]byte(`{"events":`), data, []byte("}"))
		}

		recorded.read(t, data)

		var one struct {
			Event  eventInfo
			Events []eventInfo
		}
		if err := json.Unmarshal(data, &one); err != nil {
			t.Fatal(err)
		}

		for _, e := range append(one.Events, one.Event) {
			if e.Status.Type != "" {
				statuses[e.Status] = true
			}
		}
	}

	ours, shown := shape{}, map[status]bool{}

	rates := map[Kind]float64{}
	for _, k := range OfEvents() {
		rates[k] = 0.2
	}

	cup := parse(t, small)

	world := parse(t, string(samples.Read(t, "openfootball/worldcup-2022.json")))
	for _, s := range []openfootball.Season{cup, world} {
		r := newRig(t, 5, Tournament{Season: s, Rates: rates})

		var times []time.Time

		for _, e := range r.season().events {
			for _, v := range e.views[1:] {
				times = append(times, v.at)
			}
		}

		slices.SortFunc(times, time.Time.Compare)

		for _, at := range times {
			r.to(at)

			for _, e := range r.season().events {
				v, visible := e.at(at)
				if visible && v.at.Equal(at) {
					ours.read(t, r.get(fmt.Sprint("/api/v1/event/", e.id)).Body.Bytes())

					shown[v.status] = true
				}
			}
		}

		for _, path := range []string{"rounds", "events/round/1", "standings/total"} {
			ours.read(t, r.get(ofCup+path).Body.Bytes())
		}
	}

	for field, kind := range ours {
		if want, ok := recorded[field]; want != kind && !slices.Contains(notRecorded, field) {
			t.Errorf("%s is a %s, but the provider has %q (%t)", field, kind, want, ok)
		}
	}

	if len(ours) < 70 || len(shown) < 14 || len(statuses) < 7 {
		t.Errorf("only %d fields, %d statuses and %d recorded statuses were seen", len(ours), len(shown), len(statuses))
	}

	for s := range shown {
		for want := range statuses {
			if s.Code == want.Code && s != want {
				t.Errorf("a status is %v, want %v", s, want)
			}
		}
	}
}
