package pickem

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
)

// The promotion's titles. Each is at stake at every show.
const (
	world  = "Lanternlight World Championship"
	harbor = "Lanternlight Harbour Championship"
	tag    = "Lanternlight Tag Team Championship"
)

// roster lists the single wrestlers, the first champions first.
var roster = [...]string{
	"Odessa Quill", "Corin Callow",
	"Tusk Hargreave", "Marisol Vane", "Juno Blackwater", "Caspian Rook", "Petra Ironwood", "Silas Tarn", "Wren Okafor", "Dimitri Gale",
	"Lotte Fenwright", "Ezra Squall", "Kit Lazenby", "Isolde Marsh", "Rufus Tanglewood", "Hollis Grave", "Yuki Marlowe", "Bo Tidewell",
}

// pairs lists the tag teams, the first champions first.
var pairs = [...]item.Team{
	{Name: "The Lamplighters", Members: []string{"Orrin Wick", "Tamsin Wick"}},
	{Name: "Salt and Iron", Members: []string{"Greta Salt", "Anvil Iversen"}},
	{Name: "Night Ferry", Members: []string{"Charon Blythe", "Lady Lethe"}},
	{Name: "The Undertow", Members: []string{"Rip Mallory", "Delphine Sway"}},
	{Name: "Brass Choir", Members: []string{"Tuba Tom Tully", "Cornetta Bell"}},
}

// towns lists the towns of the tour. The shows of a day are in this order, so that the
// greatest id is that of the latest show. After the last there is no further show that day.
var towns = [...]string{
	"Amberwick", "Brackwater", "Coldharrow", "Dunmere", "Elderglen", "Fennick", "Gullhaven", "Hollowford",
	"Ivywharf", "Jarrowmoor", "Kestrel Bay",
	"Larkhollow", "Mistlebury", "Nettlecombe", "Oakenshore", "Pellmouth", "Quillhaven", "Rookmere", "Saltbourne",
	"Thornwick", "Underley", "Vantry",
	"Wyrmouth", "Xanlow", "Yarrowgate", "Zephyr Point",
}

// galas lists the names of the galas. Each Saturday has the next one.
var galas = [...]string{
	"Clash of Tides", "The Black Anchor", "Night of Lanterns", "Iron Regatta", "Fog Bell", "The Last Ferry", "Kingfisher Crown", "Saltstorm",
}

// show is a show before its announcement.
type show struct {
	ID, Name string // the id is the event's, 2026-03-07-clash-of-tides
	gala     bool
}

func newShow(day time.Time, name string) show {
	return show{ID: day.Format(time.DateOnly) + "-" + slug(name), Name: name}
}

func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// parts returns the date and the slug in the id of a show.
func parts(eventID string) (date, slug string) {
	n := min(len(time.DateOnly), len(eventID))
	return eventID[:n], strings.TrimPrefix(eventID[n:], "-")
}

// onTour reports whether an event is a show of the tour; ours, whether it is any show of the
// promotion.
func onTour(e event.Event) bool { return named(e, towns[:]) }
func ours(e event.Event) bool   { return onTour(e) || named(e, galas[:]) }

func named(e event.Event, names []string) bool {
	_, is := parts(e.ID)
	return slices.ContainsFunc(names, func(name string) bool { return slug(name) == is })
}

// tour returns the shows of a day in order.
func tour(day time.Time) (all []show) {
	for _, town := range towns {
		s := newShow(day, town)
		s.Name = "Live in " + town
		all = append(all, s)
	}

	return all
}

const (
	pastGalas = 4
	week      = 7 * 24 * time.Hour
	bell      = 19 * time.Hour // after midnight, when a gala begins
)

// past returns the latest galas of the year before the day of now, earliest first.
func past(now time.Time) (all []show) {
	today := now.UTC().Truncate(24 * time.Hour)

	saturday := today.AddDate(0, 0, -int(today.Weekday())-1)
	for range pastGalas {
		if saturday.Year() == today.Year() {
			s := newShow(saturday, galas[saturday.Unix()/int64(week.Seconds())%int64(len(galas))])
			s.gala = true
			all = append(all, s)
		}

		saturday = saturday.Add(-week)
	}

	slices.Reverse(all)

	return all
}

// dice returns a random source that is the same for the same words.
func dice(words ...any) *rand.Rand {
	sum := sha256.Sum256([]byte(fmt.Sprintln(words...)))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

// matchID returns the id of the n-th match of a card: a UUID of version 8 (RFC 9562).
func matchID(eventID string, n int) string {
	b := sha256.Sum256(fmt.Appendln(nil, eventID, n))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// card returns the matches of a show, with the present champions. No wrestler is in two
// matches.
func (s show) card(champions map[string]item.Team) []event.Match {
	d := dice("card", s.ID)
	busy := func(t item.Team) bool {
		for _, c := range champions {
			if slices.Equal(c.Members, t.Members) {
				return true
			}
		}

		return false
	}

	var free []item.Team

	for _, name := range roster {
		if t := (item.Team{Members: []string{name}}); !busy(t) {
			free = append(free, t)
		}
	}

	d.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })

	next := func(n int) (teams []item.Team) {
		teams, free = free[:n:n], free[n:]
		return teams
	}
	challengers := slices.DeleteFunc(slices.Clone(pairs[:]), busy)

	fields := []event.MatchFields{
		{Name: "Three-way match", Points: 5, Preshow: true, Teams: next(3)},
		{Name: "Singles match", Points: 10, Teams: next(2)},
		{
			Name:          "Tag team match",
			Points:        15,
			Championships: []string{tag},
			Teams:         []item.Team{champions[tag], challengers[d.IntN(len(challengers))]},
		},
	}
	if s.gala {
		fields = append(fields,
			event.MatchFields{Name: "Ladder match", Points: 10, Teams: next(4)},
			event.MatchFields{Name: "Grudge match", Points: 10, Teams: next(2)})
	}

	fields = append(fields,
		event.MatchFields{
			Name:          "Title match",
			Points:        15,
			Championships: []string{harbor},
			Teams:         append([]item.Team{champions[harbor]}, next(1)...),
		},
		event.MatchFields{
			Name:          "Main event",
			Points:        25,
			Championships: []string{world},
			Teams:         append([]item.Team{champions[world]}, next(1)...),
		})

	all := make([]event.Match, len(fields))
	for i, f := range fields {
		all[i] = event.Match{ID: matchID(s.ID, i), MatchFields: f}
	}

	return all
}

// champions returns the holders of the titles after a card: the winner of each title match,
// or the previous holder if it was void. The card is nil before the first show.
func champions(card []event.Match) map[string]item.Team {
	all := map[string]item.Team{world: {Members: []string{roster[0]}}, harbor: {Members: []string{roster[1]}}, tag: pairs[0]}

	for _, m := range card {
		for _, title := range m.Championships {
			holder := slices.IndexFunc(m.Teams, func(t item.Team) bool { return t.Champion })
			if m.Result != nil && *m.Result != void {
				holder = int(*m.Result)
			}

			if holder >= 0 {
				all[title] = m.Teams[holder]
			}
		}
	}

	for title, t := range all {
		t.ID, t.Champion = "", true // of another match
		all[title] = t
	}

	return all
}

// void is the result of a match that nobody won.
const void item.Result = -1

// outcome returns the result of a match. Champions win slightly more often, and some matches
// are void.
func outcome(m event.Match) item.Result {
	d := dice("outcome", m.ID)
	switch {
	case d.IntN(24) == 0:
		return void
	case m.Teams[0].Champion && d.IntN(5) < 3:
		return 0
	}

	return item.Result(d.IntN(len(m.Teams)))
}

// slip returns the index on a card of the one result that is first entered wrong. If
// possible it is not the last, so that another result is entered before the correction.
func slip(eventID string, matches int) int { return dice("slip", eventID).IntN(max(1, matches-1)) }

// another returns a result other than r.
func another(r item.Result, m event.Match) item.Result {
	return (r + 1) % item.Result(len(m.Teams))
}

// person is a member of the season.
type person struct {
	ID, Name string
	skill    float64 // share of correct picks
	league   bool
}

// Visitor is the id of the member that the visitor of the console plays.
const Visitor = "me"

// leagueName is the name of the league of some members.
const leagueName = "The Back Row"

// members lists the members. The first owns the league.
var members = [...]person{
	{"ada", "Ada", 0.6, true},
	{"bruno", "Bruno", 0.35, true},
	{"chidi", "Chidi", 0.5, false},
	{"dara", "Dara", 0.45, true},
	{"elif", "Elif", 0.7, false},
	{"femi", "Femi", 0.3, false},
	{"greta", "Greta", 0.55, true},
	{"hugo", "Hugo", 0.4, false},
	{"ines", "Ines", 0.5, false},
	{Visitor, "You", 0.5, true},
}

// plays reports whether a member picks a show. Some members skip some shows.
func (p person) plays(eventID string) bool {
	return p.ID == Visitor || dice("plays", p.ID, eventID).IntN(12) > 0
}

// pick returns the picks of a member for a card.
func (p person) pick(card []event.Match) map[string]string {
	picks := map[string]string{}

	for _, m := range card {
		d := dice("pick", p.ID, m.ID)
		if r := outcome(m); r != void && d.Float64() < p.skill {
			picks[m.ID] = m.Teams[r].ID
		} else {
			picks[m.ID] = m.Teams[d.IntN(len(m.Teams))].ID
		}
	}

	return picks
}
