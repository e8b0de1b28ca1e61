// Package problem classifies errors by what the caller should do about them.
//
// A use case returns a problem if the caller can act on the error, and a plain wrapped error if
// only the operator can. Each transport maps the kinds in one place: httpapi to HTTP statuses,
// app to the next step of a queue message.
package problem

import (
	"errors"
	"fmt"
	"time"

	"matchday/pkg/spec"
)

// Kind is the class of a problem.
type Kind uint8

const (
	Internal        Kind = iota // our defect; the zero value, so that an unclassified error is Internal
	Invalid                     // the request is malformed: do not repeat it
	Unprocessable               // the request is well-formed, but refers to something that it must not: do not repeat it
	Unauthenticated             // the caller is unknown: sign in
	Denied                      // the caller is known, but not allowed to do this
	NotFound                    // it does not exist, or the caller may not see it
	Conflict                    // the state does not allow it: read again, then decide
	Limited                     // too many requests: wait, then retry
	Unavailable                 // a dependency is down or busy: retry
	Upstream                    // a dependency refused a request that it should accept: begin again
)

var kindCodes = [...]string{
	Internal: "internal", Invalid: "bad_request", Unprocessable: "invalid", Unauthenticated: "unauthenticated", Denied: "denied",
	NotFound: "not_found", Conflict: "conflict", Limited: "limited", Unavailable: "unavailable", Upstream: "bad_gateway",
}

// Code returns the code of problems of this kind that have no code of their own.
func (k Kind) Code() string { return kindCodes[k] }

// Error is a classified error. Apps read Code and Extensions, users read Text, and
// the log has Cause.
type Error struct {
	Kind       Kind
	Code       string         // stable, lower case, words joined by "_": "match_not_found"; Kind.Code() if empty
	Field      string         // the part of the request that is wrong: "query.from"; may be empty
	Extensions map[string]any // more members of the problem document (RFC 9457, 3.2)
	Text       string
	RetryAfter time.Duration // when a retry may succeed; 0 if that is unknown
	Limit      spec.Limit    // that the request exceeds; the zero value for none
	Cause      error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}

	return e.Text
}

func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is a problem with the same kind and code. So errors.Is also matches
// a room's error value that was changed by In, With or Because.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code != "" && t.Kind == e.Kind && t.Code == e.Code
}

// New returns a problem with a code, and a text that users read. The codes of a room are part of
// its API: apps compare them, so they never change. An empty code stands for Kind.Code.
func New(k Kind, code, format string, args ...any) *Error {
	return &Error{Kind: k, Code: code, Text: fmt.Sprintf(format, args...)}
}

// ErrDatabase is the problem of a request for which PostgreSQL is not available. It is here, and not
// beside the client of PostgreSQL, because the functions that have no database do not link it.
var ErrDatabase = New(Unavailable, "database_unavailable", "the database is busy or resumes: try again")

// In returns an Invalid problem of one field of the request. It has the code of its kind; the
// field identifies the check that failed.
func In(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Text: fmt.Sprintf(format, args...)}
}

// Beyond returns the problem of a request that exceeds a limit: Conflict for a number of things;
// Limited for a rate, with the whole period as RetryAfter.
func Beyond(limit spec.Limit) *Error {
	kind := Conflict
	if limit.Per > 0 {
		kind = Limited
	}

	e := New(kind, limit.Code, "the limit is %s", limit).WithRetryAfter(limit.Per)
	e.Limit = limit

	return e
}

// In returns a copy of e that names the field of the request that is wrong.
func (e *Error) In(field string) *Error {
	c := *e
	c.Field = field

	return &c
}

// With returns a copy of e with more members for the problem document.
func (e *Error) With(extensions map[string]any) *Error {
	c := *e
	c.Extensions = extensions

	return &c
}

// WithRetryAfter returns a copy of e with the time after which a retry may succeed.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d

	return &c
}

// Because returns a copy of e with the cause, which is logged but not sent.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause

	return &c
}

// Of returns the kind of err, or Internal if err is not a problem.
func Of(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}

	return Internal
}
