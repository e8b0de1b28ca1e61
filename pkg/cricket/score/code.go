package score

import (
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
)

// margin returns the margin of a win and what it counts, as Display has them.
func (res Result) margin() (n int, unit string) {
	switch {
	case res.Kind != Won:
		return 0, ""
	case res.Innings && res.Runs > 0:
		return clamp(res.Runs), "innings"
	case res.Runs > 0:
		return clamp(res.Runs), "runs"
	case res.Wickets > 0:
		return clamp(res.Wickets), "wickets"
	}

	return 0, ""
}

// breakCode returns why there is no play, as Display has it, or "".
func (s *State) breakCode() string {
	switch s.Phase {
	case sportmonks.Upcoming:
		switch s.Status {
		case "Start delayed":
			return "delayed"
		case "Postponed":
			return "postponed"
		}
	case sportmonks.Break:
		switch s.Status {
		case "Lunch", "Tea", "Dinner":
			return strings.ToLower(s.Status)
		}

		return "innings"
	case sportmonks.Stumps:
		return "stumps"
	case sportmonks.Interrupted:
		return "interrupted"
	}

	return ""
}

// spoken returns a line to be spoken: the score of the side that bats, and what matters most. "Away 45
// for 3 after 6.2 overs. Away need 138 runs from 82 balls." It has no abbreviations.
func (s *State) spoken() string {
	cur := s.InningsOf(s.Current)

	var lines []string

	switch {
	case !s.Result.IsZero() && s.Phase.Over():
		lines = append(lines, s.Result.Text)
	case cur == nil:
		lines = append(lines, Fit(s.Local.Name, 60)+" against "+Fit(s.Visitor.Name, 60), s.Status)
		if s.Toss.WinnerID != "" {
			lines[1] = s.Toss.Text
		}
	default:
		lines = append(lines, cur.spoken(Fit(s.TeamName(cur.TeamID), 60)))

		switch {
		case s.Pending:
			lines = append(lines, "Awaiting result")
		case s.Need.Runs > 0:
			lines = append(lines, NeedText(Fit(s.TeamName(s.Need.TeamID), 60), clamp(s.Need.Runs), clamp(s.Need.Balls)))
		case s.LeadText != "":
			lines = append(lines, LeadText(Fit(s.TeamName(cur.TeamID), 60), clamp(s.Lead)))
		}

		if code := s.breakCode(); code != "" {
			lines = append(lines, s.Status)
		}
	}

	return strings.Join(lines, ". ") + "."
}

// spoken returns "Away 45 for 3 after 6.2 overs", "Away all out for 180", or "Away 391 for 9 declared".
func (n *Innings) spoken(side string) string {
	runs, wickets := ClampText(n.Runs), ClampText(n.Wickets)

	switch {
	case n.Declared:
		return side + " " + runs + " for " + wickets + " declared"
	case n.AllOut && !n.SuperOver:
		return side + " all out for " + runs
	}

	overs, err := strconv.Atoi(n.Overs)

	switch {
	case n.Overs == "":
		return side + " " + runs + " for " + wickets
	case err == nil:
		return side + " " + runs + " for " + wickets + " after " + Count(overs, "over")
	}

	return side + " " + runs + " for " + wickets + " after " + Fit(n.Overs, 8) + " overs"
}
