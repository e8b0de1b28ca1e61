package pickemtest

import (
	"slices"

	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/tables"
)

// RequestScores creates events of two matches each and plays them until their scoring
// is queued. Ann has the first match of each right and is in a league; bob has the
// second.
func (w *Room) RequestScores(slugs ...string) (eventIDs []string) {
	return w.RequestScoresOf([]string{"ann", "bob"}, slugs...)
}

// RequestScoresOf is RequestScores with these members.
func (w *Room) RequestScoresOf(members []string, slugs ...string) (eventIDs []string) {
	w.T.Helper()
	w.AddMembers("ann", "bob")
	testkit.PutRows(w.World, tables.Pickem, item.Membership{
		Row:      item.Row{PK: item.UserRef("ann"), SK: item.LeagueRef("one"), GSIPK: item.LeagueRef("one"), GSISK: league.LeagueMemberRef("ann"), Type: item.MembershipType},
		LeagueID: "one", BelongsTo: item.UserRef("ann"), Name: "ann",
	})
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
		w.MustAdmin(event.RequestScoreFunction, "/admin/events/"+id+"/score", "")
	}
	return eventIDs
}
