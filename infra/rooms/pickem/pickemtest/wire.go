package pickemtest

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// wire sees the calls of one invocation. Before the one at a place, from 1,
// something else happens, while the others wait.
type wire struct {
	aws.HTTPClient
	at        int
	meanwhile func()
	wrote     func(Write)
	now       func() time.Time

	mu    sync.Mutex
	Calls int
}

// Write is one that has come to the tables. Its sender may have waited since it
// was sent, and could not know what time it would be.
type Write struct {
	Operation string
	Sent      time.Time
}

// Wired is fn's environment with its calls seen.
func (w *Room) Wired(fn spec.Function, at int, meanwhile func(), wrote func(Write)) (app.Env, *wire) {
	env := w.Env(fn)
	to := &wire{HTTPClient: env.AWS.HTTPClient, at: at, meanwhile: meanwhile, wrote: wrote, now: w.Clock.Now}
	env.AWS.HTTPClient = to
	return env, to
}

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	sent := w.now()
	w.mu.Lock()
	if w.Calls++; w.Calls == w.at {
		w.meanwhile()
	}
	w.mu.Unlock()
	out, err := w.HTTPClient.Do(r)
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	read := operation == "GetItem" || operation == "Query" || service == "AmazonSQS"
	if err == nil && out.StatusCode == http.StatusOK && !read {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wrote(Write{operation, sent})
	}
	return out, err
}
