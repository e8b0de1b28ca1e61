package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"matchday/infra/sim/sportmonks/script"
)

// Includes holds the includes of a request, such as "balls.catchstump".
type Includes map[string]bool

// Writer builds a JSON body by appending, in the provider's own style (slashes and
// everything beyond ASCII escaped). It appends parts that were rendered before
// unchanged.
type Writer struct {
	parts [][]byte
	buf   []byte
}

// Body returns the JSON written so far.
func (w *Writer) Body() [][]byte { return append(w.parts, w.buf) }

// SpliceList adds the elements of a list, each of which starts with a comma. It
// leaves out the first comma.
func (w *Writer) SpliceList(parts [][]byte) {
	first := true

	for _, p := range parts {
		if len(p) == 0 {
			continue
		}

		if first {
			p, first = p[1:], false
		}

		w.parts = append(w.parts, w.buf, p)
		w.buf = nil
	}
}

func (w *Writer) Lit(s string) { w.buf = append(w.buf, s...) }

func (w *Writer) comma() {
	if n := len(w.buf); n > 0 && !strings.ContainsRune("{[:,", rune(w.buf[n-1])) {
		w.buf = append(w.buf, ',')
	}
}

func (w *Writer) Key(k string) {
	w.comma()
	w.buf = append(append(append(w.buf, '"'), k...), '"', ':')
}

// object opens an object of a resource. With an empty key it is a list element.
func (w *Writer) object(key, resource string, id int64) {
	if key != "" {
		w.Key(key)
	} else {
		w.comma()
	}

	w.Lit(`{"resource":"`)
	w.Lit(resource)
	w.Lit(`"`)
	w.Int("id", int(id))
}

func (w *Writer) End() { w.buf = append(w.buf, '}') }

func (w *Writer) Int(k string, n int) {
	w.Key(k)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

// id writes an id, or null for 0.
func (w *Writer) id(k string, n int64) {
	if n == 0 {
		w.Null(k)
		return
	}

	w.Int(k, int(n))
}

func (w *Writer) Null(k string) {
	w.Key(k)
	w.Lit("null")
}

// num writes a number without needless decimals: 20, 18.4, 9.67.
func (w *Writer) num(k string, f float64) {
	w.Key(k)
	w.buf = strconv.AppendFloat(w.buf, f, 'f', -1, 64)
}

func (w *Writer) tenths(k string, n int) { w.num(k, float64(n)/10) }

func (w *Writer) bool(k string, v bool) {
	w.Key(k)
	w.buf = strconv.AppendBool(w.buf, v)
}

func (w *Writer) Str(k, s string) {
	w.Key(k)
	w.quote(s)
}

// text writes a string, or null for an empty one.
func (w *Writer) text(k, s string) {
	if s == "" {
		w.Null(k)
		return
	}

	w.Str(k, s)
}

func (w *Writer) quote(s string) {
	const hex = "0123456789abcdef"

	w.buf = append(w.buf, '"')

	for _, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '/':
			w.buf = append(w.buf, '\\', byte(r))
		case r >= ' ' && r < utf8.RuneSelf:
			w.buf = append(w.buf, byte(r))
		default:
			units := utf16.AppendRune(nil, r)
			for _, u := range units {
				w.buf = append(w.buf, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
			}
		}
	}

	w.buf = append(w.buf, '"')
}

// time writes a timestamp: whole seconds, UTC, with the six decimals that the provider
// always sends.
func (w *Writer) time(k string, t time.Time) {
	w.Key(k)
	w.buf = append(w.buf, '"')
	w.buf = t.UTC().Truncate(time.Second).AppendFormat(w.buf, "2006-01-02T15:04:05.000000Z")
	w.buf = append(w.buf, '"')
}

func (w *Writer) updated(t time.Time) { w.time("updated_at", t) }

// image returns the URL of an image. The provider keeps images in 32 folders, by id.
func (w *Writer) image(kind string, id int64) {
	w.Str("image_path", fmt.Sprintf("https://cdn.sportmonks.com/images/cricket/%s/%d/%d.png", kind, id%32, id))
}

// edited is the timestamp of reference data, which does not change here.
func edited() time.Time { return time.Date(2026, 1, 3, 8, 7, 5, 0, time.UTC) }

// country is the country_id of every object.
const country = 190324

func (w *Writer) Team(key string, t script.Team) {
	w.object(key, "teams", t.ID)
	w.Str("name", t.Name)
	w.Str("code", t.Code)
	w.image("teams", t.ID)
	w.Int("country_id", country)
	w.bool("national_team", t.National)
	w.updated(edited())
	w.End()
}

// League writes a league. It does not close the object, so that the caller can add
// includes.
func (w *Writer) League(key string, l script.League, season int64) {
	w.object(key, "leagues", l.ID)
	w.id("season_id", season)
	w.Int("country_id", country)
	w.Str("name", l.Name)
	w.Str("code", l.Code)
	w.image("leagues", l.ID)

	kind := "league"
	if l.Phase {
		kind = "phase"
	}

	w.Str("type", kind)
	w.updated(edited())
}

func (w *Writer) Season(key string, s script.Season, league int64) {
	w.object(key, "seasons", s.ID)
	w.Int("league_id", int(league))
	w.Str("name", s.Name)
	w.Str("code", s.Name)
	w.updated(edited())
}

func (w *Writer) Stage(key string, f *script.Fixture) {
	w.object(key, "stages", f.Stage.ID)
	w.Int("league_id", int(f.League.ID))
	w.Int("season_id", int(f.Season.ID))
	w.Str("name", f.Stage.Name)
	w.Str("code", f.Stage.Code)

	kind := "league"
	if f.League.Phase {
		kind = ""
	}

	w.text("type", kind)
	w.bool("standings", !f.League.Phase)
	w.updated(edited())
}

func (w *Writer) Venue(key string, v script.Venue) {
	w.object(key, "venues", v.ID)
	w.Int("country_id", country)
	w.Str("name", v.Name)
	w.Str("city", v.City)
	w.Str("image_path", "https://cdn.sportmonks.com")
	w.Int("capacity", 5000+int(v.ID%80)*500)
	w.bool("floodlight", v.ID%2 == 0)
	w.updated(edited())
	w.End()
}

func (w *Writer) Score(key string, s *script.Score) {
	w.object(key, "scores", s.ID)
	w.Str("name", s.Name)
	w.Int("runs", s.Runs)
	w.bool("four", s.Four)
	w.bool("six", s.Six)
	w.Int("bye", s.Bye)
	w.Int("leg_bye", s.LegBye)
	w.Int("noball", s.NoBall)
	w.Int("noball_runs", s.NoBallRuns)
	w.bool("is_wicket", s.Wicket)
	w.bool("ball", s.Ball)
	w.bool("out", s.Wicket)
	w.End()
}

// player writes person i and does not close the object, or writes null for -1.
func (w *Writer) player(key string, m *script.Match, i int) {
	p := &m.People[i]

	first, last, ok := strings.Cut(p.Name, " ")
	if !ok {
		first, last = "", p.Name
	}

	w.object(key, "players", p.ID)
	w.Int("country_id", country)
	w.Str("firstname", first)
	w.Str("lastname", last)
	w.Str("fullname", p.Name)
	w.image("players", p.ID)
	w.Str("dateofbirth", fmt.Sprintf("%d-%02d-%02d", 1986+p.ID%18, 1+p.ID/18%12, 1+p.ID/216%28))
	w.Str("gender", m.Gender)
	w.Str("battingstyle", [...]string{"right-hand-bat", "left-hand-bat"}[p.ID/7%4/3])

	style := ""
	if p.Role.ID == 2 || p.Role.ID == 4 {
		style = [...]string{"right-arm-fast-medium", "legbreak", "slow-left-arm-orthodox", "right-arm-offbreak"}[p.ID/11%4]
	}

	w.text("bowlingstyle", style)
	w.object("position", "positions", p.Role.ID)
	w.Str("name", p.Role.Name)
	w.End()
	w.updated(edited())
}

func (w *Writer) MaybePlayer(key string, m *script.Match, i int) {
	if i < 0 {
		w.Null(key)
		return
	}

	w.player(key, m, i)
	w.End()
}

func (w *Writer) Official(key string, m *script.Match, i int) {
	if i < 0 {
		w.Null(key)
		return
	}

	p := &m.People[i]
	first, last, _ := strings.Cut(p.Name, " ")
	w.object(key, "officials", p.ID)
	w.Int("country_id", country)
	w.Str("firstname", first)
	w.Str("lastname", last)
	w.Str("fullname", p.Name)
	w.Null("dateofbirth")
	w.Str("gender", "m")
	w.updated(edited())
	w.End()
}

// personID writes the id of person i, or null for -1.
func (w *Writer) personID(key string, m *script.Match, i int) {
	if i < 0 {
		w.Null(key)
		return
	}

	w.Int(key, int(m.People[i].ID))
}

// AppendBall appends an entry of the balls list to b, with a comma before it.
func AppendBall(b []byte, m *script.Match, d *script.Delivery, stamp time.Time, catcher bool) []byte {
	w := Writer{buf: b}
	w.ball(m, d, stamp, catcher)

	return w.buf
}

// ball writes an entry of the balls list with a comma before it.
func (w *Writer) ball(m *script.Match, d *script.Delivery, stamp time.Time, catcher bool) {
	inn := &m.Innings[d.Innings]
	gone, held, thrown := -1, -1, -1

	for i := range d.Dismissals {
		if o := &d.Dismissals[i]; o.How.Wicket {
			gone, held, thrown = o.Player, o.Catcher, o.Thrower
			break
		}
	}

	w.Lit(",")
	w.object("", "balls", ballID(m, d))
	w.Int("fixture_id", int(m.ID))
	w.Int("team_id", int(m.Team(inn.Side).ID))
	w.tenths("ball", d.Label)
	w.Str("scoreboard", Scoreboard(d.Innings))
	w.personID("batsman_one_on_creeze_id", m, d.Crease[0])
	w.personID("batsman_two_on_creeze_id", m, d.Crease[1])
	w.personID("batsman_id", m, d.Striker)
	w.personID("bowler_id", m, d.Bowler)
	w.personID("batsmanout_id", m, gone)
	w.personID("catchstump_id", m, held)
	w.personID("runout_by_id", m, thrown)
	w.Int("score_id", int(d.Score.ID))
	w.MaybePlayer("batsman", m, d.Striker)
	w.MaybePlayer("bowler", m, d.Bowler)
	w.Score("score", &d.Score)
	w.Team("team", m.Team(inn.Side))

	if catcher {
		w.MaybePlayer("catchstump", m, held)
	}

	w.updated(stamp)
	w.End()
}

// ballID returns the id of a ball. Ids increase with the deliveries of a match.
func ballID(m *script.Match, d *script.Delivery) int64 { return m.ID*100_000 + int64(d.Number) }

func Scoreboard(innings int) string { return "S" + strconv.Itoa(innings+1) }

// rowID returns the id of row n of an innings, in any of the row resources.
func rowID(m *script.Match, innings, n int) int64 {
	return m.ID*100_000 + int64(innings+1)*1_000 + int64(n)
}

func (w *Writer) row(resource string, m *script.Match, innings, n, side int) {
	w.object("", resource, rowID(m, innings, n))

	if resource == "battings" || resource == "bowlings" {
		w.Int("sort", n)
	}

	w.Int("fixture_id", int(m.ID))
	w.Int("team_id", int(m.Team(side).ID))
}

func (w *Writer) Runs(m *script.Match, cards []script.Card, stamps []time.Time, in Includes) {
	w.Key("runs")
	w.Lit("[")

	for i := range cards {
		c, inn := &cards[i], &m.Innings[i]
		w.row("runs", m, i, 0, inn.Side)
		w.Int("inning", i+1)
		w.Int("score", c.Runs)
		w.Int("wickets", c.Wickets)
		w.tenths("overs", c.Overs)

		for j, pp := range inn.Powerplay {
			w.text("pp"+strconv.Itoa(j+1), pp)
		}

		if in["runs.team"] {
			w.Team("team", m.Team(inn.Side))
		}

		w.updated(stamps[i])
		w.End()
	}

	w.Lit("]")
}

func (w *Writer) Scoreboards(m *script.Match, cards []script.Card, stamps []time.Time, in Includes) {
	w.Key("scoreboards")
	w.Lit("[")

	for i := range cards {
		c, side := &cards[i], m.Innings[i].Side
		extra := c.Wides + c.NoBallRuns + c.Byes + c.LegByes + c.Penalty

		for n, kind := range []string{"total", "extra"} {
			w.row("scoreboards", m, i, n, side)
			w.Str("type", kind)
			w.Str("scoreboard", Scoreboard(i))

			x, total, overs, wickets := script.Card{}, c.Runs, c.Overs, c.Wickets
			if kind == "extra" {
				x, total, overs, wickets = *c, extra, 0, 0
			}

			w.Int("wide", x.Wides)
			w.Int("noball_runs", x.NoBallRuns)
			w.Int("noball_balls", x.NoBalls)
			w.Int("bye", x.Byes)
			w.Int("leg_bye", x.LegByes)
			w.Int("penalty", x.Penalty)
			w.Int("total", total)
			w.tenths("overs", overs)
			w.Int("wickets", wickets)

			if in["scoreboards.team"] {
				w.Team("team", m.Team(side))
			}

			w.updated(stamps[i])
			w.End()
		}
	}

	w.Lit("]")
}

func (w *Writer) Batting(m *script.Match, cards []script.Card, stamp time.Time, in Includes) {
	notOut := script.NamedScore("Not Out")

	w.Key("batting")
	w.Lit("[")

	for i := range cards {
		side := m.Innings[i].Side
		for n := range cards[i].Batters {
			b := &cards[i].Batters[n]
			result, catcher, thrower, bowler := &notOut, -1, -1, -1
			fowScore, fowLabel := 0, 0

			if o := b.Out; o != nil {
				result, catcher, thrower = &o.How, o.Catcher, o.Thrower
				if o.Credited {
					bowler = o.Bowler
				}

				if o.How.Wicket {
					fowScore, fowLabel = b.FallScore, b.FallLabel
				}
			}

			w.row("battings", m, i, n+1, side)
			w.bool("active", false)
			w.Str("scoreboard", Scoreboard(i))
			w.personID("player_id", m, b.Player)
			w.Int("wicket_id", int(result.ID))
			w.Int("ball", b.Balls)
			w.Int("score_id", int(result.ID))
			w.Int("score", b.Runs)
			w.Int("four_x", b.Fours)
			w.Int("six_x", b.Sixes)
			w.personID("catch_stump_player_id", m, catcher)
			w.personID("runout_by_id", m, thrower)
			w.Null("batsmanout_id")
			w.personID("bowling_player_id", m, bowler)
			w.Int("fow_score", fowScore)
			w.tenths("fow_balls", fowLabel)

			rate := 0
			if b.Balls > 0 {
				rate = int(math.Round(100 * float64(b.Runs) / float64(b.Balls)))
			}

			w.Int("rate", rate)

			if in["batting.batsman"] {
				w.MaybePlayer("batsman", m, b.Player)
			}

			if in["batting.bowler"] {
				w.MaybePlayer("bowler", m, bowler)
			}

			if in["batting.catchstump"] {
				w.MaybePlayer("catchstump", m, catcher)
			}

			if in["batting.runoutby"] {
				w.MaybePlayer("runoutby", m, thrower)
			}

			if in["batting.result"] {
				w.Score("result", result)
			}

			if in["batting.team"] {
				w.Team("team", m.Team(side))
			}

			w.updated(stamp)
			w.End()
		}
	}

	w.Lit("]")
}

func (w *Writer) Bowling(m *script.Match, cards []script.Card, stamp time.Time, in Includes) {
	w.Key("bowling")
	w.Lit("[")

	for i := range cards {
		side := 1 - m.Innings[i].Side
		for n := range cards[i].Bowlers {
			b := &cards[i].Bowlers[n]
			w.row("bowlings", m, i, n+1, side)
			w.bool("active", false)
			w.Str("scoreboard", Scoreboard(i))
			w.personID("player_id", m, b.Player)
			w.tenths("overs", b.Label(m.BallsPerOver))
			w.Int("medians", b.Maidens)
			w.Int("runs", b.Runs)
			w.Int("wickets", b.Wickets)
			w.Int("wide", b.Wides)
			w.Int("noball", b.NoBalls)
			w.num("rate", float64(b.Rate(m.BallsPerOver))/100)

			if in["bowling.bowler"] {
				w.MaybePlayer("bowler", m, b.Player)
			}

			if in["bowling.team"] {
				w.Team("team", m.Team(side))
			}

			w.updated(stamp)
			w.End()
		}
	}

	w.Lit("]")
}

func (w *Writer) Lineup(m *script.Match, shown bool) {
	w.Key("lineup")
	w.Lit("[")

	if shown {
		for _, i := range m.Lineup() {
			p := &m.People[i]
			w.player("", m, i)
			w.Key("lineup")
			w.Lit("{")
			w.Int("team_id", int(m.Team(p.Side).ID))
			w.bool("captain", p.Captain)
			w.bool("wicketkeeper", p.Keeper)
			w.bool("substitution", p.Substitute)
			w.End()
			w.End()
		}
	}

	w.Lit("]")
}

func (w *Writer) dl(key string, d *script.RainRule) {
	w.Key(key)
	w.Lit("{")

	if d == nil {
		w.Null("score")
		w.Null("overs")
		w.Null("wickets_out")
	} else {
		w.Int("score", d.Score)
		w.num("overs", d.Overs)

		if d.Wickets < 0 {
			w.Null("wickets_out")
		} else {
			w.Int("wickets_out", d.Wickets)
		}
	}

	w.End()
}

// Fixture writes the fields of a fixture with the values of h. It does not close the
// object, so that the caller can add includes. m is nil for a fixture that is only
// announced.
func (w *Writer) Fixture(f *script.Fixture, m *script.Match, h *script.Header, start time.Time) {
	w.object("", "fixtures", f.ID)
	w.Int("league_id", int(f.League.ID))
	w.Int("season_id", int(f.Season.ID))
	w.Int("stage_id", int(f.Stage.ID))
	w.Str("round", f.Round)
	w.Int("localteam_id", int(f.Local.ID))
	w.Int("visitorteam_id", int(f.Visitor.ID))
	w.time("starting_at", start)
	w.Str("type", f.Type)
	w.bool("live", true)
	w.Str("status", h.Status)
	w.Null("last_period")

	if h.Note == "" && h.Status == "NS" {
		w.Null("note")
	} else {
		w.Str("note", h.Note)
	}

	w.id("venue_id", f.Venue.ID)
	w.id("toss_won_team_id", h.TossWon)
	w.id("winner_team_id", h.Winner)
	w.text("draw_noresult", h.Draw)

	for i, k := range []string{"first_umpire_id", "second_umpire_id", "tv_umpire_id", "referee_id"} {
		if m == nil {
			w.Null(k)
		} else {
			w.personID(k, m, m.Officials[i])
		}
	}

	w.id("man_of_match_id", h.PlayerOfMatch)
	w.Null("man_of_series_id")
	w.id("total_overs_played", int64(f.Overs))
	w.text("elected", h.Elected)
	w.bool("super_over", h.SuperOver)
	w.bool("follow_on", h.FollowOn)
	w.dl("localteam_dl_data", h.RainRules[0])
	w.dl("visitorteam_dl_data", h.RainRules[1])

	if h.RPCTarget == 0 {
		w.Null("rpc_overs")
		w.Null("rpc_target")
	} else {
		w.num("rpc_overs", h.RPCOvers)
		w.Int("rpc_target", h.RPCTarget)
	}

	w.Key("weather_report")
	w.Lit("[]")
}
