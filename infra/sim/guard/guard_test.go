package guard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"matchday/infra/sim/guard"
)

// TestHandler refuses foreign hosts and origins. Only Pages lets links open a page.
func TestHandler(t *testing.T) {
	t.Parallel()

	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}

	frame := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	for _, c := range []struct {
		method, host string
		header       []string
		service      int
		pages        int // 0 for the same
	}{
		{"POST", "localhost:8080", nil, 200, 0},
		{"POST", "localhost", nil, 200, 0},
		{"POST", "LOCALHOST:8080", nil, 200, 0},
		{"POST", "127.0.0.1:8080", nil, 200, 0},
		{"POST", "[::1]:8080", nil, 200, 0},
		{"POST", "[::1]", nil, 200, 0},
		{"POST", "192.168.1.7:8080", nil, 200, 0},
		{"POST", "studio.local:8080", nil, 200, 0}, // configured
		{"POST", "evil.example:8080", nil, 403, 0},
		{"POST", "localhost.evil.example", nil, 403, 0},
		{"POST", "127.0.0.1.evil.example", nil, 403, 0},
		{"POST", "localhost.", nil, 403, 0},
		{"POST", "", nil, 403, 0},
		{"POST", "evil.example", []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin"}, 403, 0},
		{"GET", "evil.example", link, 403, 0},

		{"POST", "localhost:8080", []string{"Origin", "http://localhost:8080", "Sec-Fetch-Site", "same-origin"}, 200, 0},
		{"POST", "localhost:8080", []string{"Origin", "http://localhost:5173", "Sec-Fetch-Site", "same-site"}, 200, 0},
		{"POST", "localhost:8080", []string{"Origin", "http://127.0.0.1:5173", "Sec-Fetch-Site", "cross-site"}, 200, 0},
		{"POST", "192.168.1.7:8080", []string{"Origin", "http://192.168.1.7:8080"}, 200, 0},
		{"POST", "studio.local:8080", []string{"Origin", "http://studio.local:8080"}, 200, 0},
		{"POST", "localhost:8080", []string{"Origin", "http://192.168.1.7:8080"}, 403, 0},
		{"POST", "localhost:8080", []string{"Origin", "https://evil.example"}, 403, 0},
		{"POST", "localhost:8080", []string{"Origin", "null"}, 403, 0},
		{"POST", "localhost:8080", []string{"Origin", ""}, 403, 0},
		{"POST", "localhost:8080", []string{"Origin", "http://localhost:8080", "Origin", "http://evil.example"}, 403, 0},
		{"POST", "localhost:8080", []string{"Origin", "http://localhost@evil.example"}, 403, 0},

		{"GET", "localhost:8080", []string{"Sec-Fetch-Site", "none"}, 200, 0},
		{"GET", "localhost:8080", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403, 0},
		{"GET", "localhost:8080", frame, 403, 0},
		{"GET", "localhost:8080", link, 403, 200},
		{"POST", "localhost:8080", link, 403, 0},
		{"GET", "localhost:8080", append([]string{"Origin", "https://evil.example"}, link...), 403, 0},
	} {
		if c.pages == 0 {
			c.pages = c.service
		}

		for _, of := range []struct {
			handler http.Handler
			want    int
		}{{guard.Handler(ok, "studio.local"), c.service}, {guard.Pages(ok, "studio.local"), c.pages}} {
			r := httptest.NewRequest(c.method, "/", nil)

			r.Host = c.host
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Add(c.header[i], c.header[i+1])
			}

			w := httptest.NewRecorder()
			of.handler.ServeHTTP(w, r)

			if w.Code != of.want {
				t.Errorf("%s to %q with %q: got %d, want %d", c.method, c.host, c.header, w.Code, of.want)
			}
		}
	}
}
