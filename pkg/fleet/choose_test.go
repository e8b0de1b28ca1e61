package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/accounts"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// others are the names of the rooms beside the accounts, and owner that of the accounts.
var (
	owner  = accounts.Room().Spec.Name
	others = slices.DeleteFunc(roomNames(), func(name string) bool { return name == owner })
)

// TestChoose: the rooms are those that are named, in the order of the list, with the accounts
// where they keep data of users.
func TestChoose(t *testing.T) {
	t.Parallel()

	first, second := others[0], others[1]
	last := others[len(others)-1]

	for name, c := range map[string]struct {
		rooms, leave   string
		deployed, left []string
	}{
		"all":                    {"", "", append(slices.Clone(others), owner), nil},
		"one":                    {first, "", []string{first, owner}, nil},
		"in the order of a list": {last + "," + first, "", []string{first, last, owner}, nil},
		"separated by spaces":    {first + "  " + second, "", []string{first, second, owner}, nil},
		"by both":                {" " + second + ", " + first + ",", "", []string{first, second, owner}, nil},
		"a name twice":           {first + " " + first, "", []string{first, owner}, nil},
		"with the accounts":      {owner + " " + first, "", []string{first, owner}, nil},
		"the accounts alone":     {owner, "", []string{owner}, nil},
		"all but one":            {"", first, append(slices.Clone(others[1:]), owner), []string{first}},
		"one beside another":     {second, first, []string{second, owner}, []string{first}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := Choose(c.rooms, c.leave)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(c.deployed, got.Names()); diff != "" {
				t.Errorf("deployed rooms (-want +got):\n%s", diff)
			}

			if diff := cmp.Diff(c.left, got.Left); diff != "" {
				t.Errorf("rooms that are left (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChooseRefuses: the error names what is wrong and what is valid.
func TestChooseRefuses(t *testing.T) {
	t.Parallel()

	first, valid := others[0], strings.Join(rooms, ", ")

	for name, c := range map[string]struct{ rooms, leave, want string }{
		"an unknown room":      {first + ",no-such-room", "", "unknown room no-such-room in ROOMS; valid rooms: " + valid},
		"another to leave":     {"", "no-such-room", "unknown room no-such-room in LEAVE; valid rooms: " + valid},
		"a room in both":       {first, first, "ROOMS and LEAVE both name " + first + ": it is either deployed or left as it is"},
		"the accounts":         {first, owner, owner + " cannot be in LEAVE: it asks " + first + " to delete data of users"},
		"nothing but to leave": {"", strings.Join(rooms, ","), owner + " cannot be in LEAVE: it asks " + strings.Join(others, ", ")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := Choose(c.rooms, c.leave); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestAccountsAskTheRoomsThatAreThere: the accounts may send to the queues of the rooms of the
// choice that keep data of users, also of those that are left, and to no other queue.
func TestAccountsAskTheRoomsThatAreThere(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		rooms, leave string
		asked        []string
	}{
		"all":                {"", "", account.Keepers(Specs())},
		"one":                {others[0], "", account.Keepers(Specs()[:1])},
		"one, and one left":  {others[1], others[0], account.Keepers(Specs()[:2])},
		"the accounts alone": {owner, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			choice, err := Choose(c.rooms, c.leave)
			if err != nil {
				t.Fatal(err)
			}

			all := choice.Rooms[len(choice.Rooms)-1]

			var got, want []string

			for _, f := range all.Functions {
				if f.Name == accounts.ResumeJobsFunction().Name {
					for _, q := range f.Sends {
						got = append(got, q.Name)
					}
				}
			}

			for _, k := range []account.Kind{account.Forget, account.Export} {
				for _, room := range c.asked {
					want = append(want, account.Queue(room, k).Name)
				}
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("queues of the rooms (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEachRoomAloneIsComplete: a function of a fleet of one room sends only to queues that a
// function of the fleet receives, and one alarm watches the concurrency of the account.
func TestEachRoomAloneIsComplete(t *testing.T) {
	t.Parallel()

	for _, name := range rooms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			choice, err := Choose(name, "")
			if err != nil {
				t.Fatal(err)
			}

			received, watches := map[string]bool{}, 0

			for _, room := range choice.Specs() {
				if room.WatchesConcurrency {
					watches++
				}

				for _, f := range room.Functions {
					if q, ok := f.On.(spec.Queue); ok {
						received[q.Name] = true
					}
				}
			}

			for _, room := range choice.Specs() {
				for _, f := range room.Functions {
					for _, q := range f.Sends {
						if !received[q.Name] {
							t.Errorf("%s sends to %s, which no function receives", f.Name, q.Name)
						}
					}
				}
			}

			if watches != 1 {
				t.Errorf("%d rooms watch the concurrency, want 1", watches)
			}
		})
	}
}

// TestOwnSettings: the settings and the restored tables of rooms that are not deployed are
// removed. Everything else stays, also what no room knows.
func TestOwnSettings(t *testing.T) {
	t.Parallel()

	choice, err := Choose(others[0], "")
	if err != nil {
		t.Fatal(err)
	}

	given, want := map[string]string{"stage": "dev", "mial": "x"}, map[string]string{"stage": "dev", "mial": "x"}

	var tables, ownTables []string

	for _, room := range Specs() {
		own := slices.Contains(choice.Names(), room.Name)

		for _, s := range room.Settings {
			given[s.Name] = "x"
			if own {
				want[s.Name] = "x"
			}
		}

		for _, table := range room.Tables() {
			tables = append(tables, table.Name+":r1")
			if own || table.Shared {
				ownTables = append(ownTables, table.Name+":r1")
			}
		}
	}

	given[restored] = strings.Join(append(tables, "unknown:r1"), ",")
	want[restored] = strings.Join(append(ownTables, "unknown:r1"), ",")

	if diff := cmp.Diff(want, choice.Own(given)); diff != "" {
		t.Errorf("own settings (-want +got):\n%s", diff)
	}
}
