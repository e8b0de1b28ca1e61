package lambda

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// api serves the Lambda Runtime API, version 2018-06-01, and the fleet's own
// sleep, to each process under its id:
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (r *Runtime) api() http.Handler {
	mux := http.NewServeMux()
	handle := func(method, path string, h func(*process, http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(method+" /{process}"+path, func(w http.ResponseWriter, req *http.Request) {
			r.mu.Lock()
			p := r.processes[req.PathValue("process")]
			r.mu.Unlock()

			if p == nil {
				refuse(w, http.StatusForbidden, "InvalidProcess", "no such process")
				return
			}

			h(p, w, req)
		})
	}
	handle("GET", "/2018-06-01/runtime/invocation/next", (*process).next)
	handle("POST", "/2018-06-01/runtime/invocation/{id}/response", (*process).response)
	handle("POST", "/2018-06-01/runtime/invocation/{id}/error", (*process).invocationError)
	handle("POST", "/2018-06-01/runtime/init/error", (*process).initFailure)
	handle("POST", "/matchday/sleep", (*process).sleep)

	return mux
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"errorType": kind, "errorMessage": message})
}

func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `{"status":"OK"}`)
}

// next ends the previous invocation and waits for the next event.
func (p *process) next(w http.ResponseWriter, req *http.Request) {
	p.mu.Lock()
	if t := p.task; t != nil {
		if !t.answered {
			p.mu.Unlock()
			refuse(w, http.StatusForbidden, "InvalidStateTransition", "the invocation has not ended yet")

			return
		}

		p.task = nil

		close(t.done)
	}

	if !p.asked {
		p.asked = true
		close(p.ready)
	}
	p.mu.Unlock()

	var t *task
	select {
	case t = <-p.events:
	case <-req.Context().Done():
		return
	}

	deadline, ok := p.begin(t)
	if !ok {
		return
	}

	now := p.r.clock.Now()
	context, _ := json.Marshal(map[string]any{"custom": map[string]string{
		"matchday-now":   now.Format(time.RFC3339Nano),
		"matchday-speed": strconv.FormatFloat(p.r.clock.Speed(), 'g', -1, 64),
	}})

	var trace [12]byte
	rand.Read(trace[:])

	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", t.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:"+p.r.cfg.Region+":000000000000:function:"+slug(p.f.Name))
	h.Set("Lambda-Runtime-Trace-Id", fmt.Sprintf("Root=1-%08x-%x;Sampled=0", now.Unix(), trace))
	h.Set("Lambda-Runtime-Client-Context", string(context))
	w.Write(t.payload)
}

// response receives the answer of an invocation. aws-lambda-go reports in trailers that
// a streamed answer failed half-way.
func (p *process) response(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxResponse+1))

	t := task{out: body}
	switch {
	case err != nil:
		t.err = newError(Truncated, "the answer broke off")
	case len(body) > maxResponse:
		t.err = newError(ResponseTooLarge, fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", maxResponse))
	case req.Trailer.Get("Lambda-Runtime-Function-Error-Type") != "":
		detail, _ := base64.StdEncoding.DecodeString(req.Trailer.Get("Lambda-Runtime-Function-Error-Body"))
		t.err = parseError(detail, req.Trailer.Get("Lambda-Runtime-Function-Error-Type"))
	}

	switch {
	case !p.answer(req.PathValue("id"), t.out, t.err):
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no such invocation")
	case len(body) > maxResponse:
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", t.err.Message)
	default:
		accept(w)
	}
}

// invocationError receives the error of an invocation.
func (p *process) invocationError(w http.ResponseWriter, req *http.Request) {
	if !p.answer(req.PathValue("id"), nil, reported(req)) {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no such invocation")
		return
	}

	accept(w)
}

// initFailure receives the reason why the process cannot become ready.
func (p *process) initFailure(w http.ResponseWriter, req *http.Request) {
	e := reported(req)

	p.mu.Lock()
	p.initError = e
	p.mu.Unlock()
	accept(w)
}

func reported(req *http.Request) *Error {
	body, _ := io.ReadAll(io.LimitReader(req.Body, maxResponse))
	return parseError(body, req.Header.Get("Lambda-Runtime-Function-Error-Type"))
}

// answer records the result of the running invocation. Only the first call counts.
func (p *process) answer(id string, out []byte, err *Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	t := p.task
	if t == nil || t.id != id || t.answered {
		return false
	}

	t.answered, t.out, t.err = true, out, err

	return true
}

// sleep waits until an instant of simulated time for the running invocation.
func (p *process) sleep(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(req.Body, 64))

	until, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(body)))
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidInstant", "the body must be one instant in RFC 3339")
		return
	}

	p.mu.Lock()

	t := p.task
	if t == nil {
		p.mu.Unlock()
		refuse(w, http.StatusConflict, "InvalidStateTransition", "the process has no invocation that could sleep")

		return
	}

	t.sleeps.Add(1)
	defer t.sleeps.Done()
	p.mu.Unlock()

	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()

	select {
	case t.sleepTurn <- struct{}{}:
		defer func() { <-t.sleepTurn }()
	case <-ctx.Done():
		return
	}

	p.mu.Lock()
	if ctx.Err() != nil {
		p.mu.Unlock()
		return
	}

	t.asleep = true
	p.pause(t)
	p.mu.Unlock()
	err = p.r.clock.Sleep(ctx, until)
	p.mu.Lock()
	t.asleep = false

	deadline := time.Now()
	if p.task == t {
		deadline = p.resume(t)
	}
	p.mu.Unlock()

	if err != nil {
		return
	}

	w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(deadline.UnixMilli(), 10))
	io.WriteString(w, p.r.clock.Now().Format(time.RFC3339Nano))
}
