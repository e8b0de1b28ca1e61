package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"matchday/infra/rooms"
	"matchday/infra/sim/account"
	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/infra/tools/bench/measure"
	"matchday/infra/tools/binaries"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

const (
	requests   = 400 // of each kind, with the first warmUp, which are not counted
	warmUp     = 50
	coldStarts = 21

	coldTimes    = 2                    // target of a cold start: so many times hello's
	coldMargin   = 5 * time.Millisecond // and so much more
	binaryTarget = 12_000_000           // bytes, for arm64
)

// requestCost is an HTTP request by the gateway to a warm function and back.
type requestCost struct {
	name string
	p50  time.Duration
}

// functionCost is one binary: the median time from its start to its first poll
// of the Runtime API, and its size for arm64.
type functionCost struct {
	name  string
	cold  time.Duration
	bytes int64 // 0 if it was not built
}

// hello is the smallest function, which the others are compared with.
const hello = "hello"

// arm64 is the folder of binaries for the cloud.
const arm64 = "arm64"

// build builds hello and the binaries of the rooms: for this machine into bin and
// bin/<room>, and for arm64 into bin/arm64 and bin/arm64/<room>.
func build(ctx context.Context, bin string, known []rooms.Room) error {
	for folder, env := range map[string][]string{bin: nil, filepath.Join(bin, arm64): {"GOOS=linux", "GOARCH=arm64"}} {
		if err := binaries.Build(ctx, ".", folder, env, "./infra/tools/bench/hello"); err != nil {
			return err
		}

		for _, room := range known {
			var packages []string
			for _, f := range room.Bench.Binaries {
				packages = append(packages, "./functions/"+f.Name)
			}

			if len(packages) == 0 {
				continue
			}

			if err := binaries.Build(ctx, ".", filepath.Join(folder, room.Spec.Name), env, packages...); err != nil {
				return err
			}
		}
	}

	return nil
}

// benchFunctions measures the binaries in bin.
func benchFunctions(ctx context.Context, bin string, known []rooms.Room) (warm []requestCost, cold []functionCost, err error) {
	c := clock.New(time.Now(), clock.Free)
	defer c.Stop()

	c.Work() // so that it stands still

	var last lambda.Invocation

	run, err := lambda.New(c, lambda.Config{Region: account.Region, Observe: func(i lambda.Invocation) { last = i }})
	if err != nil {
		return nil, nil, err
	}
	defer run.Close()

	functions := []app.Function{{Function: spec.Function{Name: hello}}}
	run.Add(lambda.Function{Name: hello, Path: filepath.Join(bin, hello)})
	kinds := []measure.Request{{Name: hello, Path: "/" + hello, Status: http.StatusOK}}
	mux := http.NewServeMux()

	serve := func(prefix string, routes []apigateway.Route) error {
		api, err := apigateway.New(apigateway.Config{Clock: c, Invoke: run.Invoke, Routes: routes})
		if err == nil {
			mux.Handle(prefix+"/", http.StripPrefix(prefix, api))
		}

		return err
	}
	if err := serve("", []apigateway.Route{{
		Method:   http.MethodGet,
		Path:     "/" + hello,
		Function: hello,
		Auth:     apigateway.Public,
	}}); err != nil {
		return nil, nil, err
	}

	for _, room := range known {
		if room.Bench.Prepare == nil {
			continue
		}

		p, err := room.Bench.Prepare(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("prepare %s: %w", room.Spec.Name, err)
		}
		defer p.Close()

		var routes []apigateway.Route

		for _, f := range room.Bench.Binaries {
			functions = append(functions, f)
			run.Add(lambda.Function{Name: f.Name, Path: filepath.Join(bin, f.Name), Env: p.World.Process(), Timeout: f.Timeout, Memory: f.Memory})

			if on, ok := f.On.(spec.Route); ok && on.Auth == spec.Public {
				routes = append(routes, apigateway.Route{Method: on.Method, Path: on.Path, Function: f.Name, Auth: apigateway.Public})
			}
		}

		prefix := "/" + room.Spec.Name
		if err := serve(prefix, routes); err != nil {
			return nil, nil, err
		}

		for _, r := range p.Requests {
			r.Path = prefix + r.Path
			kinds = append(kinds, r)
		}
	}

	measure.Say("cold starts")

	inits := map[string][]time.Duration{}

	for range coldStarts {
		for _, f := range functions {
			run.Kill(f.Name)
			// The event does not matter: the function reads it after its start.
			if _, err := run.Invoke(ctx, f.Name, []byte("{}")); !last.Cold || last.Start.IsZero() {
				return nil, nil, fmt.Errorf("start %s: %w", f.Name, err)
			}

			inits[f.Name] = append(inits[f.Name], last.Init)
		}
	}

	for _, f := range functions {
		cost := functionCost{name: f.Name, cold: measure.Median(inits[f.Name])}
		if file, err := os.Stat(filepath.Join(bin, arm64, f.Name)); err == nil {
			cost.bytes = file.Size()
		}

		cold = append(cold, cost)
	}

	measure.Say("requests to warm functions")

	server := httptest.NewServer(mux)
	defer server.Close()

	took := make([][]time.Duration, len(kinds))
	for range requests {
		for i, k := range kinds {
			began := time.Now()

			status, err := get(ctx, server.URL+k.Path)
			if err != nil {
				return nil, nil, err
			}

			if status != k.Status {
				return nil, nil, fmt.Errorf("%s: got status %d, want %d", k.Name, status, k.Status)
			}

			took[i] = append(took[i], time.Since(began))
		}
	}

	for i, k := range kinds {
		warm = append(warm, requestCost{k.Name, measure.Median(took[i][warmUp:])})
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

// functionRows are the rows of the functions, hello first.
func functionRows(warm []requestCost, cold []functionCost) (rows []measure.Row) {
	for i, w := range warm {
		r := measure.Row{Name: "HTTP request, " + w.name, Time: measure.Short(w.p50)}
		if i > 0 {
			r.Compared = fmt.Sprintf("× %.2f %s", measure.Share(w.p50, warm[0].p50), warm[0].name)
		}

		rows = append(rows, r)
	}

	for i, c := range cold {
		r := measure.Row{Name: "cold start, " + c.name, Time: measure.Short(c.cold)}
		if i > 0 {
			limit := coldTimes*cold[0].cold + coldMargin
			r.Compared = fmt.Sprintf("× %.2f %s", measure.Share(c.cold, cold[0].cold), cold[0].name)
			r.Target, r.Met = "≤ "+measure.Short(limit), c.cold <= limit
		}

		rows = append(rows, r)
	}

	for i, c := range cold {
		r := measure.Row{Name: "binary for arm64, " + c.name, Compared: fmt.Sprintf("%.1f MB", float64(c.bytes)/1e6)}
		if i > 0 {
			r.Compared += fmt.Sprintf(", × %.2f %s", float64(c.bytes)/float64(max(cold[0].bytes, 1)), cold[0].name)
			r.Target, r.Met = fmt.Sprintf("≤ %d MB", binaryTarget/1_000_000), c.bytes > 0 && c.bytes <= binaryTarget
		}

		rows = append(rows, r)
	}

	return rows
}
