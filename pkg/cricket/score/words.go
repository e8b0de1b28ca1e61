package score

import (
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
)

// oversText writes overs as "19.4", whole ones as "20"; 3.6 is 4 overs.
func oversText(o sportmonks.Overs, per int) string {
	if o.Balls >= per {
		o = sportmonks.Overs{Overs: o.Overs + 1}
	}
	s := strconv.Itoa(o.Overs)
	if o.Balls > 0 {
		s += "." + strconv.Itoa(o.Balls)
	}
	return s
}

// rate is runs per six balls with two decimals, half up, whatever the over's
// length; "" when there is nothing to divide or divide by.
func rate(runs, balls int) string {
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

// count is "1 run", "2 runs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// words fills the texts.
func (r *reader) words() {
	s := &r.s
	if _, known := r.f.Phase(); known || s.Status == "" {
		s.Status = r.status()
	}
	if s.Phase.Over() {
		s.Need, s.NeedRate = Need{}, ""
		if cur := s.innings(s.Current); cur != nil && cur.Target == 0 {
			s.Target = Target{}
		}
	}
	if n := s.Need; n.Runs > 0 {
		s.NeedText = s.name(n.TeamID) + " need " + count(n.Runs, "run")
		if n.Balls > 0 {
			s.NeedText += " from " + count(n.Balls, "ball")
		} else {
			s.NeedText += " to win"
		}
	}
	if cur := s.innings(s.Current); cur != nil && s.Format.MultiDay() && cur.Number >= 2 {
		s.LeadText = leadText(s.name(cur.TeamID), s.Lead)
	}
}

func leadText(side string, lead int) string {
	switch {
	case lead > 0:
		return side + " lead by " + count(lead, "run")
	case lead < 0:
		return side + " trail by " + count(-lead, "run")
	}
	return "Scores level"
}

func (r *reader) status() string {
	s := &r.s
	if s.Pending {
		return "Awaiting result"
	}
	raw := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(r.f.Status), "."))
	switch s.Phase {
	case sportmonks.Upcoming:
		switch raw {
		case "delayed":
			return "Start delayed"
		case "postp":
			return "Postponed"
		}
		return "Not started"
	case sportmonks.Break:
		switch raw {
		case "lunch":
			return "Lunch"
		case "tea", "tea break":
			return "Tea"
		case "dinner":
			return "Dinner"
		}
		return "Innings break"
	case sportmonks.Stumps:
		if s.Day > 0 {
			return "Stumps, day " + strconv.Itoa(s.Day)
		}
		return "Stumps"
	case sportmonks.Interrupted:
		return "Play interrupted"
	case sportmonks.Result:
		return "Finished"
	case sportmonks.Closed:
		if raw == "cancl" {
			return "Cancelled"
		}
		return "Abandoned"
	}
	cur := s.innings(s.Current)
	switch {
	case cur == nil:
		return fit(r.f.Status, 24)
	case cur.SuperOver:
		return "Super Over"
	case s.Format.MultiDay() && s.Day > 0:
		if s.Session > 0 {
			return "Day " + strconv.Itoa(s.Day) + ", session " + strconv.Itoa(s.Session)
		}
		return "Day " + strconv.Itoa(s.Day)
	}
	return [...]string{"1st", "2nd", "3rd", "4th"}[min(max(cur.Number, 1), 4)-1] + " innings"
}

// targetIn is the number that follows "target" in a note, or 0.
func targetIn(note string) int {
	_, rest, ok := strings.Cut(strings.ToLower(note), "target")
	if i := strings.IndexAny(rest, "0123456789"); ok && i >= 0 && i <= 6 {
		return leadingInt(rest[i:])
	}
	return 0
}

// leadingInt is the number s begins with, or 0.
func leadingInt(s string) int {
	end := 0
	for end < len(s) && end < 9 && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}
