package telemetry

import (
	"math/bits"
	"time"

	"matchday/pkg/spec"
)

// Histogram counts durations of up to two hours. It has a fixed size, and Add allocates nothing,
// so that each of many pushes can be counted. Durations below 16 ms are exact to the
// millisecond; others have an error of up to a sixteenth. The zero value is empty.
type Histogram struct {
	n      int
	counts [buckets]uint32
}

// A bucket is an eighth of a power of two, in ms. Values below 2*perOctave have a bucket
// each.
const (
	perOctave   = 8
	perOctaveLg = 3
	octaves     = 20
	buckets     = (octaves + 1) * perOctave
	longest     = (2*perOctave - 1) << (octaves - 1) // ms, in the last bucket
)

// perValue is how many durations one value of a sample represents. maxValues is the limit of
// CloudWatch's embedded metric format.
const (
	perValue  = 20
	maxValues = 100
)

// Add counts a duration. A negative one counts as 0.
func (h *Histogram) Add(d time.Duration) {
	ms := uint64(min(max(d.Milliseconds(), 0), longest))
	octave := max(bits.Len64(ms)-perOctaveLg-1, 0)
	h.counts[octave*perOctave+int(ms>>octave)]++
	h.n++
}

// Merge adds the durations of o.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}

	h.n += o.n
}

// Samples returns a sample of the durations, or none if there are none. It has one value for 20
// durations, at most 100 values, evenly distributed over the sorted durations.
func (h *Histogram) Samples(m spec.Metric) []Sample {
	if h.n == 0 {
		return nil
	}

	values := make([]float64, min((h.n+perValue-1)/perValue, maxValues))

	i, seen := 0, int(h.counts[0])
	for k := range values {
		for rank := (2*k + 1) * h.n / (2 * len(values)); seen <= rank; {
			i++
			seen += int(h.counts[i])
		}

		values[k] = middle(i)
	}

	return []Sample{{Metric: m, Values: values}}
}

// middle returns the middle of a bucket, in ms.
func middle(bucket int) float64 {
	octave := max(bucket/perOctave-1, 0)
	width := uint64(1) << octave

	return float64(uint64(bucket-octave*perOctave)*width) + float64(width-1)/2
}
