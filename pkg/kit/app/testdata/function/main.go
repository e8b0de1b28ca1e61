// Command function is a function for tests. Its environment selects its kind, and each event
// what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

type service struct{ env app.Env }

func open(ctx context.Context, env app.Env) (service, error) {
	switch env.Setting("OPEN") {
	case "fail":
		return service{}, errors.New("there is no scorebook")
	case "panic":
		panic("the scorebook is torn")
	case "secret":
		_, err := env.Secret(ctx, "TOKEN")
		return service{}, err
	}
	return service{env}, nil
}

type ask struct {
	Do    string
	Until time.Time
}

type answer struct {
	Now   time.Time
	Stage string
}

func (s service) do(ctx context.Context, in ask) (answer, error) {
	slog.InfoContext(ctx, "asked", "do", in.Do)
	switch in.Do {
	case "fail":
		return answer{}, errors.New("rain")
	case "panic":
		panic("the pavilion burns")
	case "sleep":
		if err := s.env.Sleep(ctx, in.Until); err != nil {
			return answer{}, err
		}
	}
	return answer{s.env.Now(), s.env.Stage}, nil
}

func (s service) job(ctx context.Context) error {
	_, err := s.do(ctx, ask{Do: s.env.Setting("JOB")})
	return err
}

func (s service) message(ctx context.Context, in ask) error {
	_, err := s.do(ctx, in)
	return err
}

type get struct {
	ID string `path:"id"`
}

type page struct{ Body answer }

func (s service) get(ctx context.Context, in *get) (*page, error) {
	switch in.ID {
	case "0":
		return nil, problem.New(problem.NotFound, "", "no such over")
	case "many":
		return nil, problem.New(problem.Limited, "", "too many overs")
	}
	out, err := s.do(ctx, ask{Do: in.ID})
	return &page{out}, err
}

func main() {
	fn := spec.Function{Name: "test/keep-score", Does: "Keeps the score."}
	switch kind := os.Getenv("KIND"); kind {
	case "", "api":
		fn.On = spec.Route{Method: "GET", Path: "/overs/{id}", Auth: spec.Public}
		app.API(fn, open, service.get).Start()
	case "job":
		app.Job(fn, open, service.job).Start()
	case "task":
		app.Task(fn, open, service.do).Start()
	case "queue":
		fn.On = spec.Queue{Name: "overs"}
		app.Queue(fn, open, service.message).Start()
	default:
		panic(fmt.Sprintf("%q is no kind of function", kind))
	}
}
