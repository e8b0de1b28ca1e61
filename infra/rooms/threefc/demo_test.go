package threefc

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
)

// TestDemoWithoutLinks: a fleet that has mailed its visitor all the links of an hour starts.
func TestDemoWithoutLinks(t *testing.T) {
	t.Parallel()

	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	defer api.Close()

	v := &visit{Host: &Host{fleet.Host{Fleet: &fleet.Fleet{URL: api.URL}}}}
	said := 0

	demo, err := v.demo(rooms.Options{Say: func(string, ...any) { said++ }})
	if err == nil {
		err = demo.Prepare(t.Context())
	}

	if err != nil || said != 1 {
		t.Errorf("got %v, and %d lines, want one", err, said)
	}
}
