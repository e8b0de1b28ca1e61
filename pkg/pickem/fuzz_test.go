package pickem_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
)

const samples = "../../events/pickem"

// newFuzzed returns a room with the events of the samples, on which an administrator who is a
// member can pick. Results need a locked event, and go to another room, in which it is.
func newFuzzed(t testing.TB) *pickemtest.Room {
	w, locked := withSamples(t), withSamples(t)
	locked.LockEvent("2026-06-06-clash-of-tides")
	put := locked.Routes[event.PutResultFunction().Name]
	w.Routes[event.PutResultFunction().Name] = func(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
		locked.T = w.T // of the present input
		return put(e)
	}

	return w
}

// withSamples returns a room with the events that the samples name.
func withSamples(t testing.TB) *pickemtest.Room {
	t.Helper()
	w := pickemtest.New(t)
	w.WithUserPool()
	w.AddMembers(testkit.Administrator)
	w.MustAdmin(event.CreateEventFunction(), "/admin/events",
		`{"name":"Harbour Havoc","date":"2026-06-20","slug":"harbour-havoc","startsAt":"2026-06-20T19:00:00Z"}`)

	for _, fn := range []app.Function{event.CreateEventFunction(), event.AddMatchFunction()} { // of clash-of-tides, with its match
		if out := askSample(w, fn); out.StatusCode != http.StatusCreated {
			t.Fatalf("the sample of %s: %d %s", fn.Name, out.StatusCode, out.Body)
		}
	}

	return w
}

// askSample sends the sample event of a route as an administrator.
func askSample(w *pickemtest.Room, fn app.Function) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	text, err := os.ReadFile(samples + "/" + strings.TrimPrefix(fn.Name, "pickem/") + ".json")
	testkit.Must(w.T, err)

	var e events.APIGatewayV2HTTPRequest
	testkit.Must(w.T, json.Unmarshal(text, &e))

	return w.Ask(fn, e.RawPath, testkit.Administrator, e.Body)
}

// TestFuzzedSamplesAreAccepted: what the fuzz tests change reaches the use cases.
func TestFuzzedSamplesAreAccepted(t *testing.T) {
	t.Parallel()

	w := newFuzzed(t)
	for _, fn := range []app.Function{
		event.CreateEventFunction(), event.AddMatchFunction(), event.UpdateMatchFunction(), event.OrderCardFunction(),
		event.PutPredictionsFunction(), event.UpdateEventFunction(), event.PutResultFunction(),
	} {
		if out := askSample(w, fn); out.StatusCode >= 300 {
			t.Errorf("the sample of %s: %d %s, want success", fn.Name, out.StatusCode, out.Body)
		}
	}
}

func FuzzBody(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzBodies(f, w.World, w.Routes, samples)
}

func FuzzQuery(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzQueries(f, w.World, w.Routes, samples)
}
