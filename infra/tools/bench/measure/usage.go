// Package measure is what the benchmarks of the rooms share: how to measure, a
// fleet in one process whose calls are counted, and the rows of the table.
package measure

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Usage is what something cost this process.
type Usage struct {
	Wall, CPU time.Duration
	Allocs    uint64
	Wire      uint64        // bytes on the loopback interface, TCP's headers included; 0 where that is unknown
	Fastest   time.Duration // wall time of the fastest run, if this is a median
}

// Minus returns the difference of two usages.
func (u Usage) Minus(v Usage) Usage {
	return Usage{Wall: u.Wall - v.Wall, CPU: u.CPU - v.CPU, Allocs: u.Allocs - v.Allocs}
}

// Per returns the usage of one of n.
func (u Usage) Per(n int) Usage {
	return Usage{Wall: u.Wall / time.Duration(n), CPU: u.CPU / time.Duration(n), Allocs: u.Allocs / uint64(n)}
}

// MedianUsage returns the medians of wall time, CPU time, allocations and bytes, each
// taken separately.
func MedianUsage(runs []Usage) Usage {
	var (
		wall, cpu    []time.Duration
		allocs, wire []uint64
	)
	for _, u := range runs {
		wall, cpu, allocs, wire = append(wall, u.Wall), append(cpu, u.CPU), append(allocs, u.Allocs), append(wire, u.Wire)
	}

	return Usage{Wall: Median(wall), CPU: Median(cpu), Allocs: Median(allocs), Wire: Median(wire), Fastest: slices.Min(wall)}
}

// Median returns the median of values, of an even number the upper one.
func Median[N cmp.Ordered](values []N) N {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// Share returns part/whole.
func Share(part, whole time.Duration) float64 { return float64(part) / float64(max(whole, 1)) }

// Run measures one call of do: wall time, and meanwhile this process's CPU time and
// allocations, of all goroutines, and the machine's traffic with itself.
func Run(do func() error) (Usage, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	cpu, wire, began := cpuTime(), loopback(), time.Now()
	err := do()
	wall, spent := time.Since(began), cpuTime()-cpu
	sent := loopback() - wire

	runtime.ReadMemStats(&after)

	return Usage{Wall: wall, CPU: spent, Allocs: after.Mallocs - before.Mallocs, Wire: sent}, err
}

// cpuTime is the CPU time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}

	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// loopback returns how many bytes the loopback interface has carried, 0 where that is
// unknown.
func loopback() (bytes uint64) {
	text, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return 0
	}

	for line := range strings.Lines(string(text)) {
		if name, counters, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == "lo" {
			fmt.Sscan(counters, &bytes)
		}
	}

	return bytes
}

// Say prints what is being measured, to stderr.
func Say(format string, args ...any) { fmt.Fprintf(os.Stderr, "  "+format+"\n", args...) }
