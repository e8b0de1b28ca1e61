package tally

import (
	"cmp"
	"slices"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/words"
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
func Dismissal(f *sportmonks.Fixture, b *sportmonks.Ball) string {
	how, names := How(f, b)
	return words.Say(how, names...).In(words.English)
}

// How returns a dismissal as a pattern, "c %@ b %@", and the names in it. Names of scores may be
// compound ("1 Leg Bye + Run Out"), so it searches them for their parts.
func How(f *sportmonks.Fixture, b *sportmonks.Ball) (how string, names []string) {
	kind := strings.ToLower(b.Score.Name)
	has := func(part string) bool { return strings.Contains(kind, part) }
	bowler := cmp.Or(b.Bowler.Name, PlayerName(f, b.BowlerID))

	switch {
	case has("run out"):
		if name := PlayerName(f, b.RunOutID); name != "" {
			return "run out (%@)", []string{name}
		}

		return "run out", nil
	case has("catch"), has("caught"):
		if b.CatchID != 0 && b.CatchID == b.BowlerID || has("and bowled") || has("& bowled") {
			return "c & b %@", []string{bowler}
		}

		if name := PlayerName(f, b.CatchID); name != "" {
			return "c %@ b %@", []string{name, bowler}
		}

		return "c b %@", []string{bowler}
	case has("stump"):
		if name := PlayerName(f, b.CatchID); name != "" {
			return "st %@ b %@", []string{name, bowler}
		}

		return "st b %@", []string{bowler}
	case has("lbw"):
		return "lbw b %@", []string{bowler}
	case has("hit wicket"):
		return "hit wicket b %@", []string{bowler}
	case has("bowled"):
		return "b %@", []string{bowler}
	case has("retired"):
		return "retired out", nil
	case has("obstruct"):
		return "obstructing the field", nil
	case has("timed"):
		return "timed out", nil
	case has("handled"):
		return "handled the ball", nil
	case has("twice"):
		return "hit the ball twice", nil
	}

	return "out", nil
}

// Credited reports whether the wicket of a ball counts for its bowler.
func Credited(b *sportmonks.Ball) bool {
	kind := strings.ToLower(b.Score.Name)
	has := func(part string) bool { return strings.Contains(kind, part) }

	return b.Wicket() && !has("run out") &&
		slices.ContainsFunc([]string{"bowled", "catch", "caught", "stump", "lbw", "leg before", "hit wicket"}, has)
}
