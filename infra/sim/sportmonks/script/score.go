package script

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"matchday/infra/sim/cricsheet"
)

// Catalogue lists the scores whose id and name in the provider's API are known. Every
// other score gets a synthetic id.
var Catalogue = [...]Score{
	{ID: 1, Name: "1 Bye", Bye: 1, Ball: true},
	{ID: 2, Name: "1 Bye + Retired Hurt", Bye: 1, Ball: true},
	{ID: 3, Name: "1 Bye + Run Out", Bye: 1, Wicket: true, Ball: true},
	{ID: 4, Name: "1 Leg Bye", LegBye: 1, Ball: true},
	{ID: 5, Name: "1 Leg Bye + Run Out", LegBye: 1, Wicket: true, Ball: true},
	{ID: 7, Name: "1 No Ball", Runs: 1, NoBall: 1, NoBallRuns: 1, Ball: true},
	{ID: 17, Name: "1 Wide", Runs: 1},
	{ID: 22, Name: "1 Wide + Run Out", Runs: 1, Wicket: true},
	{ID: 47, Name: "FOUR", Runs: 4, Four: true, Ball: true},
	{ID: 52, Name: "5 Wides", Runs: 5},
	{ID: 54, Name: "Catch Out", Wicket: true, Ball: true},
	{ID: 55, Name: "Catch Out (Sub)", Wicket: true, Ball: true},
	{ID: 56, Name: "Stump Out", Wicket: true, Ball: true},
	{ID: 57, Name: "Stump Out (Sub)", Wicket: true, Ball: true},
	{ID: 63, Name: "Run Out", Wicket: true, Ball: true},
	{ID: 64, Name: "Run Out (Sub)", Wicket: true, Ball: true},
	{ID: 65, Name: "Run Out + 1 Run", Runs: 1, Wicket: true, Ball: true},
	{ID: 67, Name: "Run Out + 2 Runs", Runs: 2, Wicket: true, Ball: true},
	{ID: 69, Name: "1 Run", Runs: 1, Ball: true},
	{ID: 70, Name: "2 Runs", Runs: 2, Ball: true},
	{ID: 78, Name: "Obstructing the Field", Wicket: true, Ball: true},
	{ID: 79, Name: "Clean Bowled", Wicket: true, Ball: true},
	{ID: 82, Name: "No Run", Ball: true},
	{ID: 83, Name: "LBW OUT", Wicket: true, Ball: true},
	{ID: 84, Name: "Not Out", Ball: true},
	{ID: 85, Name: "Retired Hurt", Ball: true},
	{ID: 86, Name: "Hit the Ball Twice", Wicket: true, Ball: true},
	{ID: 87, Name: "Hit Wicket", Wicket: true, Ball: true},
	{ID: 138, Name: "Retired Out", Wicket: true, Ball: true},
}

// identified returns s with the provider's id, if the catalogue has it.
func identified(s Score) Score {
	for _, known := range Catalogue {
		s.ID = known.ID
		if s == known {
			return s
		}
	}

	s.ID = 0
	s.ID = SyntheticID("score", fmt.Sprint(s))

	return s
}

// NamedScore returns a score without runs, such as how a batter got out.
func NamedScore(name string) Score {
	s := Score{Name: name, Ball: true}
	for _, known := range Catalogue {
		if known.Name == name {
			return known
		}
	}

	return identified(s)
}

// runsOf returns the score of a ball's runs. noBall is the number of runs for the
// no-ball itself. In this feed a ball has no penalty runs.
func runsOf(x cricsheet.Extras, bat int, boundary bool, noBall int) Score {
	s := Score{Runs: bat + x.Wides, Bye: x.Byes, LegBye: x.Legbyes, Ball: x.Wides == 0}

	var parts []string
	if x.Wides > 0 {
		parts = append(parts, count(x.Wides, "Wide"))
	}

	if x.Noballs > 0 {
		own := min(x.Noballs, noBall)
		s.Runs += own
		s.NoBall, s.NoBallRuns = 1, own
		s.Bye += x.Noballs - own // byes off a no-ball: old files count them together
		parts = append(parts, fmt.Sprint(own, " No Ball"))
	}

	s.Four, s.Six = boundary && bat == 4, boundary && bat == 6
	switch {
	case s.Four:
		parts = append(parts, "FOUR")
	case s.Six:
		parts = append(parts, "SIX")
	case bat > 0:
		parts = append(parts, count(bat, "Run"))
	}

	if s.Bye > 0 {
		parts = append(parts, count(s.Bye, "Bye"))
	}

	if s.LegBye > 0 {
		parts = append(parts, count(s.LegBye, "Leg Bye"))
	}

	s.Name = strings.Join(parts, " + ")

	return s
}

// with adds the dismissals of a ball to its score.
func (s Score) with(outs []Dismissal) Score {
	var kinds []string
	for _, o := range outs {
		kinds = append(kinds, o.How.Name)
		s.Wicket = s.Wicket || o.How.Wicket
	}

	how := strings.Join(kinds, " + ")
	switch {
	case how == "" && s.Name == "":
		s.Name = "No Run"
	case s.Name == "":
		s.Name = how
	case how != "" && s.Bye+s.LegBye+s.NoBall == 0 && !s.wide():
		s.Name = how + " + " + s.Name // Run Out + 1 Run
	case how != "":
		s.Name += " + " + how // 1 Bye + Run Out
	}

	return identified(s)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return fmt.Sprint(n, " ", noun, "s")
}

// dismissal returns the provider's name for a kind of dismissal in the Cricsheet
// format, whether it is a wicket, and whether the wicket is the bowler's.
func dismissal(kind string, substitute bool) (result Score, bowlers bool) {
	name := ""

	switch kind {
	case "bowled":
		name, bowlers = "Clean Bowled", true
	case "caught", "caught and bowled":
		name, bowlers = "Catch Out", true
	case "lbw":
		name, bowlers = "LBW OUT", true
	case "stumped":
		name, bowlers = "Stump Out", true
	case "hit wicket":
		name, bowlers = "Hit Wicket", true
	case "run out":
		name = "Run Out"
	case "obstructing the field":
		name = "Obstructing the Field"
	case "hit the ball twice":
		name = "Hit the Ball Twice"
	case "retired hurt":
		return NamedScore("Retired Hurt"), false
	case "retired not out":
		return NamedScore("Retired Not Out"), false
	case "retired out":
		name = "Retired Out"
	default: // handled the ball, timed out, and kinds that are not known yet
		name = title(kind)
	}

	if substitute && (kind == "caught" || kind == "stumped" || kind == "run out") {
		name += " (Sub)"
	}

	return identified(Score{Name: name, Wicket: true, Ball: true}), bowlers
}

func title(s string) string {
	parts := strings.Fields(s)
	for i, w := range parts {
		_, n := utf8.DecodeRuneInString(w)
		parts[i] = strings.ToUpper(w[:n]) + w[n:]
	}

	return strings.Join(parts, " ")
}
