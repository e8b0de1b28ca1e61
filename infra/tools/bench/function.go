package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/sim/lambda"
	"matchday/pkg/cricket"
	"matchday/pkg/spec"
)

const (
	requests   = 400 // of each kind, the first warmUp of them not counted
	warmUp     = 50
	coldStarts = 21
)

// requestCost is an HTTP request by the gateway to a warm function and back.
type requestCost struct {
	what string
	p50  time.Duration
}

// functionCost is one binary: the median time from its start to its first poll
// of the Runtime API, and its size for the cloud.
type functionCost struct {
	name  string
	cold  time.Duration
	bytes int64 // 0 when it was not built
}

// hello is the name of the function that the others are compared with.
const hello = "hello"

// benchFunctions runs the binaries in bin: the room's in a folder of its name,
// hello beside it, and those for the cloud in the folder arm64.
func benchFunctions(ctx context.Context, bin string) (warm []requestCost, cold []functionCost, err error) {
	w, err := newWorld(ctx, cricket.Room, time.Now())
	if err != nil {
		return nil, nil, err
	}
	defer w.close()
	matches, err := w.play(ctx, 1, played)
	if err != nil {
		return nil, nil, err
	}
	ticker, err := cricket.OpenTicker(ctx, w.env())
	if err != nil {
		return nil, nil, err
	}
	if _, err := w.tick(ctx, ticker); err != nil {
		return nil, nil, err
	}
	a, err := startApple() // for its key and its certificate
	if err != nil {
		return nil, nil, err
	}
	defer a.close()
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	settings, err := a.settings(dir)
	if err != nil {
		return nil, nil, err
	}
	env := []string{
		spec.EnvStage + "=" + spec.Local, spec.EnvPrefix + "=" + prefix, spec.EnvQueues + "=" + w.queues.URL(prefix),
		"AWS_ENDPOINT_URL_DYNAMODB=" + w.engine.URL, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"SPORTMONKS_TOKEN=" + providerToken,
	}
	for name, value := range settings {
		env = append(env, name+"="+value)
	}

	functions := []spec.Function{{Name: hello}, cricket.TickFunction, cricket.PushActivitiesFunction, cricket.GetMatchFunction}
	var last lambda.Invocation
	run, err := lambda.New(w.clock, lambda.Config{Region: dynamodb.Region, Observe: func(i lambda.Invocation) { last = i }})
	if err != nil {
		return nil, nil, err
	}
	defer run.Close()
	for _, f := range functions {
		run.Add(lambda.Function{Name: f.Name, Path: filepath.Join(bin, f.Name), Env: env, Timeout: f.Timeout, Memory: f.Memory})
	}

	say("cold starts")
	inits := map[string][]time.Duration{}
	for range coldStarts {
		for _, f := range functions {
			run.Kill(f.Name)
			// The event does not matter: what each makes of it comes after the start.
			if _, err := run.Invoke(ctx, f.Name, []byte("{}")); !last.Cold || last.Start.IsZero() {
				return nil, nil, fmt.Errorf("start %s: %w", f.Name, err)
			}
			inits[f.Name] = append(inits[f.Name], last.Init)
		}
	}
	for _, f := range functions {
		cost := functionCost{name: f.Name, cold: middle(inits[f.Name], itself)}
		if file, err := os.Stat(filepath.Join(bin, "arm64", filepath.Base(f.Name))); err == nil {
			cost.bytes = file.Size()
		}
		cold = append(cold, cost)
	}

	say("requests to warm functions")
	api, err := apigateway.New(apigateway.Config{Clock: w.clock, Invoke: run.Invoke, Routes: []apigateway.Route{
		{Method: "GET", Path: "/hello", Function: hello, Auth: apigateway.Public},
		{Method: "GET", Path: "/matches/{id}", Function: cricket.GetMatchFunction.Name, Auth: apigateway.Public},
	}})
	if err != nil {
		return nil, nil, err
	}
	server := httptest.NewServer(api)
	defer server.Close()
	kinds := []struct {
		what, path string
		status     int
	}{
		{hello, "/hello", http.StatusOK},
		{"get-match, refused: no I/O", "/matches/none", http.StatusUnprocessableEntity},
		{"get-match, a live T20", "/matches/" + strconv.FormatInt(matches[0].ID, 10), http.StatusOK},
	}
	took := make([][]time.Duration, len(kinds))
	for range requests {
		for i, k := range kinds {
			began := time.Now()
			status, err := get(ctx, server.URL+k.path)
			if err != nil {
				return nil, nil, err
			}
			if status != k.status {
				return nil, nil, fmt.Errorf("%s: answered %d, not %d", k.what, status, k.status)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i, k := range kinds {
		warm = append(warm, requestCost{k.what, middle(took[i][warmUp:], itself)})
	}
	return warm, cold, nil
}

func get(ctx context.Context, url string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer out.Body.Close()
	_, err = io.Copy(io.Discard, out.Body)
	return out.StatusCode, err
}
