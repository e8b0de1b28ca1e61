// Package fcm simulates Firebase Cloud Messaging: the token service of Google's accounts, the HTTP v1
// API with its checks, quotas and answers, topics, and the Android phones, whose messages can be read.
//
// A message to a topic arrives when Google's fan-out has reached the whole audience: 10,000 phones a
// second for a project, divided among the fan-outs under way. A notification, or a message with a
// collapse key, arrives at once for the first 20 of a phone, and then one in three minutes.
//
// What it knows of Google: https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas.
package fcm

import (
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/guard"
)

// Config configures the server. Addr and Observe are optional.
type Config struct {
	Project   string
	Email     string         // of the service account
	KeyID     string         // of the account's key
	PublicKey *rsa.PublicKey // of the account's key

	Addr    string     // to listen on; a free port of 127.0.0.1 when empty
	Observe func(Sent) // sees every message and its answer; must be quick
}

// Sent is one message as the console shows it.
type Sent struct {
	To       string // first characters of a token, or a topic
	Topic    bool
	Bytes    int // that count against Google's limits
	Time     time.Time
	Priority string
	TTL      string
	Status   int
	Reason   string // empty when it was accepted
	Details  string // what is wrong with a message
}

// Google's limits.
const (
	MaxPayload    = 4096   // bytes to a phone
	MaxTopic      = 2048   // bytes to a topic
	PerMinute     = 600000 // messages of a project
	FanOut        = 10000  // phones a second that topics of a project reach
	maxFanOuts    = 1000   // at once
	accessLasts   = time.Hour
	assertionLate = 5 * time.Minute
)

// Server is the service. Create it with New.
type Server struct {
	Config
	clock *clock.Clock

	mu       sync.Mutex
	phones   map[string]*phone
	topics   map[string]*topic
	fanOuts  []time.Time          // ends of those under way
	accesses map[string]time.Time // access tokens, and when they end
	window   []time.Time          // of the messages that count in the last minute
	quota    int                  // messages a minute
	burst    int                  // messages that can be collapsed, which a phone gets at once
	scripts  map[string][]Answer
	chaos    Chaos
	chaosAt  map[string]time.Time
	counts   map[string]int

	http *http.Server
	addr string
}

// New returns a server. It accepts connections after Listen.
func New(c *clock.Clock, cfg Config) *Server {
	return &Server{
		Config: cfg, clock: c, quota: PerMinute, burst: burst,
		phones: map[string]*phone{}, topics: map[string]*topic{}, accesses: map[string]time.Time{},
		scripts: map[string][]Answer{}, chaosAt: map[string]time.Time{}, counts: map[string]int{},
	}
}

// Listen starts to answer at Config.Addr.
func (s *Server) Listen() error {
	ln, err := net.Listen("tcp", cmp.Or(s.Addr, "127.0.0.1:0"))
	if err != nil {
		return err
	}

	s.addr = ln.Addr().String()
	s.http = &http.Server{Handler: guard.Handler(s)}

	go s.http.Serve(ln)

	return nil
}

// URL is where the server listens, for messages and access tokens alike.
func (s *Server) URL() string { return "http://" + s.addr }

// Close closes all connections.
func (s *Server) Close() error { return s.http.Close() }

// Quota changes how many messages a minute the project may send.
func (s *Server) Quota(perMinute int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.quota = perMinute
}

// Burst changes how many messages that can be collapsed a phone gets at once: the matches of a replay are played in
// minutes. It is for phones that are not known yet.
func (s *Server) Burst(messages int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.burst = messages
}

// Counts returns how often each thing happened: "200" and the reasons of refusals, "Access" for access
// tokens issued, "Throttled" for messages that a phone got late because they can be collapsed, and
// "TooMany" for those beyond what Google delivers to one phone in a minute.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.counts)
}

// refusal is an answer other than success.
type refusal struct {
	status int
	code   string // FCM's own; "" if Google's front end refuses
	reason string // the canonical status
	detail string
	field  string        // that is not valid
	wait   time.Duration // Retry-After
}

// The canonical status of each HTTP status: https://google.aip.dev/193.
var canonical = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL", 503: "UNAVAILABLE",
}

func refuse(status int, code, detail string) *refusal {
	return &refusal{status: status, code: code, reason: canonical[status], detail: detail}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.clock.Work()()

	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/token":
		s.serveToken(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/projects/"+s.Project+"/messages:send":
		s.serveSend(w, r)
	case strings.HasPrefix(r.URL.Path, "/v1/projects/"):
		s.answer(w, refuse(http.StatusForbidden, "", "another project, or no method of the API"))
	default:
		http.NotFound(w, r)
	}
}

// serveSend answers a message.
func (s *Server) serveSend(w http.ResponseWriter, r *http.Request) {
	now := s.clock.Now()
	sent := Sent{Time: now}

	m, no := s.check(r, now)
	if m != nil {
		sent.To, sent.Topic, sent.Bytes = short(cmp.Or(m.Token, m.Topic)), m.Topic != "", m.size
		if m.Topic != "" {
			sent.To = m.Topic
		}

		sent.Priority, sent.TTL = m.Android.Priority, m.Android.TTL
	}

	if no == nil {
		a := s.next(cmp.Or(m.Token, m.Topic), now)
		if a.Slow > 0 {
			_ = s.clock.Sleep(r.Context(), now.Add(a.Slow))
			now = s.clock.Now()
		}

		if a.Status == 0 || a.Applied {
			no = s.deliver(m, now)
		}

		if a.Drop {
			s.count("Drop")
			panic(http.ErrAbortHandler)
		}

		if a.Status != 0 {
			no = refuse(a.Status, a.Code, a.Text)
			no.field, no.wait = a.Field, a.RetryAfter
		}
	}

	sent.Status = http.StatusOK
	if no != nil {
		sent.Status, sent.Reason, sent.Details = no.status, cmp.Or(no.code, no.reason), no.detail
	}

	if s.Observe != nil {
		s.Observe(sent)
	}

	s.answer(w, no)
}

// short returns what the console shows of a token.
func short(token string) string { return token[:min(len(token), 12)] }

// answer writes the answer to a message.
func (s *Server) answer(w http.ResponseWriter, no *refusal) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")

	if no == nil {
		s.count("200")
		_, _ = io.WriteString(w, `{"name":"projects/`+s.Project+`/messages/0:1"}`)

		return
	}

	s.count(cmp.Or(no.code, no.reason))

	type detail struct {
		Type   string              `json:"@type"`
		Code   string              `json:"errorCode,omitempty"`
		Fields []map[string]string `json:"fieldViolations,omitempty"`
	}

	var details []detail
	if no.code != "" {
		details = append(details, detail{Type: "type.googleapis.com/google.firebase.fcm.v1.FcmError", Code: no.code})
	}

	if field := no.field; field != "" || no.code == "" && no.status == http.StatusBadRequest {
		details = append(details, detail{
			Type:   "type.googleapis.com/google.rpc.BadRequest",
			Fields: []map[string]string{{"field": cmp.Or(field, "message"), "description": no.detail}},
		})
	}

	if no.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(no.wait.Seconds())))
	}

	w.WriteHeader(no.status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]any{"code": no.status, "message": no.detail, "status": no.reason, "details": details},
	})
}

func (s *Server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.counts[what]++
}

// admit counts a message against the project's quota of a minute, which is not aligned to the clock.
func (s *Server) admit(now time.Time) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.window = slices.DeleteFunc(s.window, func(at time.Time) bool { return !at.After(now.Add(-time.Minute)) })
	if len(s.window) >= s.quota {
		no := refuse(http.StatusTooManyRequests, "QUOTA_EXCEEDED", "the quota of the project")
		no.wait = s.window[0].Add(time.Minute).Sub(now).Round(time.Second) + time.Second

		return no
	}

	s.window = append(s.window, now)

	return nil
}

// Shutdown ends the server after its answers under way.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
