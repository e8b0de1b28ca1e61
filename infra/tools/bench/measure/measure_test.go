package measure

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// calls are counters with so many calls of each operation.
func calls(scans, updates, gets float64) Counters {
	c := NewCounters()

	c.Dynamo["Scan"], c.Dynamo["UpdateItem"] = scans, updates
	if gets > 0 {
		c.Dynamo["GetItem"] = gets
	}

	return c
}

func TestWriteAlignsColumns(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	err := Write(&out, []Row{
		{
			Name:     "a tick",
			Time:     "1.5µs",
			CPU:      "12ms",
			Allocs:   "1,234",
			Calls:    "3",
			Compared: "× 2",
			Target:   "≤ 1s",
			Met:      true,
			Details:  "2 GetItem",
		},
		{Name: "another", Time: "900ms", Target: "≥ 10 µs"},
		{Name: "a third", Compared: "no target"},
	})
	if err != nil {
		t.Fatal(err)
	}

	want := `
          TIME  OWN CPU  ALLOCS  I/O CALLS  BESIDE     TARGET
a tick   1.5µs     12ms   1,234          3  × 2        ≤ 1s     ok
    2 GetItem
another  900ms                                         ≥ 10 µs  MISS
a third                                     no target
`
	if diff := cmp.Diff(want, "\n"+out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()

	for got, want := range map[string]string{
		Short(0):                                   "0s",
		Short(1234567 * time.Nanosecond):           "1.23ms",
		Short(999999 * time.Microsecond):           "1s",
		Short(2500 * time.Millisecond):             "2.5s",
		Grouped(0):                                 "0",
		Grouped(999):                               "999",
		Grouped(1.236):                             "1.24",
		Grouped(100_000):                           "100,000",
		Grouped(1234567.8):                         "1,234,568",
		Counted(1, "match"):                        "1 match",
		Counted(1000, "match"):                     "1,000 matches",
		Counted(0, "listener"):                     "0 listeners",
		Rate(1000, 2*time.Second):                  "500/s",
		calls(1, 51, 0).String():                   "51 UpdateItem + 1 Scan",
		Grouped(calls(2, 4, 1).Per(2).Sum()):       "3.5",
		Grouped(calls(2, 4, 1).Sum("Scan", "Get")): "2",
		Capacity{1000, 2.5}.String():               "1,000 read units, 2.5 write units",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMedianUsage(t *testing.T) {
	t.Parallel()

	got := MedianUsage([]Usage{{Wall: 3, CPU: 1, Allocs: 5}, {Wall: 1, CPU: 9, Allocs: 7}, {Wall: 2, CPU: 4, Allocs: 6}})
	if diff := cmp.Diff(Usage{Wall: 2, CPU: 4, Allocs: 6, Fastest: 1}, got); diff != "" {
		t.Errorf("median (-want +got):\n%s", diff)
	}
}

// TestServeAPNs: the push service answers orders until there are no more.
func TestServeAPNs(t *testing.T) {
	t.Parallel()

	orders, in := io.Pipe()
	out, reports := io.Pipe()

	done := make(chan error, 1)
	go func() { done <- ServeAPNs(orders, reports) }()

	_, der, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}

	if err := json.NewEncoder(in).Encode(order{Key: der}); err != nil {
		t.Fatal(err)
	}

	var got report
	if err := json.NewDecoder(out).Decode(&got); err != nil || !strings.HasPrefix(got.URL, "https://127.0.0.1:") || len(got.CA) == 0 {
		t.Errorf("got the report %+v, %v", got, err)
	}

	in.Close()

	if err := <-done; err != nil {
		t.Error(err)
	}
}
