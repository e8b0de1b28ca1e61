package idem_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/spec"
)

var (
	table = spec.Table{Name: "shop", Key: spec.Key{Partition: "id"}, TTL: "ttl"}
	act   = table.On("Act", "id", spec.Rate{Driver: spec.UserAction}, spec.GetItem, spec.PutItem)
	buy   = "shop/buy"
	sell  = "shop/sell"
)

// effect counts what a request has done.
type effect struct {
	ID  string `dynamodbav:"id"`
	Rev int    `dynamodbav:"rev"`
}

// kept is a stored answer.
type kept struct {
	ID     string      `dynamodbav:"id"`
	TTL    int64       `dynamodbav:"ttl"`
	Record idem.Record `dynamodbav:"record"`
}

// request is one with a path and a body.
type request struct {
	idem.Key
	Item string `path:"item"`
	Body struct {
		Count int    `json:"count"`
		Note  string `json:"note,omitempty"`
	}
}

type answer struct {
	Status int
	Body   struct{ Total int }
}

// shop makes requests.
type shop struct {
	t     *testing.T
	db    dynamo.DB
	store idem.Store
	now   time.Time
}

func newShop(t *testing.T, process *dynamotest.Process) *shop {
	t.Helper()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{table})
	s := &shop{t: t, now: time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)}
	s.use(dynamo.Open(process.AWS(cfg), prefix))
	s.db = dynamo.Open(cfg, prefix)

	return s
}

// use has the next requests made with a client.
func (s *shop) use(db dynamo.DB) {
	s.store = idem.Store{
		DB: db,
		Find: func(ctx context.Context, userID, id string) (idem.Record, bool, error) {
			k, ok, err := dynamo.Get[kept](ctx, db, act, userID+" "+id)
			return k.Record, ok && s.now.Unix() < k.TTL, err
		},
		Write: func(userID, id string, r idem.Record) dynamo.Write {
			return dynamo.PutWrite(kept{userID + " " + id, s.now.Add(idem.Lifetime).Unix(), r},
				dynamo.Absent[kept]("id").Or(dynamo.AtMost[kept]("ttl", s.now.Unix())))
		},
	}
}

// total is how often something was done to an item.
func (s *shop) total(item string) int {
	s.t.Helper()

	e, _, err := dynamo.Get[effect](s.t.Context(), s.db, act, item)
	if err != nil {
		s.t.Fatal(err)
	}

	return e.Rev
}

// call is one request.
type call struct {
	fn              string
	user, key, item string
	count           int
}

// do makes a request, whose effect is one more for the item; it begins again if another
// request has changed the item meanwhile.
func (s *shop) do(c call) (int, error) {
	in := &request{Key: idem.Key{IdempotencyKey: c.key}, Item: c.item}
	in.Body.Count = c.count

	out, err := idem.Once(s.t.Context(), s.store, c.fn, c.user, in, func(ctx context.Context, commit idem.Commit[answer]) (*answer, error) {
		for {
			e, found, err := dynamo.Get[effect](ctx, s.store.DB, act, c.item)
			if err != nil {
				return nil, err
			}

			same := dynamo.Absent[effect]("id")
			if found {
				same = dynamo.Equal[effect]("rev", e.Rev)
			}

			out := &answer{Status: 201}

			out.Body.Total = e.Rev + 1
			if err := commit(ctx, act, out, dynamo.PutWrite(effect{c.item, e.Rev + 1}, same)); !dynamo.IsRefused(err) {
				return out, err
			}
		}
	})
	if err != nil {
		return 0, err
	}

	return out.Body.Total, nil
}

// TestRequestsWithAKey: what counts as the same request, and what it gets.
func TestRequestsWithAKey(t *testing.T) {
	t.Parallel()

	first := call{buy, "ann", "K1", "tea", 1}
	for _, c := range []struct {
		name   string
		again  call
		later  time.Duration
		answer int // 0 for a conflict
		total  int // of the item of the second request
	}{
		{"the same request gets the same answer", first, 0, 1, 1},
		{"the same a moment before a day", first, idem.Lifetime - time.Second, 1, 1},
		{"the same after a day is another", first, idem.Lifetime, 2, 2},
		{"another body is refused", call{buy, "ann", "K1", "tea", 2}, 0, 0, 1},
		{"another body after a day is another", call{buy, "ann", "K1", "tea", 2}, idem.Lifetime, 2, 2},
		{"another key is another", call{buy, "ann", "K2", "tea", 1}, 0, 2, 2},
		{"a key in capitals is another", call{buy, "ann", "k1", "tea", 1}, 0, 2, 2},
		{"another path is another", call{buy, "ann", "K1", "milk", 1}, 0, 1, 1},
		{"another function is another", call{sell, "ann", "K1", "tea", 1}, 0, 2, 2},
		{"another user is another", call{buy, "bob", "K1", "tea", 1}, 0, 2, 2},
		{"without a key each is another", call{buy, "ann", "", "tea", 1}, 0, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			s := newShop(t, &dynamotest.Process{})
			if got, err := s.do(first); got != 1 || err != nil {
				t.Fatalf("the first: %d, %v", got, err)
			}

			s.now = s.now.Add(c.later)

			got, err := s.do(c.again)
			if conflict := errors.Is(err, idem.ErrConflict); conflict != (c.answer == 0) || !conflict && err != nil {
				t.Errorf("the second: %v", err)
			}

			if got != c.answer || s.total(c.again.item) != c.total {
				t.Errorf("the answer is %d and the effect %d, want %d and %d", got, s.total(c.again.item), c.answer, c.total)
			}
		})
	}
}

// TestNoKey: without the header each request has its effect, and nothing is stored.
func TestNoKey(t *testing.T) {
	t.Parallel()

	s := newShop(t, &dynamotest.Process{})
	for want := 1; want <= 3; want++ {
		if got, err := s.do(call{buy, "ann", "", "tea", 1}); got != want || err != nil {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
}

// TestErrorsAreNotStored: a request that was refused may be sent again with its key.
func TestErrorsAreNotStored(t *testing.T) {
	t.Parallel()
	s := newShop(t, &dynamotest.Process{})
	in := &request{Key: idem.Key{IdempotencyKey: "K1"}}
	closed := errors.New("the shop is closed")

	_, err := idem.Once(t.Context(), s.store, buy, "ann", in,
		func(context.Context, idem.Commit[answer]) (*answer, error) { return nil, closed })
	if !errors.Is(err, closed) {
		t.Fatalf("got %v", err)
	}

	in.Item, in.Body.Count = "tea", 1

	if got, err := s.do(call{buy, "ann", "K1", "tea", 1}); got != 1 || err != nil {
		t.Errorf("the next: %d, %v", got, err)
	}
}

// TestSameRequestsAtOnce: of eight equal requests one has an effect, and all get its answer;
// eight others change the same item at the same time.
func TestSameRequestsAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, &dynamotest.Process{})

	var all sync.WaitGroup

	answers := make([]int, 8)
	for i := range answers {
		all.Go(func() {
			got, err := s.do(call{buy, "ann", "K", "tea", 1})
			if err != nil {
				t.Error(err)
			}

			answers[i] = got
		})
		all.Go(func() {
			if _, err := s.do(call{buy, "bob", fmt.Sprint("K", i), "tea", 1}); err != nil {
				t.Error(err)
			}
		})
	}

	all.Wait()

	for _, got := range answers {
		if got != answers[0] {
			t.Errorf("the answers differ: %v", answers)
		}
	}

	if got := s.total("tea"); got != 9 {
		t.Errorf("the effect is %d, want 9", got)
	}
}

// TestOtherBodiesAtOnce: of equal keys with other bodies one has an effect, and the others
// are refused.
func TestOtherBodiesAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, &dynamotest.Process{})

	var all sync.WaitGroup

	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() { _, errs[i] = s.do(call{buy, "ann", "K", "tea", i}) })
	}

	all.Wait()

	conflicts := 0

	for _, err := range errs {
		if errors.Is(err, idem.ErrConflict) {
			conflicts++
		} else if err != nil {
			t.Error(err)
		}
	}

	if conflicts != 5 || s.total("tea") != 1 {
		t.Errorf("%d conflicts and %d effects, want 5 and 1", conflicts, s.total("tea"))
	}
}

// TestCrashes: wherever the request dies, before its transaction or after, the client that
// sends it again gets its answer, and the effect is there once.
func TestCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]int {
		s := newShop(t, p)
		c := call{buy, "ann", "K", "tea", 1}

		got, err := s.do(c)
		if p.Ended(err) {
			s.use(s.db)

			if got, err = s.do(c); err != nil {
				t.Error(err)
			}
		}

		return map[string]int{"answer": got, "effect": s.total("tea")}
	})
}

// TestHashIsOfTheDecodedBody: the same request has the same id and hash at any time.
func TestHashIsOfTheDecodedBody(t *testing.T) {
	t.Parallel()
	s := newShop(t, &dynamotest.Process{})

	var hashes []string

	write := s.store.Write

	s.store.Write = func(userID, id string, r idem.Record) dynamo.Write {
		hashes = append(hashes, id+" "+r.Hash)
		return write(userID, id, r)
	}
	for range 2 {
		if _, err := s.do(call{buy, "ann", "K", "tea", 1}); err != nil {
			t.Fatal(err)
		}

		s.now = s.now.Add(idem.Lifetime)
	}

	if len(hashes) != 2 {
		t.Fatalf("%d writes, want 2", len(hashes))
	}

	if diff := cmp.Diff(hashes[0], hashes[1]); diff != "" {
		t.Errorf("the same request has two hashes (-first +second):\n%s", diff)
	}
}
