package score

import (
	"cmp"
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/words"
)

// IDText returns an id in decimal, and "" for 0.
func IDText(id int) string {
	if id == 0 {
		return ""
	}

	return strconv.Itoa(id)
}

// marginText returns "by 5 wickets", "by an innings and 53 runs", or "".
func (res Result) marginText() string {
	switch {
	case res.Innings && res.Runs > 0:
		return "by an innings and " + Count(res.Runs, "run")
	case res.Runs > 0:
		return "by " + Count(res.Runs, "run")
	case res.Wickets > 0:
		return "by " + Count(res.Wickets, "wicket")
	}

	return ""
}

// ResultText returns a result as a sentence: "England won by 5 wickets (with 6 balls
// remaining)".
func (s *State) ResultText(res Result) string {
	winner := s.TeamName(res.WinnerID)
	how := ""

	switch res.Method {
	case "":
	case "DLS", "VJD":
		how = " (" + res.Method + " method)"
	default:
		how = " (" + res.Method + ")"
	}

	switch res.Kind {
	case Won:
		text := strings.TrimSpace(winner + " won " + res.marginText())
		if res.Wickets > 0 && res.BallsLeft > 0 {
			text += " (with " + Count(res.BallsLeft, "ball") + " remaining)"
		}

		return text + how
	case Tied:
		switch {
		case res.WinnerID == "":
			return "Match tied" + how
		case res.Decider == BowlOut:
			return "Match tied (" + winner + " won the bowl-out)"
		case res.Decider == SuperOver:
			return "Match tied (" + winner + " won the Super Over)"
		}

		return "Match tied (" + winner + " won)"
	case Drawn:
		return "Match drawn"
	case NoResult:
		return "No result"
	case Abandoned:
		return "Match abandoned without a ball bowled"
	case Cancelled:
		return "Match cancelled"
	}

	return "Result unknown"
}

// NameTeams writes the texts that name a team, except for that of the result, after all else
// is set.
func (s *State) NameTeams() {
	if t := &s.Toss; t.WinnerID != "" {
		t.Text = s.TeamName(t.WinnerID) + " won the toss"
		if t.Elected != "" {
			t.Text += " and chose to " + t.Elected
		}
	}

	if n := s.Need; n.Runs > 0 {
		s.NeedText = NeedText(s.TeamName(n.TeamID), n.Runs, n.Balls)
	}

	if cur := s.InningsOf(s.Current); cur != nil && s.Format.MultiDay() && cur.Number >= 2 {
		s.LeadText = LeadText(s.TeamName(cur.TeamID), s.Lead)
	}
}

// Title is how a team is displayed instead of the provider's name and code. An empty field
// replaces nothing.
type Title struct{ Name, Code string }

// Rename replaces the names of the teams, and writes the texts that name them anew. The
// provider's note is not changed: a score is read from it by the provider's names.
func (s *State) Rename(local, visitor Title) {
	was := s.TeamName(s.Result.WinnerID)
	for team, to := range map[*Team]Title{&s.Local: local, &s.Visitor: visitor} {
		team.Name, team.Code = cmp.Or(Fit(to.Name, 80), team.Name), cmp.Or(Fit(to.Code, 16), team.Code)
	}

	s.NameTeams()

	if s.TeamName(s.Result.WinnerID) != was {
		s.Result.Text = s.ResultText(s.Result)
	}
}

// SuperOverScores returns the last pair of super overs in batting order, "SO 10/1 v
// 6/2", or "" if there was none.
func (s *State) SuperOverScores() string {
	if s.Format.MultiDay() || s.Current < 3 {
		return ""
	}

	first := s.Current - 1 + s.Current%2
	text := ""

	for _, n := range [...]int{first, first + 1} {
		inn := s.InningsOf(n)
		switch {
		case inn == nil:
		case text == "":
			text = "SO " + inn.Score()
		default:
			text += " v " + inn.Score()
		}
	}

	return text
}

// OversText returns overs of per balls as "19.4", and whole overs as "20". 3.6 is
// 4 overs.
func OversText(o sportmonks.Overs, per int) string {
	if o.Balls >= per {
		o = sportmonks.Overs{Overs: o.Overs + 1}
	}

	s := strconv.Itoa(o.Overs)
	if o.Balls > 0 {
		s += "." + strconv.Itoa(o.Balls)
	}

	return s
}

// Rate returns runs per six balls, whatever the length of an over, with two decimals
// rounded half up. It returns "" without balls.
func Rate(runs, balls int) string {
	if runs < 0 || balls <= 0 || runs > 1e9 || balls > 1e9 {
		return ""
	}

	h := (2*600*runs + balls) / (2 * balls)

	s := strconv.Itoa(h % 100)
	if h%100 < 10 {
		s = "0" + s
	}

	return strconv.Itoa(h/100) + "." + s
}

// Count returns "1 run" or "2 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return strconv.Itoa(n) + " " + noun + "s"
}

// LeadText returns LeadWords in English.
func LeadText(side string, lead int) string { return LeadWords(side, lead).In(words.English) }

// LeadWords returns "India lead by 27 runs", or "Scores level".
func LeadWords(side string, lead int) words.Text {
	switch {
	case lead > 0:
		return words.Say(words.Count(lead, "%@ lead by %@ run", "%@ lead by %@ runs"), side, strconv.Itoa(lead))
	case lead < 0:
		return words.Say(words.Count(-lead, "%@ trail by %@ run", "%@ trail by %@ runs"), side, strconv.Itoa(-lead))
	}

	return words.Say("Scores level")
}

// NeedText returns NeedWords in English.
func NeedText(side string, runs, balls int) string {
	return NeedWords(side, runs, balls).In(words.English)
}

// NeedWords returns "India need 45 runs from 30 balls", or "to win" without balls.
func NeedWords(side string, runs, balls int) words.Text {
	n := strconv.Itoa(runs)

	switch {
	case balls == 1:
		return words.Say(words.Count(runs, "%@ need %@ run from %@ ball", "%@ need %@ runs from %@ ball"), side, n, "1")
	case balls > 0:
		return words.Say(words.Count(runs, "%@ need %@ run from %@ balls", "%@ need %@ runs from %@ balls"), side, n, strconv.Itoa(balls))
	}

	return words.Say(words.Count(runs, "%@ need %@ run to win", "%@ need %@ runs to win"), side, n)
}

// ResultWords returns a result for winner as ResultText does. It names the balls that were left of a
// chase only without a method, and a method that is no rain rule only without a margin.
func ResultWords(res Result, winner string) words.Text {
	rule := res.Method == "DLS" || res.Method == "VJD"

	switch res.Kind {
	case Won:
		t := wonWords(res, winner)

		switch {
		case rule:
			t.Key += " (%@ method)"
			t.Args = append(t.Args, res.Method)
		case res.Method != "" && t.Key == "%@ won":
			t = words.Say("%@ won (%@)", winner, res.Method)
		case res.Wickets > 0 && res.BallsLeft > 0:
			t.Key = words.Count(res.Wickets,
				words.Count(res.BallsLeft, "%@ won by %@ wicket (with %@ ball remaining)", "%@ won by %@ wicket (with %@ balls remaining)"),
				words.Count(res.BallsLeft, "%@ won by %@ wickets (with %@ ball remaining)", "%@ won by %@ wickets (with %@ balls remaining)"))
			t.Args = append(t.Args, strconv.Itoa(res.BallsLeft))
		}

		return t
	case Tied:
		switch {
		case res.WinnerID == "" && rule:
			return words.Say("Match tied (%@ method)", res.Method)
		case res.WinnerID == "":
			return words.Say("Match tied")
		case res.Decider == BowlOut:
			return words.Say("Match tied (%@ won the bowl-out)", winner)
		case res.Decider == SuperOver:
			return words.Say("Match tied (%@ won the Super Over)", winner)
		}

		return words.Say("Match tied (%@ won)", winner)
	case Drawn:
		return words.Say("Match drawn")
	case NoResult:
		return words.Say("No result")
	case Abandoned:
		return words.Say("Match abandoned without a ball bowled")
	case Cancelled:
		return words.Say("Match cancelled")
	}

	return words.Say("Result unknown")
}

// wonWords returns "India won by 5 wickets".
func wonWords(res Result, winner string) words.Text {
	switch runs := strconv.Itoa(res.Runs); {
	case res.Innings && res.Runs > 0:
		return words.Say(words.Count(res.Runs, "%@ won by an innings and %@ run", "%@ won by an innings and %@ runs"), winner, runs)
	case res.Runs > 0:
		return words.Say(words.Count(res.Runs, "%@ won by %@ run", "%@ won by %@ runs"), winner, runs)
	case res.Wickets > 0:
		return words.Say(words.Count(res.Wickets, "%@ won by %@ wicket", "%@ won by %@ wickets"), winner, strconv.Itoa(res.Wickets))
	}

	return words.Say("%@ won", winner)
}
