package events_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/jackc/pgx/v5"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/tools/binaries"
	sample "matchday/infra/tools/events"
	"matchday/infra/tools/events/storyfleet"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

const prefix = "local-" // of the tables and queues of a local fleet

// world is a fleet with what the test inspects and breaks.
type world struct {
	*storyfleet.Fleet
	t         *testing.T
	db        dynamo.DB
	tableless atomic.Bool // DynamoDB has no tables
}

// TestEvents gives every event to the binary of its function, on a fleet.
func TestEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	w := open(t)
	for _, c := range w.Cases {
		must(t, w.Until(t.Context(), c.Time))
		t.Run(c.Name(), func(t *testing.T) {
			outer := w.t

			w.t = t
			defer func() { w.t = outer }()

			w.play(c)
		})
	}

	t.Run("clients", w.clients)
}

// clients has the packages for apps play the stories of the rooms, infra/rooms/ROOM/story.*, one after the other. The
// account is deleted last.
func (w *world) clients(t *testing.T) {
	run := func(name string, args ...string) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = root

		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}

		t.Logf("%s: %s", name, out)
	}

	door := httptest.NewServer(w.door())
	defer door.Close()

	rooms := []string{}
	for _, room := range w.Rooms { // a room has a story once its contract is released
		if _, err := os.Stat(filepath.Join(root, "infra", "rooms", room.Spec.Name, "story.ts")); err == nil {
			rooms = append(rooms, room.Spec.Name)
		}
	}

	slices.SortStableFunc(rooms, func(a, b string) int { return cmp.Compare(last[a], last[b]) })

	run("make", "--no-print-directory", "clients")
	run("node", append([]string{filepath.Join(".local", "clients", "typescript", "dist", "story", "play.js"), w.URL, door.URL}, rooms...)...)

	if _, err := os.Stat(filepath.Join(root, ".local", "clients", ".stories")); err != nil {
		t.Log("the Kotlin client, which needs Java and Maven, plays no story")
		return
	}

	kotlin := filepath.Join(".local", "clients", "kotlin")
	classes := strings.Join([]string{filepath.Join(kotlin, "story-classes"), filepath.Join(kotlin, "classes"), filepath.Join(".local", "kotlin", "lib", "*")},
		string(filepath.ListSeparator))
	run("java", append([]string{"-cp", classes, "matchday.story.PlayKt", w.URL, door.URL}, rooms...)...)
}

// last are the rooms whose story is told after the others.
var last = map[string]int{"accounts": 1}

// pushes returns how many messages Apple and Google have accepted.
func (w *world) pushes() int { return w.Phones.Counts()["200"] + w.Google.Counts()["200"] }

// door answers what a story asks of the world:
//
//	POST /wait?seconds=60    lets time pass, and answers with the time
//	POST /mail?to=ADDRESS    the text of the latest mail
func (w *world) door() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /wait", func(rw http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.Atoi(r.FormValue("seconds"))
		if err == nil {
			err = w.Until(r.Context(), w.Clock.Now().Add(time.Duration(seconds)*time.Second))
		}

		if err == nil {
			err = w.Settle(r.Context())
		}

		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}

		fmt.Fprint(rw, w.Clock.Now().UTC().Format(time.RFC3339))
	})
	mux.HandleFunc("POST /mail", func(rw http.ResponseWriter, r *http.Request) {
		box := w.Mail.Mailbox(r.FormValue("to"))
		if len(box) == 0 {
			http.Error(rw, "there is no mail", http.StatusNotFound)
			return
		}

		fmt.Fprint(rw, box[len(box)-1].Text)
	})

	return mux
}

// open starts the fleet at the time of the first case.
func open(t *testing.T) *world {
	w := &world{t: t}
	db, err := dynamodb.Start(t.Context(), "")
	must(t, err)
	t.Cleanup(db.Stop)
	w.db = dynamo.Open(dynamodb.Config(db.URL), prefix)
	to, err := url.Parse(db.URL)
	must(t, err)

	behind := dynamodb.Proxy(to)
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

	cfg := fleet.Config{Root: root}
	cfg.Program, err = binaries.Local(t.Context(), root)
	must(t, err)
	w.Fleet, err = storyfleet.Start(t.Context(), all.Rooms(), cfg)
	must(t, err)
	t.Cleanup(w.Close)
	w.Conditions[sample.NoTables] = w.tableless.Store

	return w
}

// play gives an event to its function, and compares.
func (w *world) play(want storyfleet.Case) {
	t := w.t
	in, err := want.Event(w.Events)
	must(t, err)
	must(t, w.Settle(t.Context()))

	if fault := w.Conditions[want.Given]; fault != nil {
		fault(true)
		defer fault(false)
	} else if want.Given != "" {
		t.Fatalf("unknown condition %q; valid conditions: %q", want.Given, slices.Sorted(maps.Keys(w.Conditions)))
	}

	for table, row := range want.Gone {
		if !w.holds(table, row) {
			t.Errorf("%s does not hold %v beforehand", table, row)
		}
	}

	queued := w.queued(want.Queued)

	sent, pushed := map[string]int{}, w.pushes()
	for q := range queued {
		sent[q] = w.Queues.Depth(prefix + q).Sent
	}

	function := want.Function()

	out, err := w.Functions.Invoke(t.Context(), function, in)
	switch fn := w.function(function); on := fn.On.(type) {
	case spec.Route:
		must(t, err)

		var got events.APIGatewayV2HTTPResponse
		must(t, json.Unmarshal(out, &got))

		body := want.Document()
		if got.StatusCode != want.Status || body != nil && !fits(body, decoded(t, got.Body)) {
			t.Errorf("it answers %d %s", got.StatusCode, got.Body)
		}

		for _, part := range want.Text {
			if !strings.Contains(got.Body, part) {
				t.Errorf("it answers without %q: %s", part, got.Body)
			}
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
	case spec.DeadLetters:
		must(t, err)

		var got events.SQSEventResponse
		must(t, json.Unmarshal(out, &got))

		if (len(got.BatchItemFailures) > 0) != (want.Error != "") {
			t.Errorf("it gives messages back: %s", out)
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

	for q, least := range queued {
		if n := w.Queues.Depth(prefix+q).Sent - sent[q]; n < least {
			t.Errorf("%d messages are sent to %s", n, q)
		}
	}

	must(t, w.Settle(t.Context()))

	if n := w.pushes() - pushed; want.Pushes != 0 && n != want.Pushes {
		t.Errorf("%d pushes are accepted", n)
	}

	for query, value := range want.SQL {
		if got := w.value(function, query); !fits(value, got) {
			t.Errorf("%s returns %v, want %v", query, got, value)
		}
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

// queued returns the least numbers of messages by queue: of a name with a star, for each queue of
// the fleet that matches it.
func (w *world) queued(want map[string]int) map[string]int {
	all := map[string]int{}

	for pattern, least := range want {
		if !strings.Contains(pattern, "*") {
			all[pattern] = least
			continue
		}

		for _, d := range w.Queues.Stats() {
			name := strings.TrimPrefix(d.Queue, prefix)

			ok, err := path.Match(pattern, name)
			must(w.t, err)

			if ok {
				all[name] = least
			}
		}
	}

	if len(want) > 0 && len(all) == 0 && len(w.Keepers()) > 0 { // rooms without users' data have no queue to ask
		w.t.Errorf("the fleet has no queue like %q", slices.Collect(maps.Keys(want)))
	}

	return all
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

// value is what a query returns from the database of a function's room, as JSON has it.
func (w *world) value(function, query string) any {
	i := slices.IndexFunc(w.Rooms, func(r fleet.Room) bool { return strings.HasPrefix(function, r.Spec.Name+"/") })
	conn, err := pgx.Connect(w.t.Context(), w.SQLURL(w.Rooms[i].Spec.Databases()[0], ""))

	must(w.t, err)
	defer conn.Close(context.WithoutCancel(w.t.Context()))

	var text string
	must(w.t, conn.QueryRow(w.t.Context(), "SELECT to_json(("+query+"))::text").Scan(&text))

	return decoded(w.t, text)
}

// holds reports whether a row of the table fits.
func (w *world) holds(table string, row any) bool {
	all, err := dynamo.ScanAll[map[string]any](context.WithoutCancel(w.t.Context()), w.db, spec.Access{Table: spec.Table{Name: table}}, nil)
	must(w.t, err)

	return slices.ContainsFunc(all, func(got map[string]any) bool { return fits(row, got) })
}

// fits reports whether got has everything that want contains. want may omit members.
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
		{`"*"`, `"x"`, true},
		{`"*"`, `""`, false},
		{`"*"`, `0`, false},
		{`"*"`, `7`, true},
		{`"*"`, `[]`, false},
		{`"*"`, `{}`, false},
		{`"*"`, `{"a":1}`, true},
		{`"*"`, `null`, false},
		{`true`, `true`, true},
		{`false`, `true`, false},
		{`1`, `"1"`, false},
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
