// Package guard keeps the web pages of other sites away from the services of this
// machine. A browser lets any page send requests to localhost. It names the page in the
// header Origin or Sec-Fetch-Site, and the name that the page used in the header Host.
package guard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Handler returns h for requests of programs and of pages of this machine. It answers
// 403 to the others:
//
//   - The Host is a name other than localhost and names. Its DNS entry could have been
//     changed to this machine after the page was loaded (DNS rebinding), and the browser
//     would treat the service as part of the page's site. An IP address needs no DNS.
//   - The Origin is neither the Host nor on this machine.
//   - There is no Origin, and Sec-Fetch-Site is cross-site: an image, a script, a form or
//     a link of another site.
func Handler(h http.Handler, names ...string) http.Handler { return handler(h, names, false) }

// Pages is Handler for a service with pages: links on other sites may open them.
func Pages(h http.Handler, names ...string) http.Handler { return handler(h, names, true) }

func handler(h http.Handler, names []string, links bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !numeric(name(r.Host)) && !loopback(name(r.Host)) && !slices.Contains(names, name(r.Host)):
			http.Error(w, "unknown host "+r.Host+": use localhost or an IP address", http.StatusForbidden)
		case foreign(r) && (!links || !opens(r)):
			http.Error(w, "this service does not answer pages of other sites", http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// name returns the name of a host with or without a port.
func name(host string) string {
	if n, _, err := net.SplitHostPort(host); err == nil {
		host = n
	}

	return strings.ToLower(strings.Trim(host, "[]"))
}

func numeric(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

func loopback(name string) bool {
	a, err := netip.ParseAddr(name)
	return err == nil && a.IsLoopback() || name == "localhost"
}

// foreign reports whether a page of another site sent r.
func foreign(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return r.Header.Get("Sec-Fetch-Site") == "cross-site"
	}

	u, err := url.Parse(origins[0])

	return err != nil || len(origins) > 1 || u.Host == "" || !strings.EqualFold(u.Host, r.Host) && !loopback(name(u.Host))
}

// opens reports whether r opens a page in a tab.
func opens(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Origin") == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}
