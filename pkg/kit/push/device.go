package push

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// KeepDevice is how long a registration of a device lasts. Apps renew it at each start.
const KeepDevice = 90 * 24 * time.Hour

// Token is a push token in a request, hexadecimal in either case. Other values are refused: huma
// takes the rule from Schema.
type Token string

// Schema describes the values of a Token: 16 to 100 bytes, of which Apple uses 32
// for a device today and more for Live Activities.
func (Token) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 32, 200
	return &huma.Schema{
		Type:      huma.TypeString,
		Pattern:   "^([0-9a-fA-F]{2})+$",
		MinLength: &shortest,
		MaxLength: &longest,
		Examples:  []any{strings.Repeat("0a1b2c3d", 8)},
	}
}

// ID returns a name for the token that is not secret: the SHA-256 of the token in lower case, in
// unpadded base64url. URLs contain it instead of the token, because URLs are logged.
func (t Token) ID() TokenID {
	sum := sha256.Sum256([]byte(t.Lower()))
	return TokenID(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// TokenID is Token.ID in a request. Other values are refused.
type TokenID string

// Schema describes the values of a TokenID.
func (TokenID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[A-Za-z0-9_-]{43}$"}
}

// Lower returns the token in lower case, in which it is stored, so that one device has one key.
func (t Token) Lower() string { return strings.ToLower(string(t)) }
