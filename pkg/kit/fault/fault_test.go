package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"matchday/pkg/kit/fault"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{nil, fault.Internal},
		{io.EOF, fault.Internal},
		{&fault.Error{}, fault.Internal},
		{fault.New(fault.Conflict, "it changed"), fault.Conflict},
		{fault.In("query.to", "too late"), fault.Invalid},
		{fmt.Errorf("settle: %w", fault.New(fault.NotFound, "no such event")), fault.NotFound},
		{errors.Join(io.EOF, fault.New(fault.Denied, "not yours")), fault.Denied},
		{fault.New(fault.Unavailable, "try again").Because(fault.New(fault.Limited, "too often")), fault.Unavailable},
	} {
		if got := fault.Of(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	err := fault.New(fault.Unavailable, "the provider is down: try in %d s", 5).Because(io.ErrUnexpectedEOF)
	if got, want := err.Text, "the provider is down: try in 5 s"; got != want {
		t.Errorf("the user reads %q, want %q", got, want)
	}
	if got, want := err.Error(), "the provider is down: try in 5 s: unexpected EOF"; got != want {
		t.Errorf("the log reads %q, want %q", got, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	field := fault.In("body.runs", "%d is too many", 37)
	if field.Error() != "37 is too many" || field.Field != "body.runs" || field.Unwrap() != nil {
		t.Errorf("got %+v", field)
	}
}
