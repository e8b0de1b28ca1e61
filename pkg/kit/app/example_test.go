package app_test

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// GetTimeFunction answers with the time.
func GetTimeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-time",
		Does:   "Returns the time.",
		IfDown: "Apps show no time.",
		On:     spec.Route{Method: "GET", Path: "/time", Auth: spec.User},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenTimes, (*Times).GetTime)
}

// Times is the service of get-time.
type Times struct{ now func() time.Time }

// OpenTimes opens the service.
func OpenTimes(_ context.Context, env app.Env) (*Times, error) { return &Times{env.Now}, nil }

// GetTime asks for the time.
type GetTime struct{ auth.User }

// TimePage is the answer.
type TimePage struct {
	Body struct {
		Now time.Time `json:"now"`
	}
}

// GetTime returns the time.
func (t *Times) GetTime(context.Context, *GetTime) (*TimePage, error) {
	out := &TimePage{}
	out.Body.Now = t.now()

	return out, nil
}

// The main of a function is one call.
func ExampleFunction_Start() {
	_ = func() {
		GetTimeFunction().Start()
	}
}
