package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/sportmonks/script"
	"matchday/pkg/cricket/card"
	api "matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/score"
)

// compareCard compares the scorecard with the file after a frame: each cell is in a line, and the
// lines must be the same.
func (r *run) compareCard(ctx context.Context, m *match, frame script.Frame) {
	if t := m.oracle.Info.Teams; t[0] == t[1] {
		return // the feed lists the players of one side
	}

	var got api.Scorecard
	if err := r.world.Call(ctx, "", "GET", "/cricket/matches/"+local.ID(m.script.ID)+"/scorecard", nil, &got); err != nil {
		m.fail("ball %d: the scorecard: %v", frame.Deliveries, err)
		return
	}

	want := m.oracle.card(frame)
	have := linesOf(&got)

	if m.oracle.unnamed() { // the sides are those who take part, which the file names ball by ball
		unnamed := func(l string) bool { return strings.HasPrefix(l, "side ") || strings.Contains(l, ", did not bat ") }
		have, want = slices.DeleteFunc(have, unnamed), slices.DeleteFunc(want, unnamed)
	}

	for _, l := range want {
		if in, odd := strings.CutSuffix(l, unlisted); odd { // then the rows and the balls do differ
			have = slices.DeleteFunc(have, func(l string) bool { return strings.HasPrefix(l, in+": rows and balls differ") })
		}
	}

	want = slices.DeleteFunc(want, func(l string) bool { return strings.HasSuffix(l, unlisted) })

	for i := range max(len(have), len(want)) {
		h, w := lineAt(have, i), lineAt(want, i)
		if h != w {
			m.fail("ball %d: the scorecard has %q, the file %q", frame.Deliveries, h, w)
			return
		}
	}
}

// comparePlayers compares what the players' own pages have of a match with its scorecard, each cell in a line.
func (r *run) comparePlayers(ctx context.Context, m *match) {
	id := local.ID(m.script.ID)

	var c api.Scorecard
	if err := r.world.Call(ctx, "", "GET", "/cricket/matches/"+id+"/scorecard", nil, &c); err != nil {
		m.fail("the scorecard: %v", err)
		return
	}

	want := map[string][]string{} // by player

	for _, s := range c.Teams {
		for _, p := range s.Players {
			if !p.Substitute {
				want[p.ID] = append(want[p.ID], "for "+s.TeamID+marks(p.Captain, p.Keeper, false))
			}
		}
	}

	for _, n := range c.Innings {
		if n.SuperOver {
			continue
		}

		for _, b := range n.Batting {
			row := player.Batting{Runs: b.Runs, Balls: b.Balls, Fours: b.Fours, Sixes: b.Sixes, StrikeRate: b.StrikeRate, How: b.How}
			want[b.ID] = append(want[b.ID], fmt.Sprintf("innings %d: %+v", n.Number, row))
		}

		for _, b := range n.Bowling {
			row := player.Bowling{Overs: b.Overs, Maidens: b.Maidens, Runs: b.Runs, Wickets: b.Wickets, Economy: b.Economy}
			want[b.ID] = append(want[b.ID], fmt.Sprintf("innings %d: %+v", n.Number, row))
		}
	}

	for p, lines := range want {
		a, err := r.appearance(ctx, p, id)
		if err != nil {
			m.fail("%v", err)
			return
		}

		have := []string{"for " + a.Team.ID + marks(a.Captain, a.Keeper, false)}

		for _, n := range a.Innings {
			if b := n.Batting; b != nil {
				have = append(have, fmt.Sprintf("innings %d: %+v", n.Number, *b))
			}

			if b := n.Bowling; b != nil {
				have = append(have, fmt.Sprintf("innings %d: %+v", n.Number, *b))
			}
		}

		if !slices.Equal(have, lines) && !slices.Equal(have[1:], lines) { // a substitute is in no eleven
			m.fail("the page of player %s has %q, the scorecard %q", p, have, lines)
			return
		}
	}
}

// appearance reads what the page of a player has of a match.
func (r *run) appearance(ctx context.Context, of, matchID string) (player.Appearance, error) {
	for cursor := ""; ; {
		var got struct {
			Matches []player.Appearance
			Next    string
		}
		if err := r.world.Call(ctx, "", "GET", "/cricket/players/"+of+cursor, nil, &got); err != nil {
			return player.Appearance{}, fmt.Errorf("player %s: %w", of, err)
		}

		if i := slices.IndexFunc(got.Matches, func(a player.Appearance) bool { return a.MatchID == matchID }); i >= 0 {
			return got.Matches[i], nil
		}

		if got.Next == "" {
			return player.Appearance{}, fmt.Errorf("the page of player %s lacks the match", of)
		}

		cursor = "?cursor=" + got.Next
	}
}

// unlisted marks an innings that has a ball of several dismissals, of which the feed has one, or whose
// overs are not numbered in a row or are longer than labels can say.
const unlisted = " is not in the balls as it is in the rows"

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}

	return "nothing more"
}

// linesOf returns the cells of a scorecard.
func linesOf(c *api.Scorecard) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }

	for i, s := range c.Teams {
		for j, p := range s.Players {
			say("side %d, player %d: %s%s", i+1, j+1, p.Name, marks(p.Captain, p.Keeper, p.Substitute))
		}
	}

	say("venue: %s, %s", c.Venue.Name, c.Venue.City)

	for _, o := range c.Officials {
		say("%s: %s", o.Role, o.Name)
	}

	if c.PlayerOfMatch != nil {
		say("player of the match: %s", c.PlayerOfMatch.Name)
	}

	for _, n := range c.Innings {
		if n.Runs == 0 && n.Overs == "0" && len(n.Batting) == 0 { // has not begun
			continue
		}

		in := "innings " + strconv.Itoa(n.Number)
		say("%s: %d/%d (%s)", in, n.Runs, n.Wickets, n.Overs)

		if n.Target != nil {
			say("%s, target %d", in, n.Target.Runs)
		}

		for i, b := range n.Batting {
			how := string(b.How)
			for _, f := range b.Fielders {
				how += ", " + f.Name
			}

			if b.Substitute {
				how += " (substitute)"
			}

			if b.Bowler != nil {
				how += ", bowler " + b.Bowler.Name
			}

			if b.Text != "" {
				how += ", " + b.Text
			}

			say("%s, batter %d: %s %d (%d), %d fours, %d sixes, rate %s, %s", in, i+1, b.Name, b.Runs, b.Balls, b.Fours, b.Sixes, b.StrikeRate, how)
		}

		for i, p := range n.DidNotBat {
			say("%s, did not bat %d: %s", in, i+1, p.Name)
		}

		e := n.Extras
		say("%s, extras: wd %d, nb %d, b %d, lb %d, p %d, in all %d", in, e.Wides, e.NoBalls, e.Byes, e.LegByes, e.Penalty, e.Total)

		for _, w := range n.Falls {
			say("%s, wicket %d: %s at %d (%s)", in, w.Wicket, w.Batter.Name, w.Runs, w.Overs)
		}

		for i, p := range n.Partnerships {
			var two []string
			for _, b := range p.Batters {
				two = append(two, fmt.Sprintf("%s %d (%d)", b.Name, b.Runs, b.Balls))
			}

			slices.Sort(two)
			say("%s, partnership %d for wicket %d: %d (%d), broken %t, %s", in, i+1, p.Wicket, p.Runs, p.Balls, p.Broken,
				strings.Join(two, ", "))
		}

		for i, b := range n.Bowling {
			say("%s, bowler %d: %s %s-%d-%d-%d, wd %d, nb %d, economy %s", in, i+1, b.Name, b.Overs, b.Maidens, b.Runs, b.Wickets,
				b.Wides, b.NoBalls, b.Economy)
		}

		if n.Unchecked {
			say("%s is unchecked", in)
		}

		for _, p := range n.Disagreements {
			say("%s: rows and balls differ in %s", in, p)
		}
	}

	return lines
}

func marks(captain, keeper, substitute bool) (s string) {
	if captain {
		s += ", captain"
	}

	if keeper {
		s += ", keeper"
	}

	if substitute {
		s += ", substitute"
	}

	return s
}

// shown returns a name as a scorecard has it.
func shown(name string) string { return score.Fit(name, 80) }

// unnamed reports whether the file does not list the players of both teams.
func (o *oracle) unnamed() bool {
	t := o.Info.Teams
	return len(o.Info.Players[t[0]]) == 0 || len(o.Info.Players[t[1]]) == 0
}

// overs returns how many overs begin and end within the first deliveries of the match.
func (o *oracle) overs(deliveries int) (n int) {
	for _, in := range o.Innings {
		for _, over := range in.Overs {
			if deliveries -= len(over.Deliveries); deliveries < 0 {
				return n
			}

			n++
		}
	}

	return n
}

// card returns the cells of the scorecard after a frame.
func (o *oracle) card(frame script.Frame) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }

	for i, team := range o.Info.Teams {
		keeps := o.keepers(team)
		for j, p := range o.Info.Players[team] {
			say("side %d, player %d: %s%s", i+1, j+1, shown(p), marks(j == 0, slices.Contains(keeps, p), j >= 11))
		}
	}

	say("venue: %s, %s", shown(o.Info.Venue), shown(o.Info.City))

	for _, f := range []struct {
		role  card.Role
		names []string
		most  int
	}{{card.Umpire, o.Info.Officials.Umpires, 2}, {card.TVUmpire, o.Info.Officials.TV, 1}, {card.Referee, o.Info.Officials.Referees, 1}} {
		for _, name := range f.names[:min(len(f.names), f.most)] {
			say("%s: %s", f.role, shown(name))
		}
	}

	if len(o.Info.Best) > 0 && frame.PlayerOfMatch != 0 {
		say("player of the match: %s", shown(o.Info.Best[0]))
	}

	left := frame.Deliveries

	for i := range o.Innings[:min(len(o.Innings), frame.InningsShown)] {
		s := sheetOf{o: o, innings: i, over: i < frame.InningsOver}
		lines = append(lines, s.lines(&left)...)
	}

	return lines
}

// keepers returns the wicketkeepers of a team: who stumps, or else the second of its list, as the
// simulated provider has it.
func (o *oracle) keepers(team string) (names []string) {
	for _, in := range o.Innings {
		for _, over := range in.Overs {
			for _, d := range over.Deliveries {
				for _, w := range d.Wickets {
					if w.Kind == "stumped" && in.Team != team && len(w.Fielders) > 0 && !w.Fielders[0].Substitute &&
						slices.Contains(o.Info.Players[team], w.Fielders[0].Name) {
						names = append(names, w.Fielders[0].Name)
					}
				}
			}
		}
	}

	if all := o.Info.Players[team]; len(names) == 0 && len(all) > 1 {
		return all[1:2]
	}

	return names
}

// sheetOf is the scorecard of an innings, as it is added up from the file.
type sheetOf struct {
	o       *oracle
	innings int
	over    bool // the innings has ended

	batters  []*batter
	bowlers  []*bowler
	falls    []string
	together []*pair
	wide, nb, bye, legBye, penalty,
	runs, wickets int
	odd bool // the balls of the feed do not have all that is in the rows
	any bool // a ball was bowled
}

type batter struct {
	name                      string
	runs, balls, fours, sixes int
	how                       string
}

type bowler struct {
	name                                                     string
	whole, legal, maidens, runs, wickets, wide, noBalls, now int
}

type pair struct {
	wicket, runs, balls int
	broken              bool
	names               []string
	of                  map[string][2]int
}

func (s *sheetOf) batter(name string) *batter {
	i := slices.IndexFunc(s.batters, func(b *batter) bool { return b.name == name })
	if i < 0 {
		i, s.batters = len(s.batters), append(s.batters, &batter{name: name, how: "notOut"})
	}

	return s.batters[i]
}

func (s *sheetOf) bowler(name string) *bowler {
	i := slices.IndexFunc(s.bowlers, func(b *bowler) bool { return b.name == name })
	if i < 0 {
		i, s.bowlers = len(s.bowlers), append(s.bowlers, &bowler{name: name})
	}

	return s.bowlers[i]
}

// lines adds up at most left deliveries, takes them from it, and returns the cells.
func (s *sheetOf) lines(left *int) (lines []string) {
	in := s.o.Innings[s.innings]
	s.runs, s.penalty = in.Penalty.Pre, in.Penalty.Pre
	at := "0"

	for k, over := range in.Overs {
		_, miscounted := in.Miscounted[strconv.Itoa(over.Over)]
		legal, charged := 0, 0

		var by []string

		for j, d := range over.Deliveries {
			if *left == 0 {
				break
			}

			*left--
			s.any = true
			s.odd = s.odd || k > 0 && over.Over != in.Overs[k-1].Over+1
			isLegal := d.Extras.Wides == 0 && d.Extras.NoBalls == 0
			charged += s.ball(d, fmt.Sprintf("%d.%d", over.Over, legal+1))

			if by = append(by, d.Bowler); isLegal {
				legal++
				s.bowler(d.Bowler).now++
			}

			s.odd = s.odd || legal > 9 // the labels of the feed have one digit
			ended := legal >= s.o.perOver && j == len(over.Deliveries)-1 ||
				j == len(over.Deliveries)-1 && (miscounted || k < len(in.Overs)-1)
			at = overs(over.Over, legal, legal >= s.o.perOver || ended)

			if ended {
				s.ended(slices.Compact(slices.Sorted(slices.Values(by))), legal, charged)
			}
		}
	}

	if s.over {
		s.runs, s.penalty = s.runs+in.Penalty.Post, s.penalty+in.Penalty.Post
		for _, name := range in.Absent {
			s.batter(name).how = "absentHurt"
		}
	}

	return s.say(at)
}

// ended completes an over.
func (s *sheetOf) ended(by []string, legal, charged int) {
	for _, name := range by {
		b := s.bowler(name)
		if len(by) == 1 {
			b.whole++
			if charged == 0 && legal >= s.o.perOver {
				b.maidens++
			}
		} else {
			b.legal += b.now
		}

		b.now = 0
	}
}

// ball adds a delivery, and returns what it costs the bowler.
func (s *sheetOf) ball(d delivery, label string) (charged int) {
	// Old files count byes off a no-ball as no-balls. It costs one run, in The Hundred two.
	own := min(d.Extras.NoBalls, 1)
	if s.o.perOver == 5 {
		own = min(d.Extras.NoBalls, 2)
	}

	for _, name := range []string{d.Batter, d.NonStriker} {
		s.batter(name).how = "notOut" // or has returned
	}

	b, w := s.batter(d.Batter), s.bowler(d.Bowler)
	s.wide += d.Extras.Wides
	s.nb += own
	s.bye += d.Extras.Byes + d.Extras.NoBalls - own
	s.legBye += d.Extras.LegByes
	s.penalty += d.Extras.Penalty
	s.runs += d.Runs.Total

	p := s.pair(d.Batter, d.NonStriker)
	p.runs += d.Runs.Total - d.Extras.Penalty
	part := p.of[d.Batter]
	part[0] += d.Runs.Batter
	b.runs += d.Runs.Batter

	if d.Extras.Wides == 0 {
		b.balls++
		p.balls++
		part[1]++
	} else {
		w.wide += d.Extras.Wides
	}

	p.of[d.Batter] = part

	if d.Extras.NoBalls > 0 {
		w.noBalls++
	}

	if !d.Runs.NonBoundary {
		switch d.Runs.Batter {
		case 4:
			b.fours++
		case 6:
			b.sixes++
		}
	}

	charged = d.Runs.Batter + d.Extras.Wides + own
	w.runs += charged
	s.odd = s.odd || len(d.Wickets) > 1

	for _, out := range d.Wickets {
		s.out(out, d, label)
	}

	return charged
}

// pair returns the partnership of two batters that goes on, or begins it.
func (s *sheetOf) pair(a, b string) *pair {
	names := []string{a, b}
	slices.Sort(names)

	if n := len(s.together); n == 0 || s.together[n-1].broken || !slices.Equal(s.together[n-1].names, names) {
		s.together = append(s.together, &pair{wicket: s.wickets + 1, names: names, of: map[string][2]int{a: {}, b: {}}})
	}

	return s.together[len(s.together)-1]
}

// out adds a dismissal.
func (s *sheetOf) out(w wicket, d delivery, label string) {
	how, credited := howIn(w, d.Bowler)
	s.batter(w.Out).how = how

	if !isOut(w.Kind) {
		return
	}

	s.wickets++
	s.falls = append(s.falls, fmt.Sprintf("wicket %d: %s at %d (%s)", s.wickets, shown(w.Out), s.runs, label))

	if credited {
		s.bowler(d.Bowler).wickets++
	}

	last := s.together[len(s.together)-1]
	if !last.broken {
		last.broken = true
		return
	}

	// The second wicket of a ball ends a partnership of no ball.
	first := d.Wickets[0].Out
	names := slices.DeleteFunc(slices.Clone(last.names), func(n string) bool { return n == first || n == w.Out })
	names = append(names, w.Out)
	slices.Sort(names)

	next := &pair{wicket: s.wickets, names: names, broken: true, of: map[string][2]int{}}
	for _, n := range names {
		next.of[n] = [2]int{}
	}

	s.together = append(s.together, next)
}

// howIn returns how a batter got out, as a scorecard has it, and whether the wicket is the
// bowler's.
func howIn(w wicket, bowler string) (how string, credited bool) {
	var fielders []string

	for i, f := range w.Fielders {
		if f.Name != "" && i < 2 && !slices.Contains(fielders, shown(f.Name)) {
			fielders = append(fielders, shown(f.Name))
		}
	}

	substitute := ""
	if len(w.Fielders) > 0 && w.Fielders[0].Substitute {
		substitute = " (substitute)"
	}

	one := ""
	if len(w.Fielders) > 0 && w.Fielders[0].Name != "" {
		one = ", " + shown(w.Fielders[0].Name) + substitute
	}

	by := ", bowler " + shown(bowler)

	switch w.Kind {
	case "bowled", "lbw":
		return w.Kind + by, true
	case "hit wicket":
		return "hitWicket" + by, true
	case "stumped":
		return "stumped" + one + by, true
	case "caught and bowled":
		return "caughtAndBowled" + by, true
	case "caught":
		if len(w.Fielders) > 0 && w.Fielders[0].Name == bowler {
			return "caughtAndBowled" + by, true
		}

		return "caught" + one + by, true
	case "run out":
		how = "runOut"
		for _, f := range fielders {
			how += ", " + f
		}

		if len(fielders) > 0 {
			how += substitute
		}

		return how, false
	}

	if code, ok := map[string]string{
		"retired hurt": "retiredHurt", "retired not out": "retiredNotOut", "retired out": "retiredOut", "timed out": "timedOut",
		"obstructing the field": "obstructingTheField", "handled the ball": "handledTheBall", "hit the ball twice": "hitTheBallTwice",
	}[w.Kind]; ok {
		return code, false
	}

	words := strings.Fields(w.Kind)
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}

	return "other, " + strings.Join(words, " "), false
}

// rate returns so many runs of so many balls with two decimals, rounded half up.
func rate(runs, balls, of int) string {
	if balls == 0 {
		return ""
	}

	h := (200*of*runs + balls) / (2 * balls)

	return fmt.Sprintf("%d.%02d", h/100, h%100)
}

// target returns the runs that the innings needs to win, or 0 if it is no chase.
func (s *sheetOf) target() int {
	i, all := s.innings, s.o.Innings
	limited := s.o.Info.MatchType != "Test" && s.o.Info.MatchType != "MDM"

	switch {
	case limited && i == 1 && all[1].Target.Runs > 0:
		return all[1].Target.Runs
	case limited && i%2 == 1:
		return s.o.final[i-1].Runs + 1
	case limited || i != 3:
		return 0
	}

	behind := 0

	for j, t := range s.o.final[:3] {
		if all[j].Team == all[3].Team {
			behind -= t.Runs
		} else {
			behind += t.Runs
		}
	}

	return max(behind+1, 1)
}

// say returns the cells.
func (s *sheetOf) say(at string) (lines []string) {
	in := "innings " + strconv.Itoa(s.innings+1)
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }

	if s.runs == 0 && at == "0" && len(s.batters) == 0 {
		return nil
	}

	say("%s: %d/%d (%s)", in, s.runs, s.wickets, at)

	if t := s.target(); t > 0 {
		say("%s, target %d", in, t)
	}

	for i, b := range s.batters {
		say("%s, batter %d: %s %d (%d), %d fours, %d sixes, rate %s, %s", in, i+1, shown(b.name), b.runs, b.balls, b.fours, b.sixes,
			rate(b.runs, b.balls, 100), b.how)
	}

	n := 0

	eleven := s.o.Info.Players[s.o.Innings[s.innings].Team]
	for _, name := range eleven[:min(len(eleven), 11)] {
		if !s.o.Innings[s.innings].SuperOver && !slices.ContainsFunc(s.batters, func(b *batter) bool { return b.name == name }) {
			n++
			say("%s, did not bat %d: %s", in, n, shown(name))
		}
	}

	say("%s, extras: wd %d, nb %d, b %d, lb %d, p %d, in all %d", in, s.wide, s.nb, s.bye, s.legBye, s.penalty,
		s.wide+s.nb+s.bye+s.legBye+s.penalty)

	for _, f := range s.falls {
		say("%s, %s", in, f)
	}

	for i, p := range s.together {
		var two []string
		for _, name := range p.names {
			two = append(two, fmt.Sprintf("%s %d (%d)", shown(name), p.of[name][0], p.of[name][1]))
		}

		slices.Sort(two)
		say("%s, partnership %d for wicket %d: %d (%d), broken %t, %s", in, i+1, p.wicket, p.runs, p.balls, p.broken, strings.Join(two, ", "))
	}

	for i, b := range s.bowlers {
		legal, per := b.legal+b.now, s.o.perOver
		say("%s, bowler %d: %s %s-%d-%d-%d, wd %d, nb %d, economy %s", in, i+1, shown(b.name), overs(b.whole+legal/per, legal%per, false),
			b.maidens, b.runs, b.wickets, b.wide, b.noBalls, rate(b.runs, b.whole*per+legal, 6))
	}

	if !s.any {
		say("%s is unchecked", in)
	}

	if s.odd {
		say("%s%s", in, unlisted)
	}

	return lines
}
