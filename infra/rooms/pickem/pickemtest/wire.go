package pickemtest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"matchday/pkg/kit/app"
)

// observer observes the calls of one invocation. Before call number at, from 1, it runs
// meanwhile, and the other calls wait.
type observer struct {
	aws.HTTPClient
	at        int
	meanwhile func()
	wrote     func(Write)
	now       func() time.Time

	mu    sync.Mutex
	Calls int
}

// Write is a write that DynamoDB accepted. It may have been delayed since Sent.
type Write struct {
	Operation string
	Ranking   bool // whether it is a write of a ranking
	Sent      time.Time
}

// Observe returns the environment of fn with an observer.
func (w *Room) Observe(fn app.Function, at int, meanwhile func(), wrote func(Write)) (app.Env, *observer) {
	env := w.Env(fn)
	to := &observer{HTTPClient: env.AWS.HTTPClient, at: at, meanwhile: meanwhile, wrote: wrote, now: w.Clock.Now}
	env.AWS.HTTPClient = to

	return env, to
}

func (w *observer) Do(r *http.Request) (*http.Response, error) {
	sent := w.now()
	w.mu.Lock()
	if w.Calls++; w.Calls == w.at {
		w.meanwhile()
	}
	w.mu.Unlock()

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}

	r.Body = io.NopCloser(bytes.NewReader(body))
	out, err := w.HTTPClient.Do(r)
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")

	read := operation == "GetItem" || operation == "Query" || service == "AmazonSQS"
	if err == nil && out.StatusCode == http.StatusOK && !read {
		w.mu.Lock()
		defer w.mu.Unlock()

		w.wrote(Write{operation, bytes.Contains(body, []byte(`"RANKING#`)), sent})
	}

	return out, err
}
