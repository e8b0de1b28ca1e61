package sportmonks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// writer builds a JSON body by appending, in the provider's own style (slashes
// and everything beyond ASCII escaped). Parts that were rendered before go in
// as they are.
type writer struct {
	parts [][]byte
	b     []byte
}

// body is what was written.
func (w *writer) body() [][]byte { return append(w.parts, w.b) }

func (w *writer) splice(p []byte) {
	w.parts = append(w.parts, w.b, p)
	w.b = nil
}

func (w *writer) lit(s string) { w.b = append(w.b, s...) }

func (w *writer) comma() {
	if n := len(w.b); n > 0 && !strings.ContainsRune("{[:,", rune(w.b[n-1])) {
		w.b = append(w.b, ',')
	}
}

func (w *writer) key(k string) {
	w.comma()
	w.b = append(append(append(w.b, '"'), k...), '"', ':')
}

// object opens an object of a resource; a list element when key is empty.
func (w *writer) object(key, resource string, id int64) {
	if key != "" {
		w.key(key)
	} else {
		w.comma()
	}
	w.lit(`{"resource":"`)
	w.lit(resource)
	w.lit(`"`)
	w.int("id", int(id))
}

func (w *writer) end() { w.b = append(w.b, '}') }

func (w *writer) int(k string, n int) {
	w.key(k)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

// id writes an id, or null for 0.
func (w *writer) id(k string, n int64) {
	if n == 0 {
		w.null(k)
		return
	}
	w.int(k, int(n))
}

func (w *writer) null(k string) {
	w.key(k)
	w.lit("null")
}

// num writes a number without needless decimals: 20, 18.4, 9.67.
func (w *writer) num(k string, f float64) {
	w.key(k)
	w.b = strconv.AppendFloat(w.b, f, 'f', -1, 64)
}

func (w *writer) tenths(k string, n int) { w.num(k, float64(n)/10) }

func (w *writer) bool(k string, v bool) {
	w.key(k)
	w.b = strconv.AppendBool(w.b, v)
}

func (w *writer) str(k, s string) {
	w.key(k)
	w.quote(s)
}

// text writes a string, or null for an empty one.
func (w *writer) text(k, s string) {
	if s == "" {
		w.null(k)
		return
	}
	w.str(k, s)
}

func (w *writer) quote(s string) {
	const hex = "0123456789abcdef"
	w.b = append(w.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '/':
			w.b = append(w.b, '\\', byte(r))
		case r >= ' ' && r < utf8.RuneSelf:
			w.b = append(w.b, byte(r))
		default:
			units := utf16.AppendRune(nil, r)
			for _, u := range units {
				w.b = append(w.b, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
			}
		}
	}
	w.b = append(w.b, '"')
}

// time writes a stamp: whole seconds, UTC, with the six decimals that the
// provider always sends.
func (w *writer) time(k string, t time.Time) {
	w.key(k)
	w.b = append(w.b, '"')
	w.b = t.UTC().Truncate(time.Second).AppendFormat(w.b, "2006-01-02T15:04:05.000000Z")
	w.b = append(w.b, '"')
}

func (w *writer) updated(t time.Time) { w.time("updated_at", t) }

// image is a picture's address: images lie in 32 folders, by id.
func (w *writer) image(kind string, id int64) {
	w.str("image_path", fmt.Sprintf("https://cdn.sportmonks.com/images/cricket/%s/%d/%d.png", kind, id%32, id))
}

// edited is the stamp of reference data, which does not change here.
func edited() time.Time { return time.Date(2026, 1, 3, 8, 7, 5, 0, time.UTC) }

// country is the country_id of everything here.
const country = 190324

func (w *writer) team(key string, t Team) {
	w.object(key, "teams", t.ID)
	w.str("name", t.Name)
	w.str("code", t.Code)
	w.image("teams", t.ID)
	w.int("country_id", country)
	w.bool("national_team", t.National)
	w.updated(edited())
	w.end()
}

// league leaves the object open, for its includes.
func (w *writer) league(key string, l League, season int64) {
	w.object(key, "leagues", l.ID)
	w.id("season_id", season)
	w.int("country_id", country)
	w.str("name", l.Name)
	w.str("code", l.Code)
	w.image("leagues", l.ID)
	kind := "league"
	if l.Phase {
		kind = "phase"
	}
	w.str("type", kind)
	w.updated(edited())
}

func (w *writer) season(key string, s Season, league int64) {
	w.object(key, "seasons", s.ID)
	w.int("league_id", int(league))
	w.str("name", s.Name)
	w.str("code", s.Name)
	w.updated(edited())
}

func (w *writer) stage(key string, f *Fixture) {
	w.object(key, "stages", f.Stage.ID)
	w.int("league_id", int(f.League.ID))
	w.int("season_id", int(f.Season.ID))
	w.str("name", f.Stage.Name)
	w.str("code", f.Stage.Code)
	kind := "league"
	if f.League.Phase {
		kind = ""
	}
	w.text("type", kind)
	w.bool("standings", !f.League.Phase)
	w.updated(edited())
}

func (w *writer) venue(key string, v Venue) {
	w.object(key, "venues", v.ID)
	w.int("country_id", country)
	w.str("name", v.Name)
	w.str("city", v.City)
	w.str("image_path", "https://cdn.sportmonks.com")
	w.int("capacity", 5000+int(v.ID%80)*500)
	w.bool("floodlight", v.ID%2 == 0)
	w.updated(edited())
	w.end()
}

func (w *writer) score(key string, s *score) {
	w.object(key, "scores", s.id)
	w.str("name", s.name)
	w.int("runs", s.runs)
	w.bool("four", s.four)
	w.bool("six", s.six)
	w.int("bye", s.bye)
	w.int("leg_bye", s.legBye)
	w.int("noball", s.noball)
	w.int("noball_runs", s.noballRun)
	w.bool("is_wicket", s.wicket)
	w.bool("ball", s.ball)
	w.bool("out", s.wicket)
	w.end()
}

// player writes person i, or null for -1, and leaves the object open.
func (w *writer) player(key string, m *Match, i int) {
	p := &m.people[i]
	first, last, ok := strings.Cut(p.name, " ")
	if !ok {
		first, last = "", p.name
	}
	w.object(key, "players", p.id)
	w.int("country_id", country)
	w.str("firstname", first)
	w.str("lastname", last)
	w.str("fullname", p.name)
	w.image("players", p.id)
	w.str("dateofbirth", fmt.Sprintf("%d-%02d-%02d", 1986+p.id%18, 1+p.id/18%12, 1+p.id/216%28))
	w.str("gender", m.gender)
	w.str("battingstyle", [...]string{"right-hand-bat", "left-hand-bat"}[p.id/7%4/3])
	style := ""
	if p.role.id == 2 || p.role.id == 4 {
		style = [...]string{"right-arm-fast-medium", "legbreak", "slow-left-arm-orthodox", "right-arm-offbreak"}[p.id/11%4]
	}
	w.text("bowlingstyle", style)
	w.object("position", "positions", p.role.id)
	w.str("name", p.role.name)
	w.end()
	w.updated(edited())
}

func (w *writer) maybePlayer(key string, m *Match, i int) {
	if i < 0 {
		w.null(key)
		return
	}
	w.player(key, m, i)
	w.end()
}

func (w *writer) official(key string, m *Match, i int) {
	if i < 0 {
		w.null(key)
		return
	}
	p := &m.people[i]
	first, last, _ := strings.Cut(p.name, " ")
	w.object(key, "officials", p.id)
	w.int("country_id", country)
	w.str("firstname", first)
	w.str("lastname", last)
	w.str("fullname", p.name)
	w.null("dateofbirth")
	w.str("gender", "m")
	w.updated(edited())
	w.end()
}

// personID is the id of person i, or null for -1.
func (w *writer) personID(key string, m *Match, i int) {
	if i < 0 {
		w.null(key)
		return
	}
	w.int(key, int(m.people[i].id))
}

// ball writes an entry of the balls list with a comma before it.
func (w *writer) ball(m *Match, d *delivery, stamp time.Time, catcher bool) {
	inn := &m.innings[d.innings]
	gone, held, thrown := -1, -1, -1
	for i := range d.outs {
		if o := &d.outs[i]; o.result.wicket {
			gone, held, thrown = o.player, o.catcher, o.thrower
			break
		}
	}
	w.lit(",")
	w.object("", "balls", ballID(m, d))
	w.int("fixture_id", int(m.ID))
	w.int("team_id", int(m.team(inn.side).ID))
	w.tenths("ball", d.label)
	w.str("scoreboard", scoreboard(d.innings))
	w.personID("batsman_one_on_creeze_id", m, d.crease[0])
	w.personID("batsman_two_on_creeze_id", m, d.crease[1])
	w.personID("batsman_id", m, d.striker)
	w.personID("bowler_id", m, d.bowler)
	w.personID("batsmanout_id", m, gone)
	w.personID("catchstump_id", m, held)
	w.personID("runout_by_id", m, thrown)
	w.int("score_id", int(d.score.id))
	w.maybePlayer("batsman", m, d.striker)
	w.maybePlayer("bowler", m, d.bowler)
	w.score("score", &d.score)
	w.team("team", m.team(inn.side))
	if catcher {
		w.maybePlayer("catchstump", m, held)
	}
	w.updated(stamp)
	w.end()
}

// ballID rises with the deliveries of a match.
func ballID(m *Match, d *delivery) int64 { return m.ID*100_000 + int64(d.number) }

func scoreboard(innings int) string { return "S" + strconv.Itoa(innings+1) }

// rowID is the id of row n of an innings, in any of the row resources.
func rowID(m *Match, innings, n int) int64 {
	return m.ID*100_000 + int64(innings+1)*1_000 + int64(n)
}

func (w *writer) row(resource string, m *Match, innings, n, side int) {
	w.object("", resource, rowID(m, innings, n))
	if resource == "battings" || resource == "bowlings" {
		w.int("sort", n)
	}
	w.int("fixture_id", int(m.ID))
	w.int("team_id", int(m.team(side).ID))
}

func (w *writer) runs(m *Match, cards []card, stamps []time.Time, in includes) {
	w.key("runs")
	w.lit("[")
	for i := range cards {
		c, inn := &cards[i], &m.innings[i]
		w.row("runs", m, i, 0, inn.side)
		w.int("inning", i+1)
		w.int("score", c.runs)
		w.int("wickets", c.wickets)
		w.tenths("overs", c.overs)
		for j, pp := range inn.powerplay {
			w.text("pp"+strconv.Itoa(j+1), pp)
		}
		if in["runs.team"] {
			w.team("team", m.team(inn.side))
		}
		w.updated(stamps[i])
		w.end()
	}
	w.lit("]")
}

func (w *writer) scoreboards(m *Match, cards []card, stamps []time.Time, in includes) {
	w.key("scoreboards")
	w.lit("[")
	for i := range cards {
		c, side := &cards[i], m.innings[i].side
		extra := c.wides + c.noballRuns + c.byes + c.legByes + c.penalty
		for n, kind := range []string{"total", "extra"} {
			w.row("scoreboards", m, i, n, side)
			w.str("type", kind)
			w.str("scoreboard", scoreboard(i))
			x, total, overs, wickets := card{}, c.runs, c.overs, c.wickets
			if kind == "extra" {
				x, total, overs, wickets = *c, extra, 0, 0
			}
			w.int("wide", x.wides)
			w.int("noball_runs", x.noballRuns)
			w.int("noball_balls", x.noballs)
			w.int("bye", x.byes)
			w.int("leg_bye", x.legByes)
			w.int("penalty", x.penalty)
			w.int("total", total)
			w.tenths("overs", overs)
			w.int("wickets", wickets)
			if in["scoreboards.team"] {
				w.team("team", m.team(side))
			}
			w.updated(stamps[i])
			w.end()
		}
	}
	w.lit("]")
}

func (w *writer) batting(m *Match, cards []card, stamp time.Time, in includes) {
	notOut := named("Not Out")
	w.key("batting")
	w.lit("[")
	for i := range cards {
		side := m.innings[i].side
		for n := range cards[i].batters {
			b := &cards[i].batters[n]
			result, catcher, thrower, bowler := &notOut, -1, -1, -1
			fowScore, fowLabel := 0, 0
			if o := b.out; o != nil {
				result, catcher, thrower = &o.result, o.catcher, o.thrower
				if o.bowlers {
					bowler = o.bowler
				}
				if o.result.wicket {
					fowScore, fowLabel = b.fowScore, b.fowLabel
				}
			}
			w.row("battings", m, i, n+1, side)
			w.bool("active", false)
			w.str("scoreboard", scoreboard(i))
			w.personID("player_id", m, b.player)
			w.int("wicket_id", int(result.id))
			w.int("ball", b.balls)
			w.int("score_id", int(result.id))
			w.int("score", b.runs)
			w.int("four_x", b.fours)
			w.int("six_x", b.sixes)
			w.personID("catch_stump_player_id", m, catcher)
			w.personID("runout_by_id", m, thrower)
			w.null("batsmanout_id")
			w.personID("bowling_player_id", m, bowler)
			w.int("fow_score", fowScore)
			w.tenths("fow_balls", fowLabel)
			rate := 0
			if b.balls > 0 {
				rate = int(math.Round(100 * float64(b.runs) / float64(b.balls)))
			}
			w.int("rate", rate)
			if in["batting.batsman"] {
				w.maybePlayer("batsman", m, b.player)
			}
			if in["batting.bowler"] {
				w.maybePlayer("bowler", m, bowler)
			}
			if in["batting.catchstump"] {
				w.maybePlayer("catchstump", m, catcher)
			}
			if in["batting.runoutby"] {
				w.maybePlayer("runoutby", m, thrower)
			}
			if in["batting.result"] {
				w.score("result", result)
			}
			if in["batting.team"] {
				w.team("team", m.team(side))
			}
			w.updated(stamp)
			w.end()
		}
	}
	w.lit("]")
}

func (w *writer) bowling(m *Match, cards []card, stamp time.Time, in includes) {
	w.key("bowling")
	w.lit("[")
	for i := range cards {
		side := 1 - m.innings[i].side
		for n := range cards[i].bowlers {
			b := &cards[i].bowlers[n]
			w.row("bowlings", m, i, n+1, side)
			w.bool("active", false)
			w.str("scoreboard", scoreboard(i))
			w.personID("player_id", m, b.player)
			w.tenths("overs", b.label(m.perOver))
			w.int("medians", b.maidens)
			w.int("runs", b.runs)
			w.int("wickets", b.wickets)
			w.int("wide", b.wides)
			w.int("noball", b.noballs)
			w.num("rate", float64(b.rate(m.perOver))/100)
			if in["bowling.bowler"] {
				w.maybePlayer("bowler", m, b.player)
			}
			if in["bowling.team"] {
				w.team("team", m.team(side))
			}
			w.updated(stamp)
			w.end()
		}
	}
	w.lit("]")
}

func (w *writer) lineup(m *Match, shown bool) {
	w.key("lineup")
	w.lit("[")
	if shown {
		for _, i := range m.lineup() {
			p := &m.people[i]
			w.player("", m, i)
			w.key("lineup")
			w.lit("{")
			w.int("team_id", int(m.team(p.side).ID))
			w.bool("captain", p.captain)
			w.bool("wicketkeeper", p.keeper)
			w.bool("substitution", p.sub)
			w.end()
			w.end()
		}
	}
	w.lit("]")
}

func (w *writer) dl(key string, d *dl) {
	w.key(key)
	w.lit("{")
	if d == nil {
		w.null("score")
		w.null("overs")
		w.null("wickets_out")
	} else {
		w.int("score", d.score)
		w.num("overs", d.overs)
		if d.wickets < 0 {
			w.null("wickets_out")
		} else {
			w.int("wickets_out", d.wickets)
		}
	}
	w.end()
}

// fixture writes the fields of a fixture as h has them, and leaves the object
// open for its includes. m is nil for a fixture that is only announced.
func (w *writer) fixture(f *Fixture, m *Match, h *header, start time.Time) {
	w.object("", "fixtures", f.ID)
	w.int("league_id", int(f.League.ID))
	w.int("season_id", int(f.Season.ID))
	w.int("stage_id", int(f.Stage.ID))
	w.str("round", f.Round)
	w.int("localteam_id", int(f.Local.ID))
	w.int("visitorteam_id", int(f.Visitor.ID))
	w.time("starting_at", start)
	w.str("type", f.Type)
	w.bool("live", true)
	w.str("status", h.status)
	w.null("last_period")
	if h.note == "" && h.status == "NS" {
		w.null("note")
	} else {
		w.str("note", h.note)
	}
	w.id("venue_id", f.Venue.ID)
	w.id("toss_won_team_id", h.tossWon)
	w.id("winner_team_id", h.winner)
	w.text("draw_noresult", h.draw)
	for i, k := range []string{"first_umpire_id", "second_umpire_id", "tv_umpire_id", "referee_id"} {
		if m == nil {
			w.null(k)
		} else {
			w.personID(k, m, m.officials[i])
		}
	}
	w.id("man_of_match_id", h.mom)
	w.null("man_of_series_id")
	w.id("total_overs_played", int64(f.Overs))
	w.text("elected", h.elected)
	w.bool("super_over", h.superOver)
	w.bool("follow_on", h.followOn)
	w.dl("localteam_dl_data", h.dl[0])
	w.dl("visitorteam_dl_data", h.dl[1])
	if h.rpcTarget == 0 {
		w.null("rpc_overs")
		w.null("rpc_target")
	} else {
		w.num("rpc_overs", h.rpcOvers)
		w.int("rpc_target", h.rpcTarget)
	}
	w.key("weather_report")
	w.lit("[]")
}
