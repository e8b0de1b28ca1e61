package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/fleet"
	"matchday/infra/local/tables"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/stage"
	"matchday/infra/tools/binaries"
	"matchday/infra/tools/judge/calls"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

const root = "../../.."

func must(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}

// backedUp returns a client of an engine that also has backups.
func backedUp(t *testing.T, engine string) *awsdynamodb.Client {
	t.Helper()

	to, err := url.Parse(engine)
	must(t, err)

	server := httptest.NewServer(dynamodb.Backups(to))
	t.Cleanup(server.Close)

	return awsdynamodb.NewFromConfig(calls.On(dynamodb.Config(server.URL)))
}

// TestDrill restores a table of a running fleet and points the functions at it, as an
// operator does after somebody has deleted rows. Only the restore itself is simulated, by a copy.
func TestDrill(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs functions")
	}

	t.Parallel()
	dir := t.TempDir()
	program, err := binaries.Local(t.Context(), root)
	must(t, err)

	rooms, err := all.Choose("cricket")
	must(t, err)

	room := rooms[0].Local().Fleet
	room.Room = app.NewRoom(spec.Room{Name: "cricket"}, slices.DeleteFunc(room.Functions, func(f app.Function) bool {
		return !slices.Contains([]string{"cricket/get-preferences", "cricket/put-preferences"}, f.Name)
	})...)
	room.Simulate = nil
	start := func(restored string) *fleet.Fleet {
		c := clock.New(time.Date(2026, 6, 6, 13, 55, 0, 0, time.UTC), clock.Free)
		t.Cleanup(c.Stop)
		t.Cleanup(c.Work())
		f, err := fleet.Start(t.Context(), fleet.Config{
			Clock:    c,
			Root:     root,
			Program:  program,
			Dir:      dir,
			Rooms:    []fleet.Room{room},
			Restored: restored,
		})
		must(t, err)
		t.Cleanup(f.Close)

		return f
	}
	want := map[string]any{"alerts": []any{"result"}, "moreAlerts": []any{"award"}, "keyEventsOnly": false, "spoilerFree": true}
	read := func(f *fleet.Fleet) (got map[string]any) {
		t.Helper()
		must(t, f.Call(t.Context(), "fan", "GET", "/cricket/user/preferences", nil, &got))

		return got
	}

	f := start("")
	initial := read(f)
	must(t, f.Call(t.Context(), "fan", "PUT", "/cricket/user/preferences", want, nil))

	if diff := cmp.Diff(want, read(f)); diff != "" {
		t.Fatalf("the preferences before the damage (-want +got):\n%s", diff)
	}

	t.Log("a user has stored preferences through the API")

	s, err := stage.Read([]spec.Room{room.Spec}, map[string]string{"stage": "dev", "agnostic": "true"}, func(string) string { return "" })
	must(t, err)

	s.Name = spec.Local // the name of no deployment

	var out strings.Builder

	j := job{
		db:    backedUp(t, *f.DB.Options().BaseEndpoint),
		stage: s,
		rooms: []spec.Room{room.Spec},
		table: "cricket-preferences",
		to:    "r1",
		poll:  time.Millisecond,
		out:   &out,
	}
	must(t, restore(t.Context(), j))
	t.Log("the table is restored:\n" + out.String())

	if line := "restored=cricket-preferences:r1\n"; !strings.HasSuffix(out.String(), line) {
		t.Errorf("the output does not end with %q", line)
	}

	original := f.Table("cricket-preferences")
	empty(t, f.DB, original)

	if diff := cmp.Diff(initial, read(f)); diff != "" {
		t.Fatalf("the preferences after the damage (-want +got):\n%s", diff)
	}

	t.Log("all rows of the original are deleted: the API answers the default preferences")

	f.Close()

	f = start("cricket-preferences:r1")
	if diff := cmp.Diff(want, read(f)); diff != "" {
		t.Errorf("the preferences from the restored table (-want +got):\n%s", diff)
	}

	want["keyEventsOnly"] = true
	must(t, f.Call(t.Context(), "fan", "PUT", "/cricket/user/preferences", want, nil))

	if diff := cmp.Diff(want, read(f)); diff != "" {
		t.Errorf("the preferences that were stored since (-want +got):\n%s", diff)
	}

	if n := empty(t, f.DB, original); n != 0 {
		t.Errorf("%d rows were written to the original", n)
	}

	t.Log("with restored=cricket-preferences:r1 the functions read and write the restored table")
}

// empty deletes all rows of a table, and returns how many there were.
func empty(t *testing.T, db *awsdynamodb.Client, name string) int {
	t.Helper()
	out, err := db.Scan(t.Context(), &awsdynamodb.ScanInput{TableName: &name})
	must(t, err)

	for _, item := range out.Items {
		_, err := db.DeleteItem(t.Context(), &awsdynamodb.DeleteItemInput{
			TableName: &name,
			Key:       map[string]types.AttributeValue{"userId": item["userId"]},
		})
		must(t, err)
	}

	return len(out.Items)
}

var (
	byDay = spec.Index{Name: "by-day", Key: spec.Key{Partition: "day"}, Include: []string{"b", "a"}}
	games = spec.Table{Name: "games", Key: spec.Key{Partition: "id"}, TTL: "expiresAt", Indexes: []spec.Index{byDay}}
)

func roomOf(t spec.Table) []spec.Room {
	return []spec.Room{{
		Name:      "games",
		Functions: []spec.Function{{Name: "games/get", Uses: []spec.Access{t.On("Get", "PK=id", spec.Rate{}, spec.GetItem)}}},
	}}
}

// newJob returns the restore of a table with one row, of production.
func newJob(t *testing.T, table spec.Table) job {
	t.Helper()
	engine, err := dynamodb.Start(t.Context(), "")
	must(t, err)
	t.Cleanup(engine.Stop)
	db := backedUp(t, engine.URL)
	must(t, dynamodb.Create(t.Context(), db, tables.FromSpec("", []spec.Table{table})))
	_, err = db.PutItem(t.Context(), &awsdynamodb.PutItemInput{
		TableName: &table.Name,
		Item:      map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "7"}},
	})
	must(t, err)

	return job{
		db:    db,
		stage: stage.Stage{Name: stage.Prod, Reads: 12_000, Writes: 4_000},
		rooms: roomOf(games),
		table: "games",
		to:    "r1",
		poll:  time.Millisecond,
		out:   io.Discard,
	}
}

// TestRestoredTableIsComplete also restores twice: the second run goes on with the table
// that exists.
func TestRestoredTableIsComplete(t *testing.T) {
	t.Parallel()

	j := newJob(t, games)
	for range 2 {
		must(t, restore(t.Context(), j))
	}

	ttl, err := j.db.DescribeTimeToLive(t.Context(), &awsdynamodb.DescribeTimeToLiveInput{TableName: aws.String("games-r1")})
	must(t, err)

	if d := ttl.TimeToLiveDescription; aws.ToString(d.AttributeName) != "expiresAt" || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled {
		t.Errorf("the TTL is %s of %q", d.TimeToLiveStatus, aws.ToString(d.AttributeName))
	}

	out, err := j.db.DescribeTable(t.Context(), &awsdynamodb.DescribeTableInput{TableName: aws.String("games-r1")})
	must(t, err)

	if !aws.ToBool(out.Table.DeletionProtectionEnabled) {
		t.Error("the restored table of production can be deleted")
	}

	if l := out.Table.OnDemandThroughput; l == nil || aws.ToInt64(l.MaxReadRequestUnits) != 12_000 ||
		aws.ToInt64(l.MaxWriteRequestUnits) != 4_000 {
		t.Errorf("the maximum of units is %+v", l)
	}

	// A table that was restored before is restored from its restored table.
	var said strings.Builder

	j.stage.Restored, j.to, j.out = "games:r1,other:x", "r2", &said
	must(t, restore(t.Context(), j))

	if want := "restoring games-r1 to games-r2"; !strings.HasPrefix(said.String(), want) ||
		!strings.HasSuffix(said.String(), "restored=other:x,games:r2\n") {
		t.Errorf("it says %q", said.String())
	}
}

// TestRestoreGoesOnAfterAFailure: whatever call fails first, a second run completes the
// table.
func TestRestoreGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()

	for n := 0; ; n++ {
		j := newJob(t, games)
		calls, good := 0, j.db
		options := good.Options()
		options.Retryer = aws.NopRetryer{}
		next := options.HTTPClient
		options.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			if calls++; calls > n {
				return nil, errors.New("no connection")
			}

			return next.Do(r)
		})
		j.db = awsdynamodb.New(options)

		err := restore(t.Context(), j)
		if err == nil {
			if n < 4 {
				t.Fatalf("a restore makes %d calls, fewer than it needs", n)
			}

			return
		}

		j.db = good
		must(t, restore(t.Context(), j))
		out, err := j.db.DescribeTable(t.Context(), &awsdynamodb.DescribeTableInput{TableName: aws.String("games-r1")})
		must(t, err)
		ttl, err := j.db.DescribeTimeToLive(t.Context(), &awsdynamodb.DescribeTimeToLiveInput{TableName: aws.String("games-r1")})
		must(t, err)

		if !aws.ToBool(out.Table.DeletionProtectionEnabled) || ttl.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusEnabled {
			t.Errorf("after a failure of call %d and a second run the table lacks its protection or its TTL", n+1)
		}
	}
}

func TestRestoreIsRefused(t *testing.T) {
	t.Parallel()

	other := games

	other.Indexes = nil
	for name, c := range map[string]struct {
		change func(*job)
		source spec.Table
		want   string
	}{
		"unknown table": {func(j *job) { j.table = "game" }, games, "no room has the table TABLE=game"},
		"invalid name":  {func(j *job) { j.to = "R 1" }, games, "invalid TABLE=games or TO=R 1"},
		"in use":        {func(j *job) { j.stage.Restored = "games:r1" }, games, "the functions use games-r1 already: choose another TO"},
		"no index":      {func(*job) {}, other, "games-r1 was restored, but cannot be used: games-r1 lacks the index by-day"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, c.source)
			c.change(&j)

			if err := restore(t.Context(), j); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
