package profile

import (
	"context"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
	"time"
)

// GetHealth is the request whether the room answers.
type GetHealth struct{}

// Health is the answer of a room that answers.
type Health struct {
	Body struct {
		Status string `json:"status" doc:"ok"`
	}
}

// GetHealthFunction answers, if the room does.
func GetHealthFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/get-health", Does: "Answers, if the room does.", IfDown: "Monitors report that the room is down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenAuditor, (*Auditor).GetHealth)
}

// GetHealth answers.
func (*Auditor) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{}
	out.Body.Status = "ok"

	return out, nil
}
