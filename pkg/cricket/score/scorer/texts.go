package scorer

import (
	"strconv"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// texts sets the texts, after all else is set.
func (r *reader) texts() {
	s := &r.s
	if s.Status == "" { // phase keeps that of an unknown status
		s.Status = r.status()
	}

	if s.Phase.Over() {
		s.Need, s.NeedRate = score.Need{}, ""
		if cur := s.InningsOf(s.Current); cur != nil && cur.Target == 0 {
			s.Target = score.Target{}
		}
	}

	s.NameTeams()
}

// status returns the status to show.
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
		if s.Day > 0 && s.Format.MultiDay() {
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

	cur := s.InningsOf(s.Current)
	switch {
	case cur == nil:
		return score.Fit(r.f.Status, 24)
	case cur.SuperOver:
		return "Super Over"
	case s.Day > 0 && s.Format.MultiDay():
		if s.Session > 0 {
			return "Day " + strconv.Itoa(s.Day) + ", session " + strconv.Itoa(s.Session)
		}

		return "Day " + strconv.Itoa(s.Day)
	}

	return [...]string{"1st", "2nd", "3rd", "4th"}[min(max(cur.Number, 1), 4)-1] + " innings"
}

// targetIn returns the number that follows "target" in a note, or 0.
func targetIn(note string) int {
	_, rest, _ := strings.Cut(strings.ToLower(note), "target")
	if i := strings.IndexAny(rest, "0123456789"); i >= 0 && i <= 6 {
		return leadingInt(rest[i:])
	}

	return 0
}

// leadingInt returns the number of up to nine digits that s begins with, or 0.
func leadingInt(s string) int {
	end := 0
	for end < len(s) && end < 9 && s[end] >= '0' && s[end] <= '9' {
		end++
	}

	n, _ := strconv.Atoi(s[:end])

	return n
}
