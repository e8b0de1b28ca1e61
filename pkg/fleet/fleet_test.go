package fleet

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/pkg/accounts"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// TestSpec checks what every value of the spec must satisfy.
func TestSpec(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		for _, f := range room.Functions {
			if !strings.HasPrefix(f.Name, room.Name+"/") || f.Does == "" || f.IfDown == "" || f.On == nil || f.Memory == 0 || f.Timeout == 0 {
				t.Errorf("%s is not described in full", f.Name)
			}

			if n := len(f.Description()); n > spec.MaxDescription {
				t.Errorf("the description of %s has %d bytes, want at most %d", f.Name, n, spec.MaxDescription)
			}

			for _, a := range f.Uses {
				if i := slices.IndexFunc(room.Access(), func(b spec.Access) bool { return b.ID() == a.ID() }); !reflect.DeepEqual(a, room.Access()[i]) {
					t.Errorf("two access patterns are called %q", a.ID())
				}
			}

			for _, l := range f.Caches {
				if !slices.Contains(room.CacheLogins(), l) {
					t.Errorf("two logins to %s are of the user %s, with different rights", l.Cache.Name, l.User)
				}
			}

			for _, m := range f.Mail {
				if !slices.ContainsFunc(room.Settings, func(s spec.Setting) bool { return s.Name == m.Setting }) {
					t.Errorf("%s sends mail from the setting %s, which the room does not have", f.Name, m.Setting)
				}
			}

			for _, m := range f.Emits {
				if !slices.Contains(room.Metrics(), m) {
					t.Errorf("two metrics are called %s", m.Name)
				}
			}
		}

		for _, a := range room.Access() {
			if !slices.ContainsFunc(room.Tables(), func(t spec.Table) bool { return reflect.DeepEqual(t, a.Table) }) {
				t.Errorf("%q is of a table that another pattern describes differently", a.ID())
			}

			if a.Index != "" && !slices.ContainsFunc(a.Table.Indexes, func(x spec.Index) bool { return x.Name == a.Index }) {
				t.Errorf("%q is of an index that the table does not have", a.ID())
			}

			if strings.Contains(a.Name, "=") || a.Name[0] < 'A' || a.Name[0] > 'Z' || a.Key == "" {
				t.Errorf("%q is the name of a pattern with the key %q, want a capital letter, no condition, and a key", a.Name, a.Key)
			}

			if a.Rate.Driver == spec.Unknown || (a.Rate.Driver == spec.Period) != (a.Rate.Every > 0) {
				t.Errorf("%q has no rate", a.ID())
			}
		}
	}
}

// TestAlarmsWatchWhatIsEmitted: an alarm watches metrics that its function emits.
// The tests of the rooms fail when a function emits what its spec does not list.
func TestAlarmsWatchWhatIsEmitted(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		for _, a := range room.Alarms {
			i := slices.IndexFunc(room.Functions, func(f spec.Function) bool { return f.Name == a.Function })
			if i < 0 {
				t.Errorf("the alarm %s is of %s, which is no function", a.Name, a.Function)
				continue
			}

			watched := slices.Clone(a.Metrics)
			if a.While != (spec.Metric{}) {
				watched = append(watched, a.While)
			}

			if a.When != (spec.Emitted{}) && (!a.Below || len(a.Metrics) != 1 || !slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
				return f.Name == a.When.Function && slices.Contains(f.Emits, a.When.Metric)
			})) {
				t.Errorf("the alarm %s watches minutes with %s of %s, want a metric that it emits, and a floor of one metric", a.Name,
					a.When.Metric.Name, a.When.Function)
			}

			for _, m := range watched {
				if !slices.Contains(room.Functions[i].Emits, m) {
					t.Errorf("the alarm %s watches %s, which %s does not emit", a.Name, m.Name, a.Function)
				}
			}
		}
	}
}

// TestThrottledTablesAreWatched: one alarm of a room watches whether its busy tables are throttled,
// of at most ten, by a metric each. Cricket has some: a match is followed by all at once.
func TestThrottledTablesAreWatched(t *testing.T) {
	t.Parallel()

	busy := map[string]int{}

	for _, room := range Specs() {
		for _, table := range room.Tables() {
			if table.Busy {
				busy[room.Name]++
			}
		}

		if busy[room.Name] > 10 {
			t.Errorf("%d tables of %s are busy, of which one alarm watches 10", busy[room.Name], room.Name)
		}
	}

	if busy["cricket"] == 0 {
		t.Error("nobody watches whether cricket's tables are throttled")
	}
}

// TestBudgetsAreShared: a function may use a part of a budget, or all of it. Functions that
// share a budget agree on how much it is.
func TestBudgetsAreShared(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		budgets := map[string]spec.Budget{} // by name and period

		for _, f := range room.Functions {
			for _, s := range f.Budgets {
				if s.Budget.Name == "" || s.Budget.Per <= 0 || s.UpTo < 1 || s.UpTo > s.Budget.Max {
					t.Errorf("%s has the share %s, want a name, a period, and at least one request of the budget", f.Name, s)
				}

				gets := func(o spec.Setting) bool { return o.Name == s.Budget.Setting && o.Of(f) }
				if s.Budget.Setting != "" && !slices.ContainsFunc(room.Settings, gets) {
					t.Errorf("%s has the share %s, and does not get the setting", f.Name, s)
				}

				key := fmt.Sprint(s.Budget.Name, s.Budget.Per)
				if other, ok := budgets[key]; ok && other != s.Budget {
					t.Errorf("%s has the share %s, and another function one of %d", f.Name, s, other.Max)
				}

				budgets[key] = s.Budget
			}
		}
	}
}

// TestSizesOfFunctions: the memory is one of four sizes, and a function ends before what
// waits for it gives up: the API after 29 s, and Lambda after 15 minutes.
func TestSizesOfFunctions(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		for _, f := range room.Functions {
			most := 15 * time.Minute
			if _, ok := f.On.(spec.Route); ok {
				most = 28 * time.Second
			}

			if !slices.Contains([]int{128, 256, 512, 1024}, f.Memory) {
				t.Errorf("%s has %d MB, want 128, 256, 512 or 1024", f.Name, f.Memory)
			}

			if f.Timeout < 5*time.Second || f.Timeout > most || f.Timeout%time.Second != 0 {
				t.Errorf("%s has %s, want whole seconds from 5 s to %s", f.Name, f.Timeout, most)
			}
		}
	}
}

// TestSizesOfQueues: a message is delivered 5 times, or 10 where its work must be done in the end,
// or once after each pause that the queue lists; alone, or ten at once; to at least the two invocations that SQS demands, in a few steps.
func TestSizesOfQueues(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		for _, f := range room.Functions {
			q, ok := f.On.(spec.Queue)
			if !ok {
				continue
			}

			times := []int{5, 10}
			if len(q.Backoff) > 0 {
				times = []int{len(q.Backoff) + 1}
			}

			if !slices.Contains(times, q.MaxReceiveCount) || !slices.Contains([]int{1, 10}, q.Batch) ||
				!slices.Contains([]int{2, 5, 10, 20, 50}, q.Concurrency) {
				t.Errorf("%s is delivered %d times, %d at once, to %d invocations; want %d, 1 or 10, and 2, 5, 10, 20 or 50", q.Name,
					q.MaxReceiveCount, q.Batch, q.Concurrency, times)
			}
		}
	}
}

// TestAccessPatternsAreNamed: the name of an access pattern is a phrase, and its key says which
// rows it is about.
func TestAccessPatternsAreNamed(t *testing.T) {
	t.Parallel()

	phrase := regexp.MustCompile(`^[A-Z][A-Za-z'/() -]{2,59}$`)

	for _, room := range Specs() {
		for _, a := range room.Access() {
			if !phrase.MatchString(a.Name) || a.Key == "" || phrase.MatchString(a.Key) {
				t.Errorf("%s has the key %q, want a phrase, and a key that is none", a.ID(), a.Key)
			}
		}
	}
}

// TestAlarmsNameTheirBound: who reads of an alarm reads its bound. A bound of 0 has no
// number, and metrics of time are in milliseconds.
func TestAlarmsNameTheirBound(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		for _, a := range room.Alarms {
			bound := fmt.Sprint(" ", a.Bound, " ")
			if a.Metrics[0].Unit == spec.Milliseconds {
				bound = fmt.Sprint(" ", a.Bound/1000, " s ")
			}

			if a.Bound != 0 && !strings.Contains(a.Watches, bound) {
				t.Errorf("the alarm %s watches %q, want the bound%sin it", a.Name, a.Watches, bound)
			}
		}
	}
}

// TestWritesOfUsersCheckTheDeletion: a function on a route of users that creates or
// changes items checks that the user is not deleted, unless it deletes the user.
func TestWritesOfUsersCheckTheDeletion(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		for _, f := range room.Functions {
			on, ok := f.On.(spec.Route)
			if !ok || on.Auth != spec.User && on.Auth != spec.Session {
				continue
			}

			checks := slices.ContainsFunc(f.Uses, func(a spec.Access) bool { return a.ID() == account.CheckDeleted.ID() })
			writes := len(f.SQL) > 0 && slices.ContainsFunc(on.Methods(), func(m string) bool { return m != "GET" && m != "DELETE" })
			buries := false

			for _, g := range f.Grants() {
				for _, op := range []spec.Op{spec.PutItem, spec.UpdateItem, spec.BatchWriteItem} {
					if slices.Contains(g.Ops, op) {
						writes = true
						buries = buries || g.Table == account.Deleted.Name
					}
				}
			}

			if writes && !checks && !buries {
				t.Errorf("%s writes, and does not check that the user is not deleted", f.Name)
			}
		}
	}
}

// TestRoomsForgetUsers: a room with routes of users deletes and exports what it keeps of
// them, and the room of the accounts asks exactly those rooms.
func TestRoomsForgetUsers(t *testing.T) {
	t.Parallel()

	var asked, served []string

	for _, room := range Specs() {
		for _, f := range room.Functions {
			if f.Name == accounts.ResumeJobsFunction().Name {
				for _, q := range f.Sends {
					asked = append(asked, q.Name)
				}
			}
		}

		if room.Name == accounts.Room().Spec.Name || !slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
			on, ok := f.On.(spec.Route)
			return ok && (on.Auth == spec.User || on.Auth == spec.Session)
		}) {
			continue
		}

		for _, k := range []account.Kind{account.Forget, account.Export} {
			q := account.Queue(room.Name, k)
			if !slices.ContainsFunc(room.Functions, func(f spec.Function) bool { on, ok := f.On.(spec.Queue); return ok && on.Name == q.Name }) {
				t.Errorf("no function of %s receives %s", room.Name, q.Name)
			}

			served = append(served, q.Name)
		}
	}

	slices.Sort(asked)
	slices.Sort(served)

	if !slices.Equal(asked, served) {
		t.Errorf("the accounts ask %q, want %q", asked, served)
	}
}
