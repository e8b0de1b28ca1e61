package threefc_test

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// same reports a difference.
func same(t testing.TB, what string, got, want any) {
	t.Helper()

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// isError checks the error of a use case.
func isError(t *testing.T, what string, err, want error) {
	t.Helper()

	if !errors.Is(err, want) {
		t.Errorf("%s: got the error %v, want %v", what, err, want)
	}
}

// refused checks that an answer is a problem.
func refused(t *testing.T, what string, out events.APIGatewayV2HTTPResponse, status int, code string) {
	t.Helper()

	if err := testkit.CheckProblemCode(out, status, code); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// goal is the body of a goal.
type goal struct {
	EventID   string   `json:"eventId,omitempty"`
	Third     int      `json:"third,omitempty"`
	Minute    *int     `json:"gameMinute,omitempty"`
	Scoring   string   `json:"scoringTeamId,omitempty"`
	Conceding string   `json:"concedingTeamId"`
	Scorer    string   `json:"scorerPlayerId"`
	Assists   []string `json:"assistPlayerIds,omitempty"`
	OwnGoal   bool     `json:"ownGoal,omitempty"`
}

// totals are the goals for and against each team of an answer with a game.
func totals(w *threefctest.World, out events.APIGatewayV2HTTPResponse) map[string][2]int {
	w.T.Helper()

	type answer struct {
		Scores []item.Score
		Game   struct{ Scores []item.Score }
	}

	a := testkit.Decode[answer](w.World, out)

	all := map[string][2]int{}
	for _, s := range append(a.Scores, a.Game.Scores...) {
		all[s.TeamID] = [2]int{s.Scored, s.Conceded}
	}

	return all
}

// TestGameIsScored is the whole way: a league, a game, goals, an undo, the result and the
// tables.
func TestGameIsScored(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.SignIn("ann")
	l := w.Found("ann")
	g := w.Game("ann", l)
	goals := "/v1/games/" + g + "/goals"

	w.MoveClock(w.Clock.Now().Add(7*time.Minute + 30*time.Second))
	out := w.Do("ann", "POST", goals, goal{Scoring: "red", Conceding: "blue", Scorer: l.Players[0], Assists: []string{l.Players[1]}})

	first := testkit.Decode[struct{ Goal game.Goal }](w.World, out).Goal
	if first.Third != 1 || first.Minute != 7 || first.Display != "7'" {
		t.Errorf("the goal is %+v, want minute 7 of third 1", first)
	}

	w.MoveClock(w.Clock.Now().Add(16 * time.Minute))

	out = w.Do("ann", "POST", goals, goal{Conceding: "yellow", Scorer: l.Players[6], OwnGoal: true})
	if second := testkit.Decode[struct{ Goal game.Goal }](w.World, out).Goal; second.Display != "20+3'" || second.Stoppage != 3 {
		t.Errorf("the goal is %+v, want it in stoppage, 20+3'", second)
	}

	same(t, "the score", totals(w, out), map[string][2]int{"red": {1, 0}, "blue": {0, 1}, "yellow": {0, 1}})
	out = w.Do("ann", "POST", goals, goal{Scoring: "blue", Conceding: "red", Scorer: l.Players[3]})
	undone := w.Do("ann", "POST", goals+"/undo", nil, threefctest.Match(out))
	refused(t, "the second tap on undo", w.Ask("ann", "POST", goals+"/undo", nil, threefctest.Match(out)), http.StatusConflict, "stale")
	same(t, "the score after the undo", totals(w, undone), map[string][2]int{"red": {1, 0}, "blue": {0, 1}, "yellow": {0, 1}})
	w.Play("ann", g)

	got := testkit.Decode[game.Game](w.World, w.Do("ann", "GET", "/v1/games/"+g, nil))
	if got.Status != "finished" || got.Result == nil || got.Result.Winner != "red" {
		t.Errorf("the game is %+v, want that red has won", got)
	}

	w.Aggregate()

	type tables struct {
		Teams   []standing.TeamStanding
		Players []standing.PlayerTotals
	}

	got1 := testkit.Decode[tables](w.World, w.Do("", "GET", "/v1/public/seasons/"+l.SeasonID+"/standings", nil)).Teams
	same(t, "the standings", got1, []standing.TeamStanding{
		{TeamID: "red", Name: "Red", Color: "#c8102e", Rank: 1, Played: 1, Wins: 1, Scored: 1, PerGame: 1},
		{TeamID: "blue", Name: "Blue", Color: "#0057b8", Rank: 2, Played: 1, Losses: 1, Conceded: 1},
		{TeamID: "yellow", Name: "Yellow", Color: "#ffd100", Rank: 2, Played: 1, Losses: 1, Conceded: 1, OwnGoals: 1},
	})

	leaders := testkit.Decode[tables](w.World, w.Do("", "GET", "/v1/public/seasons/"+l.SeasonID+"/leaderboards/players?limit=2", nil)).Players
	same(t, "the leaders", leaders, []standing.PlayerTotals{
		{Nickname: "Ada", Games: 1, Goals: 1, PerGame: 1},
		{Nickname: "Bo", Games: 1, Assists: 1},
	})
}
