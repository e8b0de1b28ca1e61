// Command cost prints what the fleet costs in a month: from the calls that
// `make bench` counts, the spec, the models of the rooms, and AWS's list prices.
// `make cost` starts it.
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
	if err := command(os.Stdout, all.Rooms(), filepath.Join(".local", "bench.json")); err != nil {
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
	fmt.Fprintf(out, "Dollars a month, %s, arm64, list prices of %s without free tiers.\nCalls: %s.\n", price.Region, price.ListedOn, source)
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
	r = usage.Report{Title: "At rest.", Rows: [][]string{{"", "alarms", "metrics", "dashboard", "secrets", "queues", "jobs", "TOTAL"}},
		Notes: "queues     Lambda's polling of empty queues\njobs       schedules, idle state machines, their functions, reads and logs\n"}
	p := price.Listed()
	r.Notes += fmt.Sprintf("cdn=true   adds %s for the firewall, its two rules and the key, and %s for a million requests that it inspects, without CloudFront's own\n",
		usage.Dollars(p.WebACL+2*p.WebRule+p.Secret), usage.Dollars(1e6*p.WebRequest))
	add := func(name string, u usage.Usage) {
		row, total := []string{name}, u.Dollars(p)
		parts := []usage.Usage{{AlarmMetrics: u.AlarmMetrics}, {CustomMetrics: u.CustomMetrics}, {Dashboards: u.Dashboards}, {Secrets: u.Secrets}, {SQSRequests: u.SQSRequests}}
		others := total
		for _, part := range parts {
			row, others = append(row, usage.Dollars(part.Dollars(p))), others-part.Dollars(p)
		}
		r.Rows = append(r.Rows, append(row, usage.Dollars(max(others, 0)), usage.Dollars(total)))
	}
	for _, room := range known {
		own, err := usage.Fixed(room.Spec, usage.JobReads)
		if err != nil {
			return all, r, fmt.Errorf("%s: %w", room.Spec.Name, err)
		}
		add(room.Spec.Name, own)
		all = all.Plus(own)
	}
	add("shared", usage.Shared())
	all = all.Plus(usage.Shared())
	add("all", all)
	return all, r, nil
}

// read returns the counters of each room and describes their source. The counters
// in the file bench replace members of those that the repository keeps. It returns
// an error if a file is not valid, or if bench lacks a room.
func read(known []rooms.Room, bench string) (counters map[string][]byte, source string, err error) {
	measured, info, err := readBench(bench)
	if err != nil {
		return nil, "", fmt.Errorf("the counters %s: %w", bench, err)
	}
	counters = map[string][]byte{}
	var dates []string
	for _, room := range known {
		if room.Cost.Report == nil {
			continue
		}
		name := room.Spec.Name
		var kept map[string]json.RawMessage
		if err := json.Unmarshal(room.Cost.Kept, &kept); err != nil {
			return nil, "", fmt.Errorf("the counters of %s: %w", name, err)
		}
		dates = append(dates, strings.Trim(string(kept["measured"]), `"`))
		if info != nil {
			if measured[name] == nil {
				return nil, "", fmt.Errorf("the counters %s lack %s: run `make bench`", bench, name)
			}
			maps.Copy(kept, measured[name])
		}
		if counters[name], err = json.Marshal(kept); err != nil {
			return nil, "", err
		}
	}
	if info != nil {
		return counters, fmt.Sprintf("%s, measured on %s", bench, info.ModTime().UTC().Format(time.DateOnly)), nil
	}
	slices.Sort(dates)
	return counters, fmt.Sprintf("infra/rooms/*/cost/counters.json, measured on %s; `make bench` measures anew", strings.Join(slices.Compact(dates), ", ")), nil
}

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
