package event_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// team is a team in a request of an administrator.
type team map[string]any

func named(id, name string, members ...string) team {
	t := team{"members": members}
	if id != "" {
		t["id"] = id
	}

	if name != "" {
		t["name"] = name
	}

	return t
}

// TestPicksFollowTheirTeam: a pick stays with its team through corrected names and a new
// order. It is void if who competes changes.
func TestPicksFollowTheirTeam(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name  string
		teams []team
		ids   []string
		void  bool
	}{
		{"a member is spelled otherwise", []team{named("t1", "", "Lefft 1"), named("t2", "", "Right 1")}, []string{"t1", "t2"}, false},
		{"both get a name", []team{named("t1", "Lefts", "Left 1"), named("t2", "Rights", "Right 1")}, []string{"t1", "t2"}, false},
		{"another order", []team{named("t2", "", "Right 1"), named("t1", "", "Left 1")}, []string{"t2", "t1"}, false},
		{"another order without ids", []team{named("", "", "Right 1"), named("", "", "Left 1")}, []string{"t2", "t1"}, false},
		{"another order and spelling", []team{named("t2", "", "Rigth 1"), named("t1", "", "Lefft 1")}, []string{"t2", "t1"}, false},
		{"another team in place of the picked", []team{named("", "", "Another"), named("t2", "", "Right 1")}, []string{"t3", "t2"}, true},
		{"another team in place of the other", []team{named("t1", "", "Left 1"), named("", "", "Another")}, []string{"t1", "t3"}, true},
		{"an additional team", []team{named("t1", "", "Left 1"), named("t2", "", "Right 1"), named("", "", "Another")},
			[]string{"t1", "t2", "t3"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)

			body := map[string]any{"name": "Match 1", "points": 10, "teams": c.teams}
			for range 2 {
				out := w.Ask(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), testkit.Administrator, body)
				if out.StatusCode != http.StatusOK {
					t.Fatalf("the answer is %d %s, want 200", out.StatusCode, out.Body)
				}

				var ids []string
				for _, team := range testkit.Decode[event.Match](w.World, out).Teams {
					ids = append(ids, team.ID)
				}

				if !slices.Equal(ids, c.ids) {
					t.Errorf("ids of the teams (-want +got):\n%s", cmp.Diff(c.ids, ids))
				}
			}

			var seen event.EventScreen
			w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)

			pick, void := seen.Body.Prediction.Predictions[pickemtest.MatchID(1)], slices.Contains(seen.Body.Prediction.Void, pickemtest.MatchID(1))
			if void != c.void || !void && pick != "t1" {
				t.Errorf("ann's pick is %q and void %v, want t1 and void %v", pick, void, c.void)
			}

			if notified := len(queuedNotices(w)) > 0; notified != c.void {
				t.Errorf("members were notified: %v, want %v", notified, c.void)
			}
		})
	}
}

// TestNamesCanBeCorrectedAfterTheLock: the pick, the result and the points stay with the
// team. Who competes, and the order, which the result refers to, cannot change.
func TestNamesCanBeCorrectedAfterTheLock(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	put := func(eventID string, teams ...team) pickemtest.Refusal {
		return pickemtest.RefusalOf(w.Ask(event.UpdateMatchFunction(), pickemtest.AdminMatch(eventID, 1), testkit.Administrator,
			map[string]any{"name": "Match 1", "points": 10, "teams": teams}))
	}

	locked := pickemtest.Refusal{Status: 409, Code: "event_locked"}
	for _, id := range []string{pickemtest.LockedShow, pickemtest.ScoredShow} {
		if got := put(id, named("t1", "The Lefts", "Lefty"), named("t2", "", "Right 1")); got.Status != http.StatusOK {
			t.Errorf("%s: corrected names are %v, want 200", id, got)
		}

		if got := put(id, named("t2", "", "Right 1"), named("t1", "The Lefts", "Lefty")); got != locked {
			t.Errorf("%s: another order is %v, want %v", id, got, locked)
		}

		if got := put(id, named("t1", "The Lefts", "Lefty"), named("", "", "Another")); got != locked {
			t.Errorf("%s: another team is %v, want %v", id, got, locked)
		}

		m := testkit.Row[item.Match](w.World, tables.Pickem, item.EventRef(id), item.MatchSK(pickemtest.MatchID(1)))
		if m.Teams[0].Members[0] != "Lefty" || m.Teams[0].Name != "The Lefts" {
			t.Errorf("%s: the teams are %+v, want the corrected names", id, m.Teams)
		}
	}

	w.ScoreQueued()

	if top := w.Standings("2026")[0]; top.UserID != "bob" || top.Points != 20 {
		t.Errorf("the first of the standings is %+v, want bob with 20 points", top)
	}
}

// TestUnknownTeamIsRefused: an id must be one of the match, once.
func TestUnknownTeamIsRefused(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	was := w.Rows()

	left, right := named("t1", "", "Left 1"), named("t2", "", "Right 1")
	for _, c := range []struct {
		teams []team
		field string
	}{
		{[]team{left, named("t3", "", "Right 1")}, "body.teams[1].id"},
		{[]team{left, right, named("t1", "", "Right 1")}, "body.teams[2].id"},
		{[]team{named("T1", "", "Left 1"), right}, "body.teams[0].id"},
	} {
		body := map[string]any{"name": "Match 1", "points": 10, "teams": c.teams}

		want := pickemtest.Refusal{Status: 422, Code: "unknown_team", Field: c.field}
		if got := pickemtest.RefusalOf(w.Ask(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1),
			testkit.Administrator, body)); got != want {
			t.Errorf("update-match with the teams %v: %v, want %v", c.teams, got, want)
		}
	}

	body := map[string]any{"id": pickemtest.MatchID(9), "name": "Match 9", "points": 10, "teams": []team{left, right}}

	want := pickemtest.Refusal{Status: 422, Code: "unknown_team", Field: "body.teams[0].id"}
	if got := pickemtest.RefusalOf(w.Ask(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches",
		testkit.Administrator, body)); got != want {
		t.Errorf("add-match with ids: %v, want %v", got, want)
	}

	if now := w.Rows(); !cmp.Equal(now, was) {
		t.Errorf("rows changed by refused requests (-was +is):\n%s", cmp.Diff(was, now))
	}
}

// TestSaveIsRefusedOnlyIfAPickedMatchChanged: since the cardRev that the member saw.
func TestSaveIsRefusedOnlyIfAPickedMatchChanged(t *testing.T) {
	t.Parallel()

	change := func(n int, with map[string]any) func(*pickemtest.Room) {
		return func(w *pickemtest.Room) {
			body := pickemtest.WithoutKey(pickemtest.MatchOf(n, 10*n), "id")
			for k, v := range with {
				body[k] = v
			}

			w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, n), body)
		}
	}
	remove := func(n int) func(*pickemtest.Room) {
		return func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, n), "")
		}
	}

	others := []team{named("", "", "Somebody"), named("", "", "Somebody else")}
	for _, c := range []struct {
		name    string
		do      func(*pickemtest.Room)
		changed []string // matches that the refusal lists
	}{
		{"another name", change(1, map[string]any{"name": "Cage"}), nil},
		{"other points", change(1, map[string]any{"points": 11}), nil},
		{"another order of the teams", change(1, map[string]any{"teams": []team{named("", "", "Right 1"), named("", "", "Left 1")}}), nil},
		{"another order of the card", func(w *pickemtest.Room) {
			w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2, 1))
		}, nil},
		{"a new match", func(w *pickemtest.Room) {
			w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(4, 1))
		}, nil},
		{"a bonus", func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":7}`)
		}, nil},
		{"other teams of a match that is not picked", change(2, map[string]any{"teams": others}), nil},
		{"a match that is not picked is removed", remove(2), nil},
		{"other teams of the picked match", change(1, map[string]any{"teams": others}), []string{pickemtest.MatchID(1)}},
		{"the picked match is removed", remove(1), []string{pickemtest.MatchID(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)

			var seen event.EventScreen
			w.Read(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", &seen.Body)
			c.do(w)
			out := w.Ask(event.PutPredictionsFunction(), myPicks, "ann",
				map[string]any{"predictions": pickemtest.PicksOf(0), "cardRev": seen.Body.CardRev})

			got, want := pickemtest.RefusalOf(out), pickemtest.Refusal{Status: http.StatusOK}
			if c.changed != nil {
				want = pickemtest.Refusal{Status: 409, Code: "card_changed"}
			}

			if got != want {
				t.Errorf("the answer is %v, want %v", got, want)
			}

			var doc struct{ MatchIDs []string }
			testkit.Must(t, json.Unmarshal([]byte(out.Body), &doc))

			if !slices.Equal(doc.MatchIDs, c.changed) {
				t.Errorf("changed matches (-want +got):\n%s", cmp.Diff(c.changed, doc.MatchIDs))
			}
		})
	}
}
