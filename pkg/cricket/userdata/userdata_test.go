package userdata_test

import (
	"context"
	"encoding/json"
	"fmt"
	"matchday/infra/sim/s3"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/userdata"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/push"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

const (
	ann, bob = "7f6c1f0e-0000-4000-8000-00000000000a", "7f6c1f0e-0000-4000-8000-00000000000b"
	match    = "900001"
	recent   = "900003" // a match of the league
)

type item = map[string]any

// kept are rows of every kind that the room keeps of a user, by table.
func kept(user string) map[string][]item {
	token := "aa" + user[len(user)-1:] + "1"

	return map[string][]item{
		tables.Devices.Name: {
			{"userId": user, "deviceToken": token, "platform": "ios", "expiresAt": 2e9},
			{"userId": user, "deviceToken": "~", "turn": 1, "expiresAt": 2e9},
			{"userId": "#TOKEN#" + token, "deviceToken": "~", "owner": user, "expiresAt": 2e9},
		},
		tables.Preferences.Name: {{"userId": user, "alerts": []string{"wicket"}}},
		tables.Follows.Name: {
			{"matchId": match, "userId": user, "teamId": "7", "expiresAt": 2e9},
			{"matchId": "#USER#" + user, "userId": "#FOLLOWS", "ids": []string{match, "900002"}, "expiresAt": 2e9},
			{"matchId": "#USER#" + user, "userId": "2026-06-06T14:00:00Z/" + match, "expiresAt": 2e9},
		},
		tables.Prematch.Name: {
			{"matchId": recent + "#" + user, "userId": user, "ttl": 2e9}, // through the league
			{"matchId": match + "#" + user, "userId": user, "ttl": 2e9},
			{"matchId": match + "#" + user, "userId": "#START#" + user, "ttl": 2e9},
		},
		tables.Subscribers.Name: {
			{"subject": "team/7", "userId": user, "preferences": item{"spoilerFree": true}},
			{"subject": "league/5", "userId": user},
			{"subject": "#USER#" + user, "userId": "#SUBSCRIPTIONS", "ids": []string{"team/7", "league/5"}, "expiresAt": 4e9},
		},
		tables.Subscriptions.Name: {
			{"matchId": match, "pushToken": token, "userId": user, "expiresAt": 2e9},
			{"matchId": "#USER#" + user, "pushToken": match, "ids": []string{token, "cc"}, "expiresAt": 2e9},
		},
	}
}

// nobodys are the tables that have nothing of users.
var nobodys = []string{
	"DisplayStateCache", "cricket-alerts", "cricket-cards", "cricket-channels", "cricket-fixture-cache", "cricket-fixtures",
	"cricket-leagues", "cricket-locks", "cricket-players", "cricket-search", "cricket-standings", "cricket-state-hashes",
	"cricket-summaries", "cricket-team-seasons", "cricket-teams", "match-processing-state", account.Deleted.Name,
}

// plant stores the rows of two users.
func plant(t *testing.T) *testkit.World {
	t.Helper()
	w := testkit.New(t, cricket.Room(), time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC))
	w.Files = s3.New(w.Buckets...)

	for _, table := range cricket.Room().Spec.Tables() {
		rows := append(kept(ann)[table.Name], kept(bob)[table.Name]...)
		if (len(rows) == 0) != slices.Contains(nobodys, table.Name) {
			t.Errorf("the test plants %d rows in %s: list the table in nobodys, or plant what it has of a user", len(rows), table.Name)
		}

		testkit.PutRows(w, table, rows...)
	}

	testkit.PutRows(w, tables.Summaries, item{
		"matchId": recent, "leagueId": "5", "localTeamId": "1", "visitorTeamId": "2", "type": "T20", "span": "day",
		"startTime": "2026-06-06T11:00:00Z", "at": "2026-06-06T11:00:00Z/" + recent,
	})

	return w
}

// left returns the rows that name a user, by table.
func left(w *testkit.World, user string) (all []string) {
	for _, table := range cricket.Room().Spec.Tables() {
		for _, row := range testkit.Rows[item](w, table) {
			if text := fmt.Sprint(row); strings.Contains(text, user) || strings.Contains(text, "aa"+user[len(user)-1:]+"1") {
				all = append(all, table.Name+" "+text)
			}
		}
	}

	slices.Sort(all)

	return all
}

// exported returns the rows that a job exported, by table.
func exported(t *testing.T, w *testkit.World, job string) map[string][]item {
	t.Helper()

	server := httptest.NewServer(w.Files)
	t.Cleanup(server.Close)

	cfg := w.AWS.Copy()
	cfg.BaseEndpoint = &server.URL
	text, err := object.Open(cfg, account.Exports.Name).Get(t.Context(), account.PartKey("cricket", job))
	testkit.Must(t, err)

	got := map[string][]item{}
	testkit.Must(t, json.Unmarshal(text, &got))

	return got
}

// TestFormerPhoneDoesNotStay: of a user whose phone got another token, no token is left.
func TestFormerPhoneDoesNotStay(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, cricket.Room(), time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC))
	w.Files = s3.New(w.Buckets...)
	d := testkit.Open(w, follower.RegisterDeviceFunction(), follower.OpenDevices)

	for _, last := range []string{"1", "2"} {
		in := &follower.RegisterDevice{User: auth.User{UserID: ann}}
		in.Body.DeviceToken, in.Body.Platform, in.Body.Environment = push.Registration(strings.Repeat("ab", 31)+"0"+last), "ios", "production"
		_, err := d.RegisterDevice(w.NewContext(), in)
		testkit.Must(t, err)
	}

	testkit.Must(t, testkit.Open(w, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(),
		account.Request{Job: "j1", UserID: ann}))

	if rows := left(w, ann); len(rows) > 0 {
		t.Errorf("rows of ann after the deletion: %q", rows)
	}
}

// TestNothingOfAUserStays: all rows of the user are exported, and gone after the
// deletion. Those of others stay.
func TestNothingOfAUserStays(t *testing.T) {
	t.Parallel()
	w := plant(t)
	was := left(w, bob)
	in := account.Request{Job: "j1", UserID: ann}
	testkit.Must(t, testkit.Open(w, userdata.ExportUserFunction(), userdata.Open).ExportUser(w.NewContext(), in))
	got, want := exported(t, w, "j1"), map[string][]item{}
	planted, err := json.Marshal(kept(ann))
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(planted, &want))

	for _, all := range []map[string][]item{got, want} {
		for _, rows := range all {
			slices.SortFunc(rows, func(a, b item) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the export (-planted +exported):\n%s", diff)
	}

	for range 2 {
		testkit.Must(t, testkit.Open(w, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))

		if rows := left(w, ann); len(rows) > 0 {
			t.Errorf("rows of ann after the deletion: %q", rows)
		}
	}

	if diff := cmp.Diff(was, left(w, bob)); diff != "" {
		t.Errorf("rows of bob (-before +after):\n%s", diff)
	}

	want1 := account.Done{Kind: account.Export, Room: "cricket", Request: in}

	want2 := account.Done{Kind: account.Forget, Room: "cricket", Request: in}
	if diff := cmp.Diff([]account.Done{want1, want2, want2}, testkit.Messages[account.Done](w, account.DoneQueue)); diff != "" {
		t.Errorf("confirmations (-want +got):\n%s", diff)
	}
}

// TestRowsOfTheNextOwnerStay: a phone and an activity that another user has registered
// since are neither exported nor deleted.
func TestRowsOfTheNextOwnerStay(t *testing.T) {
	t.Parallel()
	w := plant(t)
	testkit.PutRows(w, tables.Devices, item{"userId": "#TOKEN#aaa1", "deviceToken": "~", "owner": bob})
	testkit.PutRows(w, tables.Subscriptions, item{"matchId": match, "pushToken": "aaa1", "userId": bob})

	in := account.Request{Job: "j", UserID: ann}
	testkit.Must(t, testkit.Open(w, userdata.ExportUserFunction(), userdata.Open).ExportUser(w.NewContext(), in))

	for table, rows := range exported(t, w, "j") {
		for _, row := range rows {
			if row["owner"] == bob || row["userId"] == bob {
				t.Errorf("the export of ann has the row %v of bob in %s, want none", row, table)
			}
		}
	}

	testkit.Must(t, testkit.Open(w, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))
	testkit.Row[item](w, tables.Devices, "#TOKEN#aaa1", "~")
	testkit.Row[item](w, tables.Subscriptions, match, "aaa1")
}

func TestForgetUserCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := plant(t)

		in := account.Request{Job: "j", UserID: ann}
		if p.Ended(testkit.OpenWith(w, w.CrashingEnv(userdata.ForgetUserFunction(), p), userdata.Open).ForgetUser(w.NewContext(), in)) {
			testkit.Must(t, testkit.Open(w, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))
		}

		return append(left(w, ann), left(w, bob)...)
	})
}

func TestExportUserCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := plant(t)
		in := account.Request{Job: "j", UserID: ann}
		export := func(s *userdata.Service, ctx context.Context) error { return s.ExportUser(ctx, in) }
		p.Ended(export(testkit.OpenWith(w, w.CrashingEnv(userdata.ExportUserFunction(), p), userdata.Open), w.NewContext()))
		testkit.Must(t, export(testkit.Open(w, userdata.ExportUserFunction(), userdata.Open), w.NewContext()))

		return left(w, ann)
	})
}
