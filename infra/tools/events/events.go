// Package events reads the sample events. Each function has one that it accepts,
// events/<room>/<function>.json, as `sam local invoke -e` takes it. Each room has a table of
// cases, events/<room>/cases.json, in the order in which they happen: the events that functions
// get, and the answers that are expected.
//
// The tests of this package give every event to the real program of its function, on one fleet
// of all rooms.
package events

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
)

// Table is the name of a room's table of cases, in the folder of its events.
const Table = "cases.json"

// Case is an event that a function gets, and the expected answer.
type Case struct {
	Room string `json:"-"`
	// At is the time of the day at which the case happens: "13:55" or "13:59:30". Cases without
	// one follow the case before at once.
	At string
	// Good is the function that accepts its event, without its room.
	Good string
	// Bad is the function that refuses its event, which has the Change: a JSON merge patch
	// (RFC 7396). A member "body" of the patch is about the body of the request, or of the
	// message, and may be an object: a merge patch of the JSON in the body.
	Bad    string
	Change map[string]any
	// Given is a condition that holds meanwhile: one of story.Samples.Faults, or NoTables.
	Given string
	Want
}

// NoTables is the condition that DynamoDB has none of the tables that the function uses.
const NoTables = "there are no tables"

// Want is what a case expects of the answer and afterwards. What JSON leaves out does not matter:
// see Fits.
type Want struct {
	Status int // of a route
	// Problem is the code of the problem document that answers, whose status is Status.
	Problem  string
	Body     any
	Text     []string       // parts of a body that is not JSON
	Answer   any            // of a task, or to the user pool
	Error    string         // a part of it
	Rejected string         // a part of the reason with which the message is in the dead-letter queue
	Queued   map[string]int // by queue, how many messages are sent, or more; "*-x" is each queue of the fleet that ends so
	Pushes   int            // that reach a phone
	Rows     map[string]any // by table, a row that is there afterwards
	Gone     map[string]any // by table, a row that was there before, and is not
	SQL      map[string]any // by query, the value that it returns afterwards
}

// Function is the name of the function, with its room.
func (c Case) Function() string { return c.Room + "/" + cmp.Or(c.Good, c.Bad) }

// Name is the name of the case: "cricket/get-match/good".
func (c Case) Name() string {
	if c.Good != "" {
		return c.Function() + "/good"
	}

	return c.Function() + "/bad"
}

// Works reports whether the expectation shows that the function did its work.
func (w Want) Works() bool {
	done := w.Answer != nil || len(w.Rows)+len(w.Gone)+len(w.Queued)+len(w.SQL)+w.Pushes > 0
	return w.Error == "" && w.Rejected == "" && w.Problem == "" && (w.Status >= 200 && w.Status < 400 || w.Status == 0 && done)
}

// Refuses reports whether the expectation is a clear rejection.
func (w Want) Refuses() bool {
	skipped, _ := w.Answer.(map[string]any)
	explained := w.Problem != "" || w.Body != nil || w.Text != nil

	return w.Error != "" || w.Rejected != "" || w.Status >= 400 && w.Status < 500 && explained || skipped["skipped"] != nil
}

// Document is the JSON that is expected in the body of a route's answer, nil for any.
func (w Want) Document() any {
	if w.Problem == "" {
		return w.Body
	}

	document := map[string]any{"status": float64(w.Status), "type": "urn:problem-type:matchday:" + w.Problem}
	if w.Body == nil {
		return document
	}

	return merged(document, w.Body)
}

// Event returns the event of the case. dir is the folder of all rooms' events.
func (c Case) Event(dir fs.FS) ([]byte, error) {
	text, err := fs.ReadFile(dir, c.Function()+".json")
	if err != nil || c.Change == nil {
		return text, err
	}

	event, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", c.Function(), err)
	}

	of, ok := event.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s.json is not an object", c.Function())
	}

	change := maps.Clone(c.Change)
	if body, ok := change["body"]; ok {
		delete(change, "body")

		if err := setBody(of, body); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
	}

	return json.Marshal(merged(of, change))
}

// setBody changes the body of a request, or of the first message of a queue's event.
func setBody(event map[string]any, change any) error {
	in := event
	if records, ok := event["Records"].([]any); ok && len(records) > 0 {
		in, _ = records[0].(map[string]any)
	}

	switch change := change.(type) {
	case nil:
		delete(in, "body")
	case string:
		in["body"] = change
	case map[string]any:
		text, _ := in["body"].(string)

		body, err := decode([]byte(cmp.Or(text, "{}")))
		if err != nil {
			return fmt.Errorf("the body is not JSON, and cannot be merged: %w", err)
		}

		changed, err := json.Marshal(merged(body, change))
		if err != nil {
			return err
		}

		in["body"] = string(changed)
	default:
		return fmt.Errorf("a change of the body is an object, a string or null, not %v", change)
	}

	return nil
}

// merged applies a JSON merge patch: RFC 7396, section 2.
func merged(to, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}

	of, _ := to.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, of)

	for name, v := range change {
		if v == nil {
			delete(out, name)
		} else {
			out[name] = merged(out[name], v)
		}
	}

	return out
}

// Cases reads a room's table. dir is the folder of all rooms' events.
func Cases(dir fs.FS, room string) (all []Case, err error) {
	name := path.Join(room, Table)

	text, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, err
	}

	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()

	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	for i := range all {
		all[i].Room = room
	}

	return all, nil
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)

	return v, err
}
