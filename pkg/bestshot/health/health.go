// Package health answers health checks.
package health

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Service is the service of health checks.
type Service struct{}

// Open opens the service of health checks.
func Open(context.Context, app.Env) (*Service, error) { return &Service{}, nil }

// GetHealth is the request of a health check.
type GetHealth struct{}

// Health is the answer to a health check.
type Health struct {
	Body struct {
		OK bool `json:"ok" doc:"Always true."`
	}
}

// GetHealthFunction answers a health check.
func GetHealthFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/get-health",
		Does:   "Answers a monitor.",
		IfDown: "Monitors raise an alarm.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}, Open, (*Service).GetHealth)
}

// GetHealth answers that the API works. It reads nothing, so that health checks do not keep the
// database awake.
func (s *Service) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{}
	out.Body.OK = true

	return out, nil
}
