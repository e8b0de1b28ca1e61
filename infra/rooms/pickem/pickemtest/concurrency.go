package pickemtest

import (
	"slices"

	"matchday/pkg/pickem/event"
)

// RequestScores creates events of two matches each and plays them until their scoring
// is queued. Ann has the first match of each right, bob the second.
func (w *Room) RequestScores(slugs ...string) (eventIDs []string) {
	return w.RequestScoresOf([]string{"ann", "bob"}, slugs...)
}

// RequestScoresOf is RequestScores with these members.
func (w *Room) RequestScoresOf(members []string, slugs ...string) (eventIDs []string) {
	w.T.Helper()
	w.AddMembers("ann", "bob")

	for _, slug := range slugs {
		id := w.CreateEvent(Noon.AddDate(0, 0, 7), slug, 2)

		for _, m := range members {
			team := slices.Index([]string{"ann", "bob"}, m)
			w.Pick(m, id, team, team)
		}

		eventIDs = append(eventIDs, id)
	}

	for _, id := range eventIDs {
		w.LockEvent(id)
		w.EnterResults(id, 0, 1)
		w.MustAdmin(event.RequestScoreFunction(), "/admin/events/"+id+"/score", "")
	}

	return eventIDs
}
