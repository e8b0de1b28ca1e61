package sportmonks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is a match in the Cricsheet JSON format, versions 1.0 and 1.1
// (cricsheet.org/format/json/).
type file struct {
	Meta struct {
		DataVersion string `json:"data_version"`
	} `json:"meta"`
	Info    info       `json:"info"`
	Innings []fileInns `json:"innings"`
}

type info struct {
	BallsPerOver int      `json:"balls_per_over"`
	City         string   `json:"city"`
	Dates        []string `json:"dates"`
	Event        struct {
		Name        string `json:"name"`
		MatchNumber text   `json:"match_number"`
		Stage       text   `json:"stage"`
		Group       text   `json:"group"`
	} `json:"event"`
	Gender    string `json:"gender"`
	MatchType string `json:"match_type"`
	Officials struct {
		Umpires   []string `json:"umpires"`
		TVUmpires []string `json:"tv_umpires"`
		Referees  []string `json:"match_referees"`
	} `json:"officials"`
	Outcome       fileOutcome         `json:"outcome"`
	Overs         int                 `json:"overs"`
	PlayerOfMatch []string            `json:"player_of_match"`
	Players       map[string][]string `json:"players"`
	Registry      struct {
		People map[string]string `json:"people"`
	} `json:"registry"`
	Season   text     `json:"season"`
	TeamType string   `json:"team_type"`
	Teams    []string `json:"teams"`
	Toss     struct {
		Winner   string `json:"winner"`
		Decision string `json:"decision"`
	} `json:"toss"`
	Venue string `json:"venue"`
}

type fileOutcome struct {
	Winner string `json:"winner"`
	By     struct {
		Runs    int `json:"runs"`
		Wickets int `json:"wickets"`
		Innings int `json:"innings"`
	} `json:"by"`
	Method     string `json:"method"`
	Result     string `json:"result"`
	Eliminator string `json:"eliminator"`
	BowlOut    string `json:"bowl_out"`
}

type fileInns struct {
	Team       string     `json:"team"`
	Overs      []fileOver `json:"overs"`
	Powerplays []struct {
		From float64 `json:"from"`
		To   float64 `json:"to"`
	} `json:"powerplays"`
	Target *struct {
		Overs float64 `json:"overs"`
		Runs  int     `json:"runs"`
	} `json:"target"`
	SuperOver   bool     `json:"super_over"`
	Declared    bool     `json:"declared"`
	Forfeited   bool     `json:"forfeited"`
	AbsentHurt  []string `json:"absent_hurt"`
	PenaltyRuns struct {
		Pre  int `json:"pre"`
		Post int `json:"post"`
	} `json:"penalty_runs"`
	Miscounted map[string]any `json:"miscounted_overs"`
}

type fileOver struct {
	Over       int            `json:"over"`
	Deliveries []fileDelivery `json:"deliveries"`
}

type fileDelivery struct {
	Batter     string `json:"batter"`
	Bowler     string `json:"bowler"`
	NonStriker string `json:"non_striker"`
	Runs       struct {
		Batter      int  `json:"batter"`
		Extras      int  `json:"extras"`
		Total       int  `json:"total"`
		NonBoundary bool `json:"non_boundary"`
	} `json:"runs"`
	Extras  extras       `json:"extras"`
	Wickets []fileWicket `json:"wickets"`
}

type extras struct {
	Wides   int `json:"wides"`
	Noballs int `json:"noballs"`
	Byes    int `json:"byes"`
	Legbyes int `json:"legbyes"`
	Penalty int `json:"penalty"`
}

func (x extras) sum() int { return x.Wides + x.Noballs + x.Byes + x.Legbyes + x.Penalty }

type fileWicket struct {
	PlayerOut string        `json:"player_out"`
	Kind      string        `json:"kind"`
	Fielders  []fileFielder `json:"fielders"`
}

type fileFielder struct {
	Name       string `json:"name"`
	Substitute bool   `json:"substitute"`
}

// text is a string that some files hold as a number: a season, a group.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		if _, err := strconv.ParseFloat(string(b), 64); err == nil {
			*t = text(b)
			return nil
		}
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = text(s)
	return err
}

// Bounds that no match comes near; a file beyond them is nonsense.
const (
	maxDeliveries = 20_000
	maxInnings    = 40
	maxRuns       = 1_000 // of a ball, and of penalties
)

// Cricsheet makes a script of a match in the Cricsheet JSON format, which the
// feed calls id. The error is one sentence on what is wrong with the file.
func Cricsheet(data []byte, id int64) (*Match, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("not a Cricsheet file: %s holds a JSON %s", cmp.Or(e.Field, "it"), e.Value)
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return nil, errors.New("the file is empty")
		}
		return nil, fmt.Errorf("not a JSON file: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return script(&f, id), nil
}

func (f *file) check() error {
	in := &f.Info
	switch {
	case len(in.Teams) == 0 || in.MatchType == "":
		return errors.New("not a Cricsheet file: it lacks info.teams or info.match_type")
	case len(in.Teams) != 2 || in.Teams[0] == "" || in.Teams[1] == "":
		return fmt.Errorf("info.teams must name two teams, not %d", len(in.Teams))
	case f.Meta.DataVersion != "" && !strings.HasPrefix(f.Meta.DataVersion, "1."):
		return fmt.Errorf("data version %q is not 1.0 or 1.1", f.Meta.DataVersion)
	case in.BallsPerOver < 0 || in.BallsPerOver > 9:
		return fmt.Errorf("%d balls an over cannot be", in.BallsPerOver)
	case in.Overs < 0 || in.Overs > maxRuns:
		return fmt.Errorf("%d overs a side cannot be", in.Overs)
	case len(f.Innings) > maxInnings:
		return fmt.Errorf("%d innings are more than a match can have", len(f.Innings))
	}
	o := in.Outcome
	if b := o.By; min(b.Runs, b.Wickets, b.Innings) < 0 {
		return errors.New("info.outcome.by is negative")
	}
	for _, name := range []string{o.Winner, o.Eliminator, o.BowlOut} {
		if name != "" && !slices.Contains(in.Teams, name) {
			return fmt.Errorf("the winner %q is not one of the teams", name)
		}
	}
	for _, day := range in.Dates {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("info.dates holds %q, which is not a date", day)
		}
	}
	deliveries := 0
	for i, inn := range f.Innings {
		if !slices.Contains(in.Teams, inn.Team) {
			return fmt.Errorf("innings %d is of %q, which is not one of the teams", i+1, inn.Team)
		}
		if p := inn.PenaltyRuns; min(p.Pre, p.Post) < 0 || max(p.Pre, p.Post) > maxRuns {
			return fmt.Errorf("innings %d has impossible penalty runs", i+1)
		}
		if t := inn.Target; t != nil && (t.Runs < 0 || !(t.Overs >= 0 && t.Overs <= maxRuns)) {
			return fmt.Errorf("innings %d has an impossible target", i+1)
		}
		for _, ov := range inn.Overs {
			if ov.Over < 0 || ov.Over > maxDeliveries {
				return fmt.Errorf("innings %d has an over %d", i+1, ov.Over)
			}
			deliveries += len(ov.Deliveries)
			for j := range ov.Deliveries {
				if fault := ov.Deliveries[j].fault(); fault != "" {
					return fmt.Errorf("innings %d, over %d, delivery %d %s", i+1, ov.Over, j+1, fault)
				}
			}
		}
	}
	if deliveries > maxDeliveries {
		return fmt.Errorf("%d deliveries are more than a match can have", deliveries)
	}
	return nil
}

func (d *fileDelivery) fault() string {
	x := d.Extras
	switch {
	case d.Batter == "" || d.Bowler == "" || d.NonStriker == "":
		return "lacks a batter, a bowler or a non-striker"
	case min(d.Runs.Batter, x.Wides, x.Noballs, x.Byes, x.Legbyes, x.Penalty) < 0:
		return "has negative runs"
	case max(d.Runs.Batter, x.Wides, x.Noballs, x.Byes, x.Legbyes, x.Penalty) > maxRuns:
		return "has more runs than a ball can bring"
	case d.Runs.Total != d.Runs.Batter+x.sum():
		return fmt.Sprintf("says %d runs, but its parts make %d", d.Runs.Total, d.Runs.Batter+x.sum())
	}
	for _, w := range d.Wickets {
		if w.PlayerOut == "" || w.Kind == "" {
			return "has a wicket without a player or a kind"
		}
	}
	return ""
}

// limited tells whether overs, not days, limit the match.
func (f *file) limited() bool {
	return f.Info.MatchType != "Test" && f.Info.MatchType != "MDM"
}

// script turns a checked file into a match.
func script(f *file, id int64) *Match {
	b := newBuilder(f, id)
	for side, name := range f.Info.Teams {
		for i, p := range f.Info.Players[name] {
			n := b.player(side, p)
			b.people[n].listed = true
			b.people[n].sub = i >= 11
		}
		if side == 0 && f.Info.Teams[1] == name {
			break // one list serves two teams of one name
		}
	}
	bowled := b.play()
	b.roles(bowled)
	for i, names := range [][]string{first(f.Info.Officials.Umpires), second(f.Info.Officials.Umpires), first(f.Info.Officials.TVUmpires), first(f.Info.Officials.Referees)} {
		b.officials[i] = -1
		if len(names) > 0 {
			b.officials[i] = b.player(-1, names[0])
		}
	}
	b.script()
	return b.Match
}

func first(s []string) []string  { return s[:min(1, len(s))] }
func second(s []string) []string { return first(s[min(1, len(s)):]) }

type who struct {
	side int
	name string
}

type builder struct {
	*Match
	file  *file
	known map[who]int
	head  *header // of the frames being written
}

// newBuilder starts a match with its fixture.
func newBuilder(f *file, id int64) *builder {
	b := &builder{file: f, known: map[who]int{}, Match: &Match{
		perOver: cmp.Or(f.Info.BallsPerOver, 6),
		gender:  cmp.Or(f.Info.Gender, "male")[:1],
	}}
	b.fixture(id)
	return b
}

// side is that of a team's name; of innings i when both teams have one name.
func (b *builder) side(name string, i int) int {
	t := b.file.Info.Teams
	if t[0] == t[1] {
		return i % 2
	}
	return slices.Index(t, name)
}

// player is the place among people of a name on a side, -1 for officials. A
// name that both teams list is two people.
func (b *builder) player(side int, name string) int {
	if n, ok := b.known[who{side, name}]; ok {
		return n
	}
	in := &b.file.Info
	words := []string{"player", cmp.Or(in.Registry.People[name], in.Gender+" "+name)}
	if side >= 0 && slices.Contains(in.Players[in.Teams[0]], name) && slices.Contains(in.Players[in.Teams[1]], name) {
		words = append(words, strconv.FormatInt(b.team(side).ID, 10))
	}
	n := len(b.people)
	b.people = append(b.people, person{id: synthetic(words...), side: side, name: name})
	b.known[who{side, name}] = n
	return n
}

func (b *builder) fixture(id int64) {
	in := &b.file.Info
	international := in.TeamType == "international"
	m := b.Match
	m.ID = id
	if b.file.limited() {
		m.Overs = in.Overs
	}
	switch in.MatchType {
	case "T20":
		m.Type = "T20"
		if m.perOver == 5 {
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
		return Team{ID: synthetic(append([]string{"team", name, in.Gender}, more...)...), Name: name, Code: c, National: international}
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
	m.Season = Season{ID: synthetic("season", league, season), Name: season}
	m.Stage = Stage{ID: synthetic("stage", league, season, stage), Name: stage, Code: code(stage)}
	m.Venue = Venue{ID: synthetic("venue", in.Venue, in.City), Name: in.Venue, City: in.City}

	n, err := strconv.Atoi(string(in.Event.MatchNumber))
	switch {
	case in.Event.Stage != "":
		m.Round = string(in.Event.Stage)
	case err == nil && tour:
		m.Round = ordinal(n) + " " + strings.TrimSuffix(m.Type, "/5day")
	case err == nil:
		m.Round = ordinal(n) + " Match"
	default:
		m.Round = "Match"
	}
}

// series is the league that gathers the tours of a format.
func series(format string) League {
	if format == "T20I" {
		return League{ID: 3, Name: "Twenty20 International", Code: "T20I", Phase: true}
	}
	name := map[string]string{"ODI": "One Day International", "Test/5day": "Test Series"}[format]
	name = cmp.Or(name, format)
	return League{ID: synthetic("league", name), Name: name, Code: code(name), Phase: true}
}

// tournament is a league, under the provider's id where that is known.
func tournament(name string) League {
	id := map[string]int64{"Indian Premier League": 1, "Big Bash League": 5, "Bangladesh Premier League": 9, "CSA T20 Challenge": 10}[name]
	return League{ID: cmp.Or(id, synthetic("league", name)), Name: name, Code: code(name)}
}

func ordinal(n int) string {
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

// play converts the innings and deliveries, and returns who bowled.
func (b *builder) play() (bowled map[int]bool) {
	bowled = map[int]bool{}
	for i, fi := range b.file.Innings {
		inn := innings{side: b.side(fi.Team, i), super: fi.SuperOver, pre: fi.PenaltyRuns.Pre, post: fi.PenaltyRuns.Post}
		for _, name := range fi.AbsentHurt {
			inn.absent = append(inn.absent, b.player(inn.side, name))
		}
		for j, p := range fi.Powerplays[:min(3, len(fi.Powerplays))] {
			inn.powerplay[j] = fmt.Sprintf("%d-%d", int(p.From)+1, int(p.To)+1)
		}
		b.innings = append(b.innings, inn)

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
				d := delivery{
					innings: i, over: ov.Over, ball: j, number: 4 * len(b.deliveries),
					label:   label(ov.Over, legal+1),
					striker: b.player(inn.side, fd.Batter), bowler: b.player(1-inn.side, fd.Bowler),
					score:    runsOf(fd.Extras, fd.Runs.Batter, !fd.Runs.NonBoundary, b.noBall()),
					penalty:  fd.Extras.Penalty,
					conceded: fd.Runs.Batter + fd.Extras.Wides + fd.Extras.Noballs,
				}
				crease = stand(crease, d.striker, b.player(inn.side, fd.NonStriker))
				d.crease = crease
				d.legal = d.score.legal()
				bowled[d.bowler] = true
				if d.legal {
					legal++
				}
				last := j == len(ov.Deliveries)-1
				d.overDone = last && (legal >= b.perOver || miscounted || later)
				if d.overs = label(ov.Over, legal); d.overDone {
					d.overs = label(ov.Over+1, 0)
				}
				for _, w := range fd.Wickets {
					d.outs = append(d.outs, b.out(w, inn.side, d.bowler))
				}
				d.score = d.score.with(d.outs)
				b.deliveries = append(b.deliveries, d)
			}
		}
	}
	return bowled
}

// noBall is what a no-ball costs: two runs in The Hundred, one elsewhere.
func (b *builder) noBall() int {
	if b.perOver == 5 {
		return 2
	}
	return 1
}

// stand keeps each batter in the place he took when he came in, as the feed
// does.
func stand(crease [2]int, striker, other int) [2]int {
	switch {
	case crease[0] == other || crease[1] == striker:
		return [2]int{other, striker}
	default:
		return [2]int{striker, other}
	}
}

func (b *builder) out(w fileWicket, side, bowler int) out {
	o := out{player: b.player(side, w.PlayerOut), bowler: bowler, catcher: -1, thrower: -1}
	substitute := len(w.Fielders) > 0 && w.Fielders[0].Substitute
	o.result, o.bowlers = dismissal(w.Kind, substitute)
	fielder := func(i int) int {
		if i < len(w.Fielders) && w.Fielders[i].Name != "" {
			return b.player(1-side, w.Fielders[i].Name)
		}
		return -1
	}
	switch w.Kind {
	case "caught":
		o.catcher = fielder(0)
	case "caught and bowled":
		o.catcher = bowler
	case "stumped":
		if o.catcher = fielder(0); o.catcher >= 0 && !substitute {
			b.people[o.catcher].keeper = true
		}
	case "run out":
		o.thrower, o.catcher = fielder(0), fielder(1)
	}
	return o
}

// roles gives each named player a position in his team, which the format does
// not tell: from what he did, and where the file lists him.
func (b *builder) roles(bowled map[int]bool) {
	for side, name := range b.file.Info.Teams {
		if len(b.file.Info.Players[name]) == 0 {
			for i := range b.people {
				if b.people[i].side == side {
					b.people[i].listed = true
				}
			}
		}
	}
	var place [2]int
	for i := range b.people {
		p := &b.people[i]
		p.role = position{1, "Batsman"}
		if !p.listed {
			continue
		}
		place[p.side]++
		switch n := place[p.side]; {
		case p.keeper:
			p.role = position{3, "Wicketkeeper"}
		case bowled[i] && n <= 7:
			p.role = position{4, "Allrounder"}
		case bowled[i]:
			p.role = position{2, "Bowler"}
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
	beforeToss     = -30 * time.Minute // from the start
	untilAbandoned = 2 * time.Hour
)

// show appends a frame that says what b.head says now.
func (b *builder) show(balls, open, closed int, wait time.Duration) {
	h := b.head
	if n := len(b.frames); n > 0 && *b.frames[n-1].header == *h {
		h = b.frames[n-1].header
	} else {
		h = new(*h)
	}
	b.frames = append(b.frames, frame{h, balls, open, closed, wait})
}

// script writes the frames.
func (b *builder) script() {
	in := &b.file.Info
	h := &header{status: "NS"}
	b.head = h
	b.show(0, 0, 0, 0)

	if in.Toss.Winner != "" && in.Toss.Decision != "" && slices.Contains(in.Teams, in.Toss.Winner) {
		h.tossWon = b.team(b.side(in.Toss.Winner, 0)).ID
		h.elected = "batting"
		if in.Toss.Decision == "field" {
			h.elected = "bowling"
		}
		h.lineup = true
		b.show(0, 0, 0, 0)
	}

	breaks := b.intervals()
	balls, main := 0, 0
	for i, fi := range b.file.Innings {
		last := i == len(b.file.Innings)-1
		if !fi.SuperOver {
			main++
		}
		n := 0
		for balls+n < len(b.deliveries) && b.deliveries[balls+n].innings == i {
			n++
		}
		status := statusOf(i)
		h.lineup = true
		b.announce(i, main, balls)
		h.status = status
		open := i
		if n == 0 || fi.PenaltyRuns.Pre > 0 {
			open++ // a row without a ball
		}
		wait := inningsBreak
		if i == 0 {
			wait = 0
		}
		b.show(balls, open, i, wait)

		for k := range n {
			balls++
			b.show(balls, i+1, i, b.pause(balls-1))
			if k == n-1 {
				break
			}
			for len(breaks) > 0 && balls >= breaks[0].after && b.deliveries[balls-1].overDone {
				h.status = breaks[0].status
				b.show(balls, i+1, i, untilInterval)
				h.status = status
				b.show(balls, i+1, i, breaks[0].length)
				breaks = breaks[1:]
			}
		}
		if last {
			break
		}
		h.status, h.note = "Innings Break", b.endNote(i, main)
		if b.file.Innings[i+1].SuperOver {
			h.superOver = true
		}
		b.show(balls, i+1, i+1, untilInterval)
		for len(breaks) > 0 && balls >= breaks[0].after { // an interval that the end of the innings swallowed
			if strings.HasPrefix(breaks[0].status, "Stump") {
				h.status = breaks[0].status
				b.show(balls, i+1, i+1, untilInterval)
			}
			breaks = breaks[1:]
		}
	}

	b.Outcome = b.result(main)
	wait := untilResult
	switch {
	case balls == 0 && b.Outcome.Status == "Aban.":
		h.status = "Delayed"
		b.show(0, len(b.innings), 0, 0)
		wait = untilAbandoned
	case in.Outcome.Result == "no result":
		h.status = "Int."
		b.show(balls, len(b.innings), max(0, len(b.innings)-1), untilInterval)
		wait = rain
	}
	h.status, h.note = b.Outcome.Status, b.Outcome.Note
	h.winner, h.draw = b.Outcome.WinnerID, b.Outcome.Draw
	if in.Outcome.Eliminator != "" {
		h.superOver = true
	}
	if len(in.PlayerOfMatch) > 0 {
		h.mom = b.honoured(in.PlayerOfMatch[0])
	}
	b.show(balls, len(b.innings), len(b.innings), wait)
}

// statusOf names innings i. The provider's list ends at the fourth, so later
// super overs use the names of the first one.
func statusOf(i int) string {
	if i >= 4 {
		i = 2 + i%2
	}
	return ordinal(i+1) + " Innings"
}

// announce sets what the feed says when innings i starts, main innings of the
// match proper into it: the target, and what rain has done to it.
func (b *builder) announce(i, main, balls int) {
	h, fi := b.head, &b.file.Innings[i]
	h.note = ""
	if i > 0 && main == 3 && b.innings[i].side == b.innings[i-1].side {
		h.followOn = true
	}
	switch {
	case fi.SuperOver:
		h.superOver = true
		h.note = "Super Over"
		if i > 0 && b.file.Innings[i-1].SuperOver && (i-main)%2 == 1 {
			h.note = fmt.Sprintf("Target %d runs", b.total(i-1)+1)
		}
	case !b.file.limited():
		if fi.Target != nil {
			h.note = fmt.Sprintf("Target %d runs", fi.Target.Runs)
		}
	case main == 2:
		target := b.total(i-1) + 1
		if fi.Target != nil {
			if b.revised(i) {
				h.status = "Int."
				b.show(balls, i, i, inningsBreak)
				h.rpcOvers, h.rpcTarget = fi.Target.Overs, fi.Target.Runs
				first := b.lastLabel(i - 1)
				h.dl[b.innings[i-1].side] = &dl{b.total(i - 1), float64(first) / 10, b.wickets(i - 1)}
				h.dl[b.innings[i].side] = &dl{fi.Target.Runs - 1, fi.Target.Overs, -1}
			}
			target = fi.Target.Runs
		}
		h.note = fmt.Sprintf("Target %d runs", target)
	}
}

// revised tells whether rain changed what innings i has to chase.
func (b *builder) revised(i int) bool {
	t := b.file.Innings[i].Target
	return t.Runs != b.total(i-1)+1 || t.Overs != float64(b.file.Info.Overs) || weather(b.file.Info.Outcome.Method)
}

// weather tells whether a method sets targets after rain.
func weather(method string) bool { return slices.Contains([]string{"D/L", "DLS", "VJD"}, method) }

// endNote is what the feed says in the break after innings i.
func (b *builder) endNote(i, main int) string {
	fi := &b.file.Innings[i]
	next := &b.file.Innings[i+1]
	switch {
	case fi.Forfeited:
		return fi.Team + " forfeited the innings"
	case fi.Declared:
		return fmt.Sprintf("%s declared at %d/%d", fi.Team, b.total(i), b.wickets(i))
	case b.file.limited() && main == 1 && !fi.SuperOver && !next.SuperOver && (next.Target == nil || !b.revised(i+1)):
		return fmt.Sprintf("Target %d runs", b.total(i)+1)
	}
	return ""
}

// pause is the natural time before delivery n.
func (b *builder) pause(n int) time.Duration {
	d := &b.deliveries[n]
	wait := betweenBalls
	if n > 0 && b.deliveries[n-1].innings == d.innings {
		prev := &b.deliveries[n-1]
		if prev.over != d.over {
			wait += betweenOvers
		}
		if len(prev.outs) > 0 {
			wait += afterWicket
		}
	}
	return wait + time.Duration(synthetic("pause", strconv.Itoa(n))%15-7)*time.Second
}

type interval struct {
	after  int // deliveries
	status string
	length time.Duration
}

// intervals spreads lunch, tea and stumps evenly over the deliveries of a match
// of several days: the format has the days, but not where they end.
func (b *builder) intervals() []interval {
	days := len(b.file.Info.Dates)
	if b.file.limited() || days < 2 {
		return nil
	}
	var all []interval
	for s := 1; s < 3*days; s++ {
		v := interval{after: s * len(b.deliveries) / (3 * days), status: "Lunch", length: lunch}
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

// total is the score of innings i, penalties included.
func (b *builder) total(i int) int {
	n := b.innings[i].pre + b.innings[i].post
	for d := range b.deliveries {
		if d := &b.deliveries[d]; d.innings == i {
			n += d.score.total() + d.penalty
		}
	}
	return n
}

func (b *builder) wickets(i int) (n int) {
	for d := range b.deliveries {
		if d := &b.deliveries[d]; d.innings == i {
			for _, o := range d.outs {
				if o.result.wicket {
					n++
				}
			}
		}
	}
	return n
}

// lastLabel is how many overs innings i lasted, in tenths.
func (b *builder) lastLabel(i int) (overs int) {
	for d := range b.deliveries {
		if d := &b.deliveries[d]; d.innings == i {
			overs = d.overs
		}
	}
	return overs
}

// honoured is the id of a player of either team.
func (b *builder) honoured(name string) int64 {
	for side := range 2 {
		if n, ok := b.known[who{side, name}]; ok {
			return b.people[n].id
		}
	}
	return b.people[b.player(0, name)].id
}

// result reads the file's outcome, main innings being in the match proper.
func (b *builder) result(main int) Outcome {
	in := &b.file.Info
	f := in.Outcome
	o := Outcome{Status: "Finished", Runs: f.By.Runs, Wickets: f.By.Wickets, Innings: f.By.Innings > 0, Method: f.Method}
	winner := cmp.Or(f.Winner, f.Eliminator, f.BowlOut)
	if winner != "" {
		o.WinnerID = b.team(b.winningSide(winner, main)).ID
	}
	how := ""
	switch {
	case weather(f.Method):
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
	case f.Result == "no result" && len(b.deliveries) == 0:
		o.Status, o.Note, o.Draw = "Aban.", "Match abandoned without a ball bowled"+how, "no result"
	case f.Result == "no result":
		o.Note, o.Draw = "No result"+how, "no result"
	case f.Result != "":
		o.Note, o.Draw = "Match "+f.Result, f.Result
	}
	return o
}

// winningSide is the side of the winner. When both teams have one name, a
// margin in wickets says that it batted last.
func (b *builder) winningSide(name string, main int) int {
	if b.file.Info.Outcome.By.Wickets > 0 && main > 0 {
		for i := len(b.innings) - 1; i >= 0; i-- {
			if !b.innings[i].super {
				return b.side(name, i)
			}
		}
	}
	return b.side(name, 0)
}

// remaining says how many balls a successful chase left over. The provider
// words none as it does here.
func (b *builder) remaining() string {
	if !b.file.limited() {
		return ""
	}
	for i := len(b.file.Innings) - 1; i > 0; i-- {
		if b.innings[i].super {
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
		switch left := int(whole)*b.perOver + int(math.Round(part*10)) - used/10*b.perOver - used%10; {
		case left <= 0:
			return " (With 0 ball remaining)"
		default:
			return " (with " + count(left, "ball") + " remaining)"
		}
	}
	return ""
}
