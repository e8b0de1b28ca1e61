package public

import (
	"slices"
	"strings"

	"matchday/pkg/threefc/item"
)

// special returns the state of a game of a list in brackets, "" if there is none.
func special(state string) string {
	if state == "" {
		return ""
	}

	return " (" + state + ")"
}

// missing returns the sentence about the teams that are missing, "" if all are there.
func (v view) missing() string {
	g := v.row.V()
	if len(g.Absent) == 0 {
		return ""
	}

	verb := " is"
	if len(g.Absent) > 1 {
		verb = " are"
	}

	if item.Ended(v.row.Status) {
		return " " + names(g.Teams, g.Absent) + " did not come."
	}

	return names(g.Teams, g.Absent) + verb + " missing."
}

// walkover returns in words who has won a game that was not played.
func walkover(g item.Game) string {
	text := names(g.Teams, g.Absent) + " did not come"
	if g.Result.Winner != "" {
		return text + ": " + names(g.Teams, []string{g.Result.Winner}) + " won."
	}

	return text + ": a draw between " + names(g.Teams, g.Result.Drawn) + "."
}

// Orders are what decides the order of a table, in words.
var Orders = map[string]string{
	item.ByPoints: "more points", item.ByWins: "more wins", item.ByDraws: "more draws", item.ByConceded: "fewer conceded",
	item.ByScored: "more scored", item.ByDifference: "the better goal difference",
	item.ByHeadToHead: "more often the better against each other", item.ByName: "the alphabet",
}

// orderOf returns the order of the table of a season as a sentence.
func orderOf(x item.Season) string {
	var all []string

	_, order := x.TableRules().Values()
	for _, by := range order {
		all = append(all, Orders[by])
	}

	all = slices.DeleteFunc(all, func(text string) bool { return text == "" })
	text := strings.Join(all, ", then ") + "."

	return strings.ToUpper(text[:1]) + text[1:]
}
