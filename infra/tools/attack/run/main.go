// Command run attacks local fleets of its own with random changes of the sample
// requests, one fleet after the other until the time is over. It prints what it found,
// each with a request that can be repeated, and exits with 1 if there is something.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"matchday/infra/tools/attack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bin := flag.String("bin", ".local/bin", "the folder of the binaries")
	seconds := flag.Uint64("seconds", 60, "after which no further round begins")
	seed := flag.Uint64("seed", 1, "of the first round; each round adds 1")
	flag.Parse()
	found, err := run(ctx, *bin, *seconds, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if found {
		os.Exit(1)
	}
}

// changes is how many changes are made to one request, at most.
const changes = 3

func run(ctx context.Context, bin string, seconds, seed uint64) (found bool, err error) {
	began := time.Now()
	end := began.Add(time.Duration(seconds) * time.Second)
	known := map[string]bool{}
	for round := seed; round == seed || time.Now().Before(end) && ctx.Err() == nil; round++ {
		fmt.Printf("%6.0f s  round with SEED=%d\n", time.Since(began).Seconds(), round)
		f := attack.Fleet{Root: ".", Bin: bin}
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
			return len(known) > 0, err
		}
	}
	fmt.Printf("%d findings\n", len(known))
	return len(known) > 0, nil
}
