package spec_test

import (
	"reflect"
	"testing"

	"matchday/pkg/spec"
)

// TestShared: what rooms share is what is marked so, each once and in order. All else stays
// with its room.
func TestShared(t *testing.T) {
	t.Parallel()

	accounts, exports := spec.Table{Name: "deleted-accounts", Shared: true}, spec.Bucket{Name: "exports", Shared: true}
	requests, pictures := spec.Table{Name: "all-requests", Shared: true}, spec.Bucket{Name: "all-pictures", Shared: true}
	own, files := spec.Table{Name: "own"}, spec.Bucket{Name: "files"}
	room := func(tables []spec.Table, buckets []spec.Bucket) spec.Room {
		var f spec.Function
		for _, t := range tables {
			f.Uses = append(f.Uses, t.On("Get", "id", perRequest, spec.GetItem))
		}

		for _, b := range buckets {
			f.Objects = append(f.Objects, b.On("", spec.GetObject))
		}

		return spec.Room{Functions: []spec.Function{f}}
	}

	tables, buckets := spec.Shared([]spec.Room{
		room([]spec.Table{accounts, own}, []spec.Bucket{files, exports}),
		room([]spec.Table{accounts, requests}, []spec.Bucket{exports, pictures}),
	})
	if want := []spec.Table{requests, accounts}; !reflect.DeepEqual(tables, want) {
		t.Errorf("got the tables %v, want %v", tables, want)
	}

	if want := []spec.Bucket{pictures, exports}; !reflect.DeepEqual(buckets, want) {
		t.Errorf("got the buckets %v, want %v", buckets, want)
	}
}

// TestResources: a room has the databases, caches and buckets that its functions
// use, each once, and a function that uses a database or a cache is in the VPC.
func TestResources(t *testing.T) {
	t.Parallel()

	scores, ranks, files := spec.SQLDatabase{Name: "lab-scores"}, spec.Cache{Name: "lab-ranks"}, spec.Bucket{Name: "lab-files"}

	room := spec.Room{Functions: []spec.Function{
		{SQL: []spec.SQLLogin{scores.As("writer")}, Caches: []spec.CacheLogin{ranks.As("writer", "~* +@all")}},
		{SQL: []spec.SQLLogin{scores.As(spec.SQLAdmin)}},
		{Caches: []spec.CacheLogin{ranks.As("reader", "~* +@read"), ranks.As("writer", "~* +@all")}},
		{Objects: []spec.ObjectAccess{files.On("in/", spec.PutObject), files.On("", spec.GetObject)}},
	}}
	if got, want := room.Databases(), []spec.SQLDatabase{scores}; !reflect.DeepEqual(got, want) {
		t.Errorf("got the databases %v, want %v", got, want)
	}

	if got, want := room.CacheLogins(), []spec.CacheLogin{ranks.As("reader", "~* +@read"),
		ranks.As("writer", "~* +@all")}; !reflect.DeepEqual(got, want) {
		t.Errorf("got the logins %v, want %v", got, want)
	}

	if got, want := room.Buckets(), []spec.Bucket{files}; !reflect.DeepEqual(got, want) {
		t.Errorf("got the buckets %v, want %v", got, want)
	}

	for i, want := range []bool{true, true, true, false} {
		if got := room.Functions[i].InVPC(); got != want {
			t.Errorf("function %d is in the VPC: %v", i, got)
		}
	}

	f := room.Functions
	for want, got := range map[string]string{
		"MATCHDAY_SQL_LAB_SCORES":   f[0].SQL[0].Database.Env(),
		"MATCHDAY_CACHE_LAB_RANKS":  f[0].Caches[0].Env(),
		"MATCHDAY_BUCKET_LAB_FILES": f[3].Objects[0].Env(),
	} {
		if got != want {
			t.Errorf("got the variable %s, want %s", got, want)
		}
	}
}

// TestCacheLoginsOfSimilarNames: the login of a user to a cache is not that of another pair whose
// names spell the same.
func TestCacheLoginsOfSimilarNames(t *testing.T) {
	t.Parallel()

	a, b := spec.Cache{Name: "ranks"}.As("live", "~*"), spec.Cache{Name: "rank"}.As("slive", "~*")

	room := spec.Room{Functions: []spec.Function{{Caches: []spec.CacheLogin{a, b}}}}
	if got, want := room.CacheLogins(), []spec.CacheLogin{b, a}; !reflect.DeepEqual(got, want) {
		t.Errorf("got the logins %v, want %v", got, want)
	}
}
