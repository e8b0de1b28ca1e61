// Package chaos injects faults between functions and the simulated AWS services:
// calls that fail or whose answer is lost, processes that are killed before or
// after the effect of a call, invocations that are repeated or delayed, messages
// that are reordered or delivered again.
//
// The same seed gives the same faults, however the goroutines are scheduled. Each
// decision is a hash of the seed, the kind of fault, the function, its event, the
// operation and its key, the time of the simulated clock and the number of equal
// calls at that time. No decision depends on the wall clock.
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
	Throttled     Kind = "throttled"          // one attempt is throttled and has no effect; SQS fails instead
	Failed        Kind = "failed"             // one attempt gets status 500 and has no effect
	Cut           Kind = "cut after effect"   // one attempt takes effect; the connection closes without an answer
	Stalled       Kind = "stalled"            // a call of a cache is not answered
	FailedForGood Kind = "failed for good"    // every attempt of a call gets status 500 and has no effect
	KilledBefore  Kind = "killed before call" // the calling process is killed; the call has no effect
	KilledAfter   Kind = "killed after call"  // the call takes effect; the calling process is killed
	TwoAtOnce     Kind = "two at once"        // a state machine invokes the function twice at the same time
	OnceMore      Kind = "once more later"    // a state machine invokes the function again later
	Delayed       Kind = "delayed"            // a state machine invokes the function late
	HeldBack      Kind = "held back"          // a message becomes visible late
	Redelivered   Kind = "redelivered"        // a deleted message is delivered again
)

// Config sets the rates of faults. A rate is a probability from 0 to 1.
type Config struct {
	Seed  uint64
	Clock *clock.Clock
	// Calls holds the rates of faults in calls, by the function's access key, which
	// is its name in AWS ("room-verb-noun"). The key "room-verb-noun PutItem" sets
	// the rates of one operation. Calls of other functions never fail.
	Calls map[string]map[Kind]float64
	// Task is the function whose invocations by a state machine get the faults of
	// Invocations.
	Task        string
	Invocations map[Kind]float64
	Messages    map[Kind]float64
}

// Faults decides which faults happen and counts them. Create it with New.
type Faults struct {
	Config
	// Set these before Start.
	Key     func(table string) []string  // the attributes of a table's primary key
	Payload func(token string) []byte    // the event of the process with a session token
	Kill    func(token string) bool      // kills the process with a session token
	Running func(function string) string // the session token of the process that runs a function, "" if none does
	Alias   func(text string) string     // replaces what differs between runs, as random ids; nil for nothing

	mu      sync.Mutex
	on      bool
	counts  map[Kind]int
	now     time.Time         // the instant of seen and calls
	seen    map[string]uint64 // number of calls of one identity at now
	serials uint64
	calls   map[string]uint64 // the position of each SDK invocation id among them
	work    activity
}

// New returns Faults that inject nothing before Start.
func New(c Config) *Faults {
	return &Faults{Config: c, counts: map[Kind]int{}, work: activity{held: map[string]bool{}}}
}

// Start begins to inject faults.
func (f *Faults) Start() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.on = true
}

// Counts returns how often each kind has happened.
func (f *Faults) Counts() map[Kind]int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return maps.Clone(f.counts)
}

// chance returns Chance for the seed of f.
func (f *Faults) chance(parts ...string) float64 { return Chance(f.Seed, parts...) }

// Chance returns a number in [0, 1) that depends only on the seed and the parts.
func Chance(seed uint64, parts ...string) float64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))

	for _, w := range parts {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	// FNV's high bits depend little on the last bytes; SplitMix64's finalizer mixes
	// them.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31

	return float64(x>>11) / (1 << 53)
}

// kindAt divides [0, 1) into one interval per kind, in order, each as long as the
// kind's rate. It returns the kind whose interval contains x, or "".
func kindAt(x float64, rates map[Kind]float64, kinds ...Kind) Kind {
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

// MessageFault decides the fault of a message; see sqs.Server.InjectFaults.
func (f *Faults) MessageFault(queue, body string, sent time.Time) (fate sqs.Fault) {
	if !f.started() {
		return sqs.Fault{}
	}

	if f.Alias != nil {
		body = f.Alias(body)
	}

	who := []string{queue, body, at(sent)}
	if f.chance(append(who, string(HeldBack))...) < f.Messages[HeldBack] {
		f.count(HeldBack)
		fate.Delay = fractionOf(f.chance(append(who, "by")...), maxMessageDelay)
	}

	if f.chance(append(who, string(Redelivered))...) < f.Messages[Redelivered] {
		f.count(Redelivered)
		fate.RedeliverAfter = fractionOf(f.chance(append(who, "after")...), maxRedelivery)
	}

	return fate
}

// fractionOf returns x times d, in whole tenths of a second, plus one tenth.
func fractionOf(x float64, d time.Duration) time.Duration {
	return time.Duration(x*float64(d)).Truncate(100*time.Millisecond) + 100*time.Millisecond
}

// Watch wraps a handler that functions call. No process is killed while h serves a
// request.
func (f *Faults) Watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer f.work.begin()()

		h.ServeHTTP(w, r)
	})
}

// MarkActive records that a function has just shown activity.
func (f *Faults) MarkActive() { f.work.markActive() }
