package lambda

import (
	"encoding/json"
	"fmt"
)

// The types of errors that the runtime itself returns. Types and messages are those of
// AWS.
const (
	ExitError        = "Runtime.ExitError"             // the process ended
	TimedOut         = "Sandbox.Timedout"              // it was killed at its timeout
	ResponseTooLarge = "Function.ResponseSizeTooLarge" // over 6 MB
	Truncated        = "Runtime.TruncatedResponse"     // the answer broke off
	BadEntrypoint    = "Runtime.InvalidEntrypoint"     // the binary does not start
	TooManyRequests  = "TooManyRequestsException"      // throttled
	ResourceNotFound = "ResourceNotFoundException"     // no such function
	RequestTooLarge  = "RequestTooLargeException"      // over 6 MB
)

// Error is a failed invocation.
type Error struct {
	Type    string // one of the above, or the type that the function reported
	Message string
	Payload []byte // JSON {errorType, errorMessage, …} as the function or the runtime gave it; nil when there was no process
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// ErrorType is e.Type, for readers that do not import this package.
func (e *Error) ErrorType() string { return e.Type }

// failure returns the error of the invocation with this request id.
func failure(request, kind, format string, args ...any) *Error {
	return newError(kind, fmt.Sprintf("RequestId: %s Error: ", request)+fmt.Sprintf(format, args...))
}

func newError(kind, message string) *Error {
	payload, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": message})
	return &Error{Type: kind, Message: message, Payload: payload}
}

// parseError decodes the error object that a function reports. If body is not an error
// object, the type of the error is kind.
func parseError(body []byte, kind string) *Error {
	var e struct {
		Type    *string `json:"errorType"`
		Message string  `json:"errorMessage"`
	}
	if json.Unmarshal(body, &e) != nil || e.Type == nil {
		if kind == "" {
			kind = "Runtime.Unknown"
		}

		return newError(kind, "the function reported an error without a type")
	}

	return &Error{Type: *e.Type, Message: e.Message, Payload: body}
}

func errClosed() error {
	return &Error{Type: "ServiceException", Message: "the local Lambda runtime is closed"}
}
