package activity

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// IDRange is the ids after From, up to Until and with it, in the order of
// strings. An empty bound is none.
type IDRange struct {
	From  string `json:"from,omitempty" dynamodbav:"from,omitempty"`
	Until string `json:"until,omitempty" dynamodbav:"until,omitempty"`
}

// holds reports whether the range has an id, which is not empty.
func (r IDRange) holds(id string) bool { return id > r.From && (r.Until == "" || id <= r.Until) }

// Query reads the range of a partition of a's table, whose sort key is the id.
func (r IDRange) Query(a spec.Access, partition string) dynamo.Range {
	key := a.Table.Key
	q := dynamo.Range{Key: expression.Key(key.Partition).Equal(expression.Value(partition))}
	if r.Until != "" {
		q.Key = q.Key.And(expression.Key(key.Sort).LessThanEqual(expression.Value(r.Until)))
	}
	if r.From != "" {
		q.After = dynamo.Key(a, partition, r.From)
	}
	return q
}

// Split cuts what the range holds behind the ids seen, which are its first and
// in order, into at most n parts of about size ids. It takes the ids for hexadecimal
// numbers, as dense up to top, the greatest, as those seen. Whatever they are,
// the parts are disjoint and together hold all that is left.
func (r IDRange) Split(seen []string, top string, size, n int) []IDRange {
	first, last := seen[0], seen[len(seen)-1]
	if top <= last || !r.holds(top) {
		return []IDRange{{last, r.Until}}
	}
	same := sharedPrefix(first, top)
	from, to := place(last[len(same):]), place(top[len(same):])
	if width := from - place(first[len(same):]); width > 0 {
		left := float64(len(seen)) * float64(to-from) / float64(width)
		n = int(min(float64(n), max(1, math.Ceil(left/float64(size)))))
	}
	var parts []IDRange
	for i := 1; i < n; i++ {
		cut := same + fmt.Sprintf("%0*x", placeDigits, from+(to-from)*uint64(i)/uint64(n))
		if cut > last && cut < top {
			parts = append(parts, IDRange{last, cut})
			last = cut
		}
	}
	return append(parts, IDRange{last, r.Until})
}

// sharedPrefix is what two strings begin with, in whole characters.
func sharedPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// placeDigits leaves room in a uint64 to multiply a place by a number of parts.
const placeDigits = 12

// place is where an id stands among all, from 0 to 16^placeDigits-1, by its first
// hexadecimal digits. It never puts the greater of two strings before the lesser.
func place(id string) (n uint64) {
	for i := range placeDigits {
		var c byte
		if i < len(id) {
			c = id[i]
		}
		rest := 4 * (placeDigits - i)
		switch {
		case c < '0':
			return n << rest
		case c <= '9':
			n = n<<4 | uint64(c-'0')
		case c < 'a':
			return n<<rest | 0xa<<(rest-4) - 1
		case c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return n<<rest | 1<<rest - 1
		}
	}
	return n
}
