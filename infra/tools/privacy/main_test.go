package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

// TestPageIsCurrent: docs/privacy.md is what the spec says.
func TestPageIsCurrent(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(string(page(fleet.Specs())), string(text)); diff != "" {
		t.Errorf("docs/privacy.md is out of date: run `make privacy` (-want +got):\n%s", diff)
	}
}

// TestEachStoreIsDescribed: each table, database, bucket and cache of a room, by the room, or by the
// accounts if rooms share it; and nothing else.
func TestEachStoreIsDescribed(t *testing.T) {
	t.Parallel()

	for _, room := range fleet.Specs() {
		for _, sentence := range lacks(room) {
			t.Error(sentence)
		}
	}
}

// TestLacks: what is missing is said.
func TestLacks(t *testing.T) {
	t.Parallel()

	users := spec.Table{Name: "chess-ratings", Key: spec.Key{Partition: "userId"}, TTL: "ttl"}
	room := spec.Room{Name: "chess", Functions: []spec.Function{{Uses: []spec.Access{users.On("Get", "PK=userId", spec.Rate{}, spec.GetItem)}}}}

	for _, c := range []struct {
		data []spec.Data
		want []string
	}{
		{nil, []string{"chess: Data lacks chess-ratings"}},
		{[]spec.Data{{Store: "chess-ratings", What: "ratings"}}, []string{"chess: the rows of chess-ratings have the key userId, and are of nobody"}},
		{[]spec.Data{{Store: "chess-ratings", Of: "users", What: "ratings"}}, []string{"chess: Data of chess-ratings does not say what, for what and how long"}},
		{[]spec.Data{{Store: "chess-ratings", Of: "users", What: "ratings", Why: "to play", Kept: "a day"}, {Store: "chess-games", What: "games"}},
			[]string{"chess: Data has chess-games, which is no store of the room"}},
		{[]spec.Data{{Store: "chess-ratings", Of: "users", What: "ratings", Why: "to play", Kept: "a day"}}, nil},
	} {
		room.Data = c.data
		if diff := cmp.Diff(c.want, lacks(room)); diff != "" {
			t.Errorf("with %+v (-want +got):\n%s", c.data, diff)
		}
	}
}

// lacks returns what is wrong with the description of a room's stores.
func lacks(room spec.Room) (sentences []string) {
	say := func(text string) { sentences = append(sentences, room.Name+": "+text) }
	shared := func(is bool) bool { return is && room.Name != "accounts" }
	byUser := map[string]bool{}

	var stores []string

	for _, t := range room.Tables() {
		if !shared(t.Shared) {
			stores = append(stores, t.Name)
			byUser[t.Name] = slices.ContainsFunc([]string{t.Key.Partition, t.Key.Sort}, func(key string) bool { return strings.EqualFold(key, "userId") })
		}
	}

	for _, d := range room.Databases() {
		stores = append(stores, d.Name)
	}

	for _, b := range room.Buckets() {
		if !shared(b.Shared) {
			stores = append(stores, b.Name)
		}
	}

	for _, l := range room.CacheLogins() {
		stores = append(stores, l.Cache.Name+" (cache)")
	}

	for _, store := range stores {
		if !slices.ContainsFunc(room.Data, func(d spec.Data) bool { return d.Store == store }) {
			say("Data lacks " + store)
		}
	}

	for _, d := range room.Data {
		switch {
		case !slices.Contains(stores, d.Store):
			say("Data has " + d.Store + ", which is no store of the room")
		case d.Of == "" && byUser[d.Store]:
			say("the rows of " + d.Store + " have the key userId, and are of nobody")
		case d.What == "" || d.Of != "" && (d.Why == "" || d.Kept == ""):
			say("Data of " + d.Store + " does not say what, for what and how long")
		}
	}

	return sentences
}
