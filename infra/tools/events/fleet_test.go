package events

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	rooms "matchday/pkg/fleet"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// story is the order in which the events happen, of an evening with three
// matches: one is live, one starts at 14:20, and one is over. Each function
// finds what those before it have left.
var story = []struct {
	at    string // time of the day
	room  string
	cases []string
}{
	{"13:55", "cricket", []string{
		"sync-leagues/bad", "sync-leagues/good", "sync-fixtures/bad", "sync-fixtures/good", "sync-teams/bad", "sync-teams/good",
	}},
	{"13:58", "cricket", []string{
		"plan-ticks/good", "plan-ticks/bad", "tick/good", "tick/bad", // the good one waits for 13:59
	}},
	{"13:59:30", "cricket", []string{
		"get-match/good", "get-match/bad", "list-matches/good", "list-matches/bad", "get-display/good", "get-display/bad", "list-balls/good", "list-balls/bad",
		"list-teams/good", "list-teams/bad", "get-team/good", "get-team/bad", "list-season-teams/good", "list-season-teams/bad",
		"list-leagues/good", "list-leagues/bad", "get-league/good", "get-league/bad",

		"register-device/bad", "register-device/good", "get-device/good", "get-device/bad", "update-push-to-start/bad", "update-push-to-start/good",
		"put-preferences/bad", "put-preferences/good", "get-preferences/good", "get-preferences/bad",
		"follow-match/bad", "follow-match/good", "get-follow/good", "get-follow/bad", "update-follow/bad", "update-follow/good",
		"start-activity/good", "push-activities/bad", "push-activities/good", "send-alerts/bad", "send-alerts/good",
		"finish-match/bad", "finish-match/good", "start-activity/bad",

		"update-team/bad", "update-team/good", "update-league/bad", "update-league/good", "list-league-matches/bad", "list-league-matches/good",
		"delete-league/bad", "delete-league/good",
	}},
	{"14:06", "cricket", []string{
		"remind-prematch/bad", "remind-prematch/good", "detect-toss/bad", "detect-toss/good", "sweep-channels/bad", "sweep-channels/good",
		"end-activity/bad", "end-activity/good", "unfollow-match/bad", "unfollow-match/good", "delete-device/bad", "delete-device/good",
	}},
	{"14:10", "pickem", []string{ // the show locks at 14:45
		"on-user-confirmed/bad", "on-user-confirmed/good", "update-me/bad", "update-me/good", "get-me/good", "get-me/bad", "get-user/good", "get-user/bad",
		"invite-user/bad", "invite-user/good", "create-event/bad", "create-event/good", "add-match/bad", "add-match/good", "update-match/bad", "update-match/good",
		"order-card/bad", "order-card/good", "list-events/good", "list-events/bad", "get-event/good", "get-event/bad",
		"put-predictions/bad", "put-predictions/good", "list-entries/good", "list-entries/bad",
		"register-device/bad", "register-device/good", "remind/bad", "remind/good", "send-notices/bad", "send-notices/good", "delete-device/bad", "delete-device/good",

		"create-league/bad", "create-league/good", "join-league/bad", "join-league/good", "list-leagues/good", "list-leagues/bad", "get-league/good", "get-league/bad",
		"get-league-standings/good", "get-league-standings/bad", "renew-code/bad", "renew-code/good", "delete-league/bad",
		"leave-league/bad", "leave-league/good", "delete-league/good",

		"delete-predictions/bad", "delete-predictions/good", "update-event/bad", "update-event/good", "delete-match/bad", "delete-match/good",
		"delete-event/bad", "delete-event/good", "get-health/good", "get-health/bad",
		"put-result/bad", "request-score/bad", "score-event/bad", "get-results/bad", "get-standings/bad", "list-corrections/bad", "lock-events/bad",
		"rebuild-standings/bad", "delete-user/bad",
	}},
	{"14:46", "pickem", []string{
		"lock-events/good", "put-result/good", "list-corrections/good", "request-score/good", "score-event/good", "get-results/good", "get-standings/good",
		"rebuild-standings/good", "delete-user/good",
	}},
}

// want is what becomes of an event. What it says of JSON may be less than is
// there: members that it leaves out do not matter, and "*" stands for anything
// but nothing.
type want struct {
	Given    string // what is the matter with the world: one of troubles
	Status   int    // of a route, as Body is
	Body     any
	Answer   any            // of a task, or to the user pool
	Error    string         // a part of it
	Rejected string         // a part of the reason with which the message is in the dead-letter queue
	Rows     map[string]any // by table, a row that is there afterwards
	Gone     map[string]any // by table, a row that was there before, and is not
	Queued   map[string]int // by queue, how many messages are sent, or more
	Pushes   int            // that reach a phone
}

// works reports whether the want proves that something was done.
func (w want) works() bool {
	done := w.Answer != nil || len(w.Rows)+len(w.Gone)+len(w.Queued)+w.Pushes > 0
	return w.Error == "" && w.Rejected == "" && w.Given == "" && (w.Status >= 200 && w.Status < 300 || w.Status == 0 && done)
}

// refuses reports whether the want is a clear refusal.
func (w want) refuses() bool {
	skipped, _ := w.Answer.(map[string]any)
	return w.Error != "" || w.Rejected != "" || w.Status >= 400 && w.Status < 500 && w.Body != nil || skipped["skipped"] != nil
}

const (
	prefix = "local-"
	day    = "2026-06-06"
)

// world is a fleet, and what the test may look at and spoil beside it.
type world struct {
	*fleet.Fleet
	provider  *sportmonks.Server
	t         *testing.T
	db        dynamo.DB
	tableless atomic.Bool // DynamoDB has no tables
}

// troubles are what an answer may be given under, and how to bring them about.
var troubles = map[string]func(w *world, on bool){
	"the provider fails": func(w *world, on bool) {
		if !on {
			w.provider.Chaos(sportmonks.Chaos{})
			return
		}
		w.provider.Chaos(sportmonks.Chaos{Seed: 1, Rates: map[sportmonks.Kind]float64{sportmonks.ServerError: 1}})
	},
	"there are no tables": func(w *world, on bool) { w.tableless.Store(on) },
}

// TestEvents gives every event to the binary of its function, on a fleet.
func TestEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}
	w := open(t)
	var told []string
	for _, chapter := range story {
		w.until(chapter.at)
		for _, name := range chapter.cases {
			name = chapter.room + "/" + name
			told = append(told, name)
			t.Run(name, func(t *testing.T) {
				outer := w.t
				w.t = t
				defer func() { w.t = outer }()
				w.play(name, path.Base(name) == "good")
			})
		}
	}
	for _, room := range w.Rooms {
		for _, fn := range room.Spec.Functions {
			for _, c := range cases {
				if name := fn.Name + "/" + c; !slices.Contains(told, name) {
					t.Errorf("%s is not in the story", name)
				}
			}
		}
	}
}

// open starts the fleet at the beginning of the story.
func open(t *testing.T) *world {
	w := &world{t: t}
	db, err := dynamodb.Start(t.Context(), "")
	must(t, err)
	t.Cleanup(db.Stop)
	w.db = dynamo.Open(dynamodb.Config(db.URL), prefix)
	to, err := url.Parse(db.URL)
	must(t, err)
	behind := httputil.NewSingleHostReverseProxy(to)
	between := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.tableless.Load() {
			rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
			rw.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(rw, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`)
			return
		}
		behind.ServeHTTP(rw, r)
	}))
	t.Cleanup(between.Close)
	t.Setenv(dynamodb.Endpoint, between.URL)

	c := clock.New(clockTime(t, story[0].at), clock.Free)
	t.Cleanup(c.Work()) // so that it stands still, but for the story
	t.Cleanup(c.Stop)
	w.Fleet, err = fleet.Start(t.Context(), fleet.Config{Clock: c, Root: root, Bin: binaries(t), Rooms: all.Fleet()})
	must(t, err)
	t.Cleanup(w.Close)

	w.provider = w.Simulator("sportmonks").(*sportmonks.Server)
	every := sportmonks.Pace{Every: 20 * time.Second} // a ball, or an event
	w.provider.Play(script.Generate(1, cricsheet.T20), clockTime(t, "13:00"), every)
	w.provider.Play(script.Generate(2, cricsheet.T20), clockTime(t, "14:20"), every)
	w.provider.Play(script.Generate(1, cricsheet.ODI), clockTime(t, "06:00"), every)
	w.put("cricket-channels", map[string]any{"matchId": "1", "view": "neutral", "claimedAt": 1}) // whose maker died
	w.preset()
	return w
}

// preset stores what events must name, and functions would give ids of their own:
// two leagues, one with its code, and a show with a match.
func (w *world) preset() {
	const (
		league  = "c1d2e3f4-0000-4000-8000-000000000001"
		another = "c1d2e3f4-0000-4000-8000-000000000002"
		owner   = "7f6c1f0e-5d0a-4c5e-9b57-0000000a0001"
		show    = "2026-06-20-harbour-havoc"
		match   = "5b0e9a52-7c43-4a6f-9d18-000000000002"
	)
	for _, row := range []map[string]any{
		{"PK": "LEAGUE#" + league, "SK": "LEAGUE", "GSI_PK": "LEAGUE#" + league, "GSI_SK": "LEAGUE", "type": "league", "id": league, "name": "Harbour", "ownerId": owner, "code": "TEST1234", "members": 0},
		{"PK": "LEAGUE#" + another, "SK": "LEAGUE", "GSI_PK": "LEAGUE#" + another, "GSI_SK": "LEAGUE", "type": "league", "id": another, "name": "Pier", "ownerId": owner, "code": "TEST5678", "members": 1},
		{"PK": "USER#" + owner, "SK": "LEAGUE#" + another, "GSI_PK": "LEAGUE#" + another, "GSI_SK": "MEMBER#" + owner, "type": "membership", "leagueId": another,
			"leagueName": "Pier", "belongsto": "USER#" + owner, "name": "Noor", "joinedAt": "2026-06-01T12:00:00Z"},
		{"PK": "LEAGUE#" + another, "SK": "MEMBER#" + owner, "type": "seat", "userId": owner, "joinedAt": "2026-06-01T12:00:00Z"},
		{"PK": "CODE#TEST1234", "SK": "CODE", "type": "code", "leagueId": league},
		{"PK": "EVENT", "SK": "EVENT#" + show, "GSI_PK": "EVENT#" + show, "GSI_SK": "EVENT", "type": "event", "id": show, "name": "Harbour Havoc", "date": "2026/06/20",
			"startsAt": "2026-06-20T19:00:00Z", "lockAt": "2026-06-20T18:00:00Z", "state": "upcoming", "bonus": 0, "cardRev": 1, "resultsRev": 0, "scoredRev": 0},
		{"PK": "EVENT#" + show, "SK": "MATCH#" + match, "GSI_PK": "EVENT#" + show, "GSI_SK": "MATCH#01", "type": "match", "id": match, "name": "Ladder Match", "points": 10, "since": 1,
			"teams": []map[string]any{{"members": []string{"Odo Wrenfield"}}, {"members": []string{"Sister Halcyon"}}}},
	} {
		w.put("pickem", row)
	}
}

// binaries builds the functions.
func binaries(t *testing.T) string {
	dir := t.TempDir()
	for _, room := range rooms.Rooms() {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
			"-o", filepath.Join(dir, room.Name)+"/", "./functions/"+room.Name+"/...")
		cmd.Dir = root
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

func clockTime(t *testing.T, of string) time.Time {
	if strings.Count(of, ":") == 1 {
		of += ":00"
	}
	at, err := time.Parse(time.RFC3339, day+"T"+of+"Z")
	must(t, err)
	return at
}

// until lets the fleet live until a time of the day.
func (w *world) until(of string) {
	if at := clockTime(w.t, of); at.After(w.Clock.Now()) {
		must(w.t, w.Clock.Sleep(w.t.Context(), at))
	}
}

// settle returns when nothing is left to do: only then the clock moves.
func (w *world) settle() {
	must(w.t, w.Clock.Sleep(w.t.Context(), w.Clock.Now().Add(time.Millisecond)))
}

// play gives one event to its function, and compares.
func (w *world) play(name string, good bool) {
	t := w.t
	file := filepath.Join(root, "events", name)
	in, err := os.ReadFile(file + ".json")
	must(t, err)
	text, err := os.ReadFile(file + ".want.json")
	must(t, err)
	var want want
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	must(t, decoder.Decode(&want))
	if good && !want.works() || !good && !want.refuses() {
		t.Fatal("the answer that is wanted does not show a good event to do work, or a bad one to be refused clearly")
	}
	w.settle()
	if trouble := troubles[want.Given]; trouble != nil {
		trouble(w, true)
		defer trouble(w, false)
	} else if want.Given != "" {
		t.Fatalf("there is no trouble called %q", want.Given)
	}
	for table, row := range want.Gone {
		if !w.holds(table, row) {
			t.Errorf("%s does not hold %v beforehand", table, row)
		}
	}
	sent, pushed := map[string]int{}, w.Phones.Counts()["200"]
	for q := range want.Queued {
		sent[q] = w.Queues.Depth(prefix + q).Sent
	}
	function := filepath.Dir(name)
	out, err := w.Functions.Invoke(t.Context(), function, in)
	switch fn := w.function(function); on := fn.On.(type) {
	case spec.Route:
		must(t, err)
		var got events.APIGatewayV2HTTPResponse
		must(t, json.Unmarshal(out, &got))
		if got.StatusCode != want.Status || want.Body != nil && !fits(want.Body, decoded(t, got.Body)) {
			t.Errorf("it answers %d %s", got.StatusCode, got.Body)
		}
	case spec.Queue:
		must(t, err)
		var got events.SQSEventResponse
		must(t, json.Unmarshal(out, &got))
		if len(got.BatchItemFailures) > 0 {
			t.Errorf("it gives messages back: %s", out)
		}
		if reason := w.rejected(on, in); !strings.Contains(reason, want.Rejected) || want.Rejected == "" && reason != "" {
			t.Errorf("the message is rejected with the reason %q", reason)
		}
	default:
		switch {
		case want.Error == "" && err != nil:
			t.Error(err)
		case want.Error != "" && (err == nil || !strings.Contains(err.Error(), want.Error)):
			t.Errorf("it fails with %v", err)
		case want.Answer != nil && !fits(want.Answer, decoded(t, string(out))):
			t.Errorf("it answers %s", out)
		}
	}
	for q, least := range want.Queued {
		if n := w.Queues.Depth(prefix+q).Sent - sent[q]; n < least {
			t.Errorf("%d messages are sent to %s", n, q)
		}
	}
	w.settle()
	if n := w.Phones.Counts()["200"] - pushed; want.Pushes != 0 && n != want.Pushes {
		t.Errorf("%d pushes reach a phone", n)
	}
	for table, row := range want.Rows {
		if !w.holds(table, row) {
			t.Errorf("%s does not hold %v", table, row)
		}
	}
	for table, row := range want.Gone {
		if w.holds(table, row) {
			t.Errorf("%s still holds %v", table, row)
		}
	}
}

func (w *world) function(name string) (found spec.Function) {
	for _, room := range w.Rooms {
		for _, fn := range room.Spec.Functions {
			if fn.Name == name {
				return fn
			}
		}
	}
	w.t.Fatalf("there is no function %s", name)
	return found
}

// rejected is the reason with which the event's message is in the dead-letter
// queue, "" if it is not there.
func (w *world) rejected(on spec.Queue, in []byte) string {
	var e event
	must(w.t, json.Unmarshal(in, &e))
	for _, m := range w.Queues.Messages(prefix + on.DeadLetter()) {
		if m.Body == e.Records[0].Body {
			return aws.ToString(m.Attributes[queue.ReasonAttribute].StringValue)
		}
	}
	return ""
}

func (w *world) put(table string, row map[string]any) {
	must(w.t, dynamo.Put(w.t.Context(), w.db, spec.Access{Table: spec.Table{Name: table}}, row))
}

// holds reports whether a row of the table fits.
func (w *world) holds(table string, row any) bool {
	all, err := dynamo.ScanAll[map[string]any](context.WithoutCancel(w.t.Context()), w.db, spec.Access{Table: spec.Table{Name: table}}, nil)
	must(w.t, err)
	return slices.ContainsFunc(all, func(got map[string]any) bool { return fits(row, got) })
}

// fits reports whether got is what is wanted, which may say less.
func fits(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		for k, v := range want {
			ok = ok && fits(v, got[k])
		}
		return ok
	case []any:
		got, ok := got.([]any)
		return ok && slices.EqualFunc(want, got, fits)
	case string:
		if want == "*" {
			return got != nil && got != "" && got != 0.0 && fmt.Sprint(got) != "[]" && fmt.Sprint(got) != "map[]"
		}
	}
	return want == got
}

// TestFits: what is left out does not matter, and all else does.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, got string
		fits      bool
	}{
		{`{"a":1}`, `{"a":1,"b":2}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{}`, false},
		{`{"a":{"b":"x"}}`, `{"a":{"b":"x","c":null}}`, true},
		{`{"a":{"b":"x"}}`, `{"a":"x"}`, false},
		{`[{"a":1},{"a":2}]`, `[{"a":1,"b":1},{"a":2}]`, true},
		{`[{"a":1}]`, `[{"a":1},{"a":2}]`, false},
		{`"*"`, `"x"`, true}, {`"*"`, `""`, false}, {`"*"`, `0`, false}, {`"*"`, `7`, true}, {`"*"`, `[]`, false}, {`"*"`, `{}`, false}, {`"*"`, `{"a":1}`, true}, {`"*"`, `null`, false},
		{`true`, `true`, true}, {`false`, `true`, false}, {`1`, `"1"`, false},
	} {
		if got := fits(decoded(t, c.want), decoded(t, c.got)); got != c.fits {
			t.Errorf("%s fits %s: %v", c.want, c.got, got)
		}
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
