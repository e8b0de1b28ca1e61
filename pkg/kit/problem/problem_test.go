package problem_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
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
		{problem.New(problem.Conflict, "", "it changed"), problem.Conflict},
		{problem.In("query.to", "too late"), problem.Invalid},
		{fmt.Errorf("settle: %w", problem.New(problem.NotFound, "", "no such event")), problem.NotFound},
		{errors.Join(io.EOF, problem.New(problem.Denied, "", "not yours")), problem.Denied},
		{problem.New(problem.Unavailable, "", "try again").Because(problem.New(problem.Limited, "", "too often")), problem.Unavailable},
	} {
		if got := problem.Of(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()

	err := problem.New(problem.Unavailable, "", "the provider is down: try in %d s", 5).Because(io.ErrUnexpectedEOF)
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

// TestValues: what is added to an error value stands in a copy, which errors.Is
// still finds.
func TestValues(t *testing.T) {
	t.Parallel()

	errLocked := problem.New(problem.Conflict, "event_locked", "the event is locked")
	for name, err := range map[string]*problem.Error{
		"In": errLocked.In("body.picks"), "With": errLocked.With(map[string]any{"lockAt": 7}), "Because": errLocked.Because(io.EOF),
	} {
		if err == errLocked || !errors.Is(fmt.Errorf("pick: %w", err), errLocked) || err.Code != "event_locked" || err.Text != errLocked.Text {
			t.Errorf("%s: got %+v", name, err)
		}
	}

	added := errLocked.In("body.picks").With(map[string]any{"lockAt": 7}).Because(io.EOF)
	if added.Field != "body.picks" || added.Extensions["lockAt"] != 7 || added.Unwrap() != io.EOF {
		t.Errorf("got %+v, want the field, the member and the cause", added)
	}

	if errLocked.Field != "" || errLocked.Extensions != nil || errLocked.Cause != nil {
		t.Errorf("the value has changed: %+v", errLocked)
	}

	for _, other := range []error{io.EOF, problem.New(problem.Conflict, "changed", "x"), problem.New(problem.Denied, "event_locked", "x"),
		problem.New(problem.Conflict, "", "x")} {
		if errors.Is(errLocked, other) {
			t.Errorf("%v is %v", errLocked, other)
		}
	}

	if got := problem.New(problem.Conflict, "", "x"); errors.Is(got, problem.New(problem.Conflict, "", "y")) {
		t.Error("problems without a code of their own are the same")
	}
}

// TestKindsHaveCodes: each kind has a code of its own.
func TestKindsHaveCodes(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}
	for k := problem.Internal; k <= problem.Unavailable; k++ {
		if c := k.Code(); c == "" || seen[c] {
			t.Errorf("kind %d has the code %q", k, c)
		}

		seen[k.Code()] = true
	}
}

// TestBeyond: a number of things is a Conflict, a rate is Limited.
func TestBeyond(t *testing.T) {
	t.Parallel()

	leagues := spec.Limit{Name: "leagues per member", Max: 20, Code: "too_many_leagues"}

	guesses := spec.Limit{Name: "wrong codes", Max: 10, Per: time.Hour, Code: "too_many_codes"}
	for _, c := range []struct{ got, want *problem.Error }{
		{problem.Beyond(leagues), &problem.Error{Kind: problem.Conflict, Code: "too_many_leagues", Text: "the limit is 20 leagues per member"}},
		{problem.Beyond(guesses), &problem.Error{
			Kind:       problem.Limited,
			Code:       "too_many_codes",
			Text:       "the limit is 10 wrong codes in 1h",
			RetryAfter: time.Hour,
		}},
		{
			problem.Beyond(spec.Limit{Name: "guesses", Max: 1, Per: 1, Code: "too_many_guesses"}), // any period is a rate
			&problem.Error{Kind: problem.Limited, Code: "too_many_guesses", Text: "the limit is 1 guesses in 1ns", RetryAfter: 1},
		},
		{
			problem.Beyond(guesses).WithRetryAfter(90 * time.Second),
			&problem.Error{Kind: problem.Limited, Code: "too_many_codes", Text: "the limit is 10 wrong codes in 1h", RetryAfter: 90 * time.Second},
		},
	} {
		c.want.Limit = c.got.Limit // checked below
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("the problem differs (-want +got):\n%s", diff)
		}
	}

	if got := problem.Beyond(guesses).Limit; got != guesses {
		t.Errorf("the limit is %v, want %v", got, guesses)
	}
}
