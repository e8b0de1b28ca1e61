package spec

import (
	"fmt"
	"regexp"
	"strings"
)

var restored = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9{}-]*):([a-z0-9]{1,16})$`)

// ParseRestored reads a list of the tables that were restored under another name. It returns
// their names for TableIn, by their names in the spec: "cricket-fixtures:r1,pickem:r2"
// contains cricket-fixtures-r1 and pickem-r2. An empty list is valid. The error names the entry
// that is invalid, or the table that is listed twice.
func ParseRestored(list string) (map[string]string, error) {
	if list == "" {
		return nil, nil
	}

	names := map[string]string{}

	for entry := range strings.SplitSeq(list, ",") {
		part := restored.FindStringSubmatch(entry)
		if part == nil {
			return nil, fmt.Errorf("%q must be the name of a table, and what was appended to it: cricket-fixtures:r1", entry)
		}

		if names[part[1]] != "" {
			return nil, fmt.Errorf("the table %s is listed twice", part[1])
		}

		names[part[1]] = part[1] + "-" + part[2]
	}

	return names, nil
}
