package event

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// GetHealth is the request of a health check.
type GetHealth struct{}

// Health is the answer of a health check.
type Health struct {
	Body struct {
		Status string `json:"status" enum:"ok" doc:"Always ok."`
	}
}

// GetHealthFunction answers health checks.
func GetHealthFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-health",
		Does:   "Reports that the API works.",
		IfDown: "External monitoring reports the API as down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenEvents, (*Events).GetHealth)
}

// GetHealth answers that the API works. It checks no other system.
func (s *Events) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{}
	out.Body.Status = "ok"

	return out, nil
}
