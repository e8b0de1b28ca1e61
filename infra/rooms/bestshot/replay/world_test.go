package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/replay"
	"matchday/infra/sim/football"
	"matchday/infra/sim/openfootball"
	"matchday/infra/testkit"
)

// TestGuessDuringPlayMustBeRefused checks which answers to a guess are right, by the answers of the
// provider about its match.
func TestGuessDuringPlayMustBeRefused(t *testing.T) {
	t.Parallel()

	kickOff := time.Date(2026, 8, 15, 15, 0, 0, 0, time.UTC)
	later := kickOff.Add(72 * time.Hour)
	at := func(d time.Duration) time.Time { return kickOff.Add(d) }
	plain := []football.Event{
		{Type: "notstarted", KickOff: kickOff},
		{Type: "inprogress", KickOff: kickOff, Changed: at(0)},
		{Type: "inprogress", KickOff: kickOff, Changed: at(20 * time.Minute)}, // a goal
		{Type: "finished", KickOff: kickOff, Changed: at(110 * time.Minute)},
	}
	moved := []football.Event{
		{Type: "notstarted", KickOff: kickOff},
		{Type: "notstarted", KickOff: at(3 * time.Hour), Changed: at(-10 * time.Minute)},
		{Type: "inprogress", KickOff: at(3 * time.Hour), Changed: at(3 * time.Hour)},
	}
	postponed := []football.Event{
		{Type: "notstarted", KickOff: kickOff},
		{Type: "postponed", KickOff: kickOff, Changed: at(-4 * time.Hour)},
		{Type: "notstarted", KickOff: later, Changed: at(-1 * time.Hour)},
	}

	const accept, refuse, either = "accept", "refuse", "either"
	for _, c := range []struct {
		name           string
		views          []football.Event
		sent, answered time.Duration
		want           string
	}{
		{"long before", plain, -48 * time.Hour, -48 * time.Hour, accept},
		{"a millisecond before", plain, -time.Millisecond, -time.Millisecond, accept},
		{"at the kick-off", plain, 0, 0, refuse},
		{"tried again over the kick-off", plain, -time.Second, time.Second, either},
		{"a minute after a goal", plain, 21 * time.Minute, 21 * time.Minute, refuse},
		{"tried again during play", plain, 21 * time.Minute, 23 * time.Minute, refuse},
		{"after the final whistle", plain, 111 * time.Minute, 111 * time.Minute, refuse},
		{"announced to be later, before the old kick-off", moved, -5 * time.Minute, -5 * time.Minute, accept},
		{"announced to be later, soon after the old kick-off", moved, 5 * time.Minute, 5 * time.Minute, either},
		{"announced to be later, long after the old kick-off", moved, 150 * time.Minute, 150 * time.Minute, accept},
		{"played later", moved, 200 * time.Minute, 200 * time.Minute, refuse},
		{"soon postponed", postponed, -230 * time.Minute, -230 * time.Minute, either},
		{"long postponed", postponed, -90 * time.Minute, -90 * time.Minute, refuse},
		{"soon dated", postponed, -30 * time.Minute, -30 * time.Minute, either},
		{"long dated", postponed, 2 * time.Hour, 2 * time.Hour, accept},
	} {
		f := &fixture{views: c.views}
		yes, no := f.answers(at(c.sent), at(c.answered))

		got := map[[2]bool]string{{true, false}: accept, {false, true}: refuse, {true, true}: either}[[2]bool{yes, no}]
		if got != c.want {
			t.Errorf("%s: the right answer is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFilesWithoutMatchesAreSkipped(t *testing.T) {
	t.Parallel()

	const clubs, broken, league = `{"name": "League", "clubs": [{"name": "Ayr"}]}`, `{"name": "League", "matches": []}`,
		`{"name": "League", "matches": [{"round": "Matchday 1", "date": "2026-08-14", "team1": "Ayr", "team2": "Ely"}]}`

	folder := t.TempDir()
	write := func(name, text string) {
		testkit.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("a.clubs.json", clubs)

	if _, err := newWorld(Config{Config: replay.Config{Folder: folder}}); err == nil ||
		!strings.Contains(err.Error(), "has matches or rounds") {
		t.Errorf("a folder without a season: the error is %v", err)
	}

	write("a.json", league)
	write("b.groups.json", strings.Replace(clubs, "clubs", "groups", 1))
	write("c.json", broken)

	w, err := newWorld(Config{Config: replay.Config{Folder: folder}})
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"a.clubs.json", "b.groups.json"}, w.skipped); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}

	if len(w.cups) != 2 || w.cups[0].done || w.cups[0].n != 1 || !w.cups[1].done || w.cups[1].n != 2 {
		t.Errorf("the cups are %+v", w.cups)
	}
}

func TestResultsWithoutAnEventAreCounted(t *testing.T) {
	t.Parallel()

	score := openfootball.Score{FullTime: &openfootball.Goals{1, 0}}
	c := &cup{season: openfootball.Season{Matches: []openfootball.Match{{Score: score}, {}, {Score: score}}}}

	c.fixtures = []*fixture{{index: 0}, {index: 0}, {index: 1}} // the first was replaced
	if file, provider := c.results(); file != 2 || provider != 1 {
		t.Errorf("the file has %d results and the provider %d, want 2 and 1", file, provider)
	}
}

// TestWhenANewViewIsKnown: the room may not know for two hours that a match of today is called off, and
// for a day that one of another day is.
func TestWhenANewViewIsKnown(t *testing.T) {
	t.Parallel()

	called := time.Date(2026, 11, 25, 17, 10, 0, 0, time.UTC)

	for _, c := range []struct {
		kickOff        time.Time
		after          time.Duration
		accept, refuse bool
	}{
		{called.Add(10 * time.Hour), time.Hour, true, true},
		{called.Add(10 * time.Hour), 3 * time.Hour, false, true},
		{called.Add(28 * time.Hour), 3 * time.Hour, true, true},
		{called.Add(60 * time.Hour), 27 * time.Hour, false, true},
	} {
		f := &fixture{views: []football.Event{
			{Type: "notstarted", KickOff: c.kickOff, Changed: called.Add(-100 * time.Hour)},
			{Type: "postponed", KickOff: c.kickOff, Changed: called},
		}}

		if accept, refuse := f.answers(called.Add(c.after), called.Add(c.after)); accept != c.accept || refuse != c.refuse {
			t.Errorf("%+v: accepts %t, refuses %t", c, accept, refuse)
		}
	}
}
