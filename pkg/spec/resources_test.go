package spec_test

import (
	"reflect"
	"testing"

	"matchday/pkg/spec"
)

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
	if got, want := room.CacheLogins(), []spec.CacheLogin{ranks.As("reader", "~* +@read"), ranks.As("writer", "~* +@all")}; !reflect.DeepEqual(got, want) {
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
		"MATCHDAY_SQL_LAB_SCORES": f[0].SQL[0].Env(), "MATCHDAY_CACHE_LAB_RANKS": f[0].Caches[0].Env(), "MATCHDAY_BUCKET_LAB_FILES": f[3].Objects[0].Env(),
	} {
		if got != want {
			t.Errorf("got the variable %s, want %s", got, want)
		}
	}
}
