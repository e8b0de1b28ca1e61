package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/events"
	"matchday/infra/tools/events/story"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

const root = "../../.."

// event is what of an event ties it to its function.
type event struct {
	RouteKey       string
	RequestContext struct {
		Authorizer *struct {
			JWT struct{ Claims map[string]string }
		}
	}
	Records []struct {
		EventSourceARN, Body string
		Attributes           struct{ MessageGroupID string }
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

	known := map[string]bool{".": true}
	for _, room := range rooms {
		known[room.Name], known[path.Join(room.Name, events.Table)] = true, true
		planned := map[string]bool{}

		for _, m := range room.Machines {
			for _, name := range m.Calls {
				planned[name] = true
			}
		}

		all, err := events.Cases(dir, room.Name)
		if err != nil {
			say("%v", err)
		} else {
			wrong = append(wrong, checkCases(all, room)...)
		}

		for _, fn := range room.Functions {
			known[fn.Name+".json"] = true
			if _, err := fs.Stat(dir, fn.Name+".json"); errors.Is(err, fs.ErrNotExist) {
				say("there is no %s.json", fn.Name)
				continue
			}

			for _, c := range all {
				if c.Function() != fn.Name {
					continue
				}

				text, err := c.Event(dir)
				if err != nil {
					say("%v", err)
					continue
				}

				if what := foreign(text, fn, planned[fn.Name], c.Good != ""); what != "" {
					say("%s is no event of its function: %s", c.Name(), what)
				}
			}
		}
	}

	err := fs.WalkDir(dir, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && !known[name] {
			say("%s is of no function", name)
		}

		return err
	})
	if err != nil {
		say("%v", err)
	}

	slices.Sort(wrong)

	return slices.Compact(wrong)
}

// checkCases returns the mistakes in a room's table.
func checkCases(all []events.Case, room spec.Room) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	good, bad := map[string]int{}, map[string]int{}

	var now time.Time

	for i, c := range all {
		if (c.Good == "") == (c.Bad == "") {
			say("%s/%s: case %d is either good or bad", room.Name, events.Table, i+1)
			continue
		}

		if !slices.ContainsFunc(room.Functions, func(fn spec.Function) bool { return fn.Name == c.Function() }) {
			say("%s is a case of no function", c.Name())
		}

		switch {
		case c.Good != "" && (c.Change != nil || c.Given != ""):
			say("%s is of the event as it is, and under no condition", c.Name())
		case c.Good != "" && !c.Works():
			say("%s does not expect the function to do its work", c.Name())
		case c.Bad != "" && !c.Refuses():
			say("%s does not expect a clear refusal", c.Name())
		}

		if c.At != "" || i == 0 {
			at, err := story.Parse(c.At)
			if err != nil {
				say("%s: %v", c.Name(), err)
			} else if at.Before(now) {
				say("%s is at %s, before the case before it", c.Name(), c.At)
			}

			now = at
		}

		good[c.Room+"/"+c.Good]++
		bad[c.Room+"/"+c.Bad]++
	}

	for _, fn := range room.Functions {
		if good[fn.Name] != 1 {
			say("%s has %d good cases, not one", fn.Name, good[fn.Name])
		}

		if bad[fn.Name] == 0 {
			say("%s has no bad case", fn.Name)
		}
	}

	return wrong
}

// foreign returns why an event cannot come from the trigger of fn, or "". planned is
// for a function that a state machine calls.
func foreign(text []byte, fn spec.Function, planned, good bool) string {
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		return err.Error()
	}

	e.empty = string(bytes.Join(bytes.Fields(text), nil)) == "{}"

	switch on := fn.On.(type) {
	case spec.Route:
		key := on.Method + " " + on.Path

		signedIn := e.RequestContext.Authorizer != nil && e.RequestContext.Authorizer.JWT.Claims["sub"] != ""
		switch {
		case e.RouteKey != key:
			return fmt.Sprintf("its route is %q, not %q", e.RouteKey, key)
		case good && signedIn != (on.Auth == spec.User || on.Auth == spec.Admin):
			return "it is signed in where the route is public, or not where it is not"
		}
	case spec.Queue:
		if len(e.Records) != 1 || !strings.HasSuffix(e.Records[0].EventSourceARN, ":dev-"+on.Name) {
			return "it is of another queue than " + on.Name
		}

		if on.FIFO() != (e.Records[0].Attributes.MessageGroupID != "") {
			return "its message has a group where the queue has none, or none where it has"
		}
	case spec.DeadLetters:
		if len(e.Records) != 1 || !strings.HasSuffix(e.Records[0].EventSourceARN, ":dev-"+on.Of.DeadLetter()) {
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

// TestCheck: check reports each kind of mistake with the name of the file or of the case.
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
	files := map[string]string{
		"lab/get-thing.json":  `{"routeKey":"GET /things/{id}","requestContext":{"authorizer":{"jwt":{"claims":{"sub":"u"}}}}}`,
		"lab/do-work.json":    `{"Records":[{"eventSourceARN":"arn:aws:sqs:us-east-1:1:dev-lab-work","body":"{}"}]}`,
		"lab/take-turns.json": `{"Records":[{"eventSourceARN":"arn:aws:sqs:us-east-1:1:dev-lab-turns.fifo","attributes":{"MessageGroupId":"a"}}]}`,
		"lab/plan.json":       `{"slot":1}`,
		"lab/mend.json":       `{"year":2026}`,
		"lab/say-hello.json":  `{"triggerSource":"PostConfirmation_ConfirmSignUp","userPoolId":"us-east-1_a","userName":"u","request":{"userAttributes":{"sub":"u"}}}`,
		"lab/cases.json": `[
			{"at":"13:55","good":"get-thing","status":200},
			{"bad":"get-thing","change":{"requestContext":{"authorizer":null}},"status":401,"problem":"unauthenticated"},
			{"good":"do-work","pushes":1},
			{"bad":"do-work","change":{"body":{"a":7}},"rejected":"7"},
			{"at":"14:00","good":"take-turns","queued":{"lab-work":1}},
			{"bad":"take-turns","change":{"body":"x"},"rejected":"x"},
			{"good":"plan","answer":{}},
			{"bad":"plan","change":{"slot":null},"error":"no slot"},
			{"good":"mend","rows":{"things":{}}},
			{"bad":"mend","given":"there are no tables","error":"no table"},
			{"good":"say-hello","gone":{"things":{}}},
			{"bad":"say-hello","change":{"request":{"userAttributes":{"sub":null}}},"error":"no sub"}]`,
	}
	change := func(file, from, to string) func(map[string]string) {
		return func(files map[string]string) {
			if strings.Count(files[file], from) != 1 {
				panic(fmt.Sprintf("%s does not have %s once", file, from))
			}

			files[file] = strings.Replace(files[file], from, to, 1)
		}
	}
	add := func(file, text string) func(map[string]string) {
		return func(files map[string]string) { files[file] = text }
	}

	const table = "lab/cases.json"
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   []string
	}{
		"as it is":           {func(map[string]string) {}, nil},
		"no event":           {func(files map[string]string) { delete(files, "lab/plan.json") }, []string{"there is no lab/plan.json"}},
		"a function's ghost": {add("lab/put-thing.json", "{}"), []string{"lab/put-thing.json is of no function"}},
		"a room's ghost":     {add("shed/x.json", "{}"), []string{"shed is of no function", "shed/x.json is of no function"}},
		"a file too deep":    {add("lab/plan/good.json", "{}"), []string{"lab/plan is of no function", "lab/plan/good.json is of no function"}},
		"a file too high":    {add("plan.json", "{}"), []string{"plan.json is of no function"}},
		"no JSON": {add("lab/say-hello.json", "{"),
			[]string{"lab/say-hello.json: unexpected EOF", "lab/say-hello/good is no event of its function: unexpected end of JSON input"}},

		"no table":     {func(files map[string]string) { delete(files, table) }, []string{"open lab/cases.json: file does not exist"}},
		"no good case": {change(table, `{"good":"plan","answer":{}},`, ``), []string{"lab/plan has 0 good cases, not one"}},
		"no bad case": {change(table, `{"bad":"plan","change":{"slot":null},"error":"no slot"},`, ``),
			[]string{"lab/plan has no bad case"}},
		"two good cases": {change(table, `"at":"14:00",`, `"good":"plan","answer":{}},{"at":"14:00",`),
			[]string{"lab/plan has 2 good cases, not one"}},
		"two bad cases": {change(table, `"at":"14:00",`, `"bad":"plan","change":{"slot":"x"},"error":"no slot"},{"at":"14:00",`),
			[]string{"lab/plan/bad is no event of its function: json: cannot unmarshal string into Go struct field event.Slot of type int64"}},
		"a case of no room": {change(table, `"good":"plan","answer":{}},`, `"good":"plan","answer":{}},{"good":"put-thing","status":200},`),
			[]string{"lab/put-thing/good is a case of no function"}},
		"neither good nor bad": {change(table, `"at":"14:00",`, `"at":"14:00"},{`), []string{"lab/cases.json: case 5 is either good or bad"}},
		"an unknown member":    {change(table, `"pushes"`, `"pushed"`), []string{`lab/cases.json: json: unknown field "pushed"`}},
		"a good case changed": {change(table, `"good":"plan"`, `"good":"plan","change":{}`),
			[]string{"lab/plan/good is of the event as it is, and under no condition"}},
		"good given a fault": {change(table, `"good":"plan"`, `"good":"plan","given":"rain"`),
			[]string{"lab/plan/good is of the event as it is, and under no condition"}},
		"no work is expected": {change(table, `"answer":{}`, `"error":"no"`),
			[]string{"lab/plan/good does not expect the function to do its work"}},
		"no reason":  {change(table, `,"problem":"unauthenticated"`, ``), []string{"lab/get-thing/bad does not expect a clear refusal"}},
		"no refusal": {change(table, `"status":401`, `"status":200`), []string{"lab/get-thing/bad does not expect a clear refusal"}},
		"no first time": {change(table, `"at":"13:55",`, ``),
			[]string{`lab/get-thing/good: invalid time of the day ""; valid: 13:55, 13:59:30`}},
		"no time": {change(table, `14:00`, `late`),
			[]string{`lab/take-turns/good: invalid time of the day "late"; valid: 13:55, 13:59:30`}},
		"back in time": {change(table, `14:00`, `13:54`), []string{"lab/take-turns/good is at 13:54, before the case before it"}},
		"a body of no JSON": {change("lab/do-work.json", `"body":"{}"`, `"body":"x"`),
			[]string{"lab/do-work/bad: the body is not JSON, and cannot be merged: invalid character 'x' looking for beginning of value"}},

		"another's route": {change("lab/get-thing.json", `/{id}`, ``),
			[]string{`lab/get-thing/bad is no event of its function: its route is "GET /things", not "GET /things/{id}"`,
				`lab/get-thing/good is no event of its function: its route is "GET /things", not "GET /things/{id}"`}},
		"a route changed": {change(table, `{"requestContext":{"authorizer":null}}`, `{"routeKey":"GET /"}`),
			[]string{`lab/get-thing/bad is no event of its function: its route is "GET /", not "GET /things/{id}"`}},
		"nobody signed in": {change("lab/get-thing.json", `"sub"`, `"iss"`),
			[]string{"lab/get-thing/good is no event of its function: it is signed in where the route is public, or not where it is not"}},
		"another's queue": {change("lab/do-work.json", `-work`, `-play`),
			[]string{"lab/do-work/bad is no event of its function: it is of another queue than lab-work",
				"lab/do-work/good is no event of its function: it is of another queue than lab-work"}},
		"two messages": {change("lab/do-work.json", `[{`, `[{},{`),
			[]string{"lab/do-work/bad is no event of its function: it is of another queue than lab-work",
				"lab/do-work/good is no event of its function: it is of another queue than lab-work"}},
		"nothing planned": {change("lab/plan.json", `slot`, `year`),
			[]string{"lab/plan/good is no event of its function: it has neither a scheduled time nor a slot"}},
		"nothing wanted": {add("lab/mend.json", ` { }`),
			[]string{"lab/mend/good is no event of its function: it does not say what an operator wants"}},
		"no group": {change("lab/take-turns.json", `MessageGroupId`, `x`), []string{
			"lab/take-turns/bad is no event of its function: its message has a group where the queue has none, or none where it has",
			"lab/take-turns/good is no event of its function: its message has a group where the queue has none, or none where it has",
		}},
		"a group of its own": {change("lab/do-work.json", `"body"`, `"attributes":{"MessageGroupId":"a"},"body"`), []string{
			"lab/do-work/bad is no event of its function: its message has a group where the queue has none, or none where it has",
			"lab/do-work/good is no event of its function: its message has a group where the queue has none, or none where it has",
		}},
		"before a sign-up": {change(table, `{"request":{"userAttributes":{"sub":null}}}`, `{"triggerSource":"PreSignUp_SignUp"}`),
			[]string{"lab/say-hello/bad is no event of its function: it is not of a user pool after a confirmation"}},
		"a sign-up of nobody": {change("lab/say-hello.json", `"sub"`, `"email"`),
			[]string{"lab/say-hello/good is no event of its function: it does not say who has signed up"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			texts := maps.Clone(files)
			c.change(texts)

			dir := fstest.MapFS{}
			for file, text := range texts {
				dir[file] = &fstest.MapFile{Data: []byte(text)}
			}

			if diff := cmp.Diff(c.want, check(dir, rooms)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
