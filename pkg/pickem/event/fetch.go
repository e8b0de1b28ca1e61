package event

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"matchday/pkg/kit/problem"
)

// Bounds of a file that is read from the internet.
const (
	maxFile      = 1 << 20 // bytes
	fetchTimeout = 10 * time.Second
	maxRedirects = 3
)

// newFetcher returns a client that reads public files: it connects to port 443 of public addresses
// only, also after a redirect and whatever a name resolves to at that moment.
func newFetcher(transport http.RoundTripper) *http.Client {
	if transport == nil {
		dialer := &net.Dialer{Timeout: fetchTimeout, Control: checkAddress}
		transport = &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: fetchTimeout, DisableKeepAlives: true}
	}

	return &http.Client{
		Transport: transport, Timeout: fetchTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("there are too many redirects")
			}

			return checkURL(r.URL)
		},
	}
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" || u.Hostname() == "" || u.Port() != "" && u.Port() != "443":
		return errors.New("the address must be of a public page, with https:// and without a port")
	case u.User != nil:
		return errors.New("the address must not have a user name or a password")
	}

	return nil
}

// checkAddress refuses to connect to what is not on the public internet. It is called for each
// address that a name resolves to, before the connection is made.
func checkAddress(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Port() != 443 || !isPublic(at.Addr()) {
		return errors.New("the address is not on the public internet")
	}

	return nil
}

// reserved are the blocks of addresses that are not on the public internet, beside those that package
// netip knows: https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry. Those that contain an IPv4 address
// are refused, too.
var reserved = func() (all []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32",
		"2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		all = append(all, netip.MustParsePrefix(text))
	}

	return all
}()

// isPublic reports whether an address is on the public internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}

	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}

	return true
}

// errFile refuses a file that cannot be read.
var errFile = problem.New(problem.Unprocessable, "file_unreadable", "the file cannot be read").In("body.url")

// fetch reads a file of at most maxFile bytes. Errors and logs do not contain the address, which may
// have a secret in it.
func (s *Events) fetch(ctx context.Context, address string) ([]byte, error) {
	refused := func(why string, args ...any) error {
		return problem.New(problem.Unprocessable, errFile.Code, why, args...).In("body.url")
	}

	u, err := url.Parse(address)
	if err != nil {
		return nil, refused("the address cannot be read")
	}

	if err := checkURL(u); err != nil {
		return nil, refused("%s", err)
	}

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, refused("the address cannot be read")
	}

	out, err := s.files.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}

	if err != nil {
		return nil, refused("%s: %s", "the page does not answer", cause(err))
	}
	defer out.Body.Close()

	if out.StatusCode != http.StatusOK {
		return nil, refused("the page answers with the status %d", out.StatusCode)
	}

	text, err := io.ReadAll(io.LimitReader(out.Body, maxFile+1))

	switch {
	case err != nil:
		return nil, refused("the page ends before its end")
	case len(text) > maxFile:
		return nil, refused("the file is larger than %d bytes", maxFile)
	}

	return text, nil
}

// cause describes why a page does not answer, without addresses.
func cause(err error) string {
	var dial *net.OpError

	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it takes longer than %v", fetchTimeout)
	case errors.As(err, &dial):
		if dial.Op == "dial" && dial.Err != nil {
			return "no connection to a public address"
		}
	}

	return "no connection, or a redirect that is not allowed"
}
