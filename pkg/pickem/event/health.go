package event

import (
	"context"

	"matchday/pkg/kit/httpapi"
)

// GetHealth asks whether the API answers.
type GetHealth struct{}

// Health is the answer of an API that does.
type Health struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Status string `json:"status" enum:"ok"`
	}
}

// GetHealth says that the API answers; it looks at nothing else.
func (s *Events) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{CacheControl: httpapi.NoStore}
	out.Body.Status = "ok"
	return out, nil
}
