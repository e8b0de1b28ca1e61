package sportmonks

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
)

const oldID = 77

// sees describes what the provider sends of a match, and of oldID: the status of each page with the announced
// start after noon, and whether the list has it.
func (r *rig) sees(id int64) string {
	r.Helper()

	text := ""

	for _, id := range []int64{id, oldID} {
		switch w := r.get(fmt.Sprintf("fixtures/%d", id), ""); {
		case w.Code == http.StatusNotFound && id == oldID:
		case w.Code == http.StatusNotFound:
			text += "unknown "
		default:
			type page struct {
				Status     string
				StartingAt time.Time `json:"starting_at"`
				Winner     int64     `json:"winner_team_id"`
			}

			f := data[page](r, fmt.Sprintf("fixtures/%d", id), "")
			text += fmt.Sprintf("%s %s ", f.Status, f.StartingAt.Sub(r.start))

			if f.Winner != 0 {
				text += "won "
			}
		}

		for _, f := range data[[]wireFixture](r, "livescores", "") {
			if f.ID == id {
				text += "listed "
			}
		}
	}

	return text
}

// TestHabits: what the provider sends of a match of a delivery a second, by the time since its start.
func TestHabits(t *testing.T) {
	t.Parallel()

	const (
		hour = time.Hour
		min  = time.Minute
	)

	m := script.Generate(1, cricsheet.T20)
	end := time.Duration(len(m.Frames)) * time.Second

	for name, c := range map[string]struct {
		habit Habit
		want  map[time.Duration]string
	}{
		"silent break": {Habit{Kind: SilentBreak, Ball: 30, Status: "Int.", Silent: min, For: 10 * min}, map[time.Duration]string{
			40 * time.Second:       "1st Innings 0s listed ",
			min:                    "1st Innings 0s ",
			2 * min:                "Int. 0s ",
			4 * min:                "Int. 0s listed ",
			11 * min:               "1st Innings 0s listed ",
			10*min + end + 1*min:   "Finished 0s won listed ",
			10*min + end + 100*min: "Finished 0s won ",
		}},
		"false end": {Habit{Kind: FalseEnd, Ball: 30, Status: "Aban.", For: 10 * min}, map[time.Duration]string{
			40 * time.Second: "1st Innings 0s listed ",
			min:              "Aban. 0s listed ",
			11 * min:         "1st Innings 0s listed ",
		}},
		"no winner": {Habit{Kind: NoWinner, For: 20 * min}, map[time.Duration]string{
			end + min:        "Finished 0s listed ",
			end + 10*min:     "Finished 0s ",
			end + 20*min:     "Finished 0s won ",
			30 * time.Second: "1st Innings 0s listed ",
		}},
		"called off and reinstated": {Habit{Kind: CalledOff, Notice: 50 * min, For: 20 * min, Moved: 2 * hour}, map[time.Duration]string{
			-55 * min:        "NS -2h0m0s ",
			-45 * min:        "Cancl. -2h0m0s ",
			-30 * min:        "NS 0s ",
			30 * time.Second: "1st Innings 0s listed ",
		}},
		"new id": {Habit{
			Kind: NewID, OldID: oldID, Status: "Postp.", Notice: 50 * min, For: 20 * min, Moved: 48 * hour,
		}, map[time.Duration]string{
			-55 * min:        "unknown NS -48h0m0s ",
			-45 * min:        "unknown Postp. -48h0m0s ",
			-30 * min:        "NS 0s Postp. -48h0m0s ",
			30 * time.Second: "1st Innings 0s listed Postp. -48h0m0s ",
		}},
		"new id, the old one deleted": {Habit{Kind: NewID, OldID: oldID, Notice: 50 * min}, map[time.Duration]string{
			-55 * min: "unknown NS 0s ",
			-45 * min: "NS 0s ",
		}},
		"listed late": {Habit{Kind: ListedLate, Ball: 37}, map[time.Duration]string{
			30 * time.Second: "1st Innings 0s ",
			40 * time.Second: "1st Innings 0s listed ",
		}},
		"endless": {Habit{Kind: Endless, Ball: 30}, map[time.Duration]string{
			40 * time.Second: "1st Innings 0s listed ",
			min:              "1st Innings 0s ",
			59 * hour:        "1st Innings 0s ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for at, want := range c.want {
				r := newRig(t)
				r.Play(m, r.start, Pace{Every: time.Second, Habits: []Habit{c.habit}})
				r.to(at)

				if diff := cmp.Diff(want, r.sees(m.ID)); diff != "" {
					t.Errorf("%s after the start (-want +got):\n%s", at, diff)
				}
			}
		})
	}
}

// TestImpossibleHabitPanics: a match of fewer deliveries cannot have the habit.
func TestImpossibleHabitPanics(t *testing.T) {
	t.Parallel()

	for _, h := range []Habit{{Kind: Endless, Ball: 10_000}, {Kind: "none"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", h)
				}
			}()

			r := newRig(t)
			r.Play(script.Generate(1, cricsheet.T20), r.start, Pace{Habits: []Habit{h}})
		}()
	}
}
