package public

import (
	"testing"
	"time"

	"matchday/pkg/threefc/item"
)

// TestNextSession: that of today until its games are over, then the next.
func TestNextSession(t *testing.T) {
	t.Parallel()

	all := []item.Session{{Date: "2026-06-13"}, {Date: "2026-05-30"}, {Date: "2026-06-06"}}
	today, tomorrow := []item.Listing{{StartTs: "2026-06-06T18:00:00Z"}}, []item.Listing{{StartTs: "2026-06-07T18:00:00Z"}}

	for name, c := range map[string]struct {
		over, left []item.Listing
		at         string
		want       string
	}{
		"before its first game":     {nil, today, "2026-06-06T09:00:00Z", "2026-06-06"},
		"without games yet":         {nil, nil, "2026-06-06T09:00:00Z", "2026-06-06"},
		"between two of its games":  {today, today, "2026-06-06T20:00:00Z", "2026-06-06"},
		"after its last game":       {today, nil, "2026-06-06T22:00:00Z", "2026-06-13"},
		"with a game tomorrow":      {today, tomorrow, "2026-06-06T22:00:00Z", "2026-06-13"},
		"after the last session":    {nil, nil, "2026-06-14T09:00:00Z", ""},
		"on a day between sessions": {today, nil, "2026-06-07T09:00:00Z", "2026-06-13"},
	} {
		now, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}

		got := ""
		if next := nextSession(all, now, c.over, c.left); next != nil {
			got = next.Machine
		}

		if got != c.want {
			t.Errorf("%s the next session is on %q, want %q", name, got, c.want)
		}
	}
}
