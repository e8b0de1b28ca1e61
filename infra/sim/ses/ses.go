// Package ses simulates the part of the Amazon SES API v2 that sends mail: the operation
// SendEmail with simple content. It delivers to mailboxes in memory.
//
// Sources: the API reference of SendEmail, and the developer guide on sending quotas, the
// sandbox and the suppression list.
package ses

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"matchday/infra/sim/account"
	"matchday/infra/sim/clock"
)

// The limits of an account in the sandbox, in recipients.
const (
	SandboxRate  = 1   // a second
	SandboxQuota = 200 // in 24 hours
)

// Config configures a simulator.
type Config struct {
	Clock *clock.Clock
	// Verified are the identities from which mail is sent: addresses, and domains with all
	// of their addresses; nil for any.
	Verified []string
	// Sandbox is set for an account in the sandbox: recipients, too, must be verified.
	Sandbox bool
	Rate    int // recipients a second; 0 for SandboxRate in the sandbox, else for no limit
	Quota   int // recipients in 24 hours; 0 for SandboxQuota in the sandbox, else for no limit
}

// Mail is a mail that SES has accepted.
type Mail struct {
	ID      string
	At      time.Time
	From    string
	To      string // a mail to several recipients is one Mail for each
	Subject string
	Text    string
	HTML    string
	Headers map[string]string // those that the call names, nil without
	// Suppressed is set if the mail was dropped, because the recipient is suppressed.
	Suppressed bool
}

// Fault is what happens to a call.
type Fault int

// The faults. None is a call without a fault.
const (
	None Fault = iota
	// Throttled answers 429 TooManyRequestsException and sends nothing.
	Throttled
	// Failed answers 500 InternalServiceErrorException and sends nothing.
	Failed
	// Rejected answers 400 MessageRejected and sends nothing.
	Rejected
	// AnswerLost sends the mail, and closes the connection without an answer.
	AnswerLost
)

// Server is the simulator, an http.Handler. Create it with New. It checks neither signatures
// nor who calls: serve it behind guard.Handler.
type Server struct {
	cfg Config

	mu         sync.Mutex
	mails      []Mail // accepted, oldest first
	suppressed map[string]bool
	faults     []Fault     // of the next calls
	recipients []time.Time // of the last 24 hours, when each was sent to
}

// New returns a simulator without mail.
func New(cfg Config) *Server {
	if cfg.Sandbox && cfg.Rate == 0 {
		cfg.Rate = SandboxRate
	}

	if cfg.Sandbox && cfg.Quota == 0 {
		cfg.Quota = SandboxQuota
	}

	return &Server{cfg: cfg, suppressed: map[string]bool{}}
}

// Mailbox returns the mails that were delivered to an address, oldest first.
func (s *Server) Mailbox(address string) (all []Mail) {
	for _, m := range s.Sent() {
		if !m.Suppressed && strings.EqualFold(m.To, address) {
			all = append(all, m)
		}
	}

	return all
}

// Sent returns all mails that were accepted, oldest first.
func (s *Server) Sent() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.mails)
}

// Suppress puts an address on the account's suppression list, as a bounce or a complaint
// does. SES accepts mail to it, and drops it.
func (s *Server) Suppress(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.suppressed[strings.ToLower(address)] = true
}

// Fail sets what happens to the next calls, one fault for each, in order. Calls after them
// have no fault. An SDK's retry is a call.
func (s *Server) Fail(next ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.faults = slices.Clone(next)
}

// refusal is an error of the API.
type refusal struct {
	status     int
	code, text string
}

func (r *refusal) Error() string { return r.code + ": " + r.text }

func bad(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, "BadRequestException", fmt.Sprintf(format, args...)}
}

// The answers to calls beyond the limits. That to the quota differs from that to the rate.
var (
	errRate  = &refusal{http.StatusTooManyRequests, "TooManyRequestsException", "Maximum sending rate exceeded."}
	errQuota = &refusal{http.StatusBadRequest, "LimitExceededException", "Daily message quota exceeded."}
)

// SendEmail is the path of the operation, which is a POST.
const SendEmail = "/v2/email/outbound-emails"

const maxBody = 10 << 20 // bytes of a request

// ServeHTTP answers a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.cfg.Clock.Work()()

	id, fault, err := s.serve(w, r)
	if fault == AnswerLost && err == nil {
		panic(http.ErrAbortHandler)
	}

	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Requestid", id)

	if refused, ok := err.(*refusal); ok {
		w.Header().Set("X-Amzn-Errortype", refused.code)
		w.WriteHeader(refused.status)
		write(w, map[string]string{"message": refused.text})

		return
	}

	write(w, map[string]string{"MessageId": id})
}

// write encodes an answer.
func write(w http.ResponseWriter, answer map[string]string) {
	_ = json.NewEncoder(w).Encode(answer) // the caller has disconnected
}

// input is what a call of SendEmail may contain here.
type input struct {
	FromEmailAddress string
	Destination      struct{ ToAddresses, CcAddresses, BccAddresses []string }
	Content          struct {
		Simple *struct {
			Subject content
			Body    struct{ Text, Html *content }
			Headers []struct{ Name, Value string }
		}
	}
}

type content struct{ Data, Charset string }

// serve accepts a mail, and returns its id.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) (id string, _ Fault, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.cfg.Clock.Now().UTC()

	id = fmt.Sprintf("%016x-%08x-000000", now.UnixMilli(), len(s.mails)+1)
	if r.Method != http.MethodPost || r.URL.Path != SendEmail {
		return id, None, &refusal{http.StatusNotFound, "UnknownOperationException", "the simulator knows POST " + SendEmail + " only"}
	}

	fault := None
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}

	switch fault {
	case Throttled:
		return id, fault, errRate
	case Failed:
		return id, fault, &refusal{http.StatusInternalServerError, "InternalServiceErrorException", "injected fault"}
	}

	var in input

	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields() // what is not simulated must not look as if it worked

	if err := d.Decode(&in); err != nil {
		return id, fault, bad("the simulator cannot read the request: %v", err)
	}

	to, err := s.check(in)
	if err != nil {
		return id, fault, err
	}

	if fault == Rejected {
		return id, fault, &refusal{http.StatusBadRequest, "MessageRejected", "Email to " + to[0] + " rejected: injected fault"}
	}

	if err := s.spend(now, len(to)); err != nil {
		return id, fault, err
	}

	m := Mail{ID: id, At: now, From: in.FromEmailAddress, Subject: in.Content.Simple.Subject.Data}
	if t := in.Content.Simple.Body.Text; t != nil {
		m.Text = t.Data
	}

	if h := in.Content.Simple.Body.Html; h != nil {
		m.HTML = h.Data
	}

	for _, h := range in.Content.Simple.Headers {
		if m.Headers == nil {
			m.Headers = map[string]string{}
		}

		m.Headers[h.Name] = h.Value
	}

	for _, address := range to {
		m.To, m.Suppressed = address, s.suppressed[strings.ToLower(address)]
		s.mails = append(s.mails, m)
	}

	return id, fault, nil
}

const maxRecipients = 50

// The limits of MessageHeader.
const (
	maxHeaders    = 15
	maxHeaderName = 126
	maxHeader     = 996 // of the name and the value
)

// header reports whether a mail may have a header: a name of visible ASCII without a colon, and a value of
// printable ASCII.
func header(name, value string) bool {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }

	return name != "" && len(name) <= maxHeaderName && value != "" && len(name)+len(value) <= maxHeader &&
		!strings.ContainsFunc(name, bad) && !strings.ContainsFunc(value, unprintable)
}

// check returns the recipients of a valid mail.
func (s *Server) check(in input) (to []string, err error) {
	to = slices.Concat(in.Destination.ToAddresses, in.Destination.CcAddresses, in.Destination.BccAddresses)

	simple := in.Content.Simple
	switch {
	case len(to) == 0:
		return nil, bad("Destination has no recipients")
	case len(to) > maxRecipients:
		return nil, bad("Recipient count exceeds %d.", maxRecipients)
	case simple == nil:
		return nil, bad("Content has no Simple message: the simulator knows no other")
	case simple.Subject.Data == "":
		return nil, bad("Subject has no Data")
	case strings.ContainsFunc(simple.Subject.Data, unicode.IsControl):
		return nil, bad("Header values illegal: Subject")
	case len(simple.Headers) > maxHeaders:
		return nil, bad("Headers has more than %d members", maxHeaders)
	case slices.ContainsFunc(simple.Headers, func(h struct{ Name, Value string }) bool { return !header(h.Name, h.Value) }):
		return nil, bad("Header values illegal")
	case simple.Body.Text == nil && simple.Body.Html == nil:
		return nil, bad("Body has neither Text nor Html")
	}

	texts := []content{simple.Subject}
	for _, c := range []*content{simple.Body.Text, simple.Body.Html} {
		if c != nil {
			texts = append(texts, *c)
		}
	}

	for _, c := range texts {
		if !strings.EqualFold(c.Charset, "UTF-8") && strings.ContainsFunc(c.Data, func(r rune) bool { return r > unicode.MaxASCII }) {
			return nil, bad("the charset %q cannot encode the content", c.Charset)
		}
	}

	unverified := map[string]bool{}

	for i, a := range append([]string{in.FromEmailAddress}, to...) {
		if err := valid(a); err != nil {
			return nil, err
		}

		if (i == 0 || s.cfg.Sandbox) && !s.verified(a) {
			unverified[a] = true
		}
	}

	if len(unverified) > 0 {
		return nil, &refusal{http.StatusBadRequest, "MessageRejected",
			fmt.Sprintf("Email address is not verified. The following identities failed the check in region %s: %s",
				strings.ToUpper(account.Region), strings.Join(slices.Sorted(maps.Keys(unverified)), ", "))}
	}

	return to, nil
}

// valid returns an error unless text is an address without a name, in ASCII: SES does not
// know SMTPUTF8.
func valid(text string) error {
	_, domain, ok := strings.Cut(text, "@")
	switch a, err := mail.ParseAddress(text); {
	case !ok || domain == "":
		return bad("Missing final '@domain'")
	case strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }):
		return bad("Local address or domain contains non-ASCII characters")
	case err != nil || a.Address != text:
		return bad("Illegal address")
	case !strings.Contains(domain, "."):
		return bad("Domain has no dot")
	}

	return nil
}

// verified reports whether an address or its domain is verified.
func (s *Server) verified(address string) bool {
	_, domain, _ := strings.Cut(address, "@")

	return s.cfg.Verified == nil || slices.ContainsFunc(s.cfg.Verified, func(v string) bool {
		return strings.EqualFold(v, address) || strings.EqualFold(v, domain)
	})
}

// spend counts n recipients, or returns which limit is reached. A call is accepted while
// any of a limit is left, even if it has more recipients.
func (s *Server) spend(now time.Time, n int) error {
	s.recipients = slices.DeleteFunc(s.recipients, func(at time.Time) bool { return now.Sub(at) >= 24*time.Hour })
	second := 0

	for _, at := range s.recipients {
		if now.Sub(at) < time.Second {
			second++
		}
	}

	switch {
	case s.cfg.Quota > 0 && len(s.recipients) >= s.cfg.Quota:
		return errQuota
	case s.cfg.Rate > 0 && second >= s.cfg.Rate:
		return errRate
	}

	for range n {
		s.recipients = append(s.recipients, now)
	}

	return nil
}
