package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/spec"
)

var (
	leases = spec.Table{Name: "leases", Key: spec.Key{Partition: "lockKey"}, TTL: "expiresAt"}
	take   = leases.On("Acquire lock", "lockKey", spec.Rate{}, spec.PutItem)
	extend = leases.On("Extend lock", "lockKey", spec.Rate{}, spec.UpdateItem)
	free   = leases.On("Release lock", "lockKey", spec.Rate{}, spec.DeleteItem)
	read   = leases.On("Read lock", "lockKey", spec.Rate{}, spec.GetItem)

	holder = spec.Function{Name: "test/hold", Uses: []spec.Access{take, extend, free, read}}
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 123e6, time.UTC)

const ttl = 1500 * time.Millisecond

type row struct {
	Key         string `dynamodbav:"lockKey"`
	Holder      string `dynamodbav:"holder"`
	ExpiresAtMs int64  `dynamodbav:"expiresAtMs"`
	ExpiresAt   int64  `dynamodbav:"expiresAt"`
	Fence       int64  `dynamodbav:"fence"`
}

// world is a table of leases, and a clock.
type world struct {
	t   *testing.T
	db  dynamo.DB
	now time.Time
}

func open(t *testing.T) *world {
	t.Helper()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{leases})

	return &world{t, dynamo.Open(dynamotest.WithGuard(t, cfg, holder), prefix), start}
}

func (w *world) locks(db dynamo.DB) *lock.Locks {
	return &lock.Locks{DB: db, Acquire: take, Extend: extend, Release: free, TTL: ttl, Now: func() time.Time { return w.now }}
}

func (w *world) take(key, who string) *lock.Lease {
	w.t.Helper()

	l, err := w.locks(w.db).Take(w.t.Context(), key, who)
	if err != nil {
		w.t.Fatal(err)
	}

	return l
}

func (w *world) refuse(key, who string) {
	w.t.Helper()

	if l, err := w.locks(w.db).Take(w.t.Context(), key, who); !errors.Is(err, lock.ErrHeld) || l != nil {
		w.t.Fatalf("%s takes %s: got %v, %v, want ErrHeld", who, key, l, err)
	} else if !strings.Contains(err.Error(), key) {
		w.t.Errorf("the error %q does not name the lock", err)
	}
}

func (w *world) row(key string) (row, bool) {
	w.t.Helper()

	r, ok, err := dynamo.Get[row](w.t.Context(), w.db, read, key)
	if err != nil {
		w.t.Fatal(err)
	}

	return r, ok
}

func TestRow(t *testing.T) {
	t.Parallel()
	w := open(t)
	l := w.take("match", "a")
	got, _ := w.row("match")

	want := row{"match", "a", start.Add(ttl).UnixMilli(), start.Add(ttl).Unix() + 1, start.UnixMilli()}
	if diff := cmp.Diff(want, got); diff != "" || l.Fence != want.Fence {
		t.Errorf("the fence is %d; the row differs (-want +got):\n%s", l.Fence, diff)
	}

	if !time.Unix(got.ExpiresAt, 0).After(time.UnixMilli(got.ExpiresAtMs)) {
		t.Error("DynamoDB may delete the row before the lease runs out")
	}
}

func TestOneHolderUntilItRunsOut(t *testing.T) {
	t.Parallel()
	w := open(t)
	first := w.take("match", "a")
	w.refuse("match", "b")
	w.take("another", "b")
	w.now = start.Add(ttl) // its last millisecond
	w.refuse("match", "b")
	w.now = w.now.Add(time.Millisecond)

	second := w.take("match", "b")
	if second.Fence <= first.Fence {
		t.Errorf("the fence went from %d to %d", first.Fence, second.Fence)
	}

	if err := first.Extend(t.Context()); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("extending a lost lease: got %v, want ErrHeld", err)
	}

	if err := first.Release(t.Context()); err != nil {
		t.Errorf("releasing a lost lease: got %v", err)
	}

	if r, ok := w.row("match"); !ok || r.Holder != "b" {
		t.Errorf("the lost lease's holder changed the row: %+v", r)
	}
}

func TestOneOfManyTakesIt(t *testing.T) {
	t.Parallel()
	w := open(t)
	locks := w.locks(w.db)

	var wg sync.WaitGroup

	won := make(chan string, 8)

	for i := range 8 {
		wg.Go(func() {
			switch _, err := locks.Take(t.Context(), "match", fmt.Sprint(i)); {
			case err == nil:
				won <- fmt.Sprint(i)
			case !errors.Is(err, lock.ErrHeld):
				t.Error(err)
			}
		})
	}

	wg.Wait()
	close(won)

	if len(won) != 1 {
		t.Errorf("%d took the lock", len(won))
	}

	if r, _ := w.row("match"); r.Holder != <-won {
		t.Errorf("the row has the holder %q", r.Holder)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	w := open(t)
	l := w.take("match", "a")
	w.now = start.Add(ttl / 2)

	if err := l.Extend(t.Context()); err != nil {
		t.Fatal(err)
	}

	got, _ := w.row("match")
	if diff := cmp.Diff(row{"match", "a", w.now.Add(ttl).UnixMilli(), w.now.Add(ttl).Unix() + 1, start.UnixMilli()}, got); diff != "" {
		t.Errorf("the row differs (-want +got):\n%s", diff)
	}

	w.now = start.Add(ttl + time.Millisecond) // when it would have run out
	w.refuse("match", "b")

	if _, err := dynamo.Delete(t.Context(), w.db, free, dynamo.Key(free, "match")); err != nil { // as TTL does
		t.Fatal(err)
	}

	if err := l.Extend(t.Context()); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("extending a lease that was deleted: got %v, want ErrHeld", err)
	}

	if _, ok := w.row("match"); ok {
		t.Error("extending brought back a deleted lease")
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	w := open(t)

	l := w.take("match", "a")
	for range 2 {
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	if _, ok := w.row("match"); ok {
		t.Error("the row is still there")
	}

	w.take("match", "b")
}

// TestLostAnswer has a holder take what it already holds.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w := open(t)
	first := w.take("match", "a")
	w.now = start.Add(time.Millisecond)

	second := w.take("match", "a")
	if second.Fence != first.Fence+1 {
		t.Errorf("the fence went from %d to %d, want the instant of the second", first.Fence, second.Fence)
	}

	w.refuse("match", "b")
}

func TestEngineDown(t *testing.T) {
	t.Parallel()
	w := open(t)
	l := w.take("match", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := w.locks(w.db).Take(ctx, "other", "a")
	for name, err := range map[string]error{"take": err, "extend": l.Extend(ctx), "release": l.Release(ctx)} {
		if !errors.Is(err, context.Canceled) || errors.Is(err, lock.ErrHeld) {
			t.Errorf("%s: got %v, want the cause", name, err)
		}
	}
}

// TestCrash crashes a job under a lock, and runs it again as its retry would:
// with the same holder's name.
func TestCrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) bool {
		cfg, prefix := dynamotest.CreateTables(t, []spec.Table{leases})
		w := &world{t, dynamo.Open(dynamotest.WithGuard(t, cfg, holder), prefix), start}
		job := func(db dynamo.DB) error {
			l, err := w.locks(db).Take(t.Context(), "match", "invocation")
			if err != nil {
				return err
			}

			if err := l.Extend(t.Context()); err != nil {
				return err
			}

			return l.Release(t.Context())
		}
		p.Ended(job(dynamo.Open(p.AWS(dynamotest.WithGuard(t, cfg, holder)), prefix)))

		w.now = w.now.Add(time.Millisecond)
		if err := job(w.db); err != nil {
			t.Errorf("the second run: %v", err)
		}

		_, held := w.row("match")

		return held
	})
}

// TestLeasesNeverOverlap plays random takers against the promise: of two leases
// the later has no lower fence, and the earlier has run out or was released.
func TestLeasesNeverOverlap(t *testing.T) {
	t.Parallel()
	w := open(t)
	locks := w.locks(w.db)
	game := 0

	rapid.Check(t, func(t *rapid.T) {
		game++
		key := fmt.Sprint("match ", game)

		type held struct {
			*lock.Lease
			until time.Time
		}

		leases := map[string]held{} // by holder; what each believes

		var fence int64

		for range rapid.IntRange(1, 12).Draw(t, "moves") {
			w.now = w.now.Add(time.Duration(rapid.Int64Range(1, int64(ttl)).Draw(t, "wait")))

			who := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who")
			switch rapid.SampledFrom([]string{"take", "take", "extend", "release"}).Draw(t, "move") {
			case "take":
				l, err := locks.Take(context.Background(), key, who)
				if errors.Is(err, lock.ErrHeld) {
					continue
				}

				if err != nil {
					t.Fatal(err)
				}

				for other, h := range leases {
					if other != who && h.until.After(w.now) {
						t.Fatalf("%s takes the lock from %s", who, other)
					}
				}

				if l.Fence < fence {
					t.Fatalf("the fence went from %d to %d", fence, l.Fence)
				}

				fence = l.Fence
				leases[who] = held{l, w.now.Add(ttl)}
			case "extend":
				h, ok := leases[who]
				if !ok {
					continue
				}

				switch err := h.Extend(context.Background()); {
				case err == nil:
					leases[who] = held{h.Lease, w.now.Add(ttl)}
				case !errors.Is(err, lock.ErrHeld):
					t.Fatal(err)
				case h.until.After(w.now):
					t.Fatalf("%s lost a lease that had not run out", who)
				}
			case "release":
				if h, ok := leases[who]; ok {
					if err := h.Release(context.Background()); err != nil {
						t.Fatal(err)
					}

					delete(leases, who)
				}
			}
		}
	})
}
