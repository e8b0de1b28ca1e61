package score

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"matchday/pkg/cricket/sportmonks"
)

// Display is the content of a lock screen for a match and one perspective: the content state of the
// Live Activity. Its JSON is less than 2 KB, whatever the provider sends. phase, format, status,
// headline, local and visitor are always present. Any other member is absent if it does not apply.
// No member is null.
type Display struct {
	_ struct{} `schema:"MatchDisplay"`

	Phase       sportmonks.Phase `json:"phase" doc:"The phase of the match."`
	Format      Format           `json:"format" doc:"The format of the match."`
	Status      string           `json:"status" doc:"What happens now, such as 2nd innings."`
	Headline    string           `json:"headline" doc:"The first line, in a large font."`
	Detail      string           `json:"detail,omitzero" doc:"The line below the headline."`
	Local       Side             `json:"local" doc:"The home side."`
	Visitor     Side             `json:"visitor" doc:"The visiting side."`
	Batters     []Crease         `json:"batters,omitzero" doc:"The batters at the crease, at most two."`
	Bowler      Spell            `json:"bowler,omitzero" doc:"The bowler of the last ball."`
	LastSix     []string         `json:"lastSix,omitzero" doc:"The last six deliveries of the innings."`
	RunRate     string           `json:"runRate,omitzero" doc:"The runs an over of the current innings."`
	NeedRate    string           `json:"requiredRate,omitzero" doc:"The runs an over that the chase needs."`
	Target      int              `json:"target,omitzero" doc:"The runs that win the chase."`
	Revised     bool             `json:"revised,omitzero" doc:"Whether a rain rule set the target."`
	NeedRuns    int              `json:"needRuns,omitzero" doc:"The runs that the chase still needs."`
	NeedBalls   int              `json:"needBalls,omitzero" doc:"The balls that the chase still has."`
	Partnership string           `json:"partnership,omitzero" doc:"Runs and balls of the partnership, such as 45 (30)."`
	LastWicket  string           `json:"lastWicket,omitzero" doc:"The last wicket of the innings."`
	SuperOver   string           `json:"superOver,omitzero" doc:"The super over in batting order, such as SO 10/1 v 6/2."`
	Outcome     Outcome          `json:"outcome,omitzero" doc:"The result for the followers of the side: lost for those of the loser."`
	Result      string           `json:"result,omitzero" doc:"The result as a sentence."`

	// Codes and numbers of the sentences, for apps that say them in their own words. More codes may come.
	ResultCode Outcome `json:"resultCode,omitzero" doc:"The result for anybody: won, tied, drawn, noResult, abandoned, cancelled or unknown. More may come."`
	WinnerID   string  `json:"winnerId,omitzero" doc:"The id of the winner, also of a tie that was decided. Absent: there is none."`
	Margin     int     `json:"margin,omitzero" doc:"The margin of the win, in unit."`
	Unit       string  `json:"unit,omitzero" doc:"What the margin counts: runs, wickets, or innings for the runs beside an innings. More may come."`
	BreakCode  string  `json:"breakCode,omitzero" doc:"Why there is no play: delayed, postponed, innings, lunch, tea, dinner, stumps or interrupted. More may come."`
	Spoken     string  `json:"spoken,omitzero" doc:"The score as a line to be spoken, in English."`
}

// Lost is the Outcome that followers of the losing side see.
const Lost Outcome = "lost"

// Side is the display of one team. Name is always present.
type Side struct {
	_ struct{} `schema:"DisplaySide"`

	Name      string `json:"name" doc:"The name of the team."`
	Code      string `json:"code,omitzero" doc:"The short code of the team."`
	Score     string `json:"score,omitzero" doc:"The scores of its innings, such as 182/8, 364 & 298/8d or 483 f/o."`
	Overs     string `json:"overs,omitzero" doc:"The overs of its last innings that is no super over."`
	SuperOver string `json:"superOver,omitzero" doc:"The score of the super over."`
	Batting   bool   `json:"batting,omitzero" doc:"Whether the side bats now."`
}

// Crease is the display of a batter at the crease.
type Crease struct {
	Name   string `json:"name" doc:"The name of the batter."`
	Runs   int    `json:"runs" doc:"The runs of the batter."`
	Balls  int    `json:"balls" doc:"The balls that the batter faced."`
	Fours  int    `json:"fours,omitzero" doc:"The fours of the batter."`
	Sixes  int    `json:"sixes,omitzero" doc:"The sixes of the batter."`
	Strike bool   `json:"strike,omitzero" doc:"Whether the batter faces the next ball."`
}

// Spell is the display of the bowler, with the figures "2-24 (3.4)": wickets, runs and
// overs.
type Spell struct {
	_ struct{} `schema:"BowlingSpell"`

	Name    string `json:"name" doc:"The name of the bowler."`
	Figures string `json:"figures" doc:"Wickets, runs and overs, such as 2-31 (3.4)."`
}

// For returns the display for followers of a team. Any id but those of the local and
// the visiting team, "" included, is the neutral perspective.
func (s State) For(teamID string) Display {
	if teamID != s.Local.ID && teamID != s.Visitor.ID {
		teamID = ""
	}

	over := s.Phase.Over()

	d := Display{
		Phase:     sportmonks.Phase(Fit(string(s.Phase), 16)),
		Format:    Format(Fit(string(s.Format), 16)),
		Status:    Fit(s.Status, 40),
		Headline:  Fit(s.headline(teamID), 72),
		Detail:    Fit(s.detail(), 72),
		Local:     s.SideOf(s.Local),
		Visitor:   s.SideOf(s.Visitor),
		SuperOver: Fit(s.SuperOverScores(), 32),
	}
	if !s.Result.IsZero() {
		d.Outcome = Outcome(Fit(string(s.Result.Kind), 16))
		if d.Outcome == Won && teamID != "" && teamID != s.Result.WinnerID {
			d.Outcome = Lost
		}

		d.Result = Fit(s.Result.Text, 96)
		d.ResultCode, d.WinnerID = Outcome(Fit(string(s.Result.Kind), 16)), Fit(s.Result.WinnerID, 20)
		d.Margin, d.Unit = s.Result.margin()
	}

	d.BreakCode, d.Spoken = s.breakCode(), Fit(s.spoken(), 200)

	for _, g := range s.LastSix[max(len(s.LastSix)-6, 0):] {
		d.LastSix = append(d.LastSix, Fit(g, 6))
	}

	cur := s.InningsOf(s.Current)
	if over || cur == nil {
		return d
	}

	d.Target, d.Revised = clamp(s.Target.Runs), s.Target.Revised
	d.NeedRuns, d.NeedBalls = clamp(s.Need.Runs), clamp(s.Need.Balls)

	d.RunRate, d.NeedRate = Fit(s.RunRate, 8), Fit(s.NeedRate, 8)
	if cur.Over {
		return d
	}

	for _, b := range s.Batters[:min(len(s.Batters), 2)] {
		d.Batters = append(d.Batters, Crease{
			Fit(b.Name, 28), clamp(b.Runs), clamp(b.Balls), clamp(b.Fours), clamp(b.Sixes), b.OnStrike,
		})
	}

	if b := s.Bowler; b != (Bowler{}) {
		figures := ClampText(b.Wickets) + "-" + ClampText(b.Runs) + " (" + Fit(b.Overs, 8) + ")"
		d.Bowler = Spell{Name: Fit(b.Name, 28), Figures: figures}
	}

	if len(d.Batters) > 0 {
		d.Partnership = ClampText(s.Partnership.Runs) + " (" + ClampText(s.Partnership.Balls) + ")"
	}

	if s.LastWicket != (Wicket{}) {
		w := s.LastWicket
		d.LastWicket = Fit(w.Name, 28) + " " + ClampText(w.Runs) + " (" + ClampText(w.Balls) + ")"
	}

	return d
}

// KeyEvent reports whether the latest change of the score is a key event, whose display must not
// wait: the wicket of the last ball, an innings of which no ball was bowled, its end, or a change
// while there is no play, such as the toss, an interval, an interruption or the result. A recorded
// match has at most 15 in an hour, of about 75 balls.
func (s *State) KeyEvent() bool {
	cur := s.InningsOf(s.Current)
	if s.Phase != sportmonks.Live || cur == nil || cur.Over || len(s.LastSix) == 0 {
		return true
	}

	return strings.Contains(s.LastSix[len(s.LastSix)-1], "W")
}

// SideOf returns the display of a team.
func (s *State) SideOf(t Team) Side {
	v := Side{Name: Fit(t.Name, 32), Code: Fit(t.Code, 8)}
	over := s.Phase.Over()

	var scores []string

	for i := range s.Innings {
		n := &s.Innings[i]
		if n.TeamID != t.ID || t.ID == "" {
			continue
		}

		v.Batting = n.Number == s.Current && !n.Over && !over
		if n.SuperOver {
			v.SuperOver = Fit(n.Score(), 8)
			continue
		}

		score := n.Score()
		if n.Number == 3 && s.FollowOn {
			score += " f/o"
		}

		scores = append(scores, score)
		v.Overs = Fit(n.Overs, 8)
	}

	v.Score = Fit(strings.Join(scores, " & "), 32)

	return v
}

// short returns a team's code, or its name if it has none.
func (s *State) short(teamID string) string {
	for _, t := range [...]Team{s.Local, s.Visitor} {
		if t.ID == teamID && teamID != "" {
			if t.Code != "" {
				return Fit(t.Code, 8)
			}

			return Fit(t.Name, 24)
		}
	}

	return s.TeamName(teamID)
}

// headline returns the most important line, for followers of teamID or, with "", for
// the neutral perspective.
func (s *State) headline(teamID string) string {
	if !s.Result.IsZero() && s.Phase.Over() {
		return s.resultLine(teamID)
	}

	cur := s.InningsOf(s.Current)
	switch {
	case s.Pending:
		return "Awaiting result"
	case s.Phase == sportmonks.Upcoming || cur == nil:
		if s.Toss.WinnerID != "" && (s.Phase == sportmonks.Live || s.Status == "Not started") {
			return s.Toss.Text
		}

		return s.Status
	case s.Need.Runs > 0:
		return s.needLine(teamID)
	case cur.Target > 0 && cur.Runs >= cur.Target:
		return "Target reached"
	case cur.Target > 0 && cur.Over && cur.Runs == cur.Target-1:
		return "Scores level"
	case cur.Target > 0 && cur.Over:
		return "Awaiting result"
	case s.Format.MultiDay() && cur.Number >= 2:
		return s.leadLine(teamID, cur)
	case cur.Declared:
		return s.short(cur.TeamID) + " declared at " + ClampText(cur.Runs) + "/" + ClampText(cur.Wickets)
	case cur.AllOut && !cur.SuperOver:
		return s.short(cur.TeamID) + " all out for " + ClampText(cur.Runs)
	case cur.Over:
		return s.short(cur.TeamID) + " made " + Fit(cur.Score(), 16)
	}

	return s.choose(teamID, cur.TeamID, s.short(cur.TeamID)+" batting", "Batting", "Bowling")
}

// choose returns the text for the perspective teamID: own for followers of the team
// concerned, others for followers of its opponent, otherwise neutral.
func (s *State) choose(teamID, concerned, neutral, own, others string) string {
	switch {
	case teamID == "" || concerned == "":
		return neutral
	case teamID == concerned:
		return own
	}

	return others
}

func (s *State) needLine(teamID string) string {
	n := s.Need
	runs := ClampText(n.Runs)

	from, off := " to win", ""
	if n.Balls > 0 {
		from = " from " + ClampText(n.Balls)
		off = " off " + ClampText(n.Balls)
	}

	line := s.choose(teamID, n.TeamID,
		s.short(n.TeamID)+" need "+runs+from, "Need "+runs+from, "Defending "+runs+off)
	if s.Target.Revised {
		line += " (DLS)"
	}

	return line
}

func (s *State) leadLine(teamID string, cur *Innings) string {
	lead := s.Lead
	if lead == 0 {
		return "Scores level"
	}

	verb := func(lead int) string {
		if lead > 0 {
			return "lead by " + ClampText(lead)
		}

		return "trail by " + ClampText(-lead)
	}
	upper := func(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

	return s.choose(teamID, cur.TeamID,
		s.short(cur.TeamID)+" "+verb(lead), upper(verb(lead)), upper(verb(-lead)))
}

func (s *State) resultLine(teamID string) string {
	res := s.Result

	by := res.marginText()
	switch {
	case res.Kind == Won:
		if res.Method != "" {
			by = strings.TrimSpace(by + " (" + res.Method + ")")
		}

		line := s.choose(teamID, res.WinnerID, s.short(res.WinnerID)+" won", "Won", "Lost")

		return strings.TrimSpace(line + " " + by)
	case res.Kind == Tied && res.WinnerID != "":
		how := ""

		switch res.Decider {
		case SuperOver:
			how = " the Super Over"
		case BowlOut:
			how = " the bowl-out"
		}

		return s.choose(teamID, res.WinnerID, s.short(res.WinnerID)+" won"+how, "Won"+how, "Lost"+how)
	case res.Kind == Abandoned:
		return "Match abandoned"
	}

	return s.ResultText(res)
}

// detail returns the second line, or "".
func (s *State) detail() string {
	switch {
	case s.Phase == sportmonks.Upcoming:
		return s.Round
	case s.Phase.Over():
		return ""
	case s.Pending:
		return ""
	case s.Need.Runs > 0 && s.Target.Runs > 0:
		text := "Target " + ClampText(s.Target.Runs)
		if s.Target.Overs != "" && s.Target.Revised {
			text += " in " + Fit(s.Target.Overs, 8) + " overs"
		}

		return text
	case s.Current == 1:
		return s.Toss.Text
	}

	return ""
}

// Hash returns 32 hex digits of the SHA-256 of the display. Two displays have the same
// hash exactly if they are equal, in every process.
func (d Display) Hash() string {
	b, err := json.Marshal(d)
	if err != nil {
		return "" // cannot happen: strings, numbers and lists of them always marshal
	}

	sum := sha256.Sum256(b)

	return hex.EncodeToString(sum[:16])
}

// Fit returns text in at most size bytes of JSON, whichever encoder writes it. It drops
// control characters and counts what encoders escape as escaped. A text that it
// shortens ends in "…", and is empty if no other character fits.
func Fit(text string, size int) string {
	cost := func(r rune) int {
		switch {
		case r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
			return 6
		case r == '"' || r == '\\':
			return 2
		}

		return utf8.RuneLen(r)
	}

	var b strings.Builder

	total, cut := 0, -1

	for _, r := range text {
		if unicode.IsControl(r) || r == utf8.RuneError {
			continue
		}

		if total+cost(r) > size {
			if cut < 0 {
				return ""
			}

			return strings.TrimRight(b.String()[:cut], " ") + "…"
		}

		b.WriteRune(r)

		if total += cost(r); total <= size-len("…") {
			cut = b.Len()
		}
	}

	return b.String()
}

// clamp limits n to five digits, so that a Display stays under 2 KB.
func clamp(n int) int { return min(max(n, -99999), 99999) }

// ClampText returns n in decimal, limited to -99999 to 99999.
func ClampText(n int) string { return strconv.Itoa(clamp(n)) }
