package spec_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/pkg/spec"
)

var (
	perRequest = spec.Rate{Driver: spec.Request}

	matches = spec.Table{
		Name: "matches", Key: spec.Key{Partition: "id"},
		Indexes: []spec.Index{
			{Name: "by-day", Key: spec.Key{Partition: "day", Sort: "id"}},
			{Name: "live", Key: spec.Key{Partition: "live"}, KeysOnly: true},
		},
	}
	balls = spec.Table{Name: "balls", Key: spec.Key{Partition: "match", Sort: "ball"}, TTL: "expiresAt"}

	getMatch  = matches.On("Get match", "id", perRequest, spec.GetItem)
	editMatch = matches.On("Edit match", "id", spec.Rate{Driver: spec.AdminAction}, spec.UpdateItem, spec.ConditionCheckItem)
	ofDay     = matches.OnIndex("by-day", "Matches of a day", "day", perRequest, spec.Query)
	ofDayOld  = matches.OnIndex("by-day", "Old matches of a day", "day", spec.Rate{Driver: spec.AdminAction}, spec.Query)
	allLive   = matches.OnIndex("live", "All live", "", spec.Every(time.Minute), spec.Scan)
	putBalls  = balls.On("Put balls", "match, ball", perRequest, spec.BatchWriteItem, spec.PutItem)
)

func TestAccess(t *testing.T) {
	t.Parallel()

	want := spec.Access{Name: "Matches of a day", Table: matches, Index: "by-day", Ops: []spec.Op{spec.Query}, Key: "day", Rate: perRequest}
	if !reflect.DeepEqual(ofDay, want) {
		t.Errorf("got %+v, want %+v", ofDay, want)
	}

	if got := getMatch; !reflect.DeepEqual(got,
		spec.Access{Name: "Get match", Table: matches, Ops: []spec.Op{spec.GetItem}, Key: "id", Rate: perRequest}) {
		t.Errorf("a pattern of the table itself is %+v", got)
	}

	if got := getMatch.ID(); got != "matches: Get match" || getMatch.Index != "" {
		t.Errorf("got %q of the index %q", got, getMatch.Index)
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name string
		uses []spec.Access
		want []spec.Grant
	}{
		{"nothing", nil, nil},
		{"a table and its indexes apart, in order",
			[]spec.Access{putBalls, allLive, ofDay, getMatch, ofDayOld, editMatch, getMatch}, []spec.Grant{
				{"balls", "", []spec.Op{spec.BatchWriteItem, spec.PutItem}},
				{"matches", "", []spec.Op{spec.ConditionCheckItem, spec.GetItem, spec.UpdateItem}},
				{"matches", "by-day", []spec.Op{spec.Query}},
				{"matches", "live", []spec.Op{spec.Scan}},
			}},
		{"an index without its table", []spec.Access{ofDay}, []spec.Grant{{"matches", "by-day", []spec.Op{spec.Query}}}},
	} {
		if got := (spec.Function{Uses: c.uses}).Grants(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGrantsAreExact: a function may do what its patterns do, and nothing else,
// whatever their order; and asking does not change the patterns.
func TestGrantsAreExact(t *testing.T) {
	t.Parallel()

	type right struct {
		table, index string
		op           spec.Op
	}

	ops := []spec.Op{spec.GetItem, spec.BatchGetItem, spec.Query, spec.Scan, spec.PutItem, spec.UpdateItem,
		spec.DeleteItem, spec.BatchWriteItem}

	rapid.Check(t, func(t *rapid.T) {
		uses := rapid.SliceOf(rapid.Custom(func(t *rapid.T) spec.Access {
			table := spec.Table{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "table")}
			return table.OnIndex(rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "index"), "", "", spec.Rate{},
				rapid.SliceOf(rapid.SampledFrom(ops)).Draw(t, "ops")...)
		})).Draw(t, "uses")
		want := map[right]bool{}

		var before [][]spec.Op
		for _, a := range uses {
			before = append(before, slices.Clone(a.Ops))
			for _, op := range a.Ops {
				want[right{a.Table.Name, a.Index, op}] = true
			}
		}

		got := map[right]bool{}

		for _, g := range (spec.Function{Uses: uses}).Grants() {
			for _, op := range g.Ops {
				if r := (right{g.Table, g.Index, op}); got[r] {
					t.Fatalf("%v is granted twice", r)
				} else {
					got[r] = true
				}
			}
		}

		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}

		for i, a := range uses {
			if !slices.Equal(a.Ops, before[i]) {
				t.Fatalf("the pattern's operations became %v from %v", a.Ops, before[i])
			}
		}

		shuffled := rapid.Permutation(uses).Draw(t, "shuffled")
		if a, b := (spec.Function{Uses: uses}).Grants(), (spec.Function{Uses: shuffled}).Grants(); !reflect.DeepEqual(a, b) {
			t.Fatalf("the order of patterns changes the grants from %v to %v", a, b)
		}
	})
}

// TestTableIn: the stage begins a name, or stands in the place that the name has for it.
func TestTableIn(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ prefix, name, want string }{
		{"", "pickem", "pickem"}, {"dev-", "pickem", "dev-pickem"},
		{"", "3fc-{stage}-app", "3fc-prod-app"}, {"dev-", "3fc-{stage}-app", "3fc-dev-app"},
		{"dev-", "3fc-{stage}-app-r1", "3fc-dev-app-r1"},
	} {
		if got := spec.TableIn(c.prefix, c.name); got != c.want {
			t.Errorf("%s in the stage of %q is %s, want %s", c.name, c.prefix, got, c.want)
		}
	}
}

func TestDeadLetter(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{"cricket-push": "cricket-push-dead", "pickem-score.fifo": "pickem-score-dead.fifo"} {
		if got := (spec.Queue{Name: name}).DeadLetter(); got != want {
			t.Errorf("the dead letters of %s are in %s, want %s", name, got, want)
		}
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]bool{"cricket-push": false, "pickem-score.fifo": true, "pickem.fifo-score": false, "o": false} {
		if got := (spec.Queue{Name: name}).FIFO(); got != want {
			t.Errorf("%s: FIFO is %v, want %v", name, got, want)
		}
	}
}

// TestDerived: a room has what its functions use and emit, each once and in order.
func TestDerived(t *testing.T) {
	t.Parallel()

	lag, done := spec.Metric{Name: "Lag", Unit: spec.Milliseconds}, spec.Metric{Name: "Done", Unit: spec.Count}

	room := spec.Room{Functions: []spec.Function{
		{Uses: []spec.Access{getMatch, ofDay}, Emits: []spec.Metric{lag, done}},
		{},
		{Uses: []spec.Access{putBalls, getMatch}, Emits: []spec.Metric{done}},
	}}
	if got, want := room.Tables(), []spec.Table{balls, matches}; !reflect.DeepEqual(got, want) {
		t.Errorf("got the tables %v, want %v", got, want)
	}

	if got, want := room.Access(), []spec.Access{putBalls, getMatch, ofDay}; !reflect.DeepEqual(got, want) {
		t.Errorf("got the patterns %v, want %v", got, want)
	}

	if got, want := room.Metrics(), []spec.Metric{done, lag}; !slices.Equal(got, want) {
		t.Errorf("got the metrics %v, want %v", got, want)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()

	for want, r := range map[string]spec.Rate{
		"":                                  {},
		"per request":                       perRequest,
		"per request: cached":               {Driver: spec.Request, Note: "cached"},
		"2 per match end":                   {Driver: spec.MatchEnd, Factor: 2},
		"0.1 per tick of each live match":   {Driver: spec.MatchTick, Factor: 0.1},
		"every 1h":                          spec.Every(time.Hour),
		"every 15m: for each active league": {Driver: spec.Period, Every: 15 * time.Minute, Note: "for each active league"},
		"every 2.5s":                        spec.Every(2500 * time.Millisecond),
		"every 1h30m":                       spec.Every(90 * time.Minute),
		"3 every 10m":                       {Driver: spec.Period, Every: 10 * time.Minute, Factor: 3},
		"every 10s":                         spec.Every(10 * time.Second),
		"every 1m0.5s":                      spec.Every(time.Minute + 500*time.Millisecond),
		"by hand":                           {Note: "by hand"},
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}

	if got := perRequest.Times(); got != 1 {
		t.Errorf("it happens %v times for each request, want once", got)
	}

	if got := (spec.Rate{Factor: 0.1}).Times(); got != 0.1 {
		t.Errorf("it happens %v times, want 0.1", got)
	}
}

// TestLimitAsText: a number of things, or of acts in a period.
// TestMethods: only a link that anybody may follow has HEAD: what a sign-in or a webhook
// does must not happen because somebody checks a link.
func TestMethods(t *testing.T) {
	t.Parallel()

	for want, routes := range map[string][]spec.Route{
		"[GET HEAD]": {{Method: "GET", Auth: spec.Public, OthersCall: true}},
		"[GET]": {
			{Method: "GET", Auth: spec.Public},
			{Method: "GET", Auth: spec.Browser, OthersCall: true},
			{Method: "GET", Auth: spec.Session, OthersCall: true},
			{Method: "GET", Auth: spec.Secret, OthersCall: true},
		},
		"[POST]": {{Method: "POST", Auth: spec.Public, OthersCall: true}},
	} {
		for _, r := range routes {
			if got := fmt.Sprint(r.Methods()); got != want {
				t.Errorf("%+v has %s, want %s", r, got, want)
			}
		}
	}
}

func TestLimitAsText(t *testing.T) {
	t.Parallel()

	for want, l := range map[string]spec.Limit{
		"20 leagues per member":   {Name: "leagues per member", Max: 20},
		"10 wrong codes in 1h":    {Name: "wrong codes", Max: 10, Per: time.Hour},
		"1 guess in 10s":          {Name: "guess", Max: 1, Per: 10 * time.Second},
		"1 guess in 1ns":          {Name: "guess", Max: 1, Per: 1},
		"2 exports per day in 1m": {Name: "exports per day", Max: 2, Per: time.Minute},
	} {
		if got := l.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSettingsOfAFunction: a function gets the settings of the secrets that it holds, and the
// address from which it sends mail.
func TestSettingsOfAFunction(t *testing.T) {
	t.Parallel()

	key, address, plain := spec.Setting{Name: "BUNDLE", Secret: "apns-key"}, spec.Setting{Name: "MAIL_FROM"}, spec.Setting{Name: "OTHER"}
	for name, c := range map[string]struct {
		f    spec.Function
		want [3]bool
	}{
		"nothing":        {spec.Function{}, [3]bool{}},
		"the secret":     {spec.Function{Secrets: []string{"other", "apns-key"}}, [3]bool{true, false, false}},
		"another secret": {spec.Function{Secrets: []string{"other"}}, [3]bool{}},
		"no secret":      {spec.Function{Secrets: []string{""}}, [3]bool{}},
		"the address":    {spec.Function{Mail: []spec.MailSender{{"MAIL_FROM"}}}, [3]bool{false, true, false}},
		"both":           {spec.Function{Secrets: []string{"apns-key"}, Mail: []spec.MailSender{{"MAIL_FROM"}}}, [3]bool{true, true, false}},
	} {
		if got := [3]bool{key.Of(c.f), address.Of(c.f), plain.Of(c.f)}; got != c.want {
			t.Errorf("%s: of the key, the address and another: %v, want %v", name, got, c.want)
		}
	}
}

// TestMessagesAreHiddenForSixTimeouts: as AWS advises.
func TestMessagesAreHiddenForSixTimeouts(t *testing.T) {
	t.Parallel()

	if got := (spec.Function{Timeout: 10 * time.Second}).VisibilityTimeout(); got != time.Minute {
		t.Errorf("a message of a function of 10 s is hidden for %s, want 1m", got)
	}
}
