package replay

import (
	"net/http"
	"regexp"

	"matchday/infra/local/replay"
	"matchday/pkg/spec"
)

// drawn are the ids that the backend draws: of users, of items, of sessions, links and
// answers, and join codes.
var drawn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b|[A-Za-z0-9_-]{43}|\b[0-9A-HJKMNP-TV-Z]{8}\b`)

var odds = replay.Odds{Kill: 0.25, HeldBack: 0.05, Call: func(fn spec.Function) float64 {
	switch on := fn.On.(type) {
	case spec.Route:
		if on.Method == http.MethodGet {
			return 0.002
		}
	case spec.Schedule:
		return 0.002 // most invocations do nothing
	}

	return 0.01
}}
