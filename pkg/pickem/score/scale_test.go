package score_test

import (
	"fmt"
	"maps"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// addCrowd stores members who have played so many scored events and have picked all ten
// matches of a last event, whose scoring is requested. The number of wrong picks of the n-th
// member is the number of ones in the ten lowest bits of n.
func addCrowd(w *pickemtest.Room, members, played int) (eventID string) {
	w.T.Helper()

	const matches = 10

	eventID = "2026-12-31-last"
	testkit.PutRows(w.World, tables.Pickem, item.Event{
		Row: item.Row{
			PK:    item.EventTag,
			SK:    item.EventRef(eventID),
			GSIPK: item.EventRef(eventID),
			GSISK: item.EventTag,
			Type:  item.EventType,
		},
		ID:         eventID,
		Name:       "Last",
		Date:       "2026/12/31",
		StartsAt:   item.FormatTime(pickemtest.Noon),
		LockAt:     item.FormatTime(pickemtest.Noon),
		State:      item.Broadcast,
		Bonus:      5,
		CardRev:    1,
		ResultsRev: matches,
		ResultsAt:  item.FormatTime(pickemtest.Noon),
		ScoringAt:  item.FormatTime(pickemtest.Noon),
	})

	var card []item.Match

	for i := range matches {
		place, err := item.PlaceSK(i + 1)
		testkit.Must(w.T, err)

		id, winner := pickemtest.MatchID(i), 0
		card = append(card, item.Match{
			Row:    item.Row{PK: item.EventRef(eventID), SK: item.MatchSK(id), GSIPK: item.EventRef(eventID), GSISK: place, Type: item.MatchType},
			ID:     id,
			Name:   "Match",
			Points: 10,
			Teams:  []item.Team{{ID: "t1", Members: []string{"Left"}}, {ID: "t2", Members: []string{"Right"}}},
			Result: &winner,
			Since:  1,
		})
	}

	testkit.PutRows(w.World, tables.Pickem, card...)

	var (
		people      []item.Member
		predictions []item.Prediction
		standings   []item.Standing
	)

	for n := range members {
		user := fmt.Sprintf("u%05d", n)
		people = append(people, item.NewMember(user, user))

		picks := map[string]string{}
		for i := range matches {
			picks[pickemtest.MatchID(i)] = pickemtest.TeamID(n >> i & 1)
		}

		for i := range played + 1 {
			p := item.Prediction{
				Row: item.Row{
					PK:    item.UserRef(user),
					SK:    item.EventRef(eventID),
					GSIPK: item.EventRef(eventID),
					GSISK: "SCORE#000#" + user,
					Type:  item.PredictionType,
				},
				EventID: eventID, BelongsTo: item.UserRef(user), Predictions: picks, CardRev: 1, SavedAt: item.FormatTime(pickemtest.Noon),
			}
			if i < played {
				p.EventID = fmt.Sprintf("2026-01-%02d-show", i+1)
				p.SK, p.GSIPK, p.GSISK = item.EventRef(p.EventID), item.EventRef(p.EventID), "SCORE#001#"+user
				p.Points, p.Correct, p.ScoredAt, p.ScoredRev = 1, 1, item.FormatTime(pickemtest.Noon), matches
			}

			predictions = append(predictions, p)
		}

		if played > 0 {
			standings = append(standings, standingAfter(user, played))
		}
	}

	testkit.PutRows(w.World, tables.Pickem, people...)
	testkit.PutRows(w.World, tables.Pickem, predictions...)
	testkit.PutRows(w.World, tables.Pickem, standings...)

	return eventID
}

// standingAfter returns the standing of a member with one point of each of so many events.
func standingAfter(user string, played int) item.Standing {
	t := item.Standing{
		Row: item.StandingKey(user, "2026"), BelongsTo: item.UserRef(user),
		Tally: item.Tally{
			Points: played, Correct: played, Played: played,
			LastEvent: fmt.Sprintf("2026-01-%02d-show", played), LastPoints: 1, LastCorrect: 1,
		},
	}
	t.GSIPK, t.GSISK, t.Type = item.StandingsRef("2026"), fmt.Sprintf("SCORE#%05d#%s", played, user), item.StandingType

	return t
}

// TestScoringTakesOneReadAndWriteOf33Members: the number of other calls does not depend on the
// number of members, but for their pages.
func TestScoringTakesOneReadAndWriteOf33Members(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ members, played, queries int }{{10, 0, 21}, {10, 30, 21}, {1000, 0, 23}} {
		t.Run(fmt.Sprintf("%d members after %d events", c.members, c.played), func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			id := addCrowd(w, c.members, c.played)
			s := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)
			calls := w.CountCalls(func() { testkit.Must(t, s.ScoreEvent(w.NewContext(), score.Request{EventID: id})) })
			// Beside the members' calls: the event, its card, its entries, the leagues with tables, of which
			// there are none, and that it is scored. For each
			// of two rankings: the claim, its confirmation and its end, the names in batches of 50, two
			// walks of the index, one of the pages, four checks for surplus items, one check for new names
			// after each part that is written, two items for each page, and the totals.
			batches := (c.members + 32) / 33
			rankings, names := 4*((c.members+ranking.MaxRows-1)/ranking.MaxRows)+2, 2*((c.members+49)/50)

			if want := (map[string]int{
				"GetItem":            1,
				"Query":              c.queries,
				"BatchGetItem":       batches + names,
				"TransactWriteItems": batches,
				"UpdateItem":         5,
				"PutItem":            rankings,
			}); !maps.Equal(calls, want) {
				t.Errorf("calls (-want +got):\n%s", cmp.Diff(want, calls))
			}

			calls = w.CountCalls(func() { testkit.Must(t, s.ScoreEvent(w.NewContext(), score.Request{EventID: id})) })
			if want := (map[string]int{"GetItem": 1, "Query": c.queries, "BatchGetItem": names, "UpdateItem": 5,
				"PutItem": rankings}); !maps.Equal(calls, want) {
				t.Errorf("calls of a second run (-want +got):\n%s", cmp.Diff(want, calls))
			}

			rows := 0

			for _, s := range testkit.Rows[item.Standing](w.World, tables.Pickem) {
				if s.Type != item.StandingType {
					continue
				}

				rows++

				var n int
				fmt.Sscanf(s.UserID(), "u%d", &n)
				right := 10 - bits.OnesCount(uint(n)%1024)

				points := 10*right + c.played
				if right == 10 {
					points += 5
				}

				if s.Points != points || s.Correct != right+c.played || s.Played != 1+c.played {
					t.Errorf("%s has %+v, want %d points and %d correct picks", s.UserID(), s.Tally, points, right+c.played)
				}
			}

			if rows != c.members {
				t.Errorf("%d members have standings, want %d", rows, c.members)
			}
		})
	}
}
