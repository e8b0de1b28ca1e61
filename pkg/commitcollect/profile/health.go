package profile

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// GetHealth is the request of a health check.
type GetHealth struct{}

// Health is the answer to a health check.
type Health struct {
	Body struct {
		Status string `json:"status" doc:"ok"`
	}
}

// GetHealthFunction answers health checks.
func GetHealthFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/get-health", Does: "Answers health checks.", IfDown: "Monitors report that the room is down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenAuditor, (*Auditor).GetHealth)
}

// GetHealth answers. It checks no other system.
func (*Auditor) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{}
	out.Body.Status = "ok"

	return out, nil
}
