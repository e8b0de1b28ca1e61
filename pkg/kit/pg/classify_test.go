package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"matchday/pkg/kit/problem"
)

// locked is an error from before anything was sent.
type locked struct{}

func (locked) Error() string     { return "conn busy" }
func (locked) SafeToRetry() bool { return true }

// TestErrorsOfATry: a later try may have what the connection or the server could not give, and
// no other error becomes Unavailable.
func TestErrorsOfATry(t *testing.T) {
	t.Parallel()

	code := func(code string) error { return &pgconn.PgError{Code: code} }
	_, refused := pgconn.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/nothing?sslmode=disable")

	busy := problem.New(problem.Conflict, "taken", "taken")
	for name, c := range map[string]struct {
		err  error
		kind problem.Kind
	}{
		"connection exception":    {code("08006"), problem.Unavailable},
		"too many connections":    {code("53300"), problem.Unavailable},
		"shutdown":                {code("57P01"), problem.Unavailable},
		"system error":            {code("58030"), problem.Unavailable},
		"serialization":           {code("40001"), problem.Unavailable},
		"deadlock":                {code("40P01"), problem.Unavailable},
		"a lock that is not free": {code("55P03"), problem.Unavailable},
		"an object in use":        {code("55006"), problem.Internal},
		"rolled back by a rule":   {code("40002"), problem.Internal},
		"unique violation":        {code("23505"), problem.Internal},
		"refused connection":      {refused, problem.Unavailable},
		"a connection in use":     {locked{}, problem.Unavailable},
		"a network's error":       {&net.DNSError{Err: "no such host", Name: "db"}, problem.Unavailable},
		"a closed connection":     {fmt.Errorf("write: %w", net.ErrClosed), problem.Unavailable},
		"the end of the stream":   {fmt.Errorf("read: %w", io.EOF), problem.Unavailable},
		"an answer that is cut":   {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), problem.Unavailable},
		"a deadline":              {context.DeadlineExceeded, problem.Unavailable},
		"a caller who has gone":   {context.Canceled, problem.Internal},
		"an error of ours":        {errors.New("no row"), problem.Internal},
		"a problem":               {busy, problem.Conflict},
	} {
		got := classify(c.err)
		if problem.Of(got) != c.kind || !errors.Is(got, c.err) {
			t.Errorf("%s: got %v, want the kind %s with the cause", name, got, c.kind.Code())
		}
	}

	if err := classify(nil); err != nil {
		t.Errorf("no error: got %v", err)
	}
}
