package stage

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/spec"
)

// Warm is the throughput that a table serves at once: units per second. DynamoDB bills it when it
// is raised, and never lowers it.
type Warm struct{ Reads, Writes int }

// defaultWarm is what every on-demand table serves at once, without a charge. CloudFormation
// refuses less.
var defaultWarm = Warm{12_000, 4_000}

var warmTable = regexp.MustCompile(`^([A-Za-z0-9._{}-]+):([0-9]{1,7})/([0-9]{1,7})$`)

// readWarm reads the setting warm=table:reads/writes, separated by commas. A value must be at
// least the default, and at most what the stage lets a table use.
func (s Stage) readWarm(rooms []spec.Room, text string) (map[string]Warm, error) {
	if text == "" {
		return nil, nil
	}

	all := map[string]Warm{}

	for part := range strings.SplitSeq(text, ",") {
		m := warmTable.FindStringSubmatch(part)
		if m == nil {
			return nil, fmt.Errorf("invalid warm=%q: must be like some-table:24000/4000, the reads and writes per second of a table, "+
				"separated by commas", text)
		}

		if !slices.ContainsFunc(rooms, func(r spec.Room) bool {
			return slices.ContainsFunc(r.Tables(), func(t spec.Table) bool { return t.Name == m[1] })
		}) {
			return nil, fmt.Errorf("invalid warm=%q: no room has the table %s", text, m[1])
		}

		reads, _ := strconv.Atoi(m[2]) // at most 7 digits
		writes, _ := strconv.Atoi(m[3])

		for _, v := range []struct {
			key         string
			n, low, top int
		}{{"reads", reads, defaultWarm.Reads, s.Reads}, {"writes", writes, defaultWarm.Writes, s.Writes}} {
			if v.n < v.low || v.n > max(v.low, v.top) {
				return nil, fmt.Errorf("invalid warm=%q: the %s of %s must be from %d, which every table has, to %s=%d, which it may use", text,
					v.key, m[1], v.low, v.key, v.top)
			}
		}

		all[m[1]] = Warm{reads, writes}
	}

	return all, nil
}
