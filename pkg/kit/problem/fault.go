// Package problem classifies errors by what the caller should do about them.
//
// Domain code returns a fault when the caller can act on it, and a plain
// wrapped error when nobody but us can. Each transport maps kinds to its own
// language in one table: see httpapi for HTTP statuses, app for queues.
package problem

import (
	"errors"
	"fmt"
)

// Kind is the class of a fault.
type Kind uint8

const (
	Internal        Kind = iota // ours to mend; the zero value, so that the unclassified is Internal
	Invalid                     // the request can never work
	Unprocessable               // it is well-formed, and names what is not so
	Unauthenticated             // we do not know who asks
	Denied                      // we know, and they may not
	NotFound                    // nothing is there, or nothing they may see
	Conflict                    // it changed meanwhile: read again, then retry
	Limited                     // too often: wait, then retry
	Unavailable                 // something we need is down: retry
)

// Error is a classified error. Text is for the user, Code and With for the app,
// and Cause for the log.
type Error struct {
	Kind  Kind
	Code  string         // what is wrong, for programs, as "event_locked", or ""
	Field string         // where in the request it lies, as "query.from", or ""
	With  map[string]any // what else the app should know, by name
	Text  string
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Cause }

// New returns a fault with a text that users will read.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// In returns an Invalid fault of one field of the request.
func In(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Text: fmt.Sprintf(format, args...)}
}

// Coded returns a fault with a code, and a text that users will read.
func Coded(k Kind, code, format string, args ...any) *Error {
	return &Error{Kind: k, Code: code, Text: fmt.Sprintf(format, args...)}
}

// Because adds the cause, for the log.
func (e *Error) Because(err error) *Error { e.Cause = err; return e }

// Of is the kind of err: Internal if it carries no fault.
func Of(err error) Kind {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Kind
	}
	return Internal
}
