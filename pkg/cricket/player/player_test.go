package player_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
)

var (
	harbour = catalog.TeamRef{ID: "11", Code: "HAR", Name: "Harbour"}
	valley  = catalog.TeamRef{ID: "12", Code: "VAL", Name: "Valley"}
	bowler  = card.Profile{Role: "Bowler", BattingStyle: "left-hand-bat", BowlingStyle: "legbreak", Image: "https://example.org/2.png"}
)

// sample returns the card of a match between Harbour and Valley, of two innings and a super over.
func sample() card.Card {
	return card.Card{
		Match: card.Match{Teams: []card.Side{
			{TeamID: "11", Name: "Harbour", Code: "HAR", Players: []card.Member{
				{ID: "1", Name: "Ana Pérez", Captain: true, Keeper: true}, {ID: "2", Name: "B Leg", Profile: bowler},
				{ID: "3", Name: "Unused Substitute", Substitute: true}, {ID: "4", Name: "C Substitute", Substitute: true},
			}},
			{TeamID: "12", Name: "Valley", Code: "VAL", Players: []card.Member{{ID: "5", Name: "E Opener"}}},
		}},
		Innings: []card.Innings{
			{
				Number: 1, TeamID: "11",
				Batting: []card.Batter{
					{ID: "1", Name: "Ana Pérez", Runs: 50, Balls: 40, Fours: 6, Sixes: 1, StrikeRate: "125.00", Dismissal: card.Dismissal{How: card.LBW}},
					{ID: "4", Name: "C Substitute", Dismissal: card.Dismissal{How: card.NotOut}},
				},
				Bowling: []card.Bowler{{ID: "6", Name: "F Unlisted", Overs: "4", Runs: 20, Economy: "5.00"}},
			},
			{
				Number: 2, TeamID: "12",
				Batting: []card.Batter{{ID: "5", Name: "E Opener", Runs: 50, Balls: 30, StrikeRate: "166.67", Dismissal: card.Dismissal{How: card.Bowled}}},
				Bowling: []card.Bowler{{ID: "2", Name: "B Leg", Overs: "3.4", Maidens: 1, Runs: 12, Wickets: 3, Economy: "3.27"}},
			},
			{
				Number: 3, TeamID: "11", SuperOver: true,
				Batting: []card.Batter{{ID: "1", Name: "Ana Pérez", Runs: 6, Balls: 6, Dismissal: card.Dismissal{How: card.NotOut}}},
				Bowling: []card.Bowler{},
			},
		},
	}
}

// played is a match of the sample whose end was decided at a time.
func played(id int, at int64) player.Match {
	return player.Match{ID: strconv.Itoa(id), StartTime: fmt.Sprintf("%d-06-06T12:00:00Z", 2000+id%100), Type: "T20", League: "CPL", EndingAt: at}
}

// page decodes the answer of a request for a player.
type page struct {
	ID, Name string
	card.Profile
	Teams   []catalog.TeamRef
	Matches []player.Appearance
	Next    string
}

// world is a room, and the databases of its finish-match and its search.
type world struct {
	*crickettest.World
	db, search dynamo.DB
}

func newWorld(t *testing.T) world {
	w := crickettest.New(t)
	open := func(fn app.Function) dynamo.DB {
		env := w.Env(fn)
		return dynamo.Open(env.AWS, env.Prefix)
	}

	return world{w, open(live.FinishMatchFunction()), open(match.SearchFunction()).Eventual()}
}

func (w world) get(target string) page {
	w.T.Helper()
	return testkit.Decode[page](w.World.World, testkit.Call(w.Routes(), player.GetPlayerFunction(), target, "", ""))
}

func (w world) put(m player.Match, c card.Card) {
	w.T.Helper()
	testkit.Must(w.T, player.PutProfiles(w.NewContext(), w.db, c))
	testkit.Must(w.T, player.PutAppearances(w.NewContext(), w.db, m, c))
}

// TestPlayer: a player has what the scorecard says of him. Who is one of the eleven appears, whether he bats or
// not; a substitute appears if he does; and so does somebody whom the lineup lacks. A super over does not count.
// An unused substitute is known.
func TestPlayer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(played(7, 1), sample())

	appearance := func(of, against catalog.TeamRef, in ...player.Innings) player.Appearance {
		return player.Appearance{MatchID: "7", StartTime: "2007-06-06T12:00:00Z", Type: "T20", League: "CPL", Team: of, Opponent: against,
			Innings: append([]player.Innings{}, in...)}
	}
	captain := appearance(harbour, valley, player.Innings{Number: 1, Batting: &player.Batting{
		Runs: 50, Balls: 40, Fours: 6, Sixes: 1, StrikeRate: "125.00", How: card.LBW,
	}})
	captain.Captain, captain.Keeper = true, true

	for id, want := range map[string]page{
		"1": {Name: "Ana Pérez", Teams: []catalog.TeamRef{harbour}, Matches: []player.Appearance{captain}},
		"2": {Name: "B Leg", Profile: bowler, Teams: []catalog.TeamRef{harbour}, Matches: []player.Appearance{
			appearance(harbour, valley, player.Innings{Number: 2, Bowling: &player.Bowling{Overs: "3.4", Maidens: 1, Runs: 12, Wickets: 3, Economy: "3.27"}}),
		}},
		"3": {Name: "Unused Substitute", Teams: []catalog.TeamRef{harbour}, Matches: []player.Appearance{}},
		"4": {Name: "C Substitute", Teams: []catalog.TeamRef{harbour}, Matches: []player.Appearance{
			appearance(harbour, valley, player.Innings{Number: 1, Batting: &player.Batting{How: card.NotOut}}),
		}},
		"5": {Name: "E Opener", Teams: []catalog.TeamRef{valley}, Matches: []player.Appearance{
			appearance(valley, harbour, player.Innings{Number: 2, Batting: &player.Batting{Runs: 50, Balls: 30, StrikeRate: "166.67", How: card.Bowled}}),
		}},
		"6": {Name: "F Unlisted", Teams: []catalog.TeamRef{valley}, Matches: []player.Appearance{
			appearance(valley, harbour, player.Innings{Number: 1, Bowling: &player.Bowling{Overs: "4", Runs: 20, Economy: "5.00"}}),
		}},
	} {
		want.ID = id
		if diff := cmp.Diff(want, w.get("/players/"+id), cmpopts.IgnoreUnexported(player.Appearance{})); diff != "" {
			t.Errorf("player %s (-want +got):\n%s", id, diff)
		}
	}

	for target, want := range map[string]int{"/players/9": 404, "/players/x": 422, "/players/1?cursor=x": 422, "/players/1?limit=21": 422} {
		if got := testkit.Call(w.Routes(), player.GetPlayerFunction(), target, "", ""); got.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", target, got.StatusCode, got.Body, want)
		}
	}
}

// TestLaterCards: the profile of a player is that of the last lineup, with what that does not say from earlier
// ones; his teams are all of his teams, the last one first. The same card again writes no profile.
func TestLaterCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(played(7, 1), sample())

	if got := w.CountCalls(func() { testkit.Must(t, player.PutProfiles(w.NewContext(), w.db, sample())) }); !cmp.Equal(got, map[string]int{"BatchGetItem": 1}) {
		t.Errorf("the same card again makes the calls %v, want one read", got)
	}

	later := sample()
	later.Match.Teams[0].TeamID, later.Match.Teams[0].Name, later.Match.Teams[0].Code = "13", "Coast", "COA"
	later.Match.Teams[0].Players[1] = card.Member{ID: "2", Name: "Bea Leg", Profile: card.Profile{Role: "Allrounder"}}
	w.put(played(8, 2), later)

	got := w.get("/players/2")
	want := bowler
	want.Role = "Allrounder"

	if diff := cmp.Diff([]catalog.TeamRef{{ID: "13", Code: "COA", Name: "Coast"}, harbour}, got.Teams); diff != "" || got.Profile != want || got.Name != "Bea Leg" {
		t.Errorf("%s, %+v, teams (-want +got):\n%s", got.Name, got.Profile, diff)
	}

	if got.Matches[0].MatchID != "8" || got.Matches[1].MatchID != "7" {
		t.Errorf("the last match is not the first of %+v", got.Matches)
	}

	for query, want := range map[string]int{"bea": 1, "b": 1, "leg": 1, "perez ana": 1, "pér": 1, "eg": 0, "unused": 1} {
		found, err := player.Search(w.NewContext(), w.search, catalog.Fold(query))
		if err != nil || len(found) != want {
			t.Errorf("%q finds %v, %v, want %d", query, found, err, want)
		}
	}

	if word, left := w.Players()["#/b b/2"]; left {
		t.Errorf("a word of the former name is left: %s", word)
	}
}

// TestPoll: a poll writes who plays, and keeps what is known of him. The words of his name follow with the end of
// the match.
func TestPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(played(7, 1), sample())

	later := sample()
	later.Match.Teams[0].TeamID, later.Match.Teams[0].Name, later.Match.Teams[0].Code = "13", "Coast", "COA"
	later.Match.Teams[0].Players = append(later.Match.Teams[0].Players, card.Member{ID: "8", Name: "New Face"})
	later.Match.Teams[0].Players[1] = card.Member{ID: "2", Name: "Bea Leg", Profile: card.Profile{Role: "Allrounder", Image: "new"}}

	env := w.Env(live.TickFunction())
	writes := player.Writes(later, 100)
	testkit.Must(t, dynamo.Transact(w.NewContext(), dynamo.Open(env.AWS, env.Prefix), tables.SeePlayers, writes...))

	want := bowler
	want.Role, want.Image = "Allrounder", "new"

	if got := w.get("/players/2"); got.Name != "Bea Leg" || got.Profile != want || !cmp.Equal(got.Teams, []catalog.TeamRef{harbour}) {
		t.Errorf("a known player is %+v", got)
	}

	if got := w.get("/players/8"); got.Name != "New Face" || len(got.Teams) != 1 || len(got.Matches) != 0 {
		t.Errorf("a new player is %+v", got)
	}

	find := func(query string) int {
		found, err := player.Search(w.NewContext(), w.search, []string{query})
		testkit.Must(t, err)

		return len(found)
	}
	if find("face") != 0 || find("b") != 1 {
		t.Error("a poll has written words")
	}

	w.put(played(8, 2), later)

	if found, err := player.Search(w.NewContext(), w.search, []string{"leg"}); err != nil || len(found) != 1 || found[0].Image != "new" {
		t.Errorf("found %+v, %v, want the new image", found, err)
	}

	if find("face") != 1 || find("bea") != 1 {
		t.Error("the end of the match has not written words")
	}

	if got := w.get("/players/2").Teams; len(got) != 2 || got[0].ID != "13" {
		t.Errorf("after the end the teams are %+v", got)
	}

	if n := len(player.Writes(later, 3)); n != 3 {
		t.Errorf("%d writes, want at most 3", n)
	}
}

// TestNewerCard: what a later end has stored of a match, no earlier one replaces. A match without an innings is
// none of a player's, nor is one whose end is withdrawn.
func TestNewerCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(played(7, 5), sample())

	early := sample()
	early.Innings[0].Batting[0].Runs = 1

	if err := player.PutAppearances(w.NewContext(), w.db, played(7, 4), early); !dynamo.IsRefused(err) {
		t.Errorf("a card of an earlier end: %v, want it refused", err)
	}

	w.put(played(7, 5), sample())

	early.Innings = nil
	w.put(played(8, 6), early)

	if got := w.get("/players/1").Matches; len(got) != 1 || got[0].Innings[0].Batting.Runs != 50 {
		t.Errorf("the matches are %+v, want one of 50 runs", got)
	}

	testkit.Must(t, player.RemoveAppearances(w.NewContext(), w.db, played(7, 5), sample()))

	if got := w.get("/players/1").Matches; len(got) != 0 {
		t.Errorf("after the end was withdrawn the matches are %+v", got)
	}
}

// TestUnnamed: a card that does not know the name of a player takes none from him, and gives a new player a name
// that is no word. A later card that knows it does.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(played(7, 1), sample())

	nameless := sample()
	nameless.Match.Teams[0].Players[1].Name = card.Unnamed("2")
	nameless.Match.Teams[0].Players = append(nameless.Match.Teams[0].Players, card.Member{ID: "8", Name: card.Unnamed("8")})

	env := w.Env(live.TickFunction())
	testkit.Must(t, dynamo.Transact(w.NewContext(), dynamo.Open(env.AWS, env.Prefix), tables.SeePlayers, player.Writes(nameless, 100)...))

	for range 2 {
		if known, fresh := w.get("/players/2").Name, w.get("/players/8").Name; known != "B Leg" || fresh != "Player 8" {
			t.Errorf("the names are %q and %q", known, fresh)
		}

		w.put(played(8, 2), nameless)
	}

	if got := w.CountCalls(func() { testkit.Must(t, player.PutProfiles(w.NewContext(), w.db, nameless)) }); len(got) != 1 {
		t.Errorf("the same card again makes the calls %v, want one read", got)
	}

	if found, err := player.Search(w.NewContext(), w.search, []string{"player"}); err != nil || len(found) != 0 {
		t.Errorf("a player without a name is found: %v, %v", found, err)
	}

	nameless.Match.Teams[0].Players[4].Name = "Named Now"
	w.put(played(9, 3), nameless)

	if found, err := player.Search(w.NewContext(), w.search, []string{"now"}); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestPages: the pages have each match once, the last one first, and cost at most 4 read units with 10 matches and
// with 10,000 rows of matches.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	image := "https://cdn.sportmonks.com/images/cricket/players/11/101.png"

	for from, to := 0, 10; from < 10_000; from, to = to, 10_000 {
		var rows []any

		for i := from; i < to; i++ {
			figures := &player.Bowling{Overs: "24.5", Maidens: 3, Runs: 101, Wickets: 4, Economy: "4.06"}
			batting := &player.Batting{Runs: 104, Balls: 212, Fours: 14, Sixes: 2, StrikeRate: "49.05", How: card.CaughtAndBowled}
			at := fmt.Sprintf("%04d-06-06T12:00:00Z", 1000+i%5000)

			rows = append(rows, player.Appearance{
				PlayerID: strconv.Itoa(1_000_000 + i%5), At: at + "/" + strconv.Itoa(2_000_000+i), MatchID: strconv.Itoa(2_000_000 + i), StartTime: at,
				Type: "Test/5day", League: "County", Team: catalog.TeamRef{ID: "101", Code: "FARR", Name: "Farrowdale Lancers"},
				Opponent: catalog.TeamRef{ID: "102", Code: "CARR", Name: "Carrow Herons"}, Captain: true, Keeper: true,
				Innings: []player.Innings{{Number: 1, Batting: batting}, {Number: 2, Bowling: figures}, {Number: 3, Batting: batting}, {Number: 4, Bowling: figures}},
			})

			if i < 1000 {
				rows = append(rows, player.Word{
					Letter: "#/k", Key: fmt.Sprintf("khan/%d", 3_000_000+i), ID: strconv.Itoa(3_000_000 + i), Name: strings.Repeat("n", 80), Image: strings.Repeat("i", 200),
					Team: "FARR", Names: "khan " + strings.Repeat("n", 80),
				})
			}
		}

		rows = append(rows, player.Row{PlayerID: "1000000", At: "#", Name: "Muhammad Rizwan Khan", Profile: card.Profile{Image: image},
			Teams: []catalog.TeamRef{harbour}})
		testkit.PutRows(w.World.World, tables.Players, rows...)

		var got page

		units := w.CountUnits(func() { got = w.get("/players/1000000") }).Reads
		t.Logf("%d rows: %g read units", to, units)

		if units > 4 || len(got.Matches) != min(to/5, 20) {
			t.Errorf("%d rows: %d matches for %g read units, want at most 4", to, len(got.Matches), units)
		}

		units = w.CountUnits(func() {
			if found, err := player.Search(w.NewContext(), w.search, []string{"khan"}); err != nil || len(found) != 8 {
				t.Errorf("%d rows: found %d, %v", to, len(found), err)
			}
		}).Reads
		if units > 0.5 {
			t.Errorf("%d rows: a search costs %g read units, want half", to, units)
		}
	}

	seen, last := 0, "A"

	for target := "/players/1000000"; ; {
		p := w.get(target)
		for _, m := range p.Matches {
			if at := m.StartTime + m.MatchID; at >= last {
				t.Fatalf("%s comes after %s", at, last)
			} else {
				last = at
			}

			seen++
		}

		if p.Next == "" {
			break
		}

		target = "/players/1000000?cursor=" + p.Next
	}

	if seen != 2000 {
		t.Errorf("the pages have %d matches, want 2000", seen)
	}
}

// TestSearchPlayers: the search of the app finds a player by the words of his name, with his team's code.
func TestSearchPlayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(played(7, 1), sample())

	got, _ := crickettest.Get[struct{ Players []match.Found }](t, w.Routes(), match.SearchFunction(), "/search?q=perez")
	if diff := cmp.Diff([]match.Found{{ID: "1", Title: "Ana Pérez", Code: "HAR"}}, got.Players, cmpopts.IgnoreUnexported(match.Found{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCrash: after a crash at any call, a second run completes the first.
func TestCrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]string {
		w := newWorld(t)
		w.put(played(7, 1), sample())

		later := sample()
		later.Match.Teams[0].Players[1].Name = "Bea Leg"
		env := w.CrashingEnv(live.FinishMatchFunction(), p)
		db := dynamo.Open(env.AWS, env.Prefix)

		err := player.PutProfiles(w.NewContext(), db, later)
		if err == nil {
			err = player.PutAppearances(w.NewContext(), db, played(8, 1), later)
		}

		p.Ended(err)
		w.put(played(8, 1), later)

		return w.Players()
	})
}
