package item

import "slices"

// States of a game beside its status.
const (
	Postponed = "postponed" // not begun: it has no new time yet
	Abandoned = "abandoned" // finished before the end: with the result of its goals, or Void
	Walkover  = "walkover"  // finished without play, because teams were missing
)

// Void is the Status of the row and of the listing of an abandoned game whose result does not stand. It is
// in no table. The API returns Finished for it, without a result.
const Void = "abandoned"

// Ended reports whether a game with a status is finished, with or without a result.
func Ended(status string) bool { return status == Finished || status == Void }

// ShownStatus returns the status of a game as the API has it.
func ShownStatus(status string) string {
	if status == Void {
		return Finished
	}

	return status
}

// Present returns the teams of the game that are not missing.
func (g Game) Present() []Team {
	return slices.DeleteFunc(slices.Clone(g.Teams), func(t Team) bool { return slices.Contains(g.Absent, t.TeamID) })
}

// Outcome returns the result of the game by its scores: ResultOf the teams that are not missing. A missing
// team has lost. Of a walkover the only team that was there wins; if two were there, it is a draw between them.
func (g Game) Outcome() Result {
	return ResultOf(slices.DeleteFunc(slices.Clone(g.Scores), func(s Score) bool { return slices.Contains(g.Absent, s.TeamID) }))
}
