// Package push sends to iPhones through Apple's push service: alerts, Live Activity updates and
// broadcasts.
//
// A Message is encoded once and sent to any number of device tokens over a few connections, each
// with many pushes in flight. The caller gets an Outcome for each token: nothing is left to do,
// the token is to be deleted, or the message is to be sent again later. An error in our request
// or credentials ends the run with a *Refused.
//
// Errors and outcomes contain no provider token, no key and no device token.
package push

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/push/h2conn"
)

// Config has the sender's credentials and APNs' endpoints: URLs of scheme and host.
type Config struct {
	Endpoint          string // apns2.HostProduction when empty
	BroadcastEndpoint string // Endpoint when empty: Apple documents two hosts
	ManageEndpoint    string // of channels; Apple's for Endpoint when empty

	TeamID string
	KeyID  string
	PEM    []byte            // the .p8 file
	Key    *ecdsa.PrivateKey // instead of PEM
	Bundle string

	Now     func() time.Time
	RootCAs *x509.CertPool // the system's when nil

	Connections   int           // 4 when zero
	InFlight      int           // pushes at once on each connection, 200 when zero
	Backoff       time.Duration // before the first retry, doubled for each more; 200 ms when zero
	DialTimeout   time.Duration // for a connection with TLS; 5 s when zero
	AnswerTimeout time.Duration // for one answer; 5 s when zero
}

// answerTime is how long Apple may take to open a connection, and to answer.
const answerTime = 5 * time.Second

// Apple's hosts for the management of broadcast channels.
const (
	manageProduction  = "https://api-manage-broadcast.push.apple.com:2196"
	manageDevelopment = "https://api-manage-broadcast.sandbox.push.apple.com:2195"
)

// Sender sends pushes. It is safe for concurrent use and keeps its connections
// between runs. Make one with Open.
type Sender struct {
	cfg       Config
	provider  *provider
	clients   []*h2conn.Client
	broadcast *h2conn.Client
	manage    *h2conn.Client
	requests  sync.Pool // of *h2conn.Request: those of lanes that have ended
}

// Open prepares a Sender. It dials nothing: Ready and Send do.
func Open(c Config) (*Sender, error) {
	c.Endpoint = cmp.Or(c.Endpoint, apns2.HostProduction)

	c.BroadcastEndpoint = cmp.Or(c.BroadcastEndpoint, c.Endpoint)
	if c.ManageEndpoint == "" {
		switch c.Endpoint {
		case apns2.HostProduction:
			c.ManageEndpoint = manageProduction
		case apns2.HostDevelopment:
			c.ManageEndpoint = manageDevelopment
		default:
			c.ManageEndpoint = c.Endpoint
		}
	}

	c.Connections = cmp.Or(c.Connections, 4)
	c.InFlight = cmp.Or(c.InFlight, 200)
	c.Backoff = cmp.Or(c.Backoff, 200*time.Millisecond)
	c.DialTimeout = cmp.Or(c.DialTimeout, answerTime)

	c.AnswerTimeout = cmp.Or(c.AnswerTimeout, answerTime)
	if c.TeamID == "" || c.KeyID == "" || c.Bundle == "" || c.Now == nil {
		return nil, errors.New("push: a team id, a key id, a bundle and a clock are needed")
	}

	if c.Key == nil {
		key, err := token.AuthKeyFromBytes(c.PEM)
		if err != nil {
			return nil, errors.New("push: the signing key is not a .p8 file")
		}

		c.Key = key
	}

	s := &Sender{provider: &provider{key: c.Key, keyID: c.KeyID, teamID: c.TeamID, step: tokenStep}}
	s.requests.New = func() any { return new(h2conn.Request) }
	c.Key, c.PEM = nil, nil // nothing else needs them

	s.cfg = c
	for range c.Connections {
		l, err := h2conn.NewClient(c.Endpoint, c.RootCAs, c.DialTimeout)
		if err != nil {
			return nil, err
		}

		s.clients = append(s.clients, l)
	}

	var err error

	s.broadcast = s.clients[0]
	if c.BroadcastEndpoint != c.Endpoint {
		if s.broadcast, err = h2conn.NewClient(c.BroadcastEndpoint, c.RootCAs, c.DialTimeout); err != nil {
			return nil, err
		}
	}

	s.manage = s.clients[0]
	if c.ManageEndpoint != c.Endpoint {
		if s.manage, err = h2conn.NewClient(c.ManageEndpoint, c.RootCAs, c.DialTimeout); err != nil {
			return nil, err
		}
	}

	return s, nil
}

// Refused is an answer of APNs that only a change of our credentials, configuration
// or code can prevent. A retry gets the same answer.
type Refused struct {
	Status int
	Reason string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("push: APNs answered %d %s", e.Status, e.Reason)
}

// Reasons that apns2 does not name.
const (
	reasonUnrelatedKeyID = "UnrelatedKeyIdInToken"
	reasonNoChannel      = "ChannelNotRegistered"
)

// answer is APNs' answer to one request, with what its body contains.
type answer struct {
	h2conn.Answer
	reason string
	since  time.Time // of a 410: since when the token is unregistered
}

// read decodes the reason in the body of an error. A body that is not Apple's has none.
func read(in h2conn.Answer) answer {
	a := answer{Answer: in}
	if len(a.Body) == 0 {
		return a
	}

	var e struct {
		Reason    string `json:"reason"`
		Timestamp int64  `json:"timestamp"` // ms
	}
	if json.Unmarshal(a.Body, &e) != nil {
		return a
	}

	a.reason = e.Reason
	if e.Timestamp > 0 {
		a.since = time.UnixMilli(e.Timestamp).UTC()
	}

	return a
}

// step is what to do after an answer.
type step uint8

const (
	stop       step = iota // our defect: end the run
	done                   // delivered
	unregister             // the token is unregistered
	later                  // repeat after a pause
	reconnect              // repeat on a new connection
	remint                 // repeat with a new provider token
	pass                   // unknown reason: give up this push, continue with the others
)

// ours are the reasons of a 400 that our code or configuration caused.
var ours = []string{
	"", apns2.ReasonBadCollapseID, apns2.ReasonBadExpirationDate, apns2.ReasonBadMessageID, apns2.ReasonBadPriority, apns2.ReasonBadTopic,
	apns2.ReasonDuplicateHeaders, apns2.ReasonInvalidPushType, apns2.ReasonMissingDeviceToken, apns2.ReasonMissingTopic,
	apns2.ReasonPayloadEmpty, apns2.ReasonTopicDisallowed,
	"MissingPushType", "MissingChannelId", "BadChannelId", reasonNoChannel, "CannotCreateChannelConfig", "FeatureNotEnabled",
}

// next returns the step of Apple's table of responses:
// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
//
// The status decides for reasons that are not in the table. An unknown reason of a 400 fails one
// push, not the run.
func (a answer) next() step {
	switch a.reason {
	case apns2.ReasonBadDeviceToken, apns2.ReasonDeviceTokenNotForTopic, apns2.ReasonUnregistered, apns2.ReasonExpiredToken:
		return unregister
	case apns2.ReasonIdleTimeout, reasonUnrelatedKeyID:
		return reconnect
	case apns2.ReasonExpiredProviderToken:
		return remint
	}

	switch {
	case a.Status/100 == 2:
		return done
	case a.Status == http.StatusGone:
		return unregister
	case a.Status == http.StatusTooManyRequests, a.Status >= 500: // also TooManyProviderTokenUpdates: keep the token
		return later
	case a.Status == http.StatusBadRequest && !slices.Contains(ours, a.reason):
		return pass
	}

	return stop
}

// ErrUnavailable reports that APNs did not accept a request, or could not be
// reached, in any of the tries. A later request may succeed.
var ErrUnavailable = errors.New("push: APNs is unavailable")

// maxTries is the limit of tries of one request. With the default back-off they
// take about nine seconds.
const maxTries = 8

// maxPause is the longest wait between two tries.
const maxPause = 2 * time.Second

// exchange repeats a request until its answer is final: APNs accepted it, or the token is
// unregistered. Otherwise it returns the last answer, if any, and a *Refused, ErrUnavailable or the
// cause of ctx's end. If once is set, a request whose answer was lost is not repeated, and the
// answer is empty. first is the result of a first try, nil if there was none.
func (s *Sender) exchange(ctx context.Context, l *h2conn.Client, path string, h *headerTemplate, body []byte, once bool,
	first *attempt) (a answer, tries int, err error) {
	var (
		pause    time.Duration
		reminted bool
	)

	for tries < maxTries {
		var got attempt
		if tries == 0 && first != nil {
			got = *first
		} else {
			if err := wait(ctx, pause); err != nil {
				return a, tries, err
			}

			got.header = h.current.Load()

			var in h2conn.Answer

			in, got.err = l.Do(ctx, s.cfg.AnswerTimeout, path, got.header, body)
			got.answer = read(in)
		}

		tries++
		pause = min(s.cfg.Backoff<<(tries-1), maxPause)
		pause = pause/2 + rand.N(pause/2+1)

		if got.err != nil {
			if once && got.Sent {
				return answer{}, tries, ErrUnavailable
			}

			if tries == 1 {
				pause = 0 // the connection had ended: the next try dials
			}

			continue
		}

		a = got.answer
		switch a.next() {
		case done, unregister:
			return a, tries, nil
		case later:
		case reconnect:
			a.Conn.Retire()

			pause = 0
		case remint:
			if reminted {
				return a, tries, &Refused{a.Status, a.reason}
			}

			if err := h.renew(s, got.header); err != nil {
				return a, tries, err
			}

			reminted, pause = true, 0
		case pass:
			return a, tries, ErrUnavailable
		case stop:
			return a, tries, &Refused{a.Status, a.reason}
		}
	}

	return a, tries, ErrUnavailable
}

// attempt is one try of a request, with the header that it had.
type attempt struct {
	answer
	err    error
	header *h2conn.Header
}

// headerTemplate is the header of a run's requests. It is built again when the
// provider token expires.
type headerTemplate struct {
	current atomic.Pointer[h2conn.Header]
	build   func(bearer string) *h2conn.Header
}

func (s *Sender) template(build func(bearer string) *h2conn.Header) (*headerTemplate, error) {
	bearer, err := s.provider.token(s.cfg.Now())
	if err != nil {
		return nil, err
	}

	h := &headerTemplate{build: build}
	h.current.Store(build(bearer))

	return h, nil
}

func (h *headerTemplate) renew(s *Sender, expired *h2conn.Header) error {
	bearer, err := s.provider.renew(expired.Bearer(), s.cfg.Now())
	if err != nil {
		return err
	}

	h.current.CompareAndSwap(expired, h.build(bearer))

	return nil
}

// Ready prepares for a run after the process may have been frozen, as Lambda freezes a process
// between invocations. It pings every open connection, replaces those that do not answer within
// 300 ms, and opens the first one. If the hosts of broadcasts and channels differ and cannot be
// reached, Ready succeeds, and the calls that need them fail.
func (s *Sender) Ready(ctx context.Context) error {
	bearer, err := s.provider.token(s.cfg.Now())
	if err != nil {
		return err
	}

	var g errgroup.Group
	g.Go(func() error { return s.clients[0].Ready(ctx, bearer, true) })

	for _, l := range s.clients[1:] {
		g.Go(func() error { return l.Ready(ctx, bearer, false) })
	}

	if s.broadcast != s.clients[0] {
		g.Go(func() error { s.broadcast.Ready(ctx, bearer, false); return nil })
	}

	if s.manage != s.clients[0] && s.manage != s.broadcast {
		g.Go(func() error { s.manage.Ready(ctx, bearer, false); return nil })
	}

	return g.Wait()
}

// Close ends the connections after their last answers.
func (s *Sender) Close() {
	for _, l := range append(slices.Clone(s.clients), s.broadcast, s.manage) {
		l.Close()
	}
}

// wait returns after d, or with the cause of ctx's end.
func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return context.Cause(ctx)
	}

	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
