package push

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"errors"
	"math/big"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// APNs accepts a provider token for an hour after it was issued, and answers
// TooManyProviderTokenUpdates if a new one comes within 20 minutes of the last.
const (
	tokenStep  = 2400 // seconds between tokens
	tokenRenew = 1200 // used after APNs reported one as expired, because its clock is ahead of ours
)

// provider signs provider tokens. The issue time is a multiple of step and the
// signature is deterministic, so all processes of the fleet have the same token at
// the same time.
type provider struct {
	key           *ecdsa.PrivateKey
	keyID, teamID string

	mu     sync.Mutex
	step   int64
	issued int64
	bearer string
}

// token returns the provider token that is valid at now.
func (p *provider) token(now time.Time) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.mint(now)
}

// renew replaces a token that APNs reported as expired. Of concurrent callers the first signs
// the new one.
func (p *provider) renew(expired string, now time.Time) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.bearer != expired {
		return p.bearer, nil
	}

	p.step = tokenRenew

	return p.mint(now)
}

func (p *provider) mint(now time.Time) (string, error) {
	issued := now.Unix() / p.step * p.step
	if issued == p.issued && p.bearer != "" {
		return p.bearer, nil
	}

	t := jwt.Token{
		Method: es256{jwt.SigningMethodES256},
		Header: map[string]any{"alg": "ES256", "kid": p.keyID},
		Claims: jwt.MapClaims{"iss": p.teamID, "iat": issued},
	}

	bearer, err := t.SignedString(p.key)
	if err != nil {
		return "", errors.New("push: the provider token cannot be signed with this key")
	}

	p.issued, p.bearer = issued, bearer

	return bearer, nil
}

// es256 is ES256 with the deterministic signatures of RFC 6979.
type es256 struct{ *jwt.SigningMethodECDSA }

// Sign returns the signature in the format of JWS: r and s, 32 bytes each.
func (m es256) Sign(text string, key any) ([]byte, error) {
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok || k.Params().BitSize != m.CurveBits {
		return nil, jwt.ErrInvalidKey
	}

	h := m.Hash.New()
	h.Write([]byte(text))
	der, err := k.Sign(nil, h.Sum(nil), crypto.SHA256) // no randomness: RFC 6979

	var sig struct{ R, S *big.Int }
	if err == nil {
		_, err = asn1.Unmarshal(der, &sig)
	}

	if err != nil {
		return nil, err
	}

	raw := make([]byte, 2*m.KeySize)
	sig.R.FillBytes(raw[:m.KeySize])
	sig.S.FillBytes(raw[m.KeySize:])

	return raw, nil
}
