package catalog_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// roundTrip answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRequestsGoToTheProvider: to the address of the setting, or else the provider's, within four
// seconds, which is less than two slots.
func TestRequestsGoToTheProvider(t *testing.T) {
	t.Parallel()

	for setting, want := range map[string]string{"": sportmonks.BaseURL, "https://provider.test/v2": "https://provider.test/v2"} {
		w := crickettest.New(t)
		w.Settings[tables.SportMonksURL] = setting
		w.Patience = 1
		env := w.Env(live.FinishMatchFunction())
		sent := 0
		begun := time.Now()
		env.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
			sent++

			if got := r.URL.String(); !strings.HasPrefix(got, want) {
				t.Errorf("setting %q: the request goes to %s, want %s", setting, r.URL.Host, want)
			}

			if at, ok := r.Context().Deadline(); !ok || at.Before(begun.Add(4*time.Second)) || at.After(time.Now().Add(4*time.Second)) {
				t.Errorf("setting %q: deadline %v, %t; want four seconds", setting, time.Until(at), ok)
			}

			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"data":[]}`)), ContentLength: -1}, nil
		})
		c, err := catalog.OpenProvider(w.NewContext(), env)
		testkit.Must(t, err)

		if _, err := c.Teams(w.NewContext()); err != nil || sent != 1 {
			t.Errorf("setting %q: %d requests, error %v; want one", setting, sent, err)
		}
	}
}

// TestProviderNeedsItsToken: a function without the secret does not open.
func TestProviderNeedsItsToken(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	delete(w.Settings, tables.SportMonksToken)

	if _, err := catalog.OpenProvider(w.NewContext(), w.Env(live.FinishMatchFunction())); err == nil ||
		!strings.Contains(err.Error(), tables.SportMonksToken) {
		t.Errorf("without the secret: error %v, want one that names it", err)
	}
}

// TestSharesCountOnAnyTransport: a function whose environment has no transport uses that of
// net/http, with and without shares.
func TestSharesCountOnAnyTransport(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":{"id":7}}`) }))
	t.Cleanup(server.Close)
	w.Settings[tables.SportMonksURL] = server.URL
	env := w.Env(live.FinishMatchFunction())

	env.HTTP = nil
	for name, shares := range map[string][]spec.Share{
		"none": nil,
		"one":  {{Budget: spec.Budget{Name: "fixtures", Max: 2, Per: time.Hour}, UpTo: 2}},
	} {
		c, err := catalog.OpenProvider(w.NewContext(), env, shares...)
		testkit.Must(t, err)

		if f, err := c.Fixture(w.NewContext(), "7"); err != nil || f.ID != 7 {
			t.Errorf("shares: %s: fixture %d, error %v; want 7", name, f.ID, err)
		}
	}
}
