// Command cost prints what the rooms of $ROOMS, by default all, cost in a month: from the calls that
// `make bench` counts or that the models of the rooms assume, the spec, and AWS's list
// prices. `make cost` starts it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matchday/infra/rooms"
	"matchday/infra/rooms/all"
	"matchday/infra/tools/cost/price"
	"matchday/infra/tools/cost/usage"
)

func main() {
	chosen, err := all.Choose(os.Getenv("ROOMS"))
	if err == nil {
		err = command(os.Stdout, chosen, filepath.Join(".local", "bench.json"))
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command prints the report of every room. It takes the counters from the file
// bench if that exists, otherwise those of the repository.
func command(out io.Writer, known []rooms.Room, bench string) error {
	counters, source, err := read(known, bench)
	if err != nil {
		return err
	}

	fixed, atRest, err := rest(known)
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "Dollars a month, %s, arm64, list prices of %s without free tiers.\n%s\n", price.Region, price.ListedOn, source)
	fmt.Fprintln(out)

	if err := atRest.Write(out); err != nil {
		return err
	}

	for _, room := range known {
		if room.Cost.Report == nil {
			continue
		}

		report, err := room.Cost.Report(usage.Input{Counters: counters[room.Spec.Name], Fixed: fixed, Prices: price.Listed()})
		if err != nil {
			return fmt.Errorf("%s: %w", room.Spec.Name, err)
		}

		fmt.Fprintln(out)

		if err := report.Write(out); err != nil {
			return err
		}
	}

	return nil
}

// rest returns what all rooms use in a month in which nothing happens, and the report of
// it by service.
func rest(known []rooms.Room) (all usage.Usage, r usage.Report, err error) {
	heading := []string{"", "alarms", "metrics", "dashboard", "secrets", "queues", "jobs", "TOTAL", "in use"}
	r = usage.Report{Title: "At rest.", Rows: [][]string{heading}}
	r.Notes = fmt.Sprintf(`queues     Lambda's polling of empty queues, also of dead letters that a function takes
jobs       schedules, idle state machines, their functions, logs and %g read units of DynamoDB a run; of a room with a database
           also its least capacity, its cache and the endpoint of the queues. Where a room's own table takes
           the units that its jobs do read, which are fewer, its column fixed is up to 3 cents less
metrics    none is emitted while nothing happens, and CloudWatch bills a metric by the hour
in use     what the custom metrics add at most, if each is emitted in every hour: those of the spec for each function
           or room, and those of the filters of logs
`, float64(usage.JobReads))
	p := price.Listed()
	r.Notes += fmt.Sprintf("cdn=true   adds %s for the firewall, its two rules and the key, and %s for a million requests that it "+
		"inspects, without CloudFront's own\n",
		usage.Dollars(p.WebACL+2*p.WebRule+p.Secret), usage.Dollars(1e6*p.WebRequest))
	add := func(name string, u usage.Usage, metrics float64) {
		row, total := []string{name}, u.Dollars(p)
		parts := []usage.Usage{
			{AlarmMetrics: u.AlarmMetrics},
			{CustomMetrics: u.CustomMetrics},
			{Dashboards: u.Dashboards},
			{Secrets: u.Secrets},
			{SQSRequests: u.SQSRequests},
		}

		others := total
		for _, part := range parts {
			row, others = append(row, usage.Dollars(part.Dollars(p))), others-part.Dollars(p)
		}

		r.Rows = append(r.Rows, append(row, usage.Dollars(max(others, 0)), usage.Dollars(total),
			usage.Dollars(metrics*p.CustomMetric)))
	}

	metrics := 0.0

	for _, room := range known {
		own, err := usage.Fixed(room.Spec, usage.JobReads)
		if err != nil {
			return all, r, fmt.Errorf("%s: %w", room.Spec.Name, err)
		}

		add(room.Spec.Name, own, usage.Metrics(room.Spec))
		all, metrics = all.Plus(own), metrics+usage.Metrics(room.Spec)
	}

	add("shared", usage.Shared(), 0)
	all = all.Plus(usage.Shared())
	add("all", all, metrics)

	return all, r, nil
}

// read returns the counters of each room and describes their source. The counters
// in the file bench replace members of those that the repository keeps. A room without
// counters assumes its calls. It returns an error if a file is not valid, or if bench lacks
// a room.
func read(known []rooms.Room, bench string) (counters map[string][]byte, source string, err error) {
	measured, info, err := readBench(bench)
	if err != nil {
		return nil, "", fmt.Errorf("the counters %s: %w", bench, err)
	}

	counters = map[string][]byte{}

	var dates, counted []string

	for _, room := range known {
		if room.Cost.Report == nil {
			continue
		}

		name := room.Spec.Name

		var kept map[string]json.RawMessage
		if err := json.Unmarshal(room.Cost.Kept, &kept); err != nil {
			return nil, "", fmt.Errorf("the counters of %s: %w", name, err)
		}

		if kept["measured"] != nil {
			dates, counted = append(dates, strings.Trim(string(kept["measured"]), `"`)), append(counted, name)
		}

		if info != nil {
			if _, ok := measured[name]; !ok {
				return nil, "", fmt.Errorf("the counters %s lack %s: run `make bench`", bench, name)
			}

			maps.Copy(kept, measured[name])
		}

		if counters[name], err = json.Marshal(kept); err != nil {
			return nil, "", err
		}
	}

	if len(counted) == 0 {
		return counters, assumed, nil
	}

	if info != nil {
		return counters, fmt.Sprintf("Calls of %s: %s, measured on %s, and infra/rooms/*/cost/counters.json for what it lacks.\n"+assumed,
			strings.Join(counted, ", "), bench, info.ModTime().UTC().Format(time.DateOnly)), nil
	}

	slices.Sort(dates)

	return counters, fmt.Sprintf("Calls of %s: infra/rooms/*/cost/counters.json, measured on %s; `make bench` measures anew.\n"+assumed,
		strings.Join(counted, ", "), strings.Join(slices.Compact(dates), ", ")), nil
}

// assumed describes the source of the calls that are not measured.
const assumed = "All other calls, and what users do, are assumed: see the notes of each table."

// readBench reads the counters of a benchmark, by room. info is nil if there is no
// such file.
func readBench(file string) (byRoom map[string]map[string]json.RawMessage, info fs.FileInfo, err error) {
	if info, err = os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}

	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}

	err = json.Unmarshal(text, &byRoom)

	return byRoom, info, err
}
