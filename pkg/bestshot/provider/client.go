package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxBody is the largest answer that is read, in bytes. A round has about 30 KB.
const maxBody = 4 << 20

// What requests accept.
const (
	jsonMedia  = "application/json"
	imageMedia = "image/*"
)

// longestWait bounds how long a provider that answers 429 is left alone because of its Retry-After.
const longestWait = time.Hour

// client asks a provider at a base URL.
type client struct {
	http *http.Client
	base string
	now  func() time.Time
	// The header with a secret key, and how it is read; nil for a provider without keys.
	keyHeader string
	key       func(ctx context.Context) (string, error)
}

func newClient(transport http.RoundTripper, base string, now func() time.Time) client {
	return client{
		http: &http.Client{Transport: transport, Timeout: 10 * time.Second},
		base: strings.TrimSuffix(base, "/"),
		now:  now,
	}
}

// withKey returns a client whose requests have a key in a header. It does not follow redirections, which
// would take the key elsewhere.
func (c client) withKey(header string, key func(context.Context) (string, error)) client {
	c.keyHeader, c.key = header, key
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	return c
}

// do returns the status of an answer, and its body as far as limit. wait is what it says in
// Retry-After. Errors contain neither the body nor the query.
func (c client) do(ctx context.Context, path, media string, limit int) (status int, body []byte, wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, nil, 0, err
	}

	r.Header.Set("Accept", media)

	if c.key != nil {
		key, err := c.key(ctx)
		if err != nil {
			return 0, nil, 0, err
		}

		r.Header.Set(c.keyHeader, key)
	}

	out, err := c.http.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}

	if err != nil {
		return 0, nil, 0, fmt.Errorf("provider: %s: %w", shown(path), err)
	}
	defer out.Body.Close()

	body, err = io.ReadAll(io.LimitReader(out.Body, int64(limit)+1))
	if out.StatusCode != http.StatusOK {
		err = nil // the status says more
	}

	switch {
	case err != nil:
		return 0, nil, 0, fmt.Errorf("provider: %s: %w", shown(path), err)
	case len(body) > limit && out.StatusCode == http.StatusOK:
		return 0, nil, 0, fmt.Errorf("provider: %s answers with more than %d bytes", shown(path), limit)
	}

	seconds, _ := strconv.Atoi(out.Header.Get("Retry-After"))

	return out.StatusCode, body, time.Duration(min(max(seconds, 0), int(longestWait/time.Second))) * time.Second, nil
}

// shown is the part of a path that errors have.
func shown(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}

// fetch returns the body of an answer. Errors: ErrAbsent, LimitedError, and those of do.
func (c client) fetch(ctx context.Context, path, media string, limit int) ([]byte, error) {
	status, body, wait, err := c.do(ctx, path, media, limit)
	if err != nil {
		return nil, err
	}

	return body, c.check(path, status, wait)
}

// check returns the error that a status means. Errors: ErrAbsent, LimitedError.
func (c client) check(path string, status int, wait time.Duration) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return fmt.Errorf("provider: %s: %w", shown(path), ErrAbsent)
	case http.StatusTooManyRequests:
		until := c.now().Add(wait)
		if wait == 0 {
			until = nextMinute(c.now())
		}

		return fmt.Errorf("provider: %s answers %d: %w", shown(path), status, &LimitedError{until})
	}

	return fmt.Errorf("provider: %s answers %d", shown(path), status)
}

func nextMinute(now time.Time) time.Time { return now.Truncate(time.Minute).Add(time.Minute) }

// decode decodes an answer.
func decode(path string, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("provider: %s answers with other JSON than expected: %w", shown(path), err)
	}

	return nil
}
