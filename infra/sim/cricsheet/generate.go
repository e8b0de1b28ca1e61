package cricsheet

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// Format is a kind of match that Generate can make up.
type Format int

// The formats.
const (
	T20 Format = iota
	ODI
	Test
	Hundred
)

// Formats lists all formats.
var Formats = [...]Format{T20, ODI, Test, Hundred}

func (f Format) String() string { return [...]string{"T20", "ODI", "Test", "Hundred"}[f] }

// style holds the probabilities of a ball in a format, in thousandths, from the
// averages of first-class, one-day and T20 cricket.
type style struct {
	overs, perOver, perBowler int // 0 overs: five days of 90
	wide, noball, bye, legbye int
	wicket                    int
	runs                      [7]int // weights of 0 to 6 off the bat
}

func (f Format) style() style {
	switch f {
	case ODI:
		return style{50, 6, 10, 22, 3, 3, 10, 27, [7]int{480, 355, 62, 6, 78, 0, 17}}
	case Test:
		return style{0, 6, 450, 4, 8, 5, 10, 16, [7]int{720, 155, 38, 11, 66, 0, 4}}
	case Hundred:
		return style{20, 5, 4, 34, 5, 4, 12, 52, [7]int{310, 385, 70, 4, 118, 0, 58}}
	default:
		return style{20, 6, 4, 36, 5, 4, 12, 50, [7]int{330, 385, 72, 5, 112, 0, 52}}
	}
}

const ballsADay = 90 * 6

// Generate returns an invented match between invented teams, the same for a seed and
// format in every run. It has a toss, a chase that ends when the target is reached, and
// the result that follows from the scores.
func Generate(seed int64, format Format) *Match {
	g := newGenerator(seed, format)
	if format == Test {
		g.test()
	} else {
		g.limited()
	}

	return g.file
}

// GenerateFixture returns the match of Generate before its start: with teams, toss and
// officials, without innings.
func GenerateFixture(seed int64, format Format) *Match { return newGenerator(seed, format).file }

type generator struct {
	*rand.Rand
	style
	format  Format
	file    *Match
	elevens [2][]string
}

func newGenerator(seed int64, format Format) *generator {
	g := &generator{
		Rand:  rand.New(rand.NewPCG(uint64(seed), uint64(format))),
		style: format.style(), format: format, file: &Match{},
	}
	g.teams()

	return g
}

func (g *generator) teams() {
	towns := []string{"Ashbourne", "Brackwater", "Carrow", "Dunmere", "Eastholt", "Farrowdale", "Glenhollow", "Harrowgate", "Islemouth",
		"Kestrel Bay", "Larkspur", "Marlow Hill"}
	beasts := []string{"Herons", "Foxes", "Comets", "Rovers", "Otters", "Lancers", "Stags", "Mariners"}
	nations := []string{"Arvenia", "Belmora", "Cordesia", "Dravonia", "Estova", "Falmeria", "Gallund", "Hestria"}
	surnames := []string{
		"Abbotsby", "Bexhill", "Calloway", "Dunstan", "Elmsworth", "Fenwick", "Garrick", "Holloway", "Ingleby", "Jessop",
		"Kirkwood", "Lambourne", "Merriden", "Northam", "Oakhurst", "Penrose", "Quarles", "Redfern", "Stanmore", "Thackeray",
		"Underhill", "Vaisey", "Wetherby", "Yardley", "Zeal", "Ackroyd", "Brannigan", "Corrigan", "Dalloway", "Everdene",
	}
	in := &g.file.Info
	in.BallsPerOver, in.Overs, in.Gender = g.perOver, g.overs, "male"
	in.Season = "2026"

	in.Venue, in.City = towns[g.IntN(len(towns))]+" Oval", towns[g.IntN(len(towns))]
	switch g.format {
	case T20, Hundred:
		in.MatchType, in.TeamType = "T20", "club"

		in.Event.Name = "Coastal Premier League"
		if g.format == Hundred {
			in.Event.Name = "The Coastal Hundred"
		}

		a, b := g.Perm(len(towns)), g.Perm(len(beasts))
		for i := range 2 {
			in.Teams = append(in.Teams, towns[a[i]]+" "+beasts[b[i]])
		}
	default:
		in.MatchType, in.TeamType = g.format.String(), "international"
		for _, n := range g.Perm(len(nations))[:2] {
			in.Teams = append(in.Teams, nations[n])
		}

		in.Event.Name = in.Teams[1] + " tour of " + in.Teams[0]
	}

	in.Event.MatchNumber = Text(strconv.Itoa(1 + g.IntN(5)))
	in.Players = map[string][]string{}
	in.Registry.People = map[string]string{}
	pick := g.Perm(len(surnames))

	for i := range 22 {
		team := in.Teams[i/11]
		name := string(rune('A'+g.IntN(26))) + string(rune('A'+g.IntN(26))) + " " + surnames[pick[i]]
		in.Players[team] = append(in.Players[team], name)
		in.Registry.People[name] = "made up: " + team + ": " + name
		g.elevens[i/11] = append(g.elevens[i/11], name)
	}

	in.Officials.Umpires = []string{"PT Hartnell", "SK Orme"}
	in.Officials.TVUmpires = []string{"LM Vance"}
	in.Officials.Referees = []string{"DR Colby"}
	in.Dates = []string{time.Date(2026, 6, 1+g.IntN(60), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)}
	in.Toss.Winner = in.Teams[g.IntN(2)]
	in.Toss.Decision = []string{"bat", "field"}[g.IntN(2)]
}

// firstToBat returns the side that bats first after the toss.
func (g *generator) firstToBat() int {
	in := &g.file.Info

	side := slices.Index(in.Teams, in.Toss.Winner)
	if in.Toss.Decision == "field" {
		side = 1 - side
	}

	return side
}

// plan describes how an innings is played.
type plan struct {
	side      int
	target    int // to pass; 0 without one
	balls     int // legal balls at most
	wickets   int
	declareAt int // score to declare at; 0: never
	super     bool
}

// play plays an innings, adds it to the file, and returns its result.
func (g *generator) play(k plan) (runs, wickets, balls int) {
	in := &g.file.Info
	inn := Innings{Team: in.Teams[k.side], SuperOver: k.super}
	batters, bowlers := g.elevens[k.side], g.elevens[1-k.side]
	attack := []int{10, 9, 8, 7, 6, 5} // the lower order bowls
	bowled := make([]int, 11)
	crease, next := [2]int{0, 1}, 2
	last := -1

	for over := 0; ; over++ {
		var ov Over

		ov.Over = over

		bowler := attack[g.IntN(2)]
		if over >= 2 {
			bowler = attack[g.IntN(len(attack))]
		}

		for bowler == last || bowled[bowler] >= g.perBowler {
			bowler = attack[g.IntN(len(attack))]
		}

		last = bowler
		bowled[bowler]++

		done := false
		for legal := 0; legal < g.perOver && !done; {
			d := g.ball(k, over, crease[0], runs, balls)

			d.Batter, d.NonStriker, d.Bowler = batters[crease[0]], batters[crease[1]], bowlers[bowler]
			if d.Extras.Wides == 0 && d.Extras.Noballs == 0 {
				legal++
				balls++
			}

			if runs += d.Runs.Total; k.target > 0 && runs >= k.target {
				d.Wickets = nil // the run that wins ends the match
			}

			ran := d.Runs.Batter%2 + d.Extras.Byes%2 + d.Extras.Legbyes%2
			if ran%2 == 1 {
				crease[0], crease[1] = crease[1], crease[0]
			}

			if len(d.Wickets) > 0 {
				wickets++
				w := &d.Wickets[0]
				gone := slices.Index(batters, d.Batter)

				at := slices.Index(crease[:], gone)
				if w.Kind == "run out" && g.IntN(3) == 0 {
					at = 1 - at
				}

				w.PlayerOut = batters[crease[at]]
				switch w.Kind {
				case "caught", "run out":
					w.Fielders = []Fielder{{Name: bowlers[g.IntN(11)]}}
				case "stumped":
					w.Fielders = []Fielder{{Name: bowlers[4]}}
				}

				if next < len(batters) {
					crease[at] = next
					next++
				}
			}

			ov.Deliveries = append(ov.Deliveries, d)
			done = wickets == k.wickets || balls == k.balls || k.target > 0 && runs >= k.target
		}

		inn.Overs = append(inn.Overs, ov)
		if !done && k.declareAt > 0 && runs >= k.declareAt {
			inn.Declared, done = true, true
		}

		if done {
			break
		}

		crease[0], crease[1] = crease[1], crease[0]
	}

	g.file.Innings = append(g.file.Innings, inn)

	return runs, wickets, balls
}

// ball bowls one ball at batter n of the order.
func (g *generator) ball(k plan, over, n, runs, balls int) (d Delivery) {
	aggression := 1.0

	switch {
	case k.super:
		aggression = 1.5
	case g.overs > 0 && k.target > 0:
		mean := 0.0
		for r, w := range g.runs {
			mean += float64(r*w) / 1000
		}

		needed := float64(k.target-runs) / float64(max(1, k.balls-balls))
		aggression = min(max(needed/mean, 0.75), 2)
	case g.overs > 0 && over >= g.overs*4/5:
		aggression = 1.4
	case g.overs > 0 && over < g.overs*3/10:
		aggression = 1.1
	}

	skill := max(0.15, 1.15-0.1*float64(n)) // of batters down the order
	roll := g.IntN(1000)
	chance := func(thousandths int) bool {
		hit := roll >= 0 && roll < thousandths
		roll -= thousandths

		return hit
	}
	bat := func() int {
		weights := g.runs
		for r := range weights {
			if r >= 4 {
				weights[r] = int(float64(weights[r]) * aggression * (0.6 + 0.5*skill))
			}
		}

		sum := 0
		for _, w := range weights {
			sum += w
		}

		pick := g.IntN(sum)
		for r, w := range weights {
			if pick < w {
				return r
			}

			pick -= w
		}

		return 0
	}

	switch {
	case chance(g.wide):
		d.Extras.Wides = 1

		switch g.IntN(20) {
		case 0:
			d.Extras.Wides = 5
		case 1:
			d.Wickets = []Wicket{{Kind: "stumped"}}
		}
	case chance(g.noball):
		d.Extras.Noballs = 1
		if g.format == Hundred {
			d.Extras.Noballs = 2
		}

		d.Runs.Batter = bat()
	case chance(g.bye):
		d.Extras.Byes = []int{1, 1, 2, 4}[g.IntN(4)]
	case chance(g.legbye):
		d.Extras.Legbyes = []int{1, 1, 1, 2, 4}[g.IntN(5)]
	case chance(int(float64(g.wicket) * aggression * (1.5 - 0.6*skill))):
		switch n := g.IntN(100); {
		case n < 58:
			d.Wickets = []Wicket{{Kind: "caught"}}
		case n < 76:
			d.Wickets = []Wicket{{Kind: "bowled"}}
		case n < 89:
			d.Wickets = []Wicket{{Kind: "lbw"}}
		case n < 95:
			d.Wickets = []Wicket{{Kind: "run out"}}
			d.Runs.Batter = g.IntN(2)
		case n < 98:
			d.Wickets = []Wicket{{Kind: "stumped"}}
		default:
			d.Wickets = []Wicket{{Kind: "caught and bowled"}}
		}
	default:
		d.Runs.Batter = bat()
	}

	d.Runs.Extras = d.Extras.sum()
	d.Runs.Total = d.Runs.Batter + d.Runs.Extras

	return d
}

// limited plays a match of overs: two innings, and super overs after a tie of
// the short formats, the side that batted second first, until one wins.
func (g *generator) limited() {
	in := &g.file.Info
	first := g.firstToBat()
	allotted := g.overs * g.perOver
	a, _, _ := g.play(plan{side: first, balls: allotted, wickets: 10})
	b, wickets, _ := g.play(plan{side: 1 - first, target: a + 1, balls: allotted, wickets: 10})
	g.file.Innings[1].Target = &struct {
		Overs float64 `json:"overs"`
		Runs  int     `json:"runs"`
	}{float64(g.overs), a + 1}
	o := &in.Outcome

	switch {
	case b > a:
		o.Winner, o.By.Wickets = in.Teams[1-first], 10-wickets
	case b < a:
		o.Winner, o.By.Runs = in.Teams[first], a-b
	default:
		o.Result = "tie"

		side := 1 - first
		for g.format != ODI {
			x, _, _ := g.play(plan{side: side, balls: g.perOver, wickets: 2, super: true})

			y, _, _ := g.play(plan{side: 1 - side, target: x + 1, balls: g.perOver, wickets: 2, super: true})
			if x != y {
				o.Eliminator = in.Teams[side]
				if y > x {
					o.Eliminator = in.Teams[1-side]
				}

				break
			}

			side = 1 - side
		}
	}

	g.choosePlayerOfMatch()
}

// test plays a match of five days.
func (g *generator) test() {
	in := &g.file.Info
	o := &in.Outcome
	left := 5 * ballsADay

	var total [2]int

	play := func(k plan) int {
		k.balls, k.wickets = left, 10
		runs, wickets, balls := g.play(k)
		total[k.side] += runs
		left -= balls

		return wickets
	}

	defer func() {
		day, _ := time.Parse(time.DateOnly, in.Dates[0])
		for n := 1; n*ballsADay < 5*ballsADay-left; n++ {
			in.Dates = append(in.Dates, day.AddDate(0, 0, n).Format(time.DateOnly))
		}

		g.choosePlayerOfMatch()
	}()

	win := func(side, runs, wickets int) { o.Winner, o.By.Runs, o.By.Wickets = in.Teams[side], runs, wickets }

	a := g.firstToBat()
	b := 1 - a
	play(plan{side: a, declareAt: 420 + g.IntN(200)})

	if left > 0 {
		play(plan{side: b, declareAt: total[a] + 150 + g.IntN(150)})
	}

	followOn := false
	if left > 0 {
		followOn = total[a]-total[b] >= 200 && g.IntN(2) == 0

		third, other := a, b
		if followOn {
			third, other = b, a
		}

		behind := total[other] - total[third]

		wickets := play(plan{side: third, declareAt: max(60, behind+280+g.IntN(120))})
		switch {
		case wickets == 10 && total[third] < total[other]:
			win(other, total[other]-total[third], 0)

			o.By.Innings = 1

			return
		case left > 0:
			wickets = play(plan{side: other, target: total[third] - total[other] + 1})
			switch {
			case total[other] > total[third]:
				win(other, 0, 10-wickets)
				return
			case wickets == 10 && total[other] == total[third]:
				o.Result = "tie"
				return
			case wickets == 10:
				win(third, total[third]-total[other], 0)
				return
			}
		}
	}

	o.Result = "draw"
}

// choosePlayerOfMatch names the player of the match: whoever made most runs for the winner,
// or at all.
func (g *generator) choosePlayerOfMatch() {
	runs := map[string]int{}
	best := ""

	for _, inn := range g.file.Innings {
		if w := g.file.Info.Outcome.Winner; w != "" && w != inn.Team {
			continue
		}

		for _, ov := range inn.Overs {
			for _, d := range ov.Deliveries {
				if runs[d.Batter] += d.Runs.Batter; best == "" || runs[d.Batter] > runs[best] {
					best = d.Batter
				}
			}
		}
	}

	g.file.Info.PlayerOfMatch = []string{best}
}
