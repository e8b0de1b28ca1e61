package fcm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// message is a message of the HTTP v1 API, of what this project may use.
type message struct {
	Token   string            `json:"token"`
	Topic   string            `json:"topic"`
	Data    map[string]string `json:"data"`
	Android struct {
		CollapseKey  string        `json:"collapse_key"`
		Priority     string        `json:"priority"`
		TTL          string        `json:"ttl"`
		Notification *Notification `json:"notification"`
	} `json:"android"`

	size int
}

// Notification is what a phone shows by itself. One with the tag of an earlier one replaces it.
type Notification struct {
	Title        string   `json:"title,omitempty"`
	TitleLocKey  string   `json:"title_loc_key,omitempty"`
	TitleLocArgs []string `json:"title_loc_args,omitempty"`
	Body         string   `json:"body,omitempty"`
	BodyLocKey   string   `json:"body_loc_key,omitempty"`
	BodyLocArgs  []string `json:"body_loc_args,omitempty"`
	Sound        string   `json:"sound,omitempty"`
	Tag          string   `json:"tag,omitempty"`
	ChannelID    string   `json:"channel_id,omitempty"`
}

var (
	durations = regexp.MustCompile(`^[0-9]+(\.[0-9]{1,9})?s$`)
	topics    = regexp.MustCompile(`^[a-zA-Z0-9-_.~%]{1,900}$`)
	resources = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	// registrations are tokens as FCM issues them: other values are no tokens of any project.
	registrations = regexp.MustCompile(`^[A-Za-z0-9_:.-]{16,1000}$`)
)

const maxTTL = 28 * 24 * time.Hour

// check returns a request's message, or why Google refuses it.
func (s *Server) check(r *http.Request, now time.Time) (*message, *refusal) {
	if no := s.authorize(r, now); no != nil {
		return nil, no
	}

	if no := s.admit(now); no != nil {
		return nil, no
	}

	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		panic(http.ErrAbortHandler)
	}

	var in struct {
		Message *message `json:"message"`
	}

	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()

	if err := d.Decode(&in); err != nil {
		return nil, refuse(http.StatusBadRequest, "", "Invalid JSON payload received: "+err.Error())
	}

	if d.More() || in.Message == nil {
		return nil, refuse(http.StatusBadRequest, "", "the request is not one message")
	}

	return in.Message, in.Message.judge()
}

// judge returns what is wrong with a message.
func (m *message) judge() *refusal {
	wrong := func(format string, args ...any) *refusal {
		return refuse(http.StatusBadRequest, "", fmt.Sprintf(format, args...))
	}

	if (m.Token == "") == (m.Topic == "") {
		return wrong("exactly one recipient is needed")
	}

	if m.Topic != "" && !topics.MatchString(m.Topic) {
		return wrong("the name of a topic is %s", topics)
	}

	if m.Token != "" && !registrations.MatchString(m.Token) {
		return refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token")
	}

	for key, value := range m.Data {
		if key == "from" || key == "message_type" || strings.HasPrefix(key, "google.") || strings.HasPrefix(key, "gcm.notification.") {
			return refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid data payload key: "+key)
		}

		m.size += len(key) + len(value)
	}

	a := &m.Android
	if a.Priority != "" && a.Priority != "NORMAL" && a.Priority != "HIGH" {
		return wrong("the priority %q", a.Priority)
	}

	if a.TTL != "" {
		d, err := time.ParseDuration(a.TTL)
		if !durations.MatchString(a.TTL) || err != nil || d > maxTTL {
			return wrong("the ttl %q", a.TTL)
		}
	}

	if n := a.Notification; n != nil {
		raw, _ := json.Marshal(n) // of strings
		m.size += len(raw)

		if len(n.TitleLocArgs) > 0 && n.TitleLocKey == "" || len(n.BodyLocArgs) > 0 && n.BodyLocKey == "" {
			return wrong("arguments without a key")
		}
		// Google takes it, and the phone finds no string.
		for _, key := range []string{n.TitleLocKey, n.BodyLocKey} {
			if key != "" && !resources.MatchString(key) {
				return wrong("%q is not the name of an Android resource", key)
			}
		}
	}

	limit := MaxPayload
	if m.Topic != "" {
		limit = MaxTopic
	}

	if m.size > limit {
		return refuse(http.StatusBadRequest, "INVALID_ARGUMENT", fmt.Sprintf("Message is too big: %d bytes of %d", m.size, limit))
	}

	return nil
}

// authorize checks a request's access token.
func (s *Server) authorize(r *http.Request, now time.Time) *refusal {
	access, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")

	s.mu.Lock()
	defer s.mu.Unlock()

	if until, known := s.accesses[access]; !ok || !known || !now.Before(until) {
		return refuse(http.StatusUnauthorized, "", "Request had invalid authentication credentials")
	}

	return nil
}

// serveToken exchanges an assertion for an access token.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")

	now := s.clock.Now()
	if why := s.assert(r, now); why != "" {
		s.count("invalid_grant")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": why})

		return
	}

	access := "ya29." + rand.Text()

	s.mu.Lock()
	s.accesses[access] = now.Add(accessLasts)
	s.counts["Access"]++
	s.mu.Unlock()

	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": access, "expires_in": int(accessLasts.Seconds()), "token_type": "Bearer",
	})
}

// assert returns what is wrong with a request for an access token.
func (s *Server) assert(r *http.Request, now time.Time) string {
	if r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return "the grant type"
	}

	var claims struct {
		jwt.RegisteredClaims
		Scope string `json:"scope"`
	}

	t, err := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation()).
		ParseWithClaims(r.PostFormValue("assertion"), &claims, func(*jwt.Token) (any, error) { return s.PublicKey, nil })

	switch {
	case err != nil || t.Header["kid"] != s.KeyID:
		return "Invalid JWT Signature."
	case claims.Issuer != s.Email:
		return "the account does not exist"
	case len(claims.Audience) != 1 || claims.Audience[0] != s.URL()+"/token":
		return "the audience"
	case claims.Scope != "https://www.googleapis.com/auth/firebase.messaging":
		return "the scope"
	case claims.IssuedAt == nil || claims.ExpiresAt == nil || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > accessLasts:
		return "a JWT lasts an hour at most"
	case claims.IssuedAt.After(now.Add(assertionLate)), !claims.ExpiresAt.After(now):
		return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
	}

	return ""
}
