// Package faults breaks a local fleet where its functions meet their engines:
// calls that fail or whose answer is lost, processes killed before or after the
// effect of a call, state machines that call twice, late or both, messages that
// overtake each other or come again.
//
// Nothing in it is left to chance or to the wall clock. Each decision is a hash
// of the seed, the kind of fault and what stays the same from run to run: who
// calls what on which row and on whose behalf, at which time of the fleet, for how
// many-th time. So
// the same seed gives the same run, however its goroutines are scheduled.
package chaos

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"net/http"
	"sync"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/sqs"
)

// Kind is a kind of fault.
type Kind string

// The kinds.
const (
	Throttled     Kind = "throttled"          // an attempt, before its effect; DynamoDB only
	Failed        Kind = "failed"             // an attempt, before its effect: 500
	Cut           Kind = "cut after effect"   // the connection of an attempt ends instead of the answer
	FailedForGood Kind = "failed for good"    // all attempts of a call, before their effect: 500
	KilledBefore  Kind = "killed before call" // the caller's process, before the effect
	KilledAfter   Kind = "killed after call"  // the caller's process, after the effect
	TwoAtOnce     Kind = "two at once"        // an invocation by a state machine
	OnceMore      Kind = "once more later"    // the same
	Delayed       Kind = "delayed"            // the same
	HeldBack      Kind = "held back"          // a message
	Redelivered   Kind = "redelivered"        // a message that was deleted
)

// Config says what goes wrong how often. A rate is a chance from 0 to 1.
type Config struct {
	Seed  uint64
	Clock *clock.Clock
	// Calls are the rates of the kinds of a call, by the function's name in the
	// cloud, room-verb-noun, and those of one operation by both, as in "room-do-thing
	// PutItem". The calls of others never fail.
	Calls map[string]map[Kind]float64
	// Task is the function whose invocations by a state machine are struck, by
	// the rates of Invocations.
	Task        string
	Invocations map[Kind]float64
	Messages    map[Kind]float64
}

// Faults decides, and counts what it did. Make one with New.
type Faults struct {
	Config
	// The fleet's to set: the attributes of a table's primary key, what the process
	// that presents a session token was invoked with, and what kills it.
	Key     func(table string) []string
	Payload func(token string) []byte
	Kill    func(token string) bool

	mu     sync.Mutex
	on     bool
	counts map[Kind]int
	now    time.Time         // of seen and calls
	seen   map[string]uint64 // calls of one identity at now
	calls  map[string]uint64 // an SDK invocation id: its place among those
	work   activity
}

// New returns faults that begin with Start.
func New(c Config) *Faults {
	return &Faults{Config: c, counts: map[Kind]int{}, work: activity{held: map[string]bool{}}}
}

// Start lets things go wrong from now on.
func (f *Faults) Start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = true
}

// Counts tells how often each kind has happened.
func (f *Faults) Counts() map[Kind]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// chance is a number from 0 up to 1 that depends on the seed and the words alone.
func (f *Faults) chance(words ...string) float64 { return Chance(f.Seed, words...) }

// Chance is a number from 0 up to 1, the same for a seed and words every time.
func Chance(seed uint64, words ...string) float64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	// FNV's high bits hardly know its last bytes: SplitMix64's finalizer.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// pick is the kind that x falls on when the rates lie one after the other in the
// order of kinds, or "".
func pick(x float64, rates map[Kind]float64, kinds ...Kind) Kind {
	for _, k := range kinds {
		if x < rates[k] {
			return k
		}
		x -= rates[k]
	}
	return ""
}

func (f *Faults) count(k Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[k]++
}

func (f *Faults) started() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.on
}

func at(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Fate is what becomes of a message.
func (f *Faults) Fate(queue, body string, sent time.Time) (fate sqs.Fate) {
	if !f.started() {
		return sqs.Fate{}
	}
	who := []string{queue, body, at(sent)}
	if f.chance(append(who, string(HeldBack))...) < f.Messages[HeldBack] {
		f.count(HeldBack)
		fate.Late = part(f.chance(append(who, "by")...), longestLate)
	}
	if f.chance(append(who, string(Redelivered))...) < f.Messages[Redelivered] {
		f.count(Redelivered)
		fate.Again = part(f.chance(append(who, "after")...), longestAgain)
	}
	return fate
}

// part is a part of d in whole tenths of a second, and at least one.
func part(x float64, d time.Duration) time.Duration {
	return time.Duration(x*float64(d)).Truncate(100*time.Millisecond) + 100*time.Millisecond
}

// Watch is h, seen to be at work: a process is not killed while it waits for h.
func (f *Faults) Watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer f.work.begin()()
		h.ServeHTTP(w, r)
	})
}

// Seen says that a function was just seen to be at work.
func (f *Faults) Seen() { f.work.seen() }
