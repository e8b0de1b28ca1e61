package push

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// KeepDevice is how long a registration of a device lasts. Apps renew it at each start.
const KeepDevice = 90 * 24 * time.Hour

// Phone is what every room stores of a phone beside its token. The rows of phones that registered
// without it are those of iPhones, of the stage's environment, with the texts of version 1.
type Phone struct {
	Platform    string `dynamodbav:"platform,omitempty" json:"platform,omitempty"`       // ios or ipados
	Kind        string `dynamodbav:"kind,omitempty" json:"kind,omitempty"`               // of the token: whose service takes it
	Environment string `dynamodbav:"environment,omitempty" json:"environment,omitempty"` // of Apple: production or sandbox
	Locale      string `dynamodbav:"locale,omitempty" json:"locale,omitempty"`           // BCP 47
	Catalogue   int    `dynamodbav:"catalogue,omitempty" json:"catalogue,omitempty"`     // the version of the app's texts
}

// APNs is the Kind of the tokens of Apple's push service.
const APNs = "apns"

// Takes reports whether APNs accepts the phone's token in an environment; "" accepts all. APNs
// closes the connection on a token of another environment. A later version may have stored a token
// of another service.
func (p Phone) Takes(environment string) bool {
	return cmp.Or(p.Kind, APNs) == APNs && (p.Environment == "" || environment == "" || p.Environment == environment)
}

// Texts is what an app says of its texts when it registers.
type Texts struct {
	Locale    string `json:"locale,omitempty" pattern:"^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8}){0,3}$" example:"en-IN" doc:"The locale of the phone."`
	Catalogue int    `json:"catalogue,omitempty" minimum:"1" maximum:"1000000" example:"1" doc:"The version of the texts that the app has, for notifications that it translates. Absent: 1."`
}

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
