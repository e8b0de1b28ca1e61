package push

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/problem"
)

// KeepDevice is how long a registration of a device lasts. Apps renew it at each start.
const KeepDevice = 90 * 24 * time.Hour

// Phone is what every room stores of a phone beside its token. The rows of phones that registered
// without it are those of iPhones, of the stage's environment, with the texts of version 1.
type Phone struct {
	Platform    string `dynamodbav:"platform,omitempty" json:"platform,omitempty"`       // ios, ipados or android
	Kind        string `dynamodbav:"kind,omitempty" json:"kind,omitempty"`               // of the token: whose service takes it
	Environment string `dynamodbav:"environment,omitempty" json:"environment,omitempty"` // of Apple: production or sandbox
	Locale      string `dynamodbav:"locale,omitempty" json:"locale,omitempty"`           // BCP 47
	Catalogue   int    `dynamodbav:"catalogue,omitempty" json:"catalogue,omitempty"`     // the version of the app's texts
}

// The kinds of tokens.
const (
	APNs = "apns" // of Apple's push service
	FCM  = "fcm"  // of Firebase Cloud Messaging
)

// Android is the Platform whose tokens are of the kind FCM.
const Android = "android"

// KindOf returns the kind of the tokens of a platform.
func KindOf(platform string) string {
	if platform == Android {
		return FCM
	}

	return APNs
}

// Takes reports whether APNs accepts the phone's token in an environment; "" accepts all. APNs
// closes the connection on a token of another environment. A later version may have stored a token
// of another service.
func (p Phone) Takes(environment string) bool {
	return cmp.Or(p.Kind, APNs) == APNs && (p.Environment == "" || environment == "" || p.Environment == environment)
}

// Registration is the token of a phone in a request: of APNs, hexadecimal in either case, or of FCM.
type Registration string

// Schema describes the values of a Registration: those of a Token, or 20 to 512 characters that are not
// all hexadecimal. Google publishes no form; its tokens have some 160 characters, its installation ids
// 22.
func (Registration) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 20, 512
	return &huma.Schema{
		Type:      huma.TypeString,
		Pattern:   "^(([0-9a-fA-F]{2})+|[A-Za-z0-9_:.-]*[g-zG-Z_:.-][A-Za-z0-9_:.-]*)$",
		MinLength: &shortest,
		MaxLength: &longest,
		Examples:  []any{strings.Repeat("0a1b2c3d", 8)},
	}
}

// ErrPlatform is the error of a token that is not of the platform in the same request.
var ErrPlatform = &problem.Error{
	Kind: problem.Unprocessable, Code: "platform_mismatch", Field: "body.deviceToken",
	Text: "deviceToken is not a token of the platform: those of iPhones are hexadecimal, those of Android phones are not",
}

// Check returns ErrPlatform if the token is not of a platform.
func (r Registration) Check(platform string) error {
	apns := isToken(string(r)) && len(r) >= 32
	if apns != (KindOf(platform) == APNs) {
		return ErrPlatform
	}

	return nil
}

// Canonical returns the token as it is stored, so that one device has one key: in lower case if it is
// hexadecimal.
func (r Registration) Canonical() string {
	if isToken(string(r)) {
		return strings.ToLower(string(r))
	}

	return string(r)
}

// ID returns a name for the token that is not secret, as Token.ID.
func (r Registration) ID() TokenID { return idOf(r.Canonical()) }

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
func (t Token) ID() TokenID { return idOf(t.Lower()) }

func idOf(token string) TokenID {
	sum := sha256.Sum256([]byte(token))
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
