// Package attack sends to every operation of an API requests that its OpenAPI document
// forbids, or hardly allows, each a change of a request that the operation accepts (package
// mutation). It knows no room: a new operation is attacked without a line of its own.
//
// Beside that it attacks what no document says: ids must not be predictable, a state of one flow must not
// be valid in another, nobody's requests may lock out somebody else, a user writes nothing after the
// account's deletion was answered, and no name contains an address.
//
// An answer must not have a status over 499, an internal word, or HTML. A request that
// the document forbids must be refused, and a refusal is a problem document that names
// the field. An answer to an accepted request must be what its schema allows. If it
// depends on the caller, no cache may keep it.
package attack

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/tools/mutation"
	"matchday/pkg/spec"
)

// Actor is who sends a request.
type Actor string

// The actors. A User is signed in, and an Administrator is in the groups that the
// operation needs.
const (
	Anonymous     Actor = "anonymous"
	User          Actor = "user"
	Administrator Actor = "administrator"
)

// Sample is a request that an operation accepts.
type Sample struct {
	Actor  Actor // who sends it
	Path   string
	Query  string // raw
	Body   []byte
	UserID string      // of its token or its session; "" for none
	Cookie string      // its header Cookie; "" for none
	Header http.Header // the parameters that are headers
}

// Config configures an Attack.
type Config struct {
	URL  string
	Seed uint64
	// Most bounds the requests of one operation by the actor of its sample: of the
	// changes beyond, some are left out, but no kind of change. 0 is no bound.
	Most int
	// Depth is how many changes are made to one request, at most. 0 is 1. More than one
	// are chosen at random, Most requests of an operation.
	Depth int
	// Token returns the access token of an actor. user is that of the sample.
	Token func(a Actor, user string) (string, error)
	// Logs returns what a function wrote last.
	Logs func(function string) []string
	// Workers is how many requests are sent at a time. 0 is 4.
	Workers int
	// Pass lets a little time pass in a fleet whose time stands still; nil if its time does
	// not. It is called while no request is answered: their functions may wait for each other.
	Pass func(context.Context) error
}

// Attack counts and collects. Create it with New.
type Attack struct {
	cfg    Config
	client *http.Client

	mu         sync.Mutex
	kinds      map[string]int
	operations map[string]bool
	counts     map[string]map[int]int // by room and status
	requests   int
	slow       []string
	findings   map[string]*Finding
	ids        ids
}

// Finding is something wrong with an answer.
type Finding struct {
	Operation string // "pickem/put-result"
	Kind      string // of change
	Wrong     string
	Request   string // as it can be repeated, without a token
	Answer    string
	Logs      []string
	Times     int // that the same was wrong with a change of the kind
}

func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: %s (%d times)\n  %s\n  -> %s\n", f.Operation, f.Kind, f.Wrong, f.Times,
		strings.ReplaceAll(f.Request, "\n", "\n  "), f.Answer)

	for _, line := range f.Logs {
		fmt.Fprintf(&b, "  | %s\n", line)
	}

	return b.String()
}

// patience is how long no request is answered before a little time passes.
const patience = 100 * time.Millisecond

// slowly is how long an answer takes that is reported as slow.
const slowly = 2 * time.Second

// New returns an Attack that has not begun.
func New(cfg Config) *Attack {
	cfg.Workers = cmp.Or(cfg.Workers, 4)
	cfg.Depth = cmp.Or(cfg.Depth, 1)

	return &Attack{
		cfg: cfg,
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: cfg.Workers, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       2 * time.Minute, // that of a function, on a free clock
		},
		kinds: map[string]int{}, operations: map[string]bool{}, counts: map[string]map[int]int{}, findings: map[string]*Finding{},
		ids: newIDs(),
	}
}

// shot is a request to send.
type shot struct {
	actor    Actor
	kind     string
	field    string
	request  mutation.Request
	expected bool // an unchanged sample, which must be accepted
}

// Operation attacks one operation with changes of its sample, which it accepts.
func (a *Attack) Operation(ctx context.Context, o mutation.Operation, s Sample) error {
	base, err := draft(o, s)
	if err != nil {
		return err
	}

	r := rand.New(rand.NewPCG(a.cfg.Seed, hash(o.Name())))

	var shots []shot
	if a.cfg.Depth > 1 {
		shots = a.random(o, base, s.Actor, r)
	} else {
		shots = a.all(o, base, s.Actor, r)
	}

	return a.shoot(ctx, o, s, shots)
}

// all makes every single change, or a part of them. Other actors send a few.
func (a *Attack) all(o mutation.Operation, base mutation.Request, actor Actor, r *rand.Rand) (shots []shot) {
	single, bare := mutation.All(o, base), bare(o, base)
	made := func(actor Actor, all []mutation.Mutation) {
		for _, m := range all {
			shots = append(shots, shot{actor: actor, kind: m.Kind, field: m.Field, request: m.Of(bare)})
		}
	}
	made(actor, chosen(single, a.cfg.Most, r))

	for _, other := range []Actor{Anonymous, User, Administrator} {
		if other != actor {
			shots = append(shots, shot{actor: other, kind: "unchanged", request: base.Clone()})
			made(other, chosen(single, 1, r)[:min(12, len(single))])

			if !may(o.Auth, other) {
				made(other, slices.DeleteFunc(slices.Clone(single), func(m mutation.Mutation) bool { return !strings.HasPrefix(m.Kind, "path: ") }))
			}
		}
	}

	return shots
}

// chosen returns at most about most mutations, but at least one of each kind, in
// random order. It returns all if most is 0.
func chosen(all []mutation.Mutation, most int, r *rand.Rand) []mutation.Mutation {
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	if most == 0 || len(all) <= most {
		return all
	}

	seen := map[string]bool{}

	var first, more []mutation.Mutation

	for _, m := range all {
		if seen[m.Kind] {
			more = append(more, m)
		} else {
			seen[m.Kind] = true
			first = append(first, m)
		}
	}

	return append(first, more[:max(0, min(len(more), most-len(first)))]...)
}

// random makes up to Depth changes of one request, Most times.
func (a *Attack) random(o mutation.Operation, base mutation.Request, actor Actor, r *rand.Rand) (shots []shot) {
	for range cmp.Or(a.cfg.Most, 100) {
		d, kind, field := bare(o, base), "", ""

		count := 1 + r.IntN(a.cfg.Depth)
		for range count {
			all := mutation.All(o, d)
			m := all[r.IntN(len(all))]
			d = m.Of(d)
			kind, field = strings.TrimPrefix(kind+" + "+m.Kind, " + "), m.Field
		}

		if count > 1 {
			field, d.Same = "", false
		}

		by := actor
		if r.IntN(8) == 0 {
			by = []Actor{Anonymous, User, Administrator}[r.IntN(3)]
		}

		shots = append(shots, shot{actor: by, kind: kind, field: field, request: d})
	}

	return shots
}

// Accepted sends the sample unchanged. It must be accepted.
func (a *Attack) Accepted(ctx context.Context, o mutation.Operation, s Sample) error {
	base, err := draft(o, s)
	if err != nil {
		return err
	}

	return a.shoot(ctx, o, s, []shot{{actor: s.Actor, kind: "unchanged", request: base, expected: true}})
}

// Read sends samples that read, and checks what is stored by their answers.
func (a *Attack) Read(ctx context.Context, o mutation.Operation, s Sample, after string) error {
	base, err := draft(o, s)
	if err != nil {
		return err
	}

	return a.shoot(ctx, o, s, []shot{{actor: s.Actor, kind: "read after " + after, request: base}})
}

// bare returns a copy without the headers that may be absent: the change of a request that has
// them would be refused as one of an older revision, or as another request with the same key.
func bare(o mutation.Operation, r mutation.Request) mutation.Request {
	r = r.Clone()

	for _, p := range o.Params {
		if p.In == "header" && !p.Required {
			r.Header.Del(p.Name)
		}
	}

	return r
}

func draft(o mutation.Operation, s Sample) (mutation.Request, error) {
	return o.Request(s.Path, s.Query, s.Header, s.Body)
}

// shoot sends shots, Workers at a time.
func (a *Attack) shoot(ctx context.Context, o mutation.Operation, sample Sample, shots []shot) error {
	tokens := map[Actor]string{}

	for _, actor := range []Actor{User, Administrator} {
		user := sample.UserID
		if user == "" {
			user = "5b0e9a52-7c43-4a6f-9d18-00000000beef"
		}

		var err error
		if tokens[actor], err = a.cfg.Token(actor, user); err != nil {
			return err
		}
	}

	a.mu.Lock()
	a.operations[o.Name()] = true
	a.mu.Unlock()

	todo := make(chan shot)

	var wait sync.WaitGroup

	errs := make([]error, a.cfg.Workers)
	for i := range a.cfg.Workers {
		wait.Go(func() {
			for s := range todo {
				if errs[i] == nil {
					errs[i] = a.send(ctx, o, s, a.credentials(o, sample, s.actor, tokens))
				}
			}
		})
	}

	sent := make(chan struct{})
	go func() {
		defer close(sent)

		for _, s := range shots {
			todo <- s
		}

		close(todo)
		wait.Wait()
	}()

	err := a.pass(ctx, sent)
	<-sent

	return cmp.Or(errors.Join(errs...), err)
}

// pass lets time pass until all is sent.
func (a *Attack) pass(ctx context.Context, sent <-chan struct{}) error {
	if a.cfg.Pass == nil {
		return nil
	}

	tick := time.NewTicker(patience)
	defer tick.Stop()

	for answered := 0; ; {
		select {
		case <-sent:
			return nil
		case <-tick.C:
		}

		_, _, n := a.Counts()
		if n == answered {
			if err := a.cfg.Pass(ctx); err != nil {
				return err
			}
		}

		answered = n
	}
}

// credentials returns the headers by which an actor proves who it is: a session's cookie
// with the origin of the app, or a token. Cookies of a route for browsers are of no actor.
func (a *Attack) credentials(o mutation.Operation, s Sample, actor Actor, tokens map[Actor]string) http.Header {
	h := http.Header{}

	switch {
	case s.Cookie != "" && (o.Auth == spec.Browser || actor == User):
		h.Set("Cookie", s.Cookie)
		h.Set("Origin", a.cfg.URL)
	case tokens[actor] != "":
		h.Set("Authorization", "Bearer "+tokens[actor])
	}

	return h
}

// send sends one request, and checks its answer.
func (a *Attack) send(ctx context.Context, o mutation.Operation, s shot, credentials http.Header) error {
	target, text := s.request.Target(o), s.request.Text()

	req, err := http.NewRequestWithContext(ctx, s.request.Method, a.cfg.URL+target, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.Name(), s.kind, err)
	}

	req.Header = s.request.Header.Clone()
	maps.Copy(req.Header, credentials)

	began := time.Now()

	res, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", o.Name(), s.kind, err)
	}
	defer res.Body.Close()

	got := answer{status: res.StatusCode, header: res.Header}
	if got.body, err = io.ReadAll(res.Body); err != nil {
		return fmt.Errorf("%s, %s: %w", o.Name(), s.kind, err)
	}

	took := time.Since(began)

	wrong := check(o, s.request, s.field, may(o.Auth, s.actor), got)
	if s.expected && got.status >= 400 {
		wrong = append(wrong, fmt.Sprintf("a %d for the sample request", got.status))
	}

	if s.kind == mutation.AddressInName && s.request.Method == o.Method && got.status < 300 {
		wrong = append(wrong, fmt.Sprintf("a %d for a name with an address, which mails show as a link", got.status))
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	a.ids.know(target + string(text))

	if got.status < 300 {
		a.ids.see(string(got.body))
	}

	a.requests++
	for kind := range strings.SplitSeq(s.kind, " + ") {
		a.kinds[kind]++
	}

	if a.counts[o.Room] == nil {
		a.counts[o.Room] = map[int]int{}
	}

	a.counts[o.Room][got.status]++
	if took > slowly {
		a.slow = append(a.slow, fmt.Sprintf("%.1f s: %s, %s", took.Seconds(), o.Name(), s.kind))
	}

	for _, w := range wrong {
		a.find(o, s, w, got, target, text)
	}

	return nil
}

// find adds a finding. The caller holds a.mu.
func (a *Attack) find(o mutation.Operation, s shot, wrong string, got answer, target string, text []byte) {
	key := o.Name() + "|" + s.kind + "|" + wrong[:min(len(wrong), 40)]
	if strings.HasPrefix(wrong, invisibleCharacter) { // which an earlier request has stored
		key = o.Name() + "|" + invisibleCharacter
	}

	if f := a.findings[key]; f != nil {
		f.Times++
		return
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s %s as %s", s.request.Method, target, s.actor)

	for _, name := range slices.Sorted(maps.Keys(s.request.Header)) {
		fmt.Fprintf(&b, "\n%s: %s", name, shortened(strings.Join(s.request.Header[name], ", "), 200))
	}

	if len(text) > 0 {
		fmt.Fprintf(&b, "\n%s", shortened(fmt.Sprintf("%q", text), 2000))
	}

	f := &Finding{
		Operation: o.Name(),
		Kind:      s.kind,
		Wrong:     wrong,
		Request:   b.String(),
		Answer:    fmt.Sprintf("%d %s", got.status, shortened(string(got.body), 600)),
		Times:     1,
	}
	if got.status >= 500 && a.cfg.Logs != nil {
		f.Logs = a.cfg.Logs(o.Name())
	}

	a.findings[key] = f
}

// Report adds a finding that no answer shows: a job that failed.
func (a *Attack) Report(function, wrong string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	key := function + "|" + wrong[:min(len(wrong), 40)]
	if f := a.findings[key]; f != nil {
		f.Times++
		return
	}

	f := &Finding{Operation: function, Kind: "afterwards", Wrong: wrong, Times: 1}
	if a.cfg.Logs != nil {
		f.Logs = a.cfg.Logs(function)
	}

	a.findings[key] = f
}

// Findings returns what was found, in the order of the operations.
func (a *Attack) Findings() (all []*Finding) {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, key := range slices.Sorted(maps.Keys(a.findings)) {
		all = append(all, a.findings[key])
	}

	return all
}

// Slow returns the answers that took more than two seconds.
func (a *Attack) Slow() []string {
	a.mu.Lock()
	defer a.mu.Unlock()

	return slices.Clone(a.slow)
}

// Summary is what was sent: one line, and one for each room.
func (a *Attack) Summary() string {
	a.mu.Lock()
	defer a.mu.Unlock()

	var b strings.Builder
	fmt.Fprintf(&b, "attack: %d operations x %d mutations, %d requests\n", len(a.operations), len(a.kinds), a.requests)

	for _, room := range slices.Sorted(maps.Keys(a.counts)) {
		fmt.Fprintf(&b, "  %-10s", room)

		for _, status := range slices.Sorted(maps.Keys(a.counts[room])) {
			fmt.Fprintf(&b, "  %d: %d", status, a.counts[room][status])
		}

		b.WriteByte('\n')
	}

	return b.String()
}

// Counts returns the numbers of operations, kinds of mutation and requests.
func (a *Attack) Counts() (operations, mutations, requests int) {
	a.mu.Lock()
	defer a.mu.Unlock()

	return len(a.operations), len(a.kinds), a.requests
}

func shortened(s string, most int) string {
	if len(s) > most {
		return fmt.Sprintf("%s… (%d bytes)", s[:most], len(s))
	}

	return s
}

func hash(s string) (h uint64) {
	for _, c := range []byte(s) {
		h = h*31 + uint64(c)
	}

	return h
}
