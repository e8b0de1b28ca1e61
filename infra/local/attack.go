package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"matchday/infra/tools/attack"
)

// changes is how many changes are made to one request, at most.
const changes = 3

// errFound is the error of an attack that has found something.
var errFound = errors.New("the attack found wrong answers")

// attacked attacks local fleets of the rooms of $ROOMS with random changes of the sample requests, one fleet after the
// other, until $SECONDS have passed. It prints its findings, each with a request that can be
// repeated.
func attacked(ctx context.Context, root, program string) error {
	seconds, seed := uint64(60), uint64(1) // seed is that of the first round; each round adds 1
	for name, value := range map[string]*uint64{"SECONDS": &seconds, "SEED": &seed} {
		n, err := number(name)
		if err != nil {
			return err
		}

		if n != nil {
			*value = *n
		}
	}

	chosen, err := chosen()
	if err != nil {
		return err
	}

	began := time.Now()
	end := began.Add(time.Duration(seconds) * time.Second)
	known := map[string]bool{}

	for round := seed; round == seed || time.Now().Before(end) && ctx.Err() == nil; round++ {
		fmt.Printf("%6.0f s  round with SEED=%d\n", time.Since(began).Seconds(), round)

		f := attack.Fleet{Root: root, Program: program, Rooms: chosen}
		f.Progress = func(operation string) { fmt.Printf("%6.0f s  %s\n", time.Since(began).Seconds(), operation) }

		a, err := f.Run(ctx, attack.Config{Seed: round, Most: 60, Depth: changes})
		if a != nil {
			fmt.Print(a.Summary())

			for _, s := range a.Slow() {
				fmt.Println("  slow:", s)
			}

			for _, f := range a.Findings() {
				if key := f.Operation + f.Wrong; !known[key] {
					known[key] = true

					fmt.Printf("\n%s", f)
				}
			}
		}

		if err != nil {
			return err
		}
	}

	fmt.Printf("%d findings\n", len(known))

	if len(known) > 0 {
		return errFound
	}

	return nil
}
