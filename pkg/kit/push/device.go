package push

import (
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// KeepDevice is how long a registration of a device lasts after the app last
// renewed it. Apps renew it at each start.
const KeepDevice = 90 * 24 * time.Hour

// Token is a push token in a request, in hexadecimal of either case. A request
// with anything else is refused: huma takes the rule from Schema.
type Token string

// Schema describes the values of a Token: 16 to 100 bytes, of which Apple uses 32
// for a device today and more for Live Activities.
func (Token) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 32, 200
	return &huma.Schema{Type: huma.TypeString, Pattern: "^([0-9a-fA-F]{2})+$", MinLength: &shortest, MaxLength: &longest}
}

// Lower returns the token in lower case, as it is stored: so one device has one
// key.
func (t Token) Lower() string { return strings.ToLower(string(t)) }
