package script

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/infra/sim/cricsheet"
)

// Read returns the script of a match in the Cricsheet JSON format. id is the provider's
// id of the match. The error describes in one sentence what is wrong with the file.
func Read(data []byte, id int64) (*Match, error) {
	f, err := cricsheet.Parse(data)
	if err != nil {
		return nil, err
	}

	return New(f, id), nil
}

// Generate returns the script of the match that cricsheet.Generate invents for a seed
// and a format.
func Generate(seed int64, format cricsheet.Format) *Match {
	return New(cricsheet.Generate(seed, format), generatedID(seed, format))
}

// GenerateFixture returns the fixture of the match that Generate returns.
func GenerateFixture(seed int64, format cricsheet.Format) Fixture {
	return newBuilder(cricsheet.GenerateFixture(seed, format), generatedID(seed, format)).Fixture
}

func generatedID(seed int64, format cricsheet.Format) int64 {
	return SyntheticID("generated", strconv.FormatInt(seed, 10), format.String())
}

// New returns the script of a match. id is the provider's id of the match. The format has no captains
// and keepers: the first player whom a team lists is its captain, and the second its keeper, unless
// others have stumped a batter.
func New(f *cricsheet.Match, id int64) *Match {
	b := newBuilder(f, id)
	for side, name := range f.Info.Teams {
		for i, p := range f.Info.Players[name] {
			n := b.player(side, p)
			b.People[n].listed = true
			b.People[n].Substitute = i >= 11
		}

		if side == 0 && f.Info.Teams[1] == name {
			break // two teams with the same name share one list
		}
	}

	bowled := b.play()
	b.roles(bowled)

	for i, names := range [][]string{first(f.Info.Officials.Umpires), second(f.Info.Officials.Umpires), first(f.Info.Officials.TVUmpires),
		first(f.Info.Officials.Referees)} {
		b.Officials[i] = -1
		if len(names) > 0 {
			b.Officials[i] = b.player(-1, names[0])
		}
	}

	b.script()

	return b.Match
}

func first(s []string) []string  { return s[:min(1, len(s))] }
func second(s []string) []string { return first(s[min(1, len(s)):]) }

type nameOnSide struct {
	side int
	name string
}

type builder struct {
	*Match
	file   *cricsheet.Match
	known  map[nameOnSide]int
	header *Header // the state of the frames that are being written
}

// newBuilder returns a builder whose match has its fixture.
func newBuilder(f *cricsheet.Match, id int64) *builder {
	b := &builder{file: f, known: map[nameOnSide]int{}, Match: &Match{
		BallsPerOver: cmp.Or(f.Info.BallsPerOver, 6),
		Gender:       cmp.Or(f.Info.Gender, "male")[:1],
	}}
	b.fixture(id)

	return b
}

// side returns the side of the team with a name. If both teams have the same name, it
// returns the side that bats in innings i.
func (b *builder) side(name string, i int) int {
	t := b.file.Info.Teams
	if t[0] == t[1] {
		return i % 2
	}

	return slices.Index(t, name)
}

// player returns the index in people of a name on a side, -1 for officials. A name that
// both teams list is two people.
func (b *builder) player(side int, name string) int {
	if n, ok := b.known[nameOnSide{side, name}]; ok {
		return n
	}

	in := &b.file.Info

	parts := []string{"player", cmp.Or(in.Registry.People[name], in.Gender+" "+name)}
	if side >= 0 && slices.Contains(in.Players[in.Teams[0]], name) && slices.Contains(in.Players[in.Teams[1]], name) {
		parts = append(parts, strconv.FormatInt(b.Team(side).ID, 10))
	}

	n := len(b.People)
	b.People = append(b.People, Person{ID: SyntheticID(parts...), Side: side, Name: name})
	b.known[nameOnSide{side, name}] = n

	return n
}

func (b *builder) fixture(id int64) {
	in := &b.file.Info
	international := in.TeamType == "international"
	m := b.Match

	m.ID = id
	if b.file.Limited() {
		m.Overs = in.Overs
	}

	switch in.MatchType {
	case "T20":
		m.Type = "T20"
		if m.BallsPerOver == 5 {
			m.Type = "100-Ball"
		} else if international {
			m.Type = "T20I"
		}
	case "IT20":
		m.Type = "T20I"
	case "ODM":
		m.Type = "List A"
	case "Test":
		m.Type = "Test/5day"
	case "MDM":
		m.Type = "4day"
	default:
		m.Type = in.MatchType
	}

	team := func(name string, more ...string) Team {
		c := code(name)
		if in.Gender == "female" {
			c += "W"
		}

		return Team{ID: SyntheticID(append([]string{"team", name, in.Gender}, more...)...), Name: name, Code: c, National: international}
	}

	m.Local, m.Visitor = team(in.Teams[0]), team(in.Teams[1])
	if in.Teams[0] == in.Teams[1] {
		m.Visitor = team(in.Teams[1], "visitor")
	}

	event := in.Event.Name
	tour := international && (event == "" || strings.Contains(event, "tour of"))
	stage := cmp.Or(string(in.Event.Stage), string(in.Event.Group), "Regular")

	if tour {
		m.League = series(m.Type)
		stage = cmp.Or(event, stage)
	} else {
		m.League = tournament(cmp.Or(event, m.Type))
	}

	season := string(in.Season)
	if season == "" && len(in.Dates) > 0 {
		season = in.Dates[0][:4]
	}

	if from, to, ok := strings.Cut(season, "/"); ok && len(from) == 4 && len(to) == 2 {
		season = from + "/" + from[:2] + to
	}

	league := strconv.FormatInt(m.League.ID, 10)
	m.Season = Season{ID: SyntheticID("season", league, season), Name: season}
	m.Stage = Stage{ID: SyntheticID("stage", league, season, stage), Name: stage, Code: code(stage)}
	m.Venue = Venue{ID: SyntheticID("venue", in.Venue, in.City), Name: in.Venue, City: in.City}

	n, err := strconv.Atoi(string(in.Event.MatchNumber))
	switch {
	case in.Event.Stage != "":
		m.Round = string(in.Event.Stage)
	case err == nil && tour:
		m.Round = Ordinal(n) + " " + strings.TrimSuffix(m.Type, "/5day")
	case err == nil:
		m.Round = Ordinal(n) + " Match"
	default:
		m.Round = "Match"
	}
}

// series returns the league that contains the tours of a format.
func series(format string) League {
	if format == "T20I" {
		return League{ID: 3, Name: "Twenty20 International", Code: "T20I", Phase: true}
	}

	name := map[string]string{"ODI": "One Day International", "Test/5day": "Test Series"}[format]
	name = cmp.Or(name, format)

	return League{ID: SyntheticID("league", name), Name: name, Code: code(name), Phase: true}
}

// tournament returns a league, with the provider's id if it is known.
func tournament(name string) League {
	id := map[string]int64{"Indian Premier League": 1, "Big Bash League": 5, "Bangladesh Premier League": 9, "CSA T20 Challenge": 10}[name]
	return League{ID: cmp.Or(id, SyntheticID("league", name)), Name: name, Code: code(name)}
}

func Ordinal(n int) string {
	end := "th"

	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}

	return strconv.Itoa(n) + end
}

// play converts the innings and deliveries and returns the bowlers.
func (b *builder) play() (bowled map[int]bool) {
	bowled = map[int]bool{}

	for i, fi := range b.file.Innings {
		inn := Innings{Side: b.side(fi.Team, i), Super: fi.SuperOver, pre: fi.PenaltyRuns.Pre, post: fi.PenaltyRuns.Post}
		for _, name := range fi.AbsentHurt {
			inn.absent = append(inn.absent, b.player(inn.Side, name))
		}

		for j, p := range fi.Powerplays[:min(3, len(fi.Powerplays))] {
			inn.Powerplay[j] = fmt.Sprintf("%d-%d", int(p.From)+1, int(p.To)+1)
		}

		b.Innings = append(b.Innings, inn)

		crease := [2]int{-1, -1}

		legal, over := 0, -1
		for k, ov := range fi.Overs {
			if ov.Over != over {
				over, legal = ov.Over, 0
			}

			_, miscounted := fi.Miscounted[strconv.Itoa(ov.Over)]

			later := k+1 < len(fi.Overs) && fi.Overs[k+1].Over != ov.Over
			for j := range ov.Deliveries {
				fd := &ov.Deliveries[j]
				d := Delivery{
					Innings: i, Over: ov.Over, Ball: j, Number: 4 * len(b.Deliveries),
					Label:   label(ov.Over, legal+1),
					Striker: b.player(inn.Side, fd.Batter), Bowler: b.player(1-inn.Side, fd.Bowler),
					Score:   runsOf(fd.Extras, fd.Runs.Batter, !fd.Runs.NonBoundary, b.noBall()),
					penalty: fd.Extras.Penalty,
				}
				d.conceded = d.Score.Runs // without byes off a no-ball
				crease = moveCrease(crease, d.Striker, b.player(inn.Side, fd.NonStriker))
				d.Crease = crease
				d.Legal = d.Score.legal()

				bowled[d.Bowler] = true
				if d.Legal {
					legal++
				}

				last := j == len(ov.Deliveries)-1

				d.overDone = last && (legal >= b.BallsPerOver || miscounted || later)
				if d.overs = label(ov.Over, legal); d.overDone {
					d.overs = label(ov.Over+1, 0)
				}

				for _, w := range fd.Wickets {
					d.Dismissals = append(d.Dismissals, b.out(w, inn.Side, d.Bowler))
				}

				d.Score = d.Score.with(d.Dismissals)
				b.Deliveries = append(b.Deliveries, d)
			}
		}
	}

	return bowled
}

// noBall returns the runs of a no-ball: two in The Hundred, one elsewhere.
func (b *builder) noBall() int {
	if b.BallsPerOver == 5 {
		return 2
	}

	return 1
}

// moveCrease keeps each batter at the position that he took when he came in, as the
// feed does.
func moveCrease(crease [2]int, striker, other int) [2]int {
	switch {
	case crease[0] == other || crease[1] == striker:
		return [2]int{other, striker}
	default:
		return [2]int{striker, other}
	}
}

func (b *builder) out(w cricsheet.Wicket, side, bowler int) Dismissal {
	o := Dismissal{Player: b.player(side, w.PlayerOut), Bowler: bowler, Catcher: -1, Thrower: -1}
	substitute := len(w.Fielders) > 0 && w.Fielders[0].Substitute
	o.How, o.Credited = dismissal(w.Kind, substitute)
	fielder := func(i int) int {
		if i < len(w.Fielders) && w.Fielders[i].Name != "" {
			return b.player(1-side, w.Fielders[i].Name)
		}

		return -1
	}

	switch w.Kind {
	case "caught":
		o.Catcher = fielder(0)
	case "caught and bowled":
		o.Catcher = bowler
	case "stumped":
		if o.Catcher = fielder(0); o.Catcher >= 0 && !substitute {
			b.People[o.Catcher].Keeper = true
		}
	case "run out":
		o.Thrower, o.Catcher = fielder(0), fielder(1)
	}

	return o
}

// roles gives each named player a position in his team. The format has no positions, so
// they are derived from what the player did and his place in the list.
func (b *builder) roles(bowled map[int]bool) {
	for side, name := range b.file.Info.Teams {
		if len(b.file.Info.Players[name]) == 0 {
			for i := range b.People {
				if b.People[i].Side == side {
					b.People[i].listed = true
				}
			}
		}
	}

	var (
		place [2]int
		kept  [2]bool
	)

	for _, p := range b.People {
		if p.listed && p.Keeper {
			kept[p.Side] = true
		}
	}

	for i := range b.People {
		p := &b.People[i]

		p.Role = Role{1, "Batsman"}
		if !p.listed {
			continue
		}

		place[p.Side]++
		p.Captain = place[p.Side] == 1
		p.Keeper = p.Keeper || place[p.Side] == 2 && !kept[p.Side]

		switch n := place[p.Side]; {
		case p.Keeper:
			p.Role = Role{3, "Wicketkeeper"}
		case bowled[i] && n <= 7:
			p.Role = Role{4, "Allrounder"}
		case bowled[i]:
			p.Role = Role{2, "Bowler"}
		}
	}
}

// Natural times between the events of a match.
const (
	betweenBalls   = 28 * time.Second
	betweenOvers   = 45 * time.Second
	afterWicket    = 75 * time.Second
	inningsBreak   = 15 * time.Minute
	lunch          = 40 * time.Minute
	tea            = 20 * time.Minute
	overnight      = 17 * time.Hour
	rain           = 30 * time.Minute
	untilResult    = time.Minute
	untilInterval  = time.Minute
	BeforeToss     = -30 * time.Minute // from the start
	untilAbandoned = 2 * time.Hour
)

// addFrame appends a frame with the current header.
func (b *builder) addFrame(balls, open, closed int, wait time.Duration) {
	h := b.header
	if n := len(b.Frames); n > 0 && *b.Frames[n-1].Header == *h {
		h = b.Frames[n-1].Header
	} else {
		h = new(*h)
	}

	b.Frames = append(b.Frames, Frame{h, balls, open, closed, wait})
}

// script writes the frames.
func (b *builder) script() {
	in := &b.file.Info
	h := &Header{Status: "NS"}
	b.header = h
	b.addFrame(0, 0, 0, 0)

	if in.Toss.Winner != "" && in.Toss.Decision != "" && slices.Contains(in.Teams, in.Toss.Winner) {
		h.TossWon = b.Team(b.side(in.Toss.Winner, 0)).ID

		h.Elected = "batting"
		if in.Toss.Decision == "field" {
			h.Elected = "bowling"
		}

		h.Lineup = true

		b.addFrame(0, 0, 0, 0)
	}

	breaks := b.intervals()
	balls, main := 0, 0

	for i, fi := range b.file.Innings {
		last := i == len(b.file.Innings)-1

		if !fi.SuperOver {
			main++
		}

		n := 0
		for balls+n < len(b.Deliveries) && b.Deliveries[balls+n].Innings == i {
			n++
		}

		status := statusOf(i)
		h.Lineup = true

		b.startInnings(i, main, balls)

		h.Status = status

		open := i
		if n == 0 || fi.PenaltyRuns.Pre > 0 {
			open++ // an entry without a ball
		}

		wait := inningsBreak
		if i == 0 {
			wait = 0
		}

		b.addFrame(balls, open, i, wait)

		for k := range n {
			balls++
			b.addFrame(balls, i+1, i, b.waitBefore(balls-1))

			if k == n-1 {
				break
			}

			for len(breaks) > 0 && balls >= breaks[0].after && b.Deliveries[balls-1].overDone {
				h.Status = breaks[0].status

				b.addFrame(balls, i+1, i, untilInterval)

				h.Status = status

				b.addFrame(balls, i+1, i, breaks[0].length)
				breaks = breaks[1:]
			}
		}

		if last {
			break
		}

		h.Status, h.Note = "Innings Break", b.endNote(i, main)
		if b.file.Innings[i+1].SuperOver {
			h.SuperOver = true
		}

		b.addFrame(balls, i+1, i+1, untilInterval)

		for len(breaks) > 0 && balls >= breaks[0].after { // an interval that coincides with the end of the innings
			if strings.HasPrefix(breaks[0].status, "Stump") {
				h.Status = breaks[0].status

				b.addFrame(balls, i+1, i+1, untilInterval)
			}

			breaks = breaks[1:]
		}
	}

	b.Outcome = b.result(main)
	wait := untilResult

	switch {
	case balls == 0 && b.Outcome.Status == "Aban.":
		h.Status = "Delayed"

		b.addFrame(0, len(b.Innings), 0, 0)

		wait = untilAbandoned
	case in.Outcome.Result == "no result":
		h.Status = "Int."

		b.addFrame(balls, len(b.Innings), max(0, len(b.Innings)-1), untilInterval)

		wait = rain
	}

	h.Status, h.Note = b.Outcome.Status, b.Outcome.Note

	h.Winner, h.Draw = b.Outcome.WinnerID, b.Outcome.Draw
	if in.Outcome.Eliminator != "" {
		h.SuperOver = true
	}

	if len(in.PlayerOfMatch) > 0 {
		h.PlayerOfMatch = b.personID(in.PlayerOfMatch[0])
	}

	b.addFrame(balls, len(b.Innings), len(b.Innings), wait)
}

// statusOf returns the status of innings i. The provider's list ends with the fourth
// innings, so later super overs use the statuses of the first one.
func statusOf(i int) string {
	if i >= 4 {
		i = 2 + i%2
	}

	return Ordinal(i+1) + " Innings"
}

// startInnings sets the fields that the provider sends when innings i starts: the
// target, and the effects of rain on it. main is the number of innings before super
// overs.
func (b *builder) startInnings(i, main, balls int) {
	h, fi := b.header, &b.file.Innings[i]

	h.Note = ""
	if i > 0 && main == 3 && b.Innings[i].Side == b.Innings[i-1].Side {
		h.FollowOn = true
	}

	switch {
	case fi.SuperOver:
		h.SuperOver = true

		h.Note = "Super Over"
		if i > 0 && b.file.Innings[i-1].SuperOver && (i-main)%2 == 1 {
			h.Note = fmt.Sprintf("Target %d runs", b.total(i-1)+1)
		}
	case !b.file.Limited():
		if fi.Target != nil {
			h.Note = fmt.Sprintf("Target %d runs", fi.Target.Runs)
		}
	case main == 2:
		target := b.total(i-1) + 1
		if fi.Target != nil {
			if b.revised(i) {
				h.Status = "Int."

				b.addFrame(balls, i, i, inningsBreak)

				h.RPCOvers, h.RPCTarget = fi.Target.Overs, fi.Target.Runs
				first := b.lastLabel(i - 1)
				h.RainRules[b.Innings[i-1].Side] = &RainRule{b.total(i - 1), float64(first) / 10, b.wickets(i - 1)}
				h.RainRules[b.Innings[i].Side] = &RainRule{fi.Target.Runs - 1, fi.Target.Overs, -1}
			}

			target = fi.Target.Runs
		}

		h.Note = fmt.Sprintf("Target %d runs", target)
	}
}

// revised reports whether rain changed the target of innings i.
func (b *builder) revised(i int) bool {
	t := b.file.Innings[i].Target
	return t.Runs != b.total(i-1)+1 || t.Overs != float64(b.file.Info.Overs) || rainRule(b.file.Info.Outcome.Method)
}

// rainRule reports whether a method of the file sets targets after rain.
func rainRule(method string) bool { return slices.Contains([]string{"D/L", "DLS", "VJD"}, method) }

// endNote returns the note that the provider sends in the break after innings i.
func (b *builder) endNote(i, main int) string {
	fi := &b.file.Innings[i]

	next := &b.file.Innings[i+1]
	switch {
	case fi.Forfeited:
		return fi.Team + " forfeited the innings"
	case fi.Declared:
		return fmt.Sprintf("%s declared at %d/%d", fi.Team, b.total(i), b.wickets(i))
	case b.file.Limited() && main == 1 && !fi.SuperOver && !next.SuperOver && (next.Target == nil || !b.revised(i+1)):
		return fmt.Sprintf("Target %d runs", b.total(i)+1)
	}

	return ""
}

// waitBefore returns the natural time before delivery n.
func (b *builder) waitBefore(n int) time.Duration {
	d := &b.Deliveries[n]
	wait := betweenBalls

	if n > 0 && b.Deliveries[n-1].Innings == d.Innings {
		prev := &b.Deliveries[n-1]
		if prev.Over != d.Over {
			wait += betweenOvers
		}

		if len(prev.Dismissals) > 0 {
			wait += afterWicket
		}
	}

	return wait + time.Duration(SyntheticID("pause", strconv.Itoa(n))%15-7)*time.Second
}

type interval struct {
	after  int // deliveries
	status string
	length time.Duration
}

// intervals spreads lunch, tea and stumps evenly over the deliveries of a match of
// several days. The format has the number of days, but not where they end.
func (b *builder) intervals() []interval {
	days := len(b.file.Info.Dates)
	if b.file.Limited() || days < 2 {
		return nil
	}

	var all []interval

	for s := 1; s < 3*days; s++ {
		v := interval{after: s * len(b.Deliveries) / (3 * days), status: "Lunch", length: lunch}
		switch s % 3 {
		case 2:
			v.status, v.length = "Tea Break", tea
		case 0:
			v.status, v.length = fmt.Sprintf("Stump Day %d", s/3), overnight
		}

		all = append(all, v)
	}

	return all
}

// total returns the score of innings i, penalties included.
func (b *builder) total(i int) int {
	n := b.Innings[i].pre + b.Innings[i].post
	for d := range b.Deliveries {
		if d := &b.Deliveries[d]; d.Innings == i {
			n += d.Score.Total() + d.penalty
		}
	}

	return n
}

func (b *builder) wickets(i int) (n int) {
	for d := range b.Deliveries {
		if d := &b.Deliveries[d]; d.Innings == i {
			for _, o := range d.Dismissals {
				if o.How.Wicket {
					n++
				}
			}
		}
	}

	return n
}

// lastLabel returns the overs of innings i, in tenths.
func (b *builder) lastLabel(i int) (overs int) {
	for d := range b.Deliveries {
		if d := &b.Deliveries[d]; d.Innings == i {
			overs = d.overs
		}
	}

	return overs
}

// personID returns the id of a player of either team.
func (b *builder) personID(name string) int64 {
	for side := range 2 {
		if n, ok := b.known[nameOnSide{side, name}]; ok {
			return b.People[n].ID
		}
	}

	return b.People[b.player(0, name)].ID
}

// result converts the file's outcome. main is the number of innings before super overs.
func (b *builder) result(main int) Outcome {
	in := &b.file.Info
	f := in.Outcome
	o := Outcome{Status: "Finished", Runs: f.By.Runs, Wickets: f.By.Wickets, Innings: f.By.Innings > 0, Method: f.Method}

	winner := cmp.Or(f.Winner, f.Eliminator, f.BowlOut)
	if winner != "" {
		o.WinnerID = b.Team(b.winningSide(winner, main)).ID
	}

	how := ""

	switch {
	case rainRule(f.Method):
		how = " (" + f.Method + " method)"
	case strings.EqualFold(f.Method, "awarded") || strings.EqualFold(f.Method, "conceded"):
		how = " (" + strings.ToLower(f.Method) + ")"
	case f.Method != "":
		how = " (" + f.Method + ")"
	}

	switch {
	case f.Eliminator != "":
		o.Note = "Match tied" + how + " (" + f.Eliminator + " won the Super Over)"
	case f.BowlOut != "":
		o.Note = "Match tied" + how + " (" + f.BowlOut + " won the bowl-out)"
	case winner != "" && o.Innings:
		o.Note = winner + " won by an innings and " + count(o.Runs, "run") + how
	case winner != "" && o.Runs > 0:
		o.Note = winner + " won by " + count(o.Runs, "run") + how
	case winner != "" && o.Wickets > 0:
		o.Note = winner + " won by " + count(o.Wickets, "wicket") + b.remaining() + how
	case winner != "" && strings.EqualFold(f.Method, "1st innings score"):
		o.Note = winner + " won on first innings lead"
	case winner != "":
		o.Note = winner + " won" + how
	case f.Result == "tie":
		o.Note = "Match tied" + how
	case f.Result == "draw":
		o.Note, o.Draw = "Match drawn"+how, "draw"
	case f.Result == "no result" && len(b.Deliveries) == 0:
		o.Status, o.Note, o.Draw = "Aban.", "Match abandoned without a ball bowled"+how, "no result"
	case f.Result == "no result":
		o.Note, o.Draw = "No result"+how, "no result"
	case f.Result != "":
		o.Note, o.Draw = "Match "+f.Result, f.Result
	}

	return o
}

// winningSide returns the side of the winner. If both teams have the same name, a
// margin in wickets means the side that batted last.
func (b *builder) winningSide(name string, main int) int {
	if b.file.Info.Outcome.By.Wickets > 0 && main > 0 {
		for i := len(b.Innings) - 1; i >= 0; i-- {
			if !b.Innings[i].Super {
				return b.side(name, i)
			}
		}
	}

	return b.side(name, 0)
}

// remaining formats the number of balls left after a successful chase. For none, the
// provider's text has another form.
func (b *builder) remaining() string {
	if !b.file.Limited() {
		return ""
	}

	for i := len(b.file.Innings) - 1; i > 0; i-- {
		if b.Innings[i].Super {
			continue
		}

		overs := float64(b.file.Info.Overs)
		if t := b.file.Innings[i].Target; t != nil && t.Overs > 0 {
			overs = t.Overs
		}

		if overs == 0 {
			return ""
		}

		whole, part := math.Modf(overs)

		used := b.lastLabel(i)
		switch left := int(whole)*b.BallsPerOver + int(math.Round(part*10)) - used/10*b.BallsPerOver - used%10; {
		case left <= 0:
			return " (With 0 ball remaining)"
		default:
			return " (with " + count(left, "ball") + " remaining)"
		}
	}

	return ""
}
