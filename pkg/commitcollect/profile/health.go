package profile

import "context"

// GetHealth is the request whether the room answers.
type GetHealth struct{}

// Health is the answer of a room that answers.
type Health struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Status string `json:"status" doc:"ok"`
	}
}

// GetHealth answers.
func (*Auditor) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{CacheControl: "no-store"}
	out.Body.Status = "ok"
	return out, nil
}
