package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
)

// LinkKeys is the secret with the keys that sign links, separated by commas: each is a text of at least
// 32 characters. The first signs, and all are accepted: a new key goes before the others, and an old
// one can go once its links have expired.
const LinkKeys = "THREEFC_LINK_KEYS"

// minKey is the least length of a key in bytes.
const minKey = 32

// ErrTicket refuses a ticket that is incomplete, was changed, is for another page, or has expired.
var ErrTicket = problem.New(problem.Unauthenticated, "invalid_or_expired_link", "this link is incomplete, or no longer valid")

// Signer makes and reads tickets. A ticket lets its bearer do one thing without signing in, until it
// expires: it has a purpose, and the ids that the purpose needs. Its text reveals them to nobody but
// the bearer.
type Signer struct {
	keys [][]byte
	now  func() time.Time
}

// NewSigner returns a signer with the keys of the secret LinkKeys.
func NewSigner(ctx context.Context, env app.Env) (Signer, error) {
	secret, err := env.Secret(ctx, LinkKeys)
	if err != nil {
		return Signer{}, err
	}

	s := Signer{now: env.Now}

	for key := range strings.SplitSeq(secret, ",") {
		if len(key) < minKey {
			return Signer{}, errors.New("a key of the secret " + LinkKeys + " is shorter than 32 characters")
		}

		s.keys = append(s.keys, []byte(key))
	}

	return s, nil
}

// Sign returns a ticket for a purpose with ids, which have no line break.
func (s Signer) Sign(purpose string, until time.Time, ids ...string) string {
	payload := strings.Join(append([]string{strconv.FormatInt(until.Unix(), 36)}, ids...), "\n")
	return base64.RawURLEncoding.EncodeToString(append(sum(s.keys[0], purpose, payload), payload...))
}

// Read returns the n ids of a ticket for a purpose. Errors: ErrTicket.
func (s Signer) Read(purpose, ticket string, n int) (ids []string, err error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(ticket)
	if err != nil || len(text) < sha256.Size {
		return nil, ErrTicket
	}

	payload, signed := string(text[sha256.Size:]), false
	for _, key := range s.keys {
		signed = signed || hmac.Equal(sum(key, purpose, payload), text[:sha256.Size])
	}

	parts := strings.Split(payload, "\n")

	until, err := strconv.ParseInt(parts[0], 36, 64)
	if !signed || err != nil || len(parts) != n+1 || s.now().Unix() >= until {
		return nil, ErrTicket
	}

	return parts[1:], nil
}

// sum returns the signature of a payload for a purpose, which has no line break.
func sum(key []byte, purpose, payload string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\n" + payload))

	return h.Sum(nil)
}
