package pickemtest

import (
	"matchday/infra/testkit"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// CorruptStandings writes wrong standings for ann, deletes bob's, and adds some
// for cat, who has no predictions.
func (w *Room) CorruptStandings() {
	w.T.Helper()
	w.AddMembers("cat")
	wrong := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef("ann"), item.StandingsRef("2026"))
	wrong.Points, wrong.GSISK = 7, "SCORE#00007#ann"
	idle := wrong
	idle.PK, idle.BelongsTo, idle.GSISK = item.UserRef("cat"), item.UserRef("cat"), "SCORE#00007#cat"
	testkit.PutRows(w.World, tables.Pickem, wrong, idle)
	testkit.Must(w.T, w.DeleteRow(tables.Pickem, item.UserRef("bob"), item.StandingsRef("2026")))
}
