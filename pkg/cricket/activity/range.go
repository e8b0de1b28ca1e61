package activity

import (
	"fmt"
	"math"
	"unicode/utf8"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// IDRange is a range of ids in string order: those greater than From and at most
// Until. An empty bound is no bound.
type IDRange struct {
	From  string `json:"from,omitempty" dynamodbav:"from,omitempty"`
	Until string `json:"until,omitempty" dynamodbav:"until,omitempty"`
}

// contains reports whether the range contains an id, which must not be empty.
func (r IDRange) contains(id string) bool { return id > r.From && (r.Until == "" || id <= r.Until) }

// Query returns the query for the range in a partition of a's table, whose sort key
// is the id.
func (r IDRange) Query(a spec.Access, partition string) dynamo.Range {
	q := dynamo.Range{Key: dynamo.KeyIs(a, partition)}
	if r.Until != "" {
		q.Key = dynamo.KeyAtMost(a, partition, r.Until)
	}

	if r.From != "" {
		q.After = dynamo.Key(a, partition, r.From)
	}

	return q
}

// Split divides the rest of the range into at most n parts of about size ids. seen
// are the first ids of the range, in order; the rest is what follows them. top is the
// greatest id. The sizes are estimates: Split treats ids as hexadecimal numbers, and
// assumes that those up to top are as dense as those seen. For any ids the parts are
// disjoint and together contain the rest.
func (r IDRange) Split(seen []string, top string, size, n int) []IDRange {
	first, last := seen[0], seen[len(seen)-1]
	if top <= last || !r.contains(top) {
		return []IDRange{{last, r.Until}}
	}

	prefix := sharedPrefix(first, top)

	from, to := position(last[len(prefix):]), position(top[len(prefix):])
	if width := from - position(first[len(prefix):]); width > 0 {
		left := float64(len(seen)) * float64(to-from) / float64(width)
		n = int(min(float64(n), max(1, math.Ceil(left/float64(size)))))
	}

	var parts []IDRange

	for i := 1; i < n; i++ {
		cut := prefix + fmt.Sprintf("%0*x", positionDigits, from+(to-from)*uint64(i)/uint64(n))
		if cut > last && cut < top {
			parts = append(parts, IDRange{last, cut})
			last = cut
		}
	}

	return append(parts, IDRange{last, r.Until})
}

// sharedPrefix returns the longest common prefix of two strings. It does not divide
// a character.
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

// positionDigits is the number of hexadecimal digits of a position. A uint64 then
// has room for a position multiplied by the number of parts.
const positionDigits = 12

// position maps an id to a number from 0 to 16^positionDigits-1, by its first
// hexadecimal digits. It is monotonic: a <= b implies position(a) <= position(b).
func position(id string) (n uint64) {
	for i := range positionDigits {
		var c byte
		if i < len(id) {
			c = id[i]
		}

		rest := 4 * (positionDigits - i)

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
