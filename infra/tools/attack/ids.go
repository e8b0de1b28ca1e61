package attack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ids are the ids in the answers of a run, but for those that were known before: the fleet has not made
// them.
type ids struct{ seen, known map[string]bool }

func newIDs() ids { return ids{map[string]bool{}, map[string]bool{}} }

var (
	ulids = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	uuids = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
)

func idsIn(text string) []string {
	return append(ulids.FindAllString(text, -1), uuids.FindAllString(text, -1)...)
}

// know notes the ids of a text that an attacker has written, or that was stored before.
func (d ids) know(text string) {
	for _, id := range idsIn(text) {
		d.known[id] = true
	}
}

// see notes the ids of an answer.
func (d ids) see(text string) {
	for _, id := range idsIn(text) {
		d.seen[id] = true
	}
}

// made are the ids that the fleet has made.
func (d ids) made() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.seen)), func(id string) bool { return d.known[id] })
}

// timePrefix are the letters of a ULID that are the time.
const timePrefix = 10

// alike is how many letters two random parts may have in common at the beginning: fewer than 35 bits of
// ULIDs, and than 44 of UUIDs. That happens once in 10,000 runs with 2,000 ids.
const (
	alikeULID = 7
	alikeUUID = 11
	enough    = 100 // ids for a test of the frequencies of letters
	fewest    = 10  // of 32 letters, at each place of so many ids
)

// predictable returns why ids can be predicted from others: one sentence each.
func predictable(all []string) (wrong []string) {
	var short, long []string // the random parts

	for _, id := range all {
		if ulids.MatchString(id) {
			short = append(short, id[timePrefix:])
		} else {
			long = append(long, strings.ReplaceAll(id, "-", ""))
		}
	}

	for _, c := range []struct {
		parts []string
		alike int
	}{{short, alikeULID}, {long, alikeUUID}} {
		slices.Sort(c.parts)

		for i := 1; i < len(c.parts); i++ {
			if a, b := c.parts[i-1], c.parts[i]; a[:c.alike] == b[:c.alike] {
				wrong = append(wrong, fmt.Sprintf("ids with the same beginning of their random parts: %s and %s", a, b))
			}
		}
	}

	if len(short) < enough {
		return wrong
	}

	for at := range short[0] {
		counts := map[byte]int{}
		for _, part := range short {
			counts[part[at]]++
		}
		// Each of 32 letters in a 32nd of the ids, within seven standard deviations.
		if n := len(short); len(counts) < fewest || slices.Max(slices.Collect(maps.Values(counts)))*32 > n+7*32*isqrt(n/32) {
			wrong = append(wrong, fmt.Sprintf("letter %d of the random parts of %d ids is not random: %d letters", at, n, len(counts)))
		}
	}

	return wrong
}

// isqrt is the square root, rounded up.
func isqrt(n int) (root int) {
	for root*root < n {
		root++
	}

	return root
}
