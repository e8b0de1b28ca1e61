package sportmonks

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// catalogue lists the scores whose id and name are known from the provider.
// What else a ball can bring gets a synthetic id.
var catalogue = [...]score{
	{id: 1, name: "1 Bye", bye: 1, ball: true},
	{id: 2, name: "1 Bye + Retired Hurt", bye: 1, ball: true},
	{id: 3, name: "1 Bye + Run Out", bye: 1, wicket: true, ball: true},
	{id: 4, name: "1 Leg Bye", legBye: 1, ball: true},
	{id: 5, name: "1 Leg Bye + Run Out", legBye: 1, wicket: true, ball: true},
	{id: 7, name: "1 No Ball", runs: 1, noball: 1, noballRun: 1, ball: true},
	{id: 17, name: "1 Wide", runs: 1},
	{id: 22, name: "1 Wide + Run Out", runs: 1, wicket: true},
	{id: 47, name: "FOUR", runs: 4, four: true, ball: true},
	{id: 52, name: "5 Wides", runs: 5},
	{id: 54, name: "Catch Out", wicket: true, ball: true},
	{id: 55, name: "Catch Out (Sub)", wicket: true, ball: true},
	{id: 56, name: "Stump Out", wicket: true, ball: true},
	{id: 57, name: "Stump Out (Sub)", wicket: true, ball: true},
	{id: 63, name: "Run Out", wicket: true, ball: true},
	{id: 64, name: "Run Out (Sub)", wicket: true, ball: true},
	{id: 65, name: "Run Out + 1 Run", runs: 1, wicket: true, ball: true},
	{id: 67, name: "Run Out + 2 Runs", runs: 2, wicket: true, ball: true},
	{id: 69, name: "1 Run", runs: 1, ball: true},
	{id: 70, name: "2 Runs", runs: 2, ball: true},
	{id: 78, name: "Obstructing the Field", wicket: true, ball: true},
	{id: 79, name: "Clean Bowled", wicket: true, ball: true},
	{id: 82, name: "No Run", ball: true},
	{id: 83, name: "LBW OUT", wicket: true, ball: true},
	{id: 84, name: "Not Out", ball: true},
	{id: 85, name: "Retired Hurt", ball: true},
	{id: 86, name: "Hit the Ball Twice", wicket: true, ball: true},
	{id: 87, name: "Hit Wicket", wicket: true, ball: true},
	{id: 138, name: "Retired Out", wicket: true, ball: true},
}

// identified gives s the provider's id when it is in the catalogue.
func identified(s score) score {
	for _, known := range catalogue {
		s.id = known.id
		if s == known {
			return s
		}
	}
	s.id = 0
	s.id = synthetic("score", fmt.Sprint(s))
	return s
}

// named is a score without runs, such as how a batter got out.
func named(name string) score {
	s := score{name: name, ball: true}
	for _, known := range catalogue {
		if known.name == name {
			return known
		}
	}
	return identified(s)
}

// runsOf names the runs of a ball and fills its numbers. noBall is what a
// no-ball itself costs. Penalty runs are no part of a ball in this feed.
func runsOf(x extras, bat int, boundary bool, noBall int) score {
	s := score{runs: bat + x.Wides, bye: x.Byes, legBye: x.Legbyes, ball: x.Wides == 0}
	var parts []string
	if x.Wides > 0 {
		parts = append(parts, count(x.Wides, "Wide"))
	}
	if x.Noballs > 0 {
		own := min(x.Noballs, noBall)
		s.runs += own
		s.noball, s.noballRun = 1, own
		s.bye += x.Noballs - own // byes off a no-ball, which old scores hold with it
		parts = append(parts, fmt.Sprint(own, " No Ball"))
	}
	s.four, s.six = boundary && bat == 4, boundary && bat == 6
	switch {
	case s.four:
		parts = append(parts, "FOUR")
	case s.six:
		parts = append(parts, "SIX")
	case bat > 0:
		parts = append(parts, count(bat, "Run"))
	}
	if s.bye > 0 {
		parts = append(parts, count(s.bye, "Bye"))
	}
	if s.legBye > 0 {
		parts = append(parts, count(s.legBye, "Leg Bye"))
	}
	s.name = strings.Join(parts, " + ")
	return s
}

// with adds the ways batters got out to what the ball brought.
func (s score) with(outs []out) score {
	var kinds []string
	for _, o := range outs {
		kinds = append(kinds, o.result.name)
		s.wicket = s.wicket || o.result.wicket
	}
	how := strings.Join(kinds, " + ")
	switch {
	case how == "" && s.name == "":
		s.name = "No Run"
	case s.name == "":
		s.name = how
	case how != "" && s.bye+s.legBye+s.noball == 0 && !s.wide():
		s.name = how + " + " + s.name // Run Out + 1 Run
	case how != "":
		s.name += " + " + how // 1 Bye + Run Out
	}
	return identified(s)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprint(n, " ", noun, "s")
}

// dismissal is how the provider words a kind of the Cricsheet format, whether
// it is a wicket, and whether the bowler has it.
func dismissal(kind string, substitute bool) (result score, bowlers bool) {
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
		return named("Retired Hurt"), false
	case "retired not out":
		return named("Retired Not Out"), false
	case "retired out":
		name = "Retired Out"
	default: // handled the ball, timed out, and what the game may yet invent
		name = title(kind)
	}
	if substitute && (kind == "caught" || kind == "stumped" || kind == "run out") {
		name += " (Sub)"
	}
	return identified(score{name: name, wicket: true, ball: true}), bowlers
}

func title(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		_, n := utf8.DecodeRuneInString(w)
		words[i] = strings.ToUpper(w[:n]) + w[n:]
	}
	return strings.Join(words, " ")
}
