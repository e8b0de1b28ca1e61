package public

import (
	"testing"
	"time"

	"matchday/pkg/threefc/item"
)

// TestUnknownZoneAndTeam: what a page cannot name is shown as it is stored.
func TestUnknownZoneAndTeam(t *testing.T) {
	t.Parallel()

	if got := zone(item.Season{TimeZone: "Atlantis/Center"}); got != time.UTC {
		t.Errorf("the zone is %v, want UTC", got)
	}

	if got := zone(item.Season{TimeZone: "Europe/London"}).String(); got != "Europe/London" {
		t.Errorf("the zone is %s, want Europe/London", got)
	}

	v := view{goals: []item.Goal{{Third: 1, Conceding: "green", OwnGoal: true}}}
	v.row.V().Result = &item.Result{Drawn: []string{"red", "green"}}

	v.row.V().Teams, v.row.V().Scores = []item.Team{{TeamID: "red", Name: "Reds"}}, []item.Score{{TeamID: "red"}}
	if got, want := v.outcome(), "A draw between Reds and green: each conceded no goals and scored 0."; got != want {
		t.Errorf("the outcome is %q, want %q", got, want)
	}

	if got, want := v.thirds()[0].Goals[0].Against, show("green", "#808080"); got != want {
		t.Errorf("the team is %v, want %v", got, want)
	}
}

// TestIsolated: names that are written from right to left are isolated in texts.
func TestIsolated(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]string{
		"Red":    "Red",
		"الأحمر": "\u2068الأحمر\u2069",
		"אדום 3": "\u2068אדום 3\u2069",
		"Red ٣":  "\u2068Red ٣\u2069",
		"Red 3":  "Red 3",
		"🦊":      "🦊",
	} {
		if got := isolated(given); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
