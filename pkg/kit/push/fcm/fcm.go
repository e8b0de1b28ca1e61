// Package fcm sends to Android phones through Firebase Cloud Messaging, by the HTTP v1 API of Google.
//
// It promises what package push does for iPhones: a Message is encoded once, and the caller gets an
// Outcome for each token. Google has topics in place of channels: the apps subscribe to them, and one
// request reaches all.
//
// Google asks that a message which it could not take is not sent again within ten seconds. No run
// waits for that: such a message is Requeue, or Dropped if the next one replaces it. A message whose
// answer was lost is sent once more, so a phone may get it twice: the app orders states by their
// revision, and a notification replaces that of the same tag.
//
// Errors and outcomes contain no access token, no key and no token of a phone.
//
// Limits and answers: https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas and
// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode.
package fcm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchday/pkg/kit/push"
)

// Config has the sender's credentials and Google's endpoint.
type Config struct {
	Endpoint string // scheme and host; Google's when empty
	Key      []byte // the JSON file of the project's service account

	Now func() time.Time

	InFlight      int           // requests at once, 100 when zero: the streams of one connection to Google
	AnswerTimeout time.Duration // for one answer; 10 s when zero
}

const google = "https://fcm.googleapis.com"

// answerTime is Google's shortest time for an answer.
const answerTime = 10 * time.Second

// pingTime is how long a connection is silent before it is pinged, and then until it is replaced. net/http keeps one whose
// answers are late: without pings, each message on a connection that has broken silently is lost, until the system ends it
// after minutes.
const pingTime = time.Second

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 1 << 16

// Sender sends messages. It is safe for concurrent use. Make one with Open.
type Sender struct {
	cfg    Config
	url    string
	tokens *tokens
	http   *http.Client

	mu    sync.Mutex
	until time.Time // nothing is sent before
}

// Open prepares a Sender. It dials nothing. Errors: ErrKey.
func Open(c Config) (*Sender, error) {
	a, err := readAccount(c.Key)
	if err != nil {
		return nil, err
	}

	return open(c, a.Project, func(context.Context) (account, error) { return a, nil }), nil
}

// open prepares a Sender of a project, whose key read reads.
func open(c Config, project string, read func(context.Context) (account, error)) *Sender {
	c.Key = nil // nothing else needs it
	c.InFlight = cmp.Or(c.InFlight, 100)
	c.AnswerTimeout = cmp.Or(c.AnswerTimeout, answerTime)

	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = c.InFlight
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingTime, PingTimeout: pingTime}
	client := &http.Client{Transport: transport, Timeout: c.AnswerTimeout}

	return &Sender{
		cfg:    c,
		url:    cmp.Or(c.Endpoint, google) + "/v1/projects/" + project + "/messages:send",
		tokens: &tokens{read: read, http: client, now: c.Now},
		http:   client,
	}
}

// Close ends the connections that are idle.
func (s *Sender) Close() { s.http.CloseIdleConnections() }

// Ready fetches the access token, so that the first message does not wait for it. Errors: *Refused,
// ErrKey, ErrUnavailable.
func (s *Sender) Ready(ctx context.Context) error {
	_, err := s.tokens.token(ctx, "")
	return err
}

// Refused is an answer of Google that only a change of our credentials, configuration or code can
// prevent. A retry gets the same answer.
type Refused struct {
	Status int
	Reason string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("fcm: Google answered %d %s", e.Status, e.Reason)
}

// ErrUnavailable reports that Google did not accept a message, or could not be reached. A later
// message may succeed.
var ErrUnavailable = errors.New("fcm: Google is unavailable")

// Limited is the error of a message beyond Google's quota, or for which Google is too busy. Nothing may be
// sent for RetryAfter.
type Limited struct{ RetryAfter time.Duration }

func (e *Limited) Error() string {
	return fmt.Sprintf("fcm: Google takes nothing for %s", e.RetryAfter)
}

// limitedFor is how long a project waits after a 429 without Retry-After. It is also the longest time for which a Sender
// asks Google nothing.
const limitedFor = time.Minute

// limited returns *Limited while the quota is used up, as an earlier answer has said.
func (s *Sender) limited() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if left := s.until.Sub(s.cfg.Now()); left > 0 {
		return &Limited{left}
	}

	return nil
}

// limit returns *Limited for an answer. After a 429 it has nothing sent for that time. A 503 may be of one message.
func (s *Sender) limit(a answer) error {
	wait := cmp.Or(a.retryAfter, limitedFor)

	if a.status == http.StatusTooManyRequests {
		s.mu.Lock()
		defer s.mu.Unlock()

		s.until = s.cfg.Now().Add(min(wait, limitedFor))
	}

	return &Limited{wait}
}

// Send sends m to tokens. It calls outcome exactly once for each token that it takes, never
// concurrently, as push.Sender.Send does. It takes no more tokens when ctx ends, when the message's
// deadline passes (push.ErrLate), when Google takes nothing for a time (*Limited), when there is no
// valid key (ErrKey), or when Google refuses the credentials or the message (*Refused); it then waits
// for the answers under way.
func (s *Sender) Send(
	ctx context.Context, m *Message, tokens iter.Seq[string], outcome func(token string, o push.Outcome),
) (push.Counts, error) {
	ctx, end := s.life(ctx, m)
	defer end()

	taking, fail := context.WithCancelCause(ctx) // answers under way are waited for
	defer fail(nil)

	var (
		mu      sync.Mutex
		counts  push.Counts
		workers sync.WaitGroup
		room    = make(chan struct{}, s.cfg.InFlight)
		all     = true
	)

	report := func(token string, o push.Outcome, tries int) {
		mu.Lock()
		defer mu.Unlock()

		counts.Retries += max(tries-1, 0)

		switch o.Result {
		case push.Delivered:
			counts.Delivered++
		case push.Unregistered:
			counts.Gone++
		case push.Dropped:
			counts.Dropped++
		case push.Requeue:
			counts.Requeued++
		}

		if outcome != nil {
			outcome(token, o)
		}
	}

	for token := range tokens {
		if !isToken(token) {
			report(token, s.gone("INVALID_ARGUMENT"), 0)
			continue
		}

		select {
		case room <- struct{}{}:
		case <-taking.Done():
		}

		if all = taking.Err() == nil; !all {
			break
		}

		workers.Go(func() {
			defer func() { <-room }()

			o, tries, err := s.send(ctx, m, "token", token)
			if err != nil {
				fail(err)
			}

			report(token, o, tries)
		})
	}

	workers.Wait()

	if all && counts.Dropped+counts.Requeued == 0 {
		return counts, nil // all were delivered before ctx ended
	}

	return counts, context.Cause(taking)
}

// Broadcast sends m to the phones that have subscribed to a topic. Google does not say whom it reached.
// Errors: *Refused, *Limited, ErrKey, ErrUnavailable, ErrTooLarge, push.ErrLate or the cause of ctx's end.
func (s *Sender) Broadcast(ctx context.Context, topic string, m *Message) error {
	if m.bytes > MaxTopic {
		return fmt.Errorf("%w: %d bytes of %d to a topic", ErrTooLarge, m.bytes, MaxTopic)
	}

	if !isTopic(topic) {
		return &Refused{http.StatusBadRequest, "a topic has 1 to 900 letters, digits, and - _ . ~ %"}
	}

	ctx, end := s.life(ctx, m)
	defer end()

	o, _, err := s.send(ctx, m, "topic", topic)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case o.Result != push.Delivered:
		return fmt.Errorf("%w: %s", ErrUnavailable, o.Reason)
	}

	return nil
}

// life returns ctx with the message's deadline.
func (s *Sender) life(ctx context.Context, m *Message) (context.Context, context.CancelFunc) {
	if m.deadline.IsZero() {
		return context.WithCancel(ctx)
	}

	return context.WithTimeoutCause(ctx, m.deadline.Sub(s.cfg.Now()), push.ErrLate)
}

// send sends m to one recipient. A request is made once more if its answer was lost, or if Google
// refused the access token. The error is one that ends a run.
func (s *Sender) send(ctx context.Context, m *Message, kind, to string) (o push.Outcome, tries int, err error) {
	if err := s.limited(); err != nil {
		return s.missed(m, "QUOTA_EXCEEDED"), 0, err
	}

	var refused string // access token

	for tries < 2 {
		access, err := s.tokens.token(ctx, refused)
		if err != nil {
			return s.missed(m, ""), tries, ends(err)
		}

		tries++

		a, err := s.post(ctx, access, m.request(kind, to))
		if err != nil {
			if ctx.Err() != nil {
				break
			}

			continue
		}

		switch next := a.next(); next {
		case done:
			return push.Outcome{Result: push.Delivered}, tries, nil
		case unregister:
			if kind == "token" {
				return s.gone(a.reason()), tries, nil
			}

			return s.missed(m, a.reason()), tries, &Refused{a.status, a.reason()}
		case later:
			return s.missed(m, a.reason()), tries, nil
		case limit:
			return s.missed(m, a.reason()), tries, s.limit(a)
		case stop:
			return s.missed(m, a.reason()), tries, &Refused{a.status, a.reason()}
		case remint:
			if refused != "" {
				return s.missed(m, a.reason()), tries, &Refused{a.status, a.reason()}
			}

			refused = access
		}
	}

	if refused != "" && ctx.Err() == nil {
		return s.missed(m, "UNAUTHENTICATED"), tries, &Refused{http.StatusUnauthorized, "UNAUTHENTICATED"}
	}

	return s.missed(m, ""), tries, nil
}

// ends returns an error of the access token if it ends a run: not if Google cannot be reached.
func ends(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return nil
	}

	return err
}

// missed returns the outcome of a message that Google did not take.
func (s *Sender) missed(m *Message, reason string) push.Outcome {
	if m.fleeting {
		return push.Outcome{Result: push.Dropped, Reason: reason}
	}

	return push.Outcome{Result: push.Requeue, Reason: reason}
}

// gone returns the outcome of a token that is not valid, or not any more. Google does not say since
// when.
func (s *Sender) gone(reason string) push.Outcome {
	return push.Outcome{Result: push.Unregistered, Reason: reason, Since: s.cfg.Now()}
}

// post makes a request.
func (s *Sender) post(ctx context.Context, access string, body []byte) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}

	r.Header.Set("Authorization", "Bearer "+access)
	r.Header.Set("Content-Type", "application/json")

	got, err := s.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()

	a := answer{status: got.StatusCode}
	if seconds, err := strconv.Atoi(got.Header.Get("Retry-After")); err == nil && seconds > 0 {
		a.retryAfter = time.Duration(seconds) * time.Second
	}

	raw, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return answer{}, err
	}

	if a.status != http.StatusOK {
		_ = json.Unmarshal(raw, &a) // a body that is not Google's has no reason
	}

	return a, nil
}

// answer is Google's answer to one request.
type answer struct {
	status     int
	retryAfter time.Duration // 0: Google does not say

	Error struct {
		Status  string `json:"status"`
		Message string `json:"message"`
		Details []struct {
			Type   string `json:"@type"`
			Code   string `json:"errorCode"`
			Fields []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

// typeFCM is the type of the details that are of FCM itself, and not of what reads the request.
const typeFCM = "type.googleapis.com/google.firebase.fcm.v1.FcmError"

// code returns FCM's error code, "" for another error.
func (a answer) code() string {
	for _, d := range a.Error.Details {
		if d.Type == typeFCM {
			return d.Code
		}
	}

	return ""
}

// reason returns why Google refused.
func (a answer) reason() string { return cmp.Or(a.code(), a.Error.Status) }

// namesToken reports whether Google says that what is not valid is the token.
func (a answer) namesToken() bool {
	if strings.Contains(strings.ToLower(a.Error.Message), "registration token") {
		return true
	}

	for _, d := range a.Error.Details {
		for _, f := range d.Fields {
			if f.Field == "message.token" {
				return true
			}
		}
	}

	return false
}

// step is what to do after an answer.
type step uint8

const (
	stop       step = iota // our defect: end the run
	done                   // accepted
	unregister             // the token is not valid, or not any more
	later                  // not before ten seconds have passed, or never: the caller gives up after some tries
	limit                  // nothing for a time
	remint                 // repeat with another access token
)

// next returns the step of Google's table of errors. INVALID_ARGUMENT of FCM is of the token, which is
// then deleted, or of the message: nobody's phone is deleted for that. A 400 of Google's front end is of
// our request.
func (a answer) next() step {
	code := a.code()

	switch {
	case a.status == http.StatusOK:
		return done
	case a.status == http.StatusTooManyRequests, a.status >= 500 && a.retryAfter > 0:
		return limit
	case a.status >= 500:
		return later
	case a.status == http.StatusUnauthorized && code == "":
		return remint
	case code == "INVALID_ARGUMENT" && a.status == http.StatusBadRequest && !a.namesToken():
		return later
	case code == "UNREGISTERED", code == "SENDER_ID_MISMATCH", code == "INVALID_ARGUMENT" && a.status == http.StatusBadRequest,
		code == "THIRD_PARTY_AUTH_ERROR": // the token is of an iOS or web app of the project
		return unregister
	}

	return stop
}

// isToken reports whether a token can be one of FCM's: an installation id has 22 characters, a
// registration token some 160.
func isToken(token string) bool {
	return len(token) >= 16 && len(token) <= 1000 && all(token, "-_:.")
}

// isTopic reports whether Google takes the name of a topic.
func isTopic(topic string) bool { return topic != "" && len(topic) <= 900 && all(topic, "-_.~%") }

// all reports whether text has only letters, digits and these characters.
func all(text, others string) bool {
	for _, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !bytes.Contains([]byte(others), []byte{c}) {
			return false
		}
	}

	return true
}
