package problem_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"matchday/pkg/kit/problem"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want problem.Kind
	}{
		{nil, problem.Internal},
		{io.EOF, problem.Internal},
		{&problem.Error{}, problem.Internal},
		{problem.New(problem.Conflict, "it changed"), problem.Conflict},
		{problem.In("query.to", "too late"), problem.Invalid},
		{fmt.Errorf("settle: %w", problem.New(problem.NotFound, "no such event")), problem.NotFound},
		{errors.Join(io.EOF, problem.New(problem.Denied, "not yours")), problem.Denied},
		{problem.New(problem.Unavailable, "try again").Because(problem.New(problem.Limited, "too often")), problem.Unavailable},
	} {
		if got := problem.Of(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	err := problem.New(problem.Unavailable, "the provider is down: try in %d s", 5).Because(io.ErrUnexpectedEOF)
	if got, want := err.Text, "the provider is down: try in 5 s"; got != want {
		t.Errorf("the user reads %q, want %q", got, want)
	}
	if got, want := err.Error(), "the provider is down: try in 5 s: unexpected EOF"; got != want {
		t.Errorf("the log reads %q, want %q", got, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	field := problem.In("body.runs", "%d is too many", 37)
	if field.Error() != "37 is too many" || field.Field != "body.runs" || field.Unwrap() != nil {
		t.Errorf("got %+v", field)
	}
}
