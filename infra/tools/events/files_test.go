// Package events tests the sample events against the fleet. For every function,
// events/<room>/<function> has an event that it accepts in good.json and one that it
// rejects in bad.json, for `sam local invoke`, and the expected answers in
// good.want.json and bad.want.json. Every event is sent to the real binary.
package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

const root = "../../.."

// cases are what every function has an event for.
var cases = []string{"good", "bad"}

// event is what of an event ties it to its function.
type event struct {
	RouteKey       string
	RequestContext struct {
		RouteKey   string
		Authorizer *struct {
			JWT struct{ Claims map[string]string }
		}
	}
	Records []struct {
		EventSourceARN, Body string
		Attributes           struct{ MessageGroupID, MessageDeduplicationID, SequenceNumber string }
	}
	ScheduledTime string
	Slot          int64

	TriggerSource, UserPoolID, UserName string
	Request                             struct{ UserAttributes map[string]string }

	empty bool
}

// check returns the mistakes in a folder of events, one sentence each.
func check(dir fs.FS, rooms []spec.Room) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	functions, planned := map[string]spec.Function{}, map[string]bool{}
	for _, room := range rooms {
		for _, m := range room.Machines {
			for _, name := range m.Calls {
				planned[name] = true
			}
		}
		for _, fn := range room.Functions {
			functions[fn.Name] = fn
			for _, c := range cases {
				for _, file := range []string{c + ".json", c + ".want.json"} {
					if _, err := fs.Stat(dir, path.Join(fn.Name, file)); errors.Is(err, fs.ErrNotExist) {
						say("%s has no %s", fn.Name, file)
					}
				}
			}
		}
	}
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		depth := strings.Count(name, "/")
		isRoom := slices.ContainsFunc(rooms, func(r spec.Room) bool { return r.Name == name })
		fn, ok := functions[path.Dir(name)]
		kind, _ := strings.CutSuffix(strings.TrimSuffix(path.Base(name), ".json"), ".want")
		switch {
		case d.IsDir() && depth == 0 && isRoom:
		case d.IsDir() && functions[name].Name != "":
		case d.IsDir() || depth != 2 || !ok:
			say("%s is of no function", name)
		case path.Ext(name) != ".json" || !slices.Contains(cases, kind):
			say("%s is no case: there are good and bad", name)
		default:
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				return err
			}
			var e event
			if err := json.Unmarshal(text, &e); err != nil {
				say("%s is no JSON: %v", name, err)
			} else if !strings.HasSuffix(name, ".want.json") {
				e.empty = string(bytes.Join(bytes.Fields(text), nil)) == "{}"
				if what := e.foreign(fn, planned[fn.Name], kind == "good"); what != "" {
					say("%s is no event of its function: %s", name, what)
				}
			}
		}
		return nil
	})
	if err != nil {
		say("%v", err)
	}
	slices.Sort(wrong)
	return wrong
}

// foreign returns why an event cannot come from the trigger of fn, or "". planned is
// for a function that a state machine calls.
func (e event) foreign(fn spec.Function, planned, good bool) string {
	switch on := fn.On.(type) {
	case spec.Route:
		key := on.Method + " " + on.Path
		signedIn := e.RequestContext.Authorizer != nil && e.RequestContext.Authorizer.JWT.Claims["sub"] != ""
		switch {
		case e.RouteKey != key || e.RequestContext.RouteKey != key:
			return fmt.Sprintf("its route is %q, not %q", e.RouteKey, key)
		case good && signedIn != (on.Auth == spec.User || on.Auth == spec.Admin):
			return "it is signed in where the route is public, or not where it is not"
		}
	case spec.Queue:
		if len(e.Records) == 0 || !strings.HasSuffix(e.Records[0].EventSourceARN, ":dev-"+on.Name) {
			return "it is of another queue than " + on.Name
		}
		of := e.Records[0].Attributes
		if on.FIFO() != (of.MessageGroupID != "" && of.MessageDeduplicationID != "" && of.SequenceNumber != "") {
			return "its message has a group and a turn where the queue has none, or none where it has"
		}
	case spec.DeadLetters:
		if len(e.Records) == 0 || !strings.HasSuffix(e.Records[0].EventSourceARN, ":dev-"+on.Of.DeadLetter()) {
			return "it is of another queue than " + on.Of.DeadLetter()
		}
	case spec.Task:
		switch {
		case good && planned && e.ScheduledTime == "" && e.Slot == 0:
			return "it has neither a scheduled time nor a slot"
		case good && e.empty:
			return "it does not say what an operator wants"
		}
	case spec.UserConfirmed:
		switch {
		case !strings.HasPrefix(e.TriggerSource, "PostConfirmation_") || e.UserPoolID == "":
			return "it is not of a user pool after a confirmation"
		case good && (e.UserName == "" || e.Request.UserAttributes["sub"] != e.UserName):
			return "it does not say who has signed up"
		}
	}
	return ""
}

func TestEveryFunctionHasItsEvents(t *testing.T) {
	t.Parallel()
	for _, sentence := range check(os.DirFS(filepath.Join(root, "events")), fleet.Specs()) {
		t.Error(sentence)
	}
}

// TestCheck: check reports each kind of mistake with the name of the file.
func TestCheck(t *testing.T) {
	t.Parallel()
	rooms := []spec.Room{{Name: "lab", Machines: []spec.Machine{{Calls: map[string]string{"Plan": "lab/plan"}}}, Functions: []spec.Function{
		{Name: "lab/get-thing", On: spec.Route{Method: "GET", Path: "/things/{id}", Auth: spec.User}},
		{Name: "lab/do-work", On: spec.Queue{Name: "lab-work"}},
		{Name: "lab/take-turns", On: spec.Queue{Name: "lab-turns.fifo"}},
		{Name: "lab/plan", On: spec.Task{}},
		{Name: "lab/mend", On: spec.Task{}},
		{Name: "lab/say-hello", On: spec.UserConfirmed{}},
	}}}
	const (
		route  = `{"routeKey":"GET /things/{id}","requestContext":{"routeKey":"GET /things/{id}","authorizer":{"jwt":{"claims":{"sub":"u"}}}}}`
		record = `{"Records":[{"eventSourceARN":"arn:aws:sqs:us-east-1:1:dev-lab-work"}]}`
		turn   = `{"Records":[{"eventSourceARN":"arn:aws:sqs:us-east-1:1:dev-lab-turns.fifo","attributes":{"MessageGroupId":"a","MessageDeduplicationId":"1","SequenceNumber":"2"}}]}`
		hello  = `{"triggerSource":"PostConfirmation_ConfirmSignUp","userPoolId":"us-east-1_a","userName":"u","request":{"userAttributes":{"sub":"u"}}}`
	)
	good := func() map[string]string {
		all := map[string]string{}
		for name, event := range map[string]string{
			"lab/get-thing": route, "lab/do-work": record, "lab/take-turns": turn, "lab/plan": `{"slot":1}`, "lab/mend": `{"year":2026}`, "lab/say-hello": hello,
		} {
			for _, c := range cases {
				all[name+"/"+c+".json"], all[name+"/"+c+".want.json"] = event, "{}"
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		change map[string]string // text by file; "" takes it away
		want   []string
	}{
		"as it is":             {},
		"no good case":         {map[string]string{"lab/plan/good.json": ""}, []string{"lab/plan has no good.json"}},
		"no bad case":          {map[string]string{"lab/plan/bad.json": ""}, []string{"lab/plan has no bad.json"}},
		"no answer":            {map[string]string{"lab/plan/bad.want.json": ""}, []string{"lab/plan has no bad.want.json"}},
		"a function's ghost":   {map[string]string{"lab/put-thing/good.json": "{}"}, []string{"lab/put-thing is of no function", "lab/put-thing/good.json is of no function"}},
		"a room's ghost":       {map[string]string{"shed/x/good.json": "{}"}, []string{"shed is of no function", "shed/x is of no function", "shed/x/good.json is of no function"}},
		"a file of no case":    {map[string]string{"lab/plan/ugly.json": "{}"}, []string{"lab/plan/ugly.json is no case: there are good and bad"}},
		"a file on the way":    {map[string]string{"lab/good.json": "{}"}, []string{"lab/good.json is of no function"}},
		"no JSON":              {map[string]string{"lab/plan/good.json": "{"}, []string{"lab/plan/good.json is no JSON: unexpected end of JSON input"}},
		"an answer in no JSON": {map[string]string{"lab/plan/good.want.json": "}"}, []string{"lab/plan/good.want.json is no JSON: invalid character '}' looking for beginning of value"}},
		"another's route":      {map[string]string{"lab/get-thing/good.json": `{"routeKey":"GET /things"}`}, []string{`lab/get-thing/good.json is no event of its function: its route is "GET /things", not "GET /things/{id}"`}},
		"nobody signed in":     {map[string]string{"lab/get-thing/good.json": strings.Replace(route, `"sub"`, `"iss"`, 1)}, []string{"lab/get-thing/good.json is no event of its function: it is signed in where the route is public, or not where it is not"}},
		"another's queue":      {map[string]string{"lab/do-work/bad.json": `{"Records":[{"eventSourceARN":"arn:aws:sqs:us-east-1:1:dev-lab-play"}]}`}, []string{"lab/do-work/bad.json is no event of its function: it is of another queue than lab-work"}},
		"nothing planned":      {map[string]string{"lab/plan/good.json": `{"year":2026}`}, []string{"lab/plan/good.json is no event of its function: it has neither a scheduled time nor a slot"}},
		"nothing wanted":       {map[string]string{"lab/mend/good.json": `{}`}, []string{"lab/mend/good.json is no event of its function: it does not say what an operator wants"}},
		"nothing, wrongly":     {change: map[string]string{"lab/mend/bad.json": `{}`, "lab/plan/bad.json": `{}`}},
		"no turn":              {map[string]string{"lab/take-turns/bad.json": strings.Replace(turn, `"SequenceNumber":"2"`, `"x":"y"`, 1)}, []string{"lab/take-turns/bad.json is no event of its function: its message has a group and a turn where the queue has none, or none where it has"}},
		"a turn of its own":    {map[string]string{"lab/do-work/good.json": strings.Replace(turn, "lab-turns.fifo", "lab-work", 1)}, []string{"lab/do-work/good.json is no event of its function: its message has a group and a turn where the queue has none, or none where it has"}},
		"before a sign-up":     {map[string]string{"lab/say-hello/bad.json": strings.Replace(hello, "PostConfirmation_Confirm", "PreSignUp_", 1)}, []string{"lab/say-hello/bad.json is no event of its function: it is not of a user pool after a confirmation"}},
		"a sign-up of nobody":  {map[string]string{"lab/say-hello/good.json": strings.Replace(hello, `"sub"`, `"email"`, 1)}, []string{"lab/say-hello/good.json is no event of its function: it does not say who has signed up"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			texts := good()
			for file, text := range c.change {
				texts[file] = text
			}
			for file, text := range texts {
				if text != "" {
					files[file] = &fstest.MapFile{Data: []byte(text)}
				}
			}
			if got := check(files, rooms); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
