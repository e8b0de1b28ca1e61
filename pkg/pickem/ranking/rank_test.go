package ranking_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
)

// TestRanksOfAMember: in events by totals, in years by places, and in an event whose ranking an
// earlier deployment has written by places, too. The totals of an event are kept for a minute; a year
// that has more places is found at once.
func TestRanksOfAMember(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.PublishRanking("now", nil, rows(60))
	w.PublishRanking("former", nil, rows(60))
	w.PublishRanking("2026", nil, rows(60))
	testkit.Must(t, w.DeleteRow(tables.Pickem, "RANKING#former", "TOTALS#000000"))

	now := w.Clock.Now()
	r := ranking.Ranks{DB: w.DB().Eventual(), Now: func() time.Time { return now }}
	me := rows(60)[7]
	check := func(when string, results int, want map[string]int) {
		t.Helper()

		got, err := r.Of(w.NewContext(), me.UserID, []string{"2026", "2025"}, []ranking.Scored{
			{EventID: "now", Results: results, Points: me.Points, Correct: me.Correct},
			{EventID: "former", Results: 1}, {EventID: "unranked", Results: 1},
		})
		testkit.Must(t, err)

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}

	check("first", 1, map[string]int{"now": 8, "former": 8, "2026": 8})

	more := rows(200)
	for i := range more {
		more[i].Points = 500 - i
	}

	w.PublishRanking("now", nil, more)
	w.PublishRanking("2026", nil, more)
	check("kept, but for a year with more places", 1, map[string]int{"now": 8, "former": 8, "2026": 8})

	now = now.Add(time.Minute)

	check("a minute later", 1, map[string]int{"now": 201, "former": 8, "2026": 8})
}
