package pickem

import (
	"fmt"
	"maps"
	"math/bits"
	"testing"

	"matchday/infra/testkit"
)

// crowd writes so many members, who have played so many events that are scored,
// and picked all of the last, of ten matches, whose points are asked for. The n-th
// member has as many matches wrong as n has bits below the tenth.
func (w *world) crowd(members, played int) (eventID string) {
	w.T.Helper()
	const matches = 10
	eventID = "2026-12-31-last"
	testkit.Put(w.World, table, event{
		row: row{PK: eventKey, SK: ofEvent(eventID), GSIPK: ofEvent(eventID), GSISK: eventKey, Type: eventType},
		ID:  eventID, Name: "Last", Date: "2026/12/31", StartsAt: stamp(noon), LockAt: stamp(noon), State: broadcast, Bonus: 5,
		CardRev: 1, ResultsRev: matches, ResultsAt: stamp(noon), ScoringAt: stamp(noon),
	})
	var card []match
	for i := range matches {
		place, err := placeSK(i + 1)
		testkit.Must(w.T, err)
		id, winner := matchID(i), 0
		card = append(card, match{
			row: row{PK: ofEvent(eventID), SK: matchSK(id), GSIPK: ofEvent(eventID), GSISK: place, Type: matchType}, ID: id, Name: "Match", Points: 10,
			Teams: []Team{{Members: []string{"Left"}}, {Members: []string{"Right"}}}, Result: &winner, Since: 1,
		})
	}
	testkit.Put(w.World, table, card...)
	var people []person
	var predictions []prediction
	for n := range members {
		user := fmt.Sprintf("u%05d", n)
		people = append(people, newPerson(user, user))
		picks := map[string]int{}
		for i := range matches {
			picks[matchID(i)] = n >> i & 1
		}
		for i := range played + 1 {
			p := prediction{
				row:     row{PK: ofUser(user), SK: ofEvent(eventID), GSIPK: ofEvent(eventID), GSISK: "SCORE#000#" + user, Type: predictionType},
				EventID: eventID, BelongsTo: ofUser(user), Predictions: picks, CardRev: 1, SavedAt: stamp(noon),
			}
			if i < played {
				p.EventID = fmt.Sprintf("2026-01-%02d-show", i+1)
				p.SK, p.GSIPK, p.GSISK = ofEvent(p.EventID), ofEvent(p.EventID), "SCORE#001#"+user
				p.Points, p.Correct, p.ScoredAt, p.ScoredRev = 1, 1, stamp(noon), matches
			}
			predictions = append(predictions, p)
		}
	}
	testkit.Put(w.World, table, people...)
	testkit.Put(w.World, table, predictions...)
	return eventID
}

// TestScale scores an event of ten matches for few and for many: with one read
// and one write for each member, and as many others for however many.
func TestScale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ members, played int }{{10, 0}, {10, 30}, {1000, 0}} {
		t.Run(fmt.Sprintf("%d members after %d events", c.members, c.played), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.crowd(c.members, c.played)
			s := testkit.Open(w.World, ScoreEventFunction, OpenScorer)
			calls := w.Count(func() { testkit.Must(t, s.ScoreEvent(w.Ctx(), ScoreEvent{id})) })
			// Beside the members' calls: the event, its card, its entries, and that it is scored.
			if want := (map[string]int{"GetItem": 1, "Query": 2 + c.members, "TransactWriteItems": c.members, "UpdateItem": 1}); !maps.Equal(calls, want) {
				t.Errorf("it makes the calls %v, want %v", calls, want)
			}
			calls = w.Count(func() { testkit.Must(t, s.ScoreEvent(w.Ctx(), ScoreEvent{id})) })
			if want := (map[string]int{"GetItem": 1, "Query": 2, "UpdateItem": 1}); !maps.Equal(calls, want) {
				t.Errorf("again, it makes the calls %v, want %v", calls, want)
			}
			rows := 0
			for _, s := range testkit.Rows[standing](w.World, table) {
				if s.Type != standingType {
					continue
				}
				rows++
				var n int
				fmt.Sscanf(s.userID(), "u%d", &n)
				right := 10 - bits.OnesCount(uint(n)%1024)
				points := 10*right + c.played
				if right == 10 {
					points += 5
				}
				if s.Points != points || s.Correct != right+c.played || s.Played != 1+c.played {
					t.Errorf("%s has %+v, want %d points, and %d right", s.userID(), s.tally, points, right+c.played)
				}
			}
			if rows != c.members {
				t.Errorf("%d members have standings, not %d", rows, c.members)
			}
		})
	}
}
