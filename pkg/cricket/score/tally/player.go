package tally

import (
	"cmp"
	"slices"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// Batting returns the provider's batting rows of an innings, in batting order.
func Batting(f *sportmonks.Fixture, number int) []sportmonks.Batting {
	rows := slices.DeleteFunc(slices.Clone(f.Batting), func(b sportmonks.Batting) bool { return b.Innings != number })
	slices.SortStableFunc(rows, func(a, b sportmonks.Batting) int { return cmp.Compare(a.Sort, b.Sort) })

	return rows
}

// ByFall compares batters who are out by when they fell.
func ByFall(a, b sportmonks.Batting) int {
	return cmp.Or(ComparePlaces(a.FallAt, b.FallAt), cmp.Compare(a.FallScore, b.FallScore))
}

// ComparePlaces compares two labels of balls.
func ComparePlaces(a, b sportmonks.Overs) int {
	return cmp.Or(cmp.Compare(a.Overs, b.Overs), cmp.Compare(a.Balls, b.Balls))
}

// PlayerName returns the name that the lineup or, if it has none, a ball gives to a
// player. It returns "Player 17" for a player without a name, and "" for id 0.
func PlayerName(f *sportmonks.Fixture, id int) string {
	if id == 0 {
		return ""
	}

	for i := range f.Lineup {
		if p := &f.Lineup[i]; p.ID == id && p.Name != "" {
			return p.Name
		}
	}

	for i := range f.Balls {
		switch b := &f.Balls[i]; {
		case b.BatterID == id && b.Batter.Name != "":
			return b.Batter.Name
		case b.BowlerID == id && b.Bowler.Name != "":
			return b.Bowler.Name
		}
	}

	return "Player " + score.IDText(id)
}

// Dismissal describes a dismissal as a scorecard does: "c Fakhar Zaman b Naseem Shah".
// Names of scores may be compound ("1 Leg Bye + Run Out"), so it searches them for
// their parts.
func Dismissal(f *sportmonks.Fixture, b *sportmonks.Ball) string {
	kind := strings.ToLower(b.Score.Name)
	has := func(part string) bool { return strings.Contains(kind, part) }
	by := "b " + cmp.Or(b.Bowler.Name, PlayerName(f, b.BowlerID))
	with := func(word string, fielder int) string {
		if name := PlayerName(f, fielder); name != "" {
			return word + " " + name + " " + by
		}

		return word + " " + by
	}

	switch {
	case has("run out"):
		if name := PlayerName(f, b.RunOutID); name != "" {
			return "run out (" + name + ")"
		}

		return "run out"
	case has("catch"), has("caught"):
		if b.CatchID != 0 && b.CatchID == b.BowlerID || has("and bowled") || has("& bowled") {
			return "c & " + by
		}

		return with("c", b.CatchID)
	case has("stump"):
		return with("st", b.CatchID)
	case has("lbw"):
		return "lbw " + by
	case has("hit wicket"):
		return "hit wicket " + by
	case has("bowled"):
		return by
	case has("retired"):
		return "retired out"
	case has("obstruct"):
		return "obstructing the field"
	case has("timed"):
		return "timed out"
	case has("handled"):
		return "handled the ball"
	case has("twice"):
		return "hit the ball twice"
	}

	return "out"
}

// Credited reports whether the wicket of a ball counts for its bowler.
func Credited(b *sportmonks.Ball) bool {
	kind := strings.ToLower(b.Score.Name)
	has := func(part string) bool { return strings.Contains(kind, part) }

	return b.Wicket() && !has("run out") &&
		slices.ContainsFunc([]string{"bowled", "catch", "caught", "stump", "lbw", "leg before", "hit wicket"}, has)
}
