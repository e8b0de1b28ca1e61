// Package apns simulates Apple's push service: the HTTP/2 provider API with its checks
// and answers, the broadcast channels, and the phones, whose notifications and Live
// Activities can be read.
//
// It answers as Apple does, with one difference: it refuses a Live Activity payload
// that Apple accepts and the phone drops without an error. The answer is 400 BadPayload
// with a detail.
package apns

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/guard"
)

// Config configures the server. Addr, Dir and the functions are optional.
type Config struct {
	TeamID    string
	KeyID     string
	PublicKey *ecdsa.PublicKey // of the provider's signing key
	Bundle    string
	Others    []string // further bundles of the team, whose apps have no channels

	Addr string // to listen on; a free port of 127.0.0.1 when empty
	Dir  string // keeps the certificate authority between runs; a new one each run when empty

	// InTurn answers the requests of a connection one after the other, with a server of HTTP/2 that costs a
	// fifth of net/http's. It is for benchmarks, whose processes share the machine: tests judge clients by
	// net/http's.
	InTurn bool

	ContentState func(json []byte) error // what the app could decode
	Attributes   func(json []byte) error // of an activity that a push starts
	Observe      func(Push)              // sees every push and its answer; must be quick
	Started      func(Start)             // an activity was started by push; on a goroutine that holds work
}

// Push is one push as the console shows it.
type Push struct {
	Token     string // first digits only, or the channel of a broadcast
	Broadcast bool
	Type      string // apns-push-type
	Event     string // of a Live Activity: start, update or end
	Bytes     int    // of payload
	Time      time.Time
	Expires   string // apns-expiration
	Priority  string // apns-priority
	Status    int
	Reason    string // empty when delivered
	Details   string // what is wrong with a payload
}

// Start describes an activity that a push started.
type Start struct {
	Token          string // the push-to-start token
	Update         string // the activity's own token
	Channel        string // the channel it listens to, if any
	AttributesType string
	Attributes     []byte // JSON
}

// Server is the push service. Create it with New.
type Server struct {
	Config
	clock   *clock.Clock
	bundles []string

	mu           sync.Mutex
	devices      map[string]*device
	channels     map[string]*channel
	channelsMade int // channels ever made
	scripts      map[string][]Answer
	chaos        Chaos
	chaosAt      map[string]time.Time // by token: the instant of its latest random fault
	chaosCounts  map[string]int       // by kind
	counts       map[string]int

	tokenChecks sync.Map // bearer → verdict
	payloadsMu  sync.RWMutex
	payloads    map[payloadKey]*payload
	ids         atomic.Uint64

	http         *http.Server
	inTurn       net.Listener // of Config.InTurn
	addr         string
	ca           []byte
	connectionMu sync.Mutex
	connections  map[*connection]struct{}
	bodyPool     sync.Pool
}

// New returns a server. It accepts connections after Listen.
func New(c *clock.Clock, cfg Config) *Server {
	return &Server{
		Config:      cfg,
		clock:       c,
		bundles:     slices.Concat([]string{cfg.Bundle}, cfg.Others),
		devices:     map[string]*device{},
		channels:    map[string]*channel{},
		scripts:     map[string][]Answer{},
		payloads:    map[payloadKey]*payload{},
		counts:      map[string]int{},
		chaosCounts: map[string]int{},
		connections: map[*connection]struct{}{},
		bodyPool:    sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
}

// maxStreams and window are the values observed in Apple's SETTINGS frames.
const (
	maxStreams = 1000
	window     = 1 << 16
)

// Listen starts to answer at Config.Addr.
func (s *Server) Listen() error {
	ca, cert, err := authority(s.Dir)
	if err != nil {
		return fmt.Errorf("make the certificate authority: %w", err)
	}

	ln, err := net.Listen("tcp", cmp.Or(s.Addr, "127.0.0.1:0"))
	if err != nil {
		return err
	}

	s.ca, s.addr = ca, ln.Addr().String()

	var protocols http.Protocols
	protocols.SetHTTP2(true)

	s.http = &http.Server{
		Handler:   guard.Handler(s),
		Protocols: &protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: window,
			MaxReceiveBufferPerStream:     window,
		},
		ErrorLog: log.New(io.Discard, "", 0), // clients that close connections are not errors
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c.(*tls.Conn).NetConn())
		},
	}
	l := tls.NewListener(listener{ln, s}, &tls.Config{
		Certificates: []tls.Certificate{cert},
		NextProtos:   []string{"h2"},
		MinVersion:   tls.VersionTLS12,
	})

	if s.InTurn {
		s.inTurn = l
		go s.acceptInTurn(l)
	} else {
		go s.http.Serve(l)
	}

	return nil
}

// URL is where the server listens, for pushes, broadcasts and channels alike.
func (s *Server) URL() string { return "https://" + s.addr }

// CA is the certificate authority that clients must trust, as PEM.
func (s *Server) CA() []byte { return s.ca }

// Close closes all connections.
func (s *Server) Close() error {
	if !s.InTurn {
		return s.http.Close()
	}

	defer s.Drop()

	return s.inTurn.Close()
}

// Counts returns how often each thing happened: "200" and the reasons of
// refusals, "Outdated" and "AfterEnd" for what phones ignored, "GoAway" and
// "Drop" for connections ended, "Connection" for those made, and
// "TooManyStreams" for requests beside the first on a connection that had not
// yet shown a valid token.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.counts)
}

func (s *Server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.counts[what]++
}

// refusal is an answer other than success.
type refusal struct {
	status int
	reason string
	detail string
	at     time.Time // since when a token is gone
}

func refuse(status int, reason string) *refusal { return &refusal{status: status, reason: reason} }

// ServeHTTP answers one request of the provider API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.clock.Work()()

	l := r.Context().Value(connectionKey{}).(*connection)
	if !l.beginRequest() {
		s.count("TooManyStreams")
		panic(http.ErrAbortHandler)
	}
	defer l.endRequest()

	buf := s.bodyPool.Get().(*bytes.Buffer)
	defer s.bodyPool.Put(buf)

	buf.Reset()

	if _, err := buf.ReadFrom(io.LimitReader(r.Body, maxBroadcast+1)); err != nil {
		panic(http.ErrAbortHandler)
	}

	h := w.Header()
	h["Date"] = nil

	switch rest, isDevice := strings.CutPrefix(r.URL.Path, "/3/device/"); {
	case isDevice:
		s.serveDevice(w, r, l, rest, buf.Bytes())
	case r.URL.Path == "/3/device":
		s.answer(w, refuse(http.StatusBadRequest, apns2.ReasonMissingDeviceToken))
	case r.URL.Path == "/4/broadcasts/apps/"+s.Bundle:
		s.serveBroadcast(w, r, l, buf.Bytes())
	case r.URL.Path == "/1/apps/"+s.Bundle+"/channels", r.URL.Path == "/1/apps/"+s.Bundle+"/all-channels":
		s.serveChannels(w, r, l, buf.Bytes())
	default:
		s.answer(w, refuse(http.StatusNotFound, apns2.ReasonBadPath))
	}
}

// serveDevice answers POST /3/device/<token>.
func (s *Server) serveDevice(w http.ResponseWriter, r *http.Request, l *connection, token string, body []byte) {
	now := s.clock.Now()
	seen := Push{
		Token:    short(token),
		Type:     r.Header.Get("apns-push-type"),
		Expires:  r.Header.Get("apns-expiration"),
		Priority: r.Header.Get("apns-priority"),
		Bytes:    len(body),
		Time:     now,
	}

	p, bundle, no := s.check(r, l, now, token, body)
	if p != nil {
		seen.Event = p.APS.Event
	}

	goAway := false

	if no == nil {
		a := s.next(token, now)
		if a.Slow > 0 {
			_ = s.clock.Sleep(r.Context(), now.Add(a.Slow))
			now = s.clock.Now()
		}

		if a.Status == 0 || a.Status == http.StatusOK || a.Applied {
			no = s.deliver(token, bundle, seen.Type, r.Header.Get("apns-collapse-id"), p, now)
		}

		if a.Drop {
			s.count("Drop")

			_ = l.Close()

			panic(http.ErrAbortHandler)
		}

		if a.Status != 0 && a.Status != http.StatusOK {
			no = &refusal{status: a.Status, reason: a.Reason, at: cmp.Or(a.Since, now)}
			if a.Reason == apns2.ReasonExpiredProviderToken {
				l.expire()
			}
		}

		goAway = a.GoAway
	}

	seen.Status = http.StatusOK
	if no != nil {
		seen.Status, seen.Reason, seen.Details = no.status, no.reason, no.detail
	}

	if s.Observe != nil {
		s.Observe(seen)
	}

	h := w.Header()
	if id := r.Header.Get("apns-id"); id != "" {
		h.Set("apns-id", id)
	} else {
		h.Set("apns-id", s.newID())
	}

	if goAway || s.sendsGoAway(l, no) {
		s.count("GoAway")
		h.Set("Connection", "close") // in HTTP/2 net/http sends GOAWAY for it
	}

	s.answer(w, no)
}

// answer writes a refusal, or success if refusal is nil.
func (s *Server) answer(w http.ResponseWriter, no *refusal) {
	if no == nil {
		s.count("200")
		w.WriteHeader(http.StatusOK)

		return
	}

	s.count(no.reason)

	body := make([]byte, 0, 96)
	body = append(body, `{"reason":`...)

	body = strconv.AppendQuote(body, no.reason)
	if no.detail != "" {
		body = append(body, `,"detail":`...)
		body = strconv.AppendQuote(body, no.detail)
	}

	if no.status == http.StatusGone {
		body = append(body, `,"timestamp":`...)
		body = strconv.AppendInt(body, no.at.UnixMilli(), 10)
	}

	body = append(body, '}')

	w.Header().Set("content-type", "application/json")
	w.WriteHeader(no.status)
	_, _ = w.Write(body)
}

// newID returns an apns-id in canonical form, unique to this server.
func (s *Server) newID() string {
	const digits = "0123456789ABCDEF"

	id := []byte("00000000-0000-4000-8000-000000000000")
	for n, i := s.ids.Add(1), len(id)-1; n > 0; n, i = n>>4, i-1 {
		id[i] = digits[n&15]
	}

	return string(id)
}

// short shortens a push token for display.
func short(token string) string { return token[:min(len(token), 8)] }

// maxPayload and maxBroadcast are Apple's limits in bytes.
const (
	maxPayload   = 4096
	maxBroadcast = 5120
)

// check makes Apple's checks of a push to one device, and returns the bundle of
// its app.
func (s *Server) check(r *http.Request, l *connection, now time.Time, token string, body []byte) (p *payload, bundle string, no *refusal) {
	if r.Method != http.MethodPost {
		return nil, "", refuse(http.StatusMethodNotAllowed, apns2.ReasonMethodNotAllowed)
	}

	if no := s.authorize(l, r.Header["Authorization"], now); no != nil {
		return nil, "", no
	}

	if no := checkHeaders(r.Header); no != nil {
		return nil, "", no
	}

	if token == "" {
		return nil, "", refuse(http.StatusBadRequest, apns2.ReasonMissingDeviceToken)
	}

	if !isToken(token) {
		return nil, "", refuse(http.StatusBadRequest, apns2.ReasonBadDeviceToken)
	}

	kind, topic := r.Header.Get("apns-push-type"), r.Header.Get("apns-topic")
	suffix := ""

	switch kind {
	case "", string(apns2.PushTypeAlert):
	case string(apns2.PushTypeBackground):
		if r.Header.Get("apns-priority") != "5" {
			return nil, "", refuse(http.StatusBadRequest, apns2.ReasonBadPriority)
		}
	case string(apns2.PushTypeLiveActivity):
		suffix = ".push-type.liveactivity"
	default:
		return nil, "", refuse(http.StatusBadRequest, apns2.ReasonInvalidPushType)
	}

	if bundle, no = s.bundle(topic, suffix); no != nil {
		return nil, "", no
	}

	if len(body) > maxPayload {
		return nil, "", refuse(http.StatusRequestEntityTooLarge, apns2.ReasonPayloadTooLarge)
	}

	p, no = s.parse(body, suffix != "")

	return p, bundle, no
}

// bundle returns the bundle of a topic that ends with suffix.
func (s *Server) bundle(topic, suffix string) (string, *refusal) {
	if topic == "" {
		return "", refuse(http.StatusBadRequest, apns2.ReasonMissingTopic)
	}

	reason := apns2.ReasonTopicDisallowed

	for _, b := range s.bundles {
		of, ok := strings.CutPrefix(topic, b)
		switch {
		case ok && of == suffix:
			return b, nil
		case ok:
			reason = apns2.ReasonBadTopic
		}
	}

	return "", refuse(http.StatusBadRequest, reason)
}

// checkHeaders checks what pushes and broadcasts share.
func checkHeaders(h http.Header) *refusal {
	for _, name := range [...]string{"Apns-Topic", "Apns-Push-Type", "Apns-Priority", "Apns-Expiration", "Apns-Collapse-Id",
		"Apns-Id", "Apns-Channel-Id"} {
		if len(h[name]) > 1 {
			return refuse(http.StatusBadRequest, apns2.ReasonDuplicateHeaders)
		}
	}

	if id := h.Get("apns-id"); id != "" && !isUUID(id) {
		return refuse(http.StatusBadRequest, apns2.ReasonBadMessageID)
	}

	switch h.Get("apns-priority") {
	case "", "10", "5", "1":
	default:
		return refuse(http.StatusBadRequest, apns2.ReasonBadPriority)
	}

	if at := h.Get("apns-expiration"); at != "" {
		if _, err := strconv.ParseUint(at, 10, 63); err != nil {
			return refuse(http.StatusBadRequest, apns2.ReasonBadExpirationDate)
		}
	}

	if len(h.Get("apns-collapse-id")) > 64 {
		return refuse(http.StatusBadRequest, apns2.ReasonBadCollapseID)
	}

	return nil
}

// isToken reports whether token is whole bytes in hexadecimal: 32 for a device,
// more for an activity, at most 100.
func isToken(token string) bool {
	return len(token) >= 64 && len(token) <= 200 && len(token)%2 == 0 && isHex(token)
}

func isHex(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f') && (r < 'A' || r > 'F')
	})
}

func isUUID(s string) bool {
	parts := strings.Split(s, "-")
	return slices.EqualFunc(parts, []int{8, 4, 4, 4, 12}, func(p string, n int) bool { return len(p) == n && isHex(p) })
}
