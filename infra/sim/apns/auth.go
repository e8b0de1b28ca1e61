package apns

import (
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/sideshow/apns2"
)

// Apple's rules for provider tokens, and the clock skew allowed here.
const (
	tokenLife   = time.Hour
	tokenChange = 20 * time.Minute
	tokenSkew   = time.Minute
)

// tokenCheck holds the properties of a provider token that do not change.
type tokenCheck struct {
	valid  bool
	issued time.Time
}

// authorize checks the provider token, which a connection may change once in
// twenty minutes.
func (s *Server) authorize(l *connection, header []string, now time.Time) *refusal {
	if len(header) != 1 {
		return refuse(http.StatusForbidden, apns2.ReasonMissingProviderToken)
	}

	bearer, ok := strings.CutPrefix(header[0], "bearer ")
	if !ok || bearer == "" {
		return refuse(http.StatusForbidden, apns2.ReasonMissingProviderToken)
	}

	v := s.verify(bearer)
	switch {
	case !v.valid, v.issued.After(now.Add(tokenSkew)):
		return refuse(http.StatusForbidden, apns2.ReasonInvalidProviderToken)
	case v.issued.Before(now.Add(-tokenLife)):
		return refuse(http.StatusForbidden, apns2.ReasonExpiredProviderToken)
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.bearer != bearer {
		if l.valid && now.Sub(l.bearerAt) < tokenChange {
			return refuse(http.StatusTooManyRequests, apns2.ReasonTooManyProviderTokenUpdates)
		}

		l.bearer, l.bearerAt = bearer, now
	}

	l.valid = true

	return nil
}

// verify checks a token's form and signature, once per token.
func (s *Server) verify(bearer string) tokenCheck {
	if v, ok := s.tokenChecks.Load(bearer); ok {
		return v.(tokenCheck)
	}

	var claims struct {
		jwt.RegisteredClaims
	}

	t, err := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithoutClaimsValidation()).
		ParseWithClaims(bearer, &claims, func(*jwt.Token) (any, error) { return s.PublicKey, nil })

	v := tokenCheck{valid: err == nil && t.Header["kid"] == s.KeyID && claims.Issuer == s.TeamID && claims.IssuedAt != nil}
	if v.valid {
		v.issued = claims.IssuedAt.Time
		s.tokenChecks.Store(bearer, v)
	}

	return v
}
