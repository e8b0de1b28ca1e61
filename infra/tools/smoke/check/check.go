// Package check sends requests to a deployed API and prints one line for each
// answer that it checks. The smoke steps of every room are written with it.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Session is one run against the API of a room.
type Session struct {
	Base   string // URL of the API, without a slash at its end
	Token  string // JWT of a signed-in user; "" skips the checks that need one
	Client *http.Client
	Out    io.Writer // gets one line for each check

	Checked, Failed int // counted by Report
}

// Answer is the response to a request. Err is set when there was none.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
	Err    error
}

// maxBody is the largest part of a body that is read, in bytes.
const maxBody = 1 << 20

// Get sends a GET request for a path of the API. Headers are given as name,
// value, name, value.
func (s *Session) Get(ctx context.Context, path string, headers ...string) Answer {
	return s.Send(ctx, http.MethodGet, path, headers...)
}

// GetSigned sends a GET request with the session's token.
func (s *Session) GetSigned(ctx context.Context, path string) Answer {
	return s.Get(ctx, path, "Authorization", "Bearer "+s.Token)
}

// Send sends a request without a body. Headers are given as name, value, name,
// value.
func (s *Session) Send(ctx context.Context, method, path string, headers ...string) (a Answer) {
	r, err := http.NewRequestWithContext(ctx, method, s.Base+path, nil)
	if err != nil {
		return Answer{Err: err}
	}

	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}

	began := time.Now()

	res, err := s.Client.Do(r)
	if err != nil {
		return Answer{Err: err}
	}
	defer res.Body.Close()

	a = Answer{Status: res.StatusCode, Header: res.Header}
	a.Body, a.Err = io.ReadAll(io.LimitReader(res.Body, maxBody))
	a.Took = time.Since(began)

	return a
}

// Report prints the result of one check. wrong describes what is wrong with the
// answer, "" when nothing is. note is printed when the check passes.
func (s *Session) Report(name string, a Answer, wrong, note string) {
	s.Checked++
	verdict := "ok  "

	switch {
	case a.Err != nil:
		verdict, note = "FAIL", a.Err.Error()
	case wrong != "":
		verdict, note = "FAIL", fmt.Sprintf("%s: %.200s", wrong, bytes.TrimSpace(a.Body))
	}

	if verdict == "FAIL" {
		s.Failed++
	}

	line := fmt.Sprintf("%s  %-54s %3d  %4d ms  %s", verdict, name, a.Status, a.Took.Milliseconds(), note)
	fmt.Fprintln(s.Out, strings.TrimRight(line, " "))
}

// Expect returns "" when the answer has the status, otherwise what is wrong.
func (a Answer) Expect(status int) string {
	if a.Status != status {
		return fmt.Sprintf("want status %d", status)
	}

	return ""
}

// Decode decodes the JSON body of an answer with status 200 into v. It returns ""
// on success, otherwise what is wrong.
func (a Answer) Decode(v any) string {
	if wrong := a.Expect(http.StatusOK); wrong != "" || a.Err != nil {
		return wrong
	}

	if json.Unmarshal(a.Body, v) != nil {
		return "want a JSON body"
	}

	return ""
}

// ExpectNotFound returns "" when the answer is a problem document with status
// 404, otherwise what is wrong.
func (a Answer) ExpectNotFound() string {
	wrong := a.Expect(http.StatusNotFound)
	if wrong == "" && !strings.HasPrefix(a.Header.Get("Content-Type"), "application/problem+json") {
		wrong = "want a problem document"
	}

	return wrong
}
