package schedule_test

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/tables"
)

// writes counts the calls that write.
func writes(calls map[string]int) int {
	return calls["PutItem"] + calls["UpdateItem"] + calls["BatchWriteItem"] + calls["DeleteItem"]
}

// TestSyncsCopyAndRepair: the syncs copy everything, write nothing the second time, and
// replace outdated rows.
// TestSyncRepairsEachAttribute: each attribute of the schedule follows the provider.
func TestSyncRepairsEachAttribute(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
	w.Sync()

	want := testkit.Rows[match.Fixture](w.World, tables.Fixtures)[0]
	for name, spoil := range map[string]func(*match.Fixture){
		"leagueCode":    func(f *match.Fixture) { f.LeagueCode = "OLD" },
		"leagueId":      func(f *match.Fixture) { f.LeagueID = "999" },
		"seasonId":      func(f *match.Fixture) { f.SeasonID = "999" },
		"startTime":     func(f *match.Fixture) { f.StartTime = "2026-06-01T11:30:00Z" },
		"round":         func(f *match.Fixture) { f.Round = "old" },
		"type":          func(f *match.Fixture) { f.Type = "old" },
		"status":        func(f *match.Fixture) { f.Status = "Delayed" },
		"localTeamId":   func(f *match.Fixture) { f.LocalTeamID = "999" },
		"visitorTeamId": func(f *match.Fixture) { f.VisitorTeamID = "999" },
		"venueName":     func(f *match.Fixture) { f.VenueName = "old" },
	} {
		f := want
		spoil(&f)
		testkit.PutRows(w.World, tables.Fixtures, f)
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))

		if diff := cmp.Diff(want, testkit.Rows[match.Fixture](w.World, tables.Fixtures)[0]); diff != "" {
			t.Errorf("after a sync of an outdated %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSyncsCopyAndRepair(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture, script.Generate(2, cricsheet.Test).Fixture)
	w.Feed.AnnounceMore(1, 110, crickettest.KickOff.Add(-24*time.Hour)) // two pages
	w.Sync()
	w.Sync() // the first sync of the fixtures knows no teams

	first := w.Reference()
	if len(first.Leagues) < 2 || len(first.Teams) < 4 || len(first.Seasons) < 4 || len(first.Fixtures) < 100 ||
		len(first.Scores) != len(first.Fixtures) || len(first.Names) != len(first.Fixtures) || len(first.Listed) != len(first.Fixtures) ||
		len(first.Words) < 2*len(first.Teams) {
		t.Fatalf("%d leagues, %d teams, %d in seasons, %d fixtures, %d scores, %d names, %d summaries and %d words were copied",
			len(first.Leagues), len(first.Teams), len(first.Seasons), len(first.Fixtures), len(first.Scores), len(first.Names),
			len(first.Listed), len(first.Words))
	}

	for _, f := range first.Fixtures {
		l := first.Leagues[f.LeagueID]
		if l.Code != f.LeagueCode || !l.Active || first.Seasons[l.SeasonID+"/"+f.LocalTeamID].Name == "" && f.SeasonID == l.SeasonID {
			t.Errorf("match %+v of league %+v, want the code of the league, and a team of the season", f, l)
		}

		if f.Status != "NS" || f.Live != "" || f.LastSlot != 0 {
			t.Errorf("match %+v, want one that has not started", f)
		}
	}

	if calls := w.CountCalls(w.Sync); writes(calls) > 4 { // the lease is taken and released, and two pages are counted
		t.Errorf("calls of a second run: %v, want writes of the lease and of the budget only", calls)
	}

	w.MakeStale()
	w.Sync()
	w.Sync() // the first sync of the fixtures reads the outdated team

	if diff := cmp.Diff(first, w.Reference()); diff != "" {
		t.Errorf("after a sync of outdated rows (-want +got):\n%s", diff)
	}
}

// TestTitlesAreDisplayed: the titles of the administrators, and their removal, reach the
// displays and the alerts of a match before, during and after it.
func TestTitlesAreDisplayed(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status string // "" if the match was never polled
		live   bool
	}{"before": {"", false}, "during": {"1st Innings", true}, "after": {"Finished", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			testkit.PutRows(w.World, tables.Leagues,
				catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: true})
			testkit.PutRows(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "Harbour", Code: "HAR"},
				catalog.ProvidedTeam{TeamID: "12", Name: "Valley", Code: "VAL"})

			f := match.Fixture{
				MatchID:       "7",
				LeagueCode:    "T20",
				LeagueID:      "3",
				SeasonID:      "5",
				StartTime:     crickettest.KickOff.Format(tables.TimeLayout),
				Type:          "T20",
				Status:        "NS",
				LocalTeamID:   "11",
				VisitorTeamID: "12",
			}
			scheduled := crickettest.Payload(f, "NS")

			payload := strings.Replace(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}), `"id":7,`,
				`"id":7,"toss_won_team_id":11,"elected":"batting",`, 1)
			if c.status == "Finished" {
				payload = strings.Replace(payload, `"status":"1st Innings"`, `"status":"Aban."`, 1)
			}

			w.SetPayload(payload)
			w.SetFixtures(scheduled)
			tk := w.Ticker()
			sync := func(n int) {
				t.Helper()
				w.MoveClock(w.Clock.Now().Add(15 * time.Minute))
				testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))

				if c.status != "" {
					w.MoveClock(crickettest.At(n))
					w.TickAt(tk, n)
				}
			}
			reference := testkit.Open(w.World, catalog.UpdateTeamFunction(), catalog.OpenReference)
			w.MoveClock(crickettest.KickOff.Add(-50 * time.Minute))
			sync(0)
			sync(1000)

			if c.status == "Finished" {
				w.DecideEnd("7", 1001)
			}

			for i, title := range []string{"The Harbour Lights", ""} {
				short := ""
				if title != "" {
					short = "LIGHTS"
				}

				in := &catalog.UpdateTeam{ID: "11"}
				in.Body.Title, in.Body.ShortName = &title, &short
				_, err := reference.UpdateTeam(w.NewContext(), in)
				testkit.Must(t, err)

				pushed := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue))

				sync(2000 + 1000*i)

				out, err := testkit.Open(w.World, match.GetDisplayFunction(), match.OpenMatches).GetDisplay(w.NewContext(),
					&match.GetDisplay{ID: "7", Team: "neutral"})
				testkit.Must(t, err)

				want := []string{title, short, "Valley", "VAL"}
				if title == "" {
					want = []string{"Harbour", "HAR", "Valley", "VAL"}
				}

				got := []string{out.Body.Local.Name, out.Body.Local.Code, out.Body.Visitor.Name, out.Body.Visitor.Code}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("title %q: the display differs (-want +got):\n%s", title, diff)
				}

				c2, _, err := match.ReadScore(t.Context(), w.DB(), "7")
				testkit.Must(t, err)

				if toss := c2.State.Toss.Text; c.status != "" && toss != want[0]+" won the toss and chose to bat" {
					t.Errorf("title %q: the toss is %q", title, toss)
				}

				if got := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)) > pushed; got != c.live {
					t.Errorf("title %q: displays are pushed: %v, want %v", title, got, c.live)
				}
			}
		})
	}
}

// TestSyncsSpareAttributesOfOthers: no sync writes attributes of the administrators, the
// ticker or the finisher.
func TestSyncsSpareAttributesOfOthers(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := script.Generate(1, cricsheet.T20)
	idle := script.Generate(2, cricsheet.Test)

	w.Feed.Play(m, crickettest.KickOff, sportmonks.Pace{Every: match.SlotLength})
	w.Feed.Announce(crickettest.KickOff, idle.Fixture)
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction(), catalog.OpenSyncer).SyncLeagues(w.NewContext()))
	l := testkit.Row[catalog.ProvidedLeague](w.World, tables.Leagues, crickettest.ID(idle.League.ID))
	l.Active, l.Name = false, "old"
	testkit.PutRows(w.World, tables.Leagues, l)
	w.Sync()

	if l := testkit.Row[catalog.ProvidedLeague](w.World, tables.Leagues, crickettest.ID(idle.League.ID)); l.Active || l.Name == "old" {
		t.Errorf("league %+v, want the name of the provider, still inactive", l)
	}

	if f := testkit.Rows[match.Fixture](w.World, tables.Fixtures); len(f) != 1 || f[0].MatchID != crickettest.ID(m.ID) {
		t.Errorf("matches %+v, want only that of the active league", f)
	}

	if s := testkit.Rows[catalog.SeasonTeam](w.World, tables.TeamSeasons); len(s) != 2 {
		t.Errorf("season teams %+v, want the two of the active league", s)
	}

	w.TickAt(w.Ticker(), 30)
	live := w.Outcome()
	w.Sync()

	if diff := cmp.Diff(live, w.Outcome()); diff != "" {
		t.Errorf("a sync has changed a live match (-want +got):\n%s", diff)
	}

	// An archived match keeps the attributes of the ticker.
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID))
	f.Live, f.LiveUpdatedAt, f.ArchivedAt, f.Round = "", 0, 77, "old"
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.Sync()
	got := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID))

	f.Round = m.Round
	if diff := cmp.Diff(f, got); diff != "" {
		t.Errorf("archived match after a sync (-want +got):\n%s", diff)
	}

	f.EndingAt, f.FinishedAt, f.Round = 78, 78, "old"
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.Sync()

	if diff := cmp.Diff(f, testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID))); diff != "" {
		t.Errorf("finished match after a sync (-want +got):\n%s", diff)
	}
}

// TestSyncDoesNotOverwriteATick: a sync that has read a match before it went live writes
// neither its row nor its score.
func TestSyncDoesNotOverwriteATick(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(1, cricsheet.T20, match.SlotLength)
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: crickettest.ID(m.League.ID), Code: m.League.Code, Active: true})
	s := testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer)
	w.TickAt(w.Ticker(), 30)
	want := w.Outcome()
	stale := crickettest.MatchOf(m, crickettest.KickOff)
	is := stale
	is.Round = "moved"
	testkit.Must(t, s.Reschedule(w.NewContext(), stale, is)) // read before the tick
	provided, err := (*s.Provider()).Fixture(w.NewContext(), crickettest.ID(m.ID))
	testkit.Must(t, err)
	score, err := schedule.ScoreOf(stale, provided, crickettest.KickOff)
	testkit.Must(t, err)

	score.StateJSON, score.TTL = `{}`, 1 // of another page than the tick's
	testkit.Must(t, s.Rescore(w.NewContext(), score))

	if is := testkit.Row[match.ScoreRow](w.World, tables.FixtureCache, score.MatchID); is.StateJSON == score.StateJSON || is.TTL == score.TTL {
		t.Errorf("the sync has replaced the score of a tick by %+v", is)
	}

	if diff := cmp.Diff(want, w.Outcome()); diff != "" {
		t.Errorf("the sync has changed a live match (-want +got):\n%s", diff)
	}
}

// TestInvalidFixturesAreSkipped: a fixture that cannot be decoded is reported, and the
// others are copied. A provider that fails changes nothing.
func TestInvalidFixturesAreSkipped(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	entry := func(id string) string {
		return crickettest.Payload(match.Fixture{
			MatchID:       id,
			LeagueID:      "3",
			SeasonID:      "5",
			LocalTeamID:   "11",
			VisitorTeamID: "12",
			StartTime:     crickettest.KickOff.Format(tables.TimeLayout),
		}, "NS")
	}
	w.Override = func(path string) (int, string) {
		switch path {
		case "/leagues":
			return http.StatusOK, `{"data":[{"id":3,"name":"No Code","code":null,"season_id":5}]}`
		case "/teams":
			return http.StatusOK, `{"data":[{"id":11,"name":"Harbour","code":"HAR"},{"id":12,"name":"Valley","code":"VAL"}]}`
		}

		body := crickettest.Feed(entry("7"), `{"id":8,"runs":[1 2]}`, `{"name":"no id"}`, entry("9"), entry("7"))

		return http.StatusOK, strings.TrimSuffix(body, "}") + `,"meta":{"last_page":1}}`
	}
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction(), catalog.OpenSyncer).SyncLeagues(w.NewContext()))

	if l := testkit.Row[catalog.ProvidedLeague](w.World, tables.Leagues, "3"); l.Code != "3" {
		t.Errorf("code of a league without one: %q, want its id, because an index key must not be empty", l.Code)
	}

	if err := testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()); err == nil {
		t.Error("no error for the fixtures that cannot be decoded")
	}

	var ids []string
	for _, f := range testkit.Rows[match.Fixture](w.World, tables.Fixtures) {
		ids = append(ids, f.MatchID)
	}

	slices.Sort(ids)

	if !slices.Equal(ids, []string{"7", "9"}) {
		t.Errorf("copied fixtures %q, want 7 and 9", ids)
	}

	testkit.Must(t, testkit.Open(w.World, catalog.SyncTeamsFunction(), catalog.OpenSyncer).SyncTeams(w.NewContext()))

	if n := len(testkit.Rows[catalog.SeasonTeam](w.World, tables.TeamSeasons)); n != 2 {
		t.Errorf("%d teams in the season, want 2", n)
	}

	if err := testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()); err == nil {
		t.Error("no error for the fixtures that cannot be decoded, with the names of the teams")
	}

	// A provider that fails changes nothing.
	want := w.Reference()

	w.Override = func(string) (int, string) { return http.StatusOK, "<html>" }
	for _, s := range crickettest.Syncs {
		if err := s.Do(w.World); err == nil {
			t.Errorf("%s accepts HTML, want an error", s.Fn.Name)
		}
	}

	if diff := cmp.Diff(want, w.Reference()); diff != "" {
		t.Errorf("a failing provider has changed rows (-want +got):\n%s", diff)
	}
}

// TestSyncReportsEnds: a match that is over by the schedule is sent to finish-match,
// unless it is live, its end is decided, or it was sent less than six hours ago.
func TestSyncReportsEnds(t *testing.T) {
	t.Parallel()

	now := crickettest.KickOff.Add(-time.Hour)

	for name, c := range map[string]struct {
		status string
		row    func(*match.Fixture)
		want   bool
	}{
		"cancelled, never polled": {"Cancl.", func(*match.Fixture) {}, true},
		"abandoned, never polled": {"Aban.", func(*match.Fixture) {}, true},
		"finished, polled":        {"Finished", func(f *match.Fixture) { f.LastSlot, f.ArchivedAt = 5, 5 }, true},
		"stored as over":          {"Finished", func(f *match.Fixture) { f.LastSlot, f.ArchivedAt, f.Status = 5, 5, "Finished" }, true},
		"not started":             {"NS", func(*match.Fixture) {}, false},
		"postponed":               {"Postp.", func(*match.Fixture) {}, false},
		"between days":            {"Stump Day 1", func(f *match.Fixture) { f.LastSlot, f.ArchivedAt = 5, 5 }, false},
		"unknown status":          {"?", func(*match.Fixture) {}, false},
		"live":                    {"Finished", func(f *match.Fixture) { f.LastSlot, f.Live, f.LiveUpdatedAt = 5, match.Live, 5 }, false},
		"end decided":             {"Finished", func(f *match.Fixture) { f.LastSlot, f.EndingAt = 5, 5 }, false},
		"sent before":             {"Cancl.", func(f *match.Fixture) { f.LeftAt = now.Add(1-schedule.EndRetryInterval).Unix() + 1 }, false},
		"sent long before":        {"Cancl.", func(f *match.Fixture) { f.LeftAt = now.Add(-schedule.EndRetryInterval).Unix() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
			f := w.AddFixture("7")
			c.row(&f)
			testkit.PutRows(w.World, tables.Fixtures, f)
			w.SetFixtures(crickettest.Payload(f, c.status))

			for range 2 { // the second sends nothing
				testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
			}

			got := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)
			if c.want && !slices.Equal(got, []live.MatchLeft{{MatchID: "7", Since: now.Unix()}}) || !c.want && got != nil {
				t.Errorf("messages to finish-match: %+v, want one: %v", got, c.want)
			}

			if is := testkit.Row[match.Fixture](w.World, tables.Fixtures,
				"7"); c.want && is.LeftAt != now.Unix() || is.Live != f.Live || is.LastSlot != f.LastSlot || is.ArchivedAt != f.ArchivedAt {
				t.Errorf("attributes of the ticker have changed, or leftAt is not set (-before +after):\n%s", cmp.Diff(f, is))
			}
		})
	}
}

// withCancelledMatch returns a world with match 7, which was never polled and is
// cancelled, and has a follower and an activity.
func withCancelledMatch(t *testing.T) *crickettest.World {
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
	f := w.AddFixture("7")
	testkit.PutRows(w.World, tables.Follows,
		follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: "ann"}, ExpiresAt: crickettest.KickOff.Add(time.Hour).Unix()})
	w.Subscribe("7", "fan", "11")
	w.Override = func(path string) (int, string) {
		if path == "/fixtures/7" {
			return http.StatusOK, `{"data":` + crickettest.Payload(f, "Cancl.") + `}`
		}

		return 0, ""
	}
	w.SetFixtures(crickettest.Payload(f, "Cancl."))

	return w
}

// TestCancelledMatchEnds: a match that is cancelled before the first poll is finished,
// and its follows are deleted.
func TestCancelledMatchEnds(t *testing.T) {
	t.Parallel()
	w := withCancelledMatch(t)
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
	}
	sync()
	testkit.Drain(w.World, tables.FinishQueue, 49*time.Hour, testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher).FinishMatch)

	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	if f.EndingAt == 0 || f.FinishedAt == 0 || len(testkit.Rows[follower.FollowRow](w.World, tables.Follows)) != 0 {
		t.Errorf("match %+v, follows %+v, want a finished match without follows", f, testkit.Rows[follower.FollowRow](w.World, tables.Follows))
	}

	if got := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue); !slices.ContainsFunc(got,
		func(m activity.MatchChanged) bool { return m.Ended == f.EndingAt }) {
		t.Errorf("messages to push-activities: %+v, want the end at %d", got, f.EndingAt)
	}

	w.MoveClock(w.Clock.Now().Add(2 * schedule.EndRetryInterval))
	sync()

	if got := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue); got != nil ||
		testkit.Row[match.Fixture](w.World, tables.Fixtures, "7") != f {
		t.Errorf("messages to finish-match after the end: %+v, want none and an unchanged match", got)
	}
}

// TestSyncCrashesAtAnEnd: after a crash the next sync sends the match to finish-match.
func TestSyncCrashesAtAnEnd(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := withCancelledMatch(t)
		crashed := testkit.OpenWith(w.World, w.CrashingEnv(schedule.SyncFixturesFunction(), p), schedule.OpenSyncer)
		p.Ended(crashed.SyncFixtures(w.NewContext()), "/api/*/fixtures/*", "UpdateItem *-cricket-locks")
		w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))

		return w.Outcome()
	})
}

// TestOneSyncAtATime: a second sync ends at once and logs the reason.
func TestOneSyncAtATime(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction(), catalog.OpenSyncer).SyncLeagues(w.NewContext()))
	s := testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer)
	held := map[string]any{"lockKey": "sync-fixtures", "holder": "another", "expiresAtMs": w.Clock.Now().Add(tables.JobTimeout).UnixMilli()}
	testkit.PutRows(w.World, tables.Locks, held)

	if calls := w.CountCalls(func() { testkit.Must(t, s.SyncFixtures(w.NewContext())) }); !maps.Equal(calls, map[string]int{"PutItem": 1}) {
		t.Errorf("calls while the lease is held: %v, want one PutItem", calls)
	}

	lines := w.Logs.Lines()
	if last := lines[len(lines)-1]; last.Level != slog.LevelInfo || !strings.Contains(last.Text, "another sync of the fixtures is running") {
		t.Errorf("last log line %+v, want an info that another sync is running", last)
	}

	w.MoveClock(w.Clock.Now().Add(tables.JobTimeout + time.Millisecond))
	testkit.Must(t, s.SyncFixtures(w.NewContext()))

	if f, l := testkit.Rows[match.Fixture](w.World, tables.Fixtures), testkit.Rows[map[string]any](w.World,
		tables.Locks); len(f) != 1 || len(l) != 1 || l[0]["lockKey"] != "budget:fixtures" {
		t.Errorf("fixtures %+v and locks %+v, want one fixture and no lease", f, l)
	}
}

// TestSyncWithoutItsLeaseWritesNoNewRow: a sync whose lease has expired does not overwrite
// a match that another sync has created and that has gone live.
func TestSyncWithoutItsLeaseWritesNoNewRow(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := script.Generate(1, cricsheet.T20)
	w.Feed.Play(m, crickettest.KickOff, sportmonks.Pace{Every: match.SlotLength})
	testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction(), catalog.OpenSyncer).SyncLeagues(w.NewContext()))
	env := w.Env(schedule.SyncFixturesFunction())
	next, expired := env.AWS.HTTPClient, false

	var want crickettest.Outcome

	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if !expired && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") { // it has read no row, and is about to write
			expired = true

			w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout))
			testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
			w.TickAt(w.Ticker(), 30)
			want = w.Outcome()
		}

		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, schedule.OpenSyncer)
	testkit.Must(t, s.SyncFixtures(w.NewContext()))

	got := w.Outcome()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the sync has changed rows without its lease (-want +got):\n%s", diff)
	}

	if !expired || got.Fixtures[crickettest.ID(m.ID)].Live == "" {
		t.Errorf("lease expired: %v, match %+v; want a live match", expired, got.Fixtures[crickettest.ID(m.ID)])
	}

	if c := w.Logs.TakeWarnings(); c != nil {
		t.Errorf("warnings and errors: %q, want none", c)
	}
}

// TestUnlistedMatchIsChecked: an upcoming match that its league's schedule no longer lists
// is requested by its id, and moved, or sent to finish-match.
func TestUnlistedMatchIsChecked(t *testing.T) {
	t.Parallel()

	far := crickettest.KickOff.Add(90 * 24 * time.Hour).Format(tables.TimeLayout)
	for name, c := range map[string]struct {
		row      func(*match.Fixture)
		page     func(match.Fixture) (int, string)
		start    string // "": unchanged
		left     bool
		requests int
	}{
		"re-dated": {func(*match.Fixture) {}, func(f match.Fixture) (int, string) {
			f.StartTime = far
			return http.StatusOK, `{"data":` + crickettest.Payload(f, "NS") + `}`
		}, far, false, 1},
		"deleted": {func(*match.Fixture) {}, func(match.Fixture) (int, string) { return http.StatusNotFound, `{}` }, "", true, 1},
		"cancelled": {func(*match.Fixture) {}, func(f match.Fixture) (int, string) {
			return http.StatusOK, `{"data":` + crickettest.Payload(f, "Cancl.") + `}`
		}, "", true, 1},
		"unchanged": {func(*match.Fixture) {}, func(f match.Fixture) (int, string) {
			return http.StatusOK, `{"data":` + crickettest.Payload(f, "NS") + `}`
		}, "", false, 2},
		"unavailable": {func(*match.Fixture) {}, func(match.Fixture) (int, string) { return http.StatusBadGateway, `` }, "", false, 2},
		"live": {func(f *match.Fixture) { f.Live, f.LiveUpdatedAt = match.Live, 5 },
			func(match.Fixture) (int, string) { return http.StatusNotFound, `{}` }, "", false, 0},
		"between days": {func(f *match.Fixture) { f.Status = "Stump Day 1" }, func(match.Fixture) (int, string) {
			return http.StatusNotFound, `{}`
		}, "", false, 0},
		"out of range": {func(f *match.Fixture) { f.StartTime = far },
			func(match.Fixture) (int, string) { return http.StatusNotFound, `{}` }, "", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
			f := w.AddFixture("7")
			c.row(&f)
			testkit.PutRows(w.World, tables.Fixtures, f)

			requests := 0
			w.Override = func(path string) (int, string) {
				if path != "/fixtures/7" {
					return 0, ""
				}

				requests++

				return c.page(f)
			}
			w.SetFixtures()

			for range 2 {
				testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
			}

			want := f
			if c.start != "" {
				want.StartTime = c.start
			}

			got := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")

			left := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)
			if got.StartTime != want.StartTime || c.left != (len(left) == 1) || requests != c.requests {
				t.Errorf("start %s, messages to finish-match %+v, %d requests; want %s, one: %v, %d", got.StartTime, left, requests,
					want.StartTime, c.left, c.requests)
			}
		})
	}
}

// TestSyncChecksFewUnlistedMatches: a schedule that lists nothing does not use up the
// provider's limit of requests.
func TestSyncChecksFewUnlistedMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})

	for i := range 2 * schedule.MaxChecks {
		w.AddFixture(fmt.Sprint(100 + i))
	}

	requests := 0
	w.Override = func(string) (int, string) { requests++; return http.StatusNotFound, `{}` }
	w.SetFixtures()
	testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))

	if requests != schedule.MaxChecks {
		t.Errorf("%d requests for matches, want %d", requests, schedule.MaxChecks)
	}
}

// TestSyncCrashesAtADeletedMatch: after a crash the next sync sends the match to
// finish-match.
func TestSyncCrashesAtADeletedMatch(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := crickettest.New(t)
		testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
		w.AddFixture("7")
		w.Override = func(string) (int, string) { return http.StatusNotFound, `{}` }
		w.SetFixtures()
		p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(schedule.SyncFixturesFunction(), p), schedule.OpenSyncer).SyncFixtures(w.NewContext()),
			"/api/*/fixtures/*", "UpdateItem *-cricket-locks")
		w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))

		return w.Outcome()
	})
}

// TestMoveSendsAnAlert: a sync sends the followers of an upcoming match an alert that it was
// moved by an hour or more, once, before it stores the new start.
func TestMoveSendsAnAlert(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		by     time.Duration
		row    func(*match.Fixture)
		status string
		want   []string
	}{
		"two days later":  {48 * time.Hour, func(*match.Fixture) {}, "NS", []string{"Moved to Wednesday, 3 June, 12:00 UTC"}},
		"an hour earlier": {-time.Hour, func(*match.Fixture) {}, "Delayed", []string{"Moved to Monday, 1 June, 11:00 UTC"}},
		"half an hour":    {30 * time.Minute, func(*match.Fixture) {}, "NS", nil},
		"between days":    {time.Hour, func(f *match.Fixture) { f.Status = "Stump Day 1" }, "Stump Day 1", nil},
		"not a day more":  {time.Hour, func(f *match.Fixture) { f.Status = "Stump Day 1" }, "NS", nil},
		"begun meanwhile": {time.Hour, func(*match.Fixture) {}, "1st Innings", nil},
		"over":            {time.Hour, func(f *match.Fixture) { f.EndingAt = 5 }, "NS", nil},
		"live":            {time.Hour, func(f *match.Fixture) { f.Live, f.LiveUpdatedAt = match.Live, 5 }, "NS", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Active: true})
			f := w.AddFixture("7")
			c.row(&f)
			testkit.PutRows(w.World, tables.Fixtures, f)
			f.StartTime = crickettest.KickOff.Add(c.by).Format(tables.TimeLayout)
			w.SetFixtures(crickettest.Payload(f, c.status))

			for range 2 {
				testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
			}

			var got []string

			for _, a := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
				if a.Title != "Harbour v Valley" || a.Plain != a.Body {
					t.Errorf("alert %+v, want the names of the teams, and a text for spoiler-free users", a)
				}

				got = append(got, a.Body)
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("alerts (-want +got):\n%s", diff)
			}
		})
	}
}
