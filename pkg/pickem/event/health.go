package event

import (
	"context"

	"matchday/pkg/kit/httpapi"
)

// GetHealth is the request of a health check.
type GetHealth struct{}

// Health is the answer of a health check.
type Health struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Status string `json:"status" enum:"ok" doc:"Says ok while the service answers."`
	}
}

// GetHealth answers that the API works. It checks no other system.
func (s *Events) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{CacheControl: httpapi.NoStore}
	out.Body.Status = "ok"
	return out, nil
}
