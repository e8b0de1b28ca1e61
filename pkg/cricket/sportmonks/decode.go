package sportmonks

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Decode decodes one fixture, the Raw of an Entry. A member of an unexpected type counts
// as not given. A fixture without an id, and JSON that is broken in a member that is
// read, are an Error of kind Malformed.
func Decode(raw []byte) (Fixture, error) {
	d := newDecoder(raw)

	var f Fixture
	switch {
	case d.peek() != '{':
		return Fixture{}, malformed(raw, "fixture is not an object")
	case !d.fixture(&f):
		return Fixture{}, malformed(raw, "fixture is not valid JSON")
	case d.peek() != 0:
		return Fixture{}, malformed(raw, "fixture is followed by other data")
	case f.ID <= 0:
		return Fixture{}, malformed(raw, "fixture has no id")
	}

	return f, nil
}

// decoder decodes JSON value by value. Each of its methods reads one value and reports
// whether it could. A ball repeats about 1.5 kB on its players and team, so members that
// are not needed are skipped, and values that are repeated are decoded once. Duplicate
// names and invalid UTF-8 are accepted, so that they do not cost the match.
type decoder struct {
	scan
	texts   map[string]string
	players map[string]Player // by their JSON
	scores  map[string]Score
}

func newDecoder(raw []byte) *decoder {
	return &decoder{
		scan:    scan{b: raw},
		texts:   map[string]string{},
		players: map[string]Player{},
		scores:  map[string]Score{},
	}
}

func (d *decoder) fixture(f *Fixture) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&f.ID)
		case "league_id":
			return d.int(&f.LeagueID)
		case "season_id":
			return d.int(&f.SeasonID)
		case "stage_id":
			return d.int(&f.StageID)
		case "venue_id":
			return d.int(&f.VenueID)
		case "localteam_id":
			return d.int(&f.LocalID)
		case "visitorteam_id":
			return d.int(&f.VisitorID)
		case "round":
			return d.text(&f.Round)
		case "starting_at":
			return d.time(&f.Start)
		case "type":
			return d.text(&f.Type)
		case "status":
			return d.text(&f.Status)
		case "live":
			return d.bool(&f.Live)
		case "note":
			return d.text(&f.Note)
		case "elected":
			return d.text(&f.Elected)
		case "toss_won_team_id":
			return d.int(&f.TossWonID)
		case "winner_team_id":
			return d.int(&f.WinnerID)
		case "draw_noresult":
			return d.text(&f.DrawNoResult)
		case "man_of_match_id":
			return d.int(&f.ManOfMatchID)
		case "manofmatch":
			return d.player(&f.ManOfMatch)
		case "firstumpire":
			return d.official(&f.FirstUmpire)
		case "secondumpire":
			return d.official(&f.SecondUmpire)
		case "tvumpire":
			return d.official(&f.TVUmpire)
		case "referee":
			return d.official(&f.Referee)
		case "super_over":
			return d.bool(&f.SuperOver)
		case "follow_on":
			return d.bool(&f.FollowOn)
		case "total_overs_played":
			return d.int(&f.Overs)
		case "rpc_overs":
			return d.overs(&f.RPCOvers)
		case "rpc_target":
			return d.int(&f.RPCTarget)
		case "localteam_dl_data":
			return d.dl(&f.LocalDL)
		case "visitorteam_dl_data":
			return d.dl(&f.VisitorDL)
		case "league":
			return d.league(&f.League)
		case "season":
			return d.season(&f.Season)
		case "venue":
			return d.venue(&f.Venue)
		case "localteam":
			return d.team(&f.Localteam)
		case "visitorteam":
			return d.team(&f.Visitorteam)
		case "runs":
			return each(d, &f.Runs, (*decoder).runs)
		case "scoreboards":
			return each(d, &f.Scoreboards, (*decoder).scoreboard)
		case "batting":
			return each(d, &f.Batting, (*decoder).batting)
		case "bowling":
			return each(d, &f.Bowling, (*decoder).bowling)
		case "balls":
			return each(d, &f.Balls, (*decoder).ball)
		case "lineup":
			return each(d, &f.Lineup, (*decoder).member)
		}

		return d.skip()
	})
}

func (d *decoder) dl(v *DL) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "score":
			return d.int(&v.Score)
		case "overs":
			return d.overs(&v.Overs)
		case "wickets_out":
			return d.int(&v.Wickets)
		}

		return d.skip()
	})
}

func (d *decoder) league(v *League) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&v.ID)
		case "season_id":
			return d.int(&v.SeasonID)
		case "country_id":
			return d.int(&v.CountryID)
		case "name":
			return d.text(&v.Name)
		case "code":
			return d.text(&v.Code)
		case "image_path":
			return d.text(&v.Image)
		case "type":
			return d.text(&v.Type)
		case "updated_at":
			return d.time(&v.UpdatedAt)
		case "season":
			return d.season(&v.Season)
		}

		return d.skip()
	})
}

func (d *decoder) season(v *Season) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&v.ID)
		case "league_id":
			return d.int(&v.LeagueID)
		case "name":
			return d.text(&v.Name)
		case "code":
			return d.text(&v.Code)
		case "updated_at":
			return d.time(&v.UpdatedAt)
		}

		return d.skip()
	})
}

func (d *decoder) venue(v *Venue) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&v.ID)
		case "name":
			return d.text(&v.Name)
		case "city":
			return d.text(&v.City)
		}

		return d.skip()
	})
}

func (d *decoder) team(v *Team) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&v.ID)
		case "country_id":
			return d.int(&v.CountryID)
		case "name":
			return d.text(&v.Name)
		case "code":
			return d.text(&v.Code)
		case "image_path":
			return d.text(&v.Image)
		case "national_team":
			return d.bool(&v.National)
		case "updated_at":
			return d.time(&v.UpdatedAt)
		}

		return d.skip()
	})
}

func (d *decoder) player(v *Player) bool {
	return d.person(&v.ID, &v.Name, func([]byte) bool { return d.skip() })
}

// person decodes the id and the name of a player. other decodes a member that is neither.
func (d *decoder) person(id *int, full *string, other func(name []byte) bool) bool {
	var first, last string

	ok := d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(id)
		case "fullname":
			return d.text(full)
		case "firstname":
			return d.text(&first)
		case "lastname":
			return d.text(&last)
		}

		return other(name)
	})

	if *full == "" {
		*full = strings.TrimSpace(first + " " + last)
	}

	return ok
}

func (d *decoder) member(v *Member) bool {
	return d.person(&v.ID, &v.Name, func(name []byte) bool {
		switch string(name) {
		case "image_path":
			return d.text(&v.Image)
		case "battingstyle":
			return d.text(&v.BattingStyle)
		case "bowlingstyle":
			return d.text(&v.BowlingStyle)
		case "position":
			return d.include(func(name []byte) bool {
				if string(name) == "name" {
					return d.text(&v.Role)
				}

				return d.skip()
			})
		case "lineup":
			return d.include(func(name []byte) bool {
				switch string(name) {
				case "team_id":
					return d.int(&v.TeamID)
				case "captain":
					return d.bool(&v.Captain)
				case "wicketkeeper":
					return d.bool(&v.Keeper)
				case "substitution":
					return d.bool(&v.Substitute)
				}

				return d.skip()
			})
		}

		return d.skip()
	})
}

func (d *decoder) official(v *Official) bool {
	var p Player

	ok := d.player(&p)
	*v = Official(p)

	return ok
}

func (d *decoder) runs(v *Runs) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "team_id":
			return d.int(&v.TeamID)
		case "inning":
			return d.int(&v.Innings)
		case "score":
			return d.int(&v.Score)
		case "wickets":
			return d.int(&v.Wickets)
		case "overs":
			return d.overs(&v.Overs)
		}

		return d.skip()
	})
}

func (d *decoder) scoreboard(v *Scoreboard) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "team_id":
			return d.int(&v.TeamID)
		case "scoreboard":
			return d.innings(&v.Innings)
		case "type":
			return d.text(&v.Type)
		case "wide":
			return d.int(&v.Wide)
		case "noball_runs":
			return d.int(&v.NoBall)
		case "bye":
			return d.int(&v.Bye)
		case "leg_bye":
			return d.int(&v.LegBye)
		case "penalty":
			return d.int(&v.Penalty)
		case "total":
			return d.int(&v.Total)
		case "wickets":
			return d.int(&v.Wickets)
		case "overs":
			return d.overs(&v.Overs)
		}

		return d.skip()
	})
}

func (d *decoder) batting(v *Batting) bool {
	var wicket, score int

	ok := d.include(func(name []byte) bool {
		switch string(name) {
		case "team_id":
			return d.int(&v.TeamID)
		case "scoreboard":
			return d.innings(&v.Innings)
		case "sort":
			return d.int(&v.Sort)
		case "player_id":
			return d.int(&v.PlayerID)
		case "score":
			return d.int(&v.Score)
		case "ball":
			return d.int(&v.Balls)
		case "four_x":
			return d.int(&v.Fours)
		case "six_x":
			return d.int(&v.Sixes)
		case "wicket_id":
			return d.int(&wicket)
		case "score_id":
			return d.int(&score)
		case "fow_score":
			return d.int(&v.FallScore)
		case "fow_balls":
			return d.overs(&v.FallAt)
		case "bowling_player_id":
			return d.int(&v.BowlerID)
		case "catch_stump_player_id":
			return d.int(&v.CatchID)
		case "runout_by_id":
			return d.int(&v.RunOutID)
		case "catchstump":
			return repeated(d, d.players, &v.Catch, (*decoder).player)
		case "runoutby":
			return repeated(d, d.players, &v.RunOut, (*decoder).player)
		case "result":
			return repeated(d, d.scores, &v.Result, (*decoder).score)
		}

		return d.skip()
	})

	if wicket == 0 {
		wicket = score
	}

	v.ResultID = wicket
	v.Out = wicket != 0 && wicket != NotOut || !v.FallAt.IsZero()

	return ok
}

func (d *decoder) bowling(v *Bowling) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "team_id":
			return d.int(&v.TeamID)
		case "scoreboard":
			return d.innings(&v.Innings)
		case "sort":
			return d.int(&v.Sort)
		case "player_id":
			return d.int(&v.PlayerID)
		case "overs":
			return d.overs(&v.Overs)
		case "medians":
			return d.int(&v.Maidens)
		case "runs":
			return d.int(&v.Runs)
		case "wickets":
			return d.int(&v.Wickets)
		case "wide":
			return d.int(&v.Wides)
		case "noball":
			return d.int(&v.NoBalls)
		}

		return d.skip()
	})
}

func (d *decoder) ball(v *Ball) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&v.ID)
		case "team_id":
			return d.int(&v.TeamID)
		case "scoreboard":
			return d.innings(&v.Innings)
		case "ball":
			return d.overs(&v.At)
		case "batsman_one_on_creeze_id":
			return d.int(&v.OneID)
		case "batsman_two_on_creeze_id":
			return d.int(&v.TwoID)
		case "batsman_id":
			return d.int(&v.BatterID)
		case "bowler_id":
			return d.int(&v.BowlerID)
		case "batsmanout_id":
			return d.int(&v.OutID)
		case "catchstump_id":
			return d.int(&v.CatchID)
		case "runout_by_id":
			return d.int(&v.RunOutID)
		case "batsman":
			return repeated(d, d.players, &v.Batter, (*decoder).player)
		case "bowler":
			return repeated(d, d.players, &v.Bowler, (*decoder).player)
		case "score":
			return repeated(d, d.scores, &v.Score, (*decoder).score)
		}

		return d.skip()
	})
}

func (d *decoder) score(v *Score) bool {
	return d.include(func(name []byte) bool {
		switch string(name) {
		case "id":
			return d.int(&v.ID)
		case "name":
			return d.text(&v.Name)
		case "runs":
			return d.int(&v.Runs)
		case "bye":
			return d.int(&v.Bye)
		case "leg_bye":
			return d.int(&v.LegBye)
		case "noball":
			return d.int(&v.NoBall)
		case "noball_runs":
			return d.int(&v.NoBallRuns)
		case "four":
			return d.bool(&v.Four)
		case "six":
			return d.bool(&v.Six)
		case "is_wicket":
			return d.bool(&v.Wicket)
		case "out":
			return d.bool(&v.Out)
		}

		return d.skip()
	})
}

// object is members that skips any value but an object.
func (d *decoder) object(value func(name []byte) bool) bool {
	if d.peek() != '{' {
		return d.skip()
	}

	return d.members(value)
}

// include is object for a value that may be wrapped as {"data": {...}}.
func (d *decoder) include(value func(name []byte) bool) bool {
	return d.object(func(name []byte) bool {
		if string(name) == "data" {
			return d.object(value)
		}

		return value(name)
	})
}

// each appends the objects of an array, which may be wrapped as {"data": [...]}. It skips
// other elements.
func each[T any](d *decoder, list *[]T, read func(*decoder, *T) bool) bool {
	switch d.peek() {
	case '{':
		return d.members(func(name []byte) bool {
			if string(name) == "data" && d.peek() == '[' {
				return each(d, list, read)
			}

			return d.skip()
		})
	case '[':
		return d.elements(func() bool {
			if d.peek() != '{' {
				return d.skip()
			}

			var v T

			ok := read(d, &v)
			*list = append(*list, v)

			return ok
		})
	}

	return d.skip()
}

// maxText is the most bytes that are read of a text.
const maxText = 512

// repeated reads a value that is repeated with the same JSON, and decodes it once.
func repeated[T any](d *decoder, known map[string]T, v *T, read func(*decoder, *T) bool) bool {
	d.peek()

	from := d.i
	if !d.skip() {
		return false
	}

	raw := d.b[from:d.i]
	if was, ok := known[string(raw)]; ok {
		*v = was
		return true
	}

	d.i = from
	ok := read(d, v)
	known[string(raw)] = *v

	return ok
}

// string returns b as a string, the same one for equal texts.
func (d *decoder) string(b []byte) string {
	s, ok := d.texts[string(b)]
	if !ok {
		s = strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), maxText)]), "\uFFFD"))
		d.texts[string(b)] = s
	}

	return s
}

// literal reads a scalar as its text. null, an array and an object give an empty text.
// The text may be a part of the body.
func (d *decoder) literal() (text []byte, ok bool) {
	c := d.peek()

	from := d.i
	if !d.skip() {
		return nil, false
	}

	raw := d.b[from:d.i]
	switch {
	case c == '"' && bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1], true
	case c == '"':
		text, _ = jsontext.AppendUnquote(nil, raw) // with an invalid escape, the text that could be read
		return text, true
	case c == '{', c == '[', string(raw) == "null":
		return nil, true
	case c == '-', c >= '0' && c <= '9', string(raw) == "true", string(raw) == "false":
		return raw, true
	}

	return nil, d.fail()
}

func (d *decoder) text(v *string) bool {
	s, ok := d.literal()
	if string(s) == "false" {
		s = nil
	}

	*v = d.string(s)

	return ok
}

func (d *decoder) bool(v *bool) bool {
	s, ok := d.literal()
	*v = string(s) == "true" || string(s) == "1"

	return ok
}

func (d *decoder) int(v *int) bool {
	s, ok := d.literal()
	*v = parseInt(string(s))

	return ok
}

// limit is the largest integer that every JSON decoder reads exactly.
const limit = 1<<53 - 1

func parseInt(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		switch {
		case s == "true":
			return 1
		case err != nil || f != f:
			return 0
		}

		n = int(min(max(f, -limit), limit))
	}

	return min(max(n, -limit), limit)
}

func (d *decoder) overs(v *Overs) bool {
	s, ok := d.literal()
	*v = parseOvers(string(s))

	return ok
}

// parseOvers reads 19.4 as 19 overs and 4 balls. It rounds the result of arithmetic
// (19.400000000000002) to one decimal first.
func parseOvers(s string) Overs {
	whole, part, _ := strings.Cut(s, ".")
	if len(part) > 1 || strings.ContainsAny(s, "eE+- ") {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || f < 0 || f > 1e6 {
			return Overs{}
		}

		whole, part, _ = strings.Cut(strconv.FormatFloat(f, 'f', 1, 64), ".")
	}

	o, err := strconv.Atoi(whole)
	if err != nil || o > 1e6 {
		return Overs{}
	}

	b, _ := strconv.Atoi(part)

	return Overs{o, b}
}

// innings reads a scoreboard: "S1" is innings 1.
func (d *decoder) innings(v *int) bool {
	s, ok := d.literal()
	if len(s) > 0 && (s[0] == 'S' || s[0] == 's') {
		s = s[1:]
	}

	if n := parseInt(string(s)); n > 0 && n < 100 {
		*v = n
	}

	return ok
}

func (d *decoder) time(v *time.Time) bool {
	s, ok := d.literal()
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, string(s)); err == nil {
			*v = t.UTC()
			break
		}
	}

	return ok
}

// lastPage returns the number of pages of a list from its meta, and 1 without meta.
func lastPage(body []byte) (int, error) {
	last := 1
	d := newDecoder(body)

	ok := d.object(func(name []byte) bool {
		if string(name) != "meta" {
			return d.skip()
		}

		return d.object(func(name []byte) bool {
			if string(name) == "last_page" {
				return d.int(&last)
			}

			return d.skip()
		})
	})
	if !ok {
		return 0, malformed(body, "body is cut short or is not JSON")
	}

	return last, nil
}

// reason returns the message of an error body, at most 200 bytes: the member error, or
// message, which may be a text or {message, code}.
func reason(body []byte) string {
	var msg string

	d := newDecoder(body)
	d.object(func(name []byte) bool {
		if s := string(name); s != "message" && s != "error" {
			return d.skip()
		}

		if d.peek() != '{' {
			return d.text(&msg)
		}

		return d.object(func(name []byte) bool {
			if string(name) == "message" {
				return d.text(&msg)
			}

			return d.skip()
		})
	})

	return msg[:min(len(msg), 200)]
}
