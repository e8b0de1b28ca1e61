package commitcollect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms/commitcollect/browser"
)

// newPhone returns the visitor's phone, on which nobody is signed in.
func (v *visit) newPhone() *browser.App {
	return browser.NewApp(v.URL+"/commitcollect", v.Users.Issuer(), fleet.NativeClient("commitcollect"), fleet.NativeRedirect("commitcollect"),
		v.Clock.Now)
}

// phoneScreen is what the phone shows: the answers of the API to its access token.
type phoneScreen struct {
	SignedIn  bool            `json:"signedIn"`
	Until     time.Time       `json:"until,omitzero"` // of the access token
	Milestone json.RawMessage `json:"milestone,omitempty"`
	Wrong     string          `json:"wrong,omitempty"`
}

// lookAtPhone reads what the phone shows of a milestone, "" for none. What the API refuses is shown, too.
func (v *visit) lookAtPhone(ctx context.Context, milestoneID string) (s phoneScreen) {
	if _, s.SignedIn = v.phone.SignedIn(); !s.SignedIn {
		return s
	}

	if milestoneID != "" {
		if err := v.phone.Call(ctx, http.MethodGet, "/milestones/"+milestoneID, nil, &s.Milestone); err != nil {
			s.Wrong = err.Error()
		}
	}

	s.Until, s.SignedIn = v.phone.SignedIn() // the call may have refreshed the token, or been told that it is over

	return s
}

// phoneButtons are the buttons of the phone.
func (v *visit) phoneButtons(look *console.Look) map[string]console.Button {
	return map[string]console.Button{
		"phone-in": button(v, look, func(ctx context.Context, _ struct{}) (string, error) {
			return "The phone is signed in, without a cookie.", v.phone.SignIn(ctx, visitor)
		}),
		"phone-out": button(v, look, func(ctx context.Context, _ struct{}) (string, error) {
			return "The phone is signed out; the browser is not.", v.phone.SignOut(ctx)
		}),
		"phone-start": button(v, look, func(ctx context.Context, _ struct{}) (string, error) {
			err := v.phone.Call(ctx, http.MethodPost, "/milestones", v.body(goal{"RUN", 10_000}), nil)
			if refused, ok := errors.AsType[*fleet.Refusal](err); ok && refused.Status == http.StatusUnauthorized {
				return "", errors.New("the phone is signed out")
			}

			return "The phone has begun a milestone of 10 km.", err
		}),
	}
}

// body is the request to start a milestone.
func (v *visit) body(g goal) map[string]any {
	return map[string]any{
		"modelId":          model,
		"sport":            g.Sport,
		"targetType":       "DISTANCE_METERS",
		"totalTarget":      g.Total,
		"periodStartAtUtc": v.Clock.Now().Add(-time.Hour).Unix(),
	}
}
