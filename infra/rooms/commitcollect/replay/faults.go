package replay

import (
	"net/http"
	"regexp"

	"matchday/infra/local/replay"
	"matchday/pkg/spec"
)

// drawn are the ids and texts that the backend draws, which differ between runs: of
// requests and jobs, tokens and their SHA-256, and what is sealed.
var drawn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9_+/-]{26,}={0,2}`)

var odds = replay.Odds{Kill: 0.125, HeldBack: 0.03, Call: func(fn spec.Function) float64 {
	switch on := fn.On.(type) {
	case spec.Route:
		if on.Method != http.MethodGet {
			return 0.01
		}
	case spec.UserConfirmed:
		return 0 // Cognito's sign-up page shows the error, and the user begins again
	}

	return 0.002 // a job makes many calls
}}
