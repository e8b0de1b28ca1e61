package pickemtest

import (
	"encoding/json"
	"fmt"
	"matchday/infra/sim/s3"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// Noon is the time at which tests begin, a week before Show.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Show is the id of the event of most tests.
const Show = "2026-03-08-clash-of-tides"

// Room is the room of one test: its world and its routes by function name.
type Room struct {
	*testkit.World
	Routes map[string]testkit.Route
}

// New returns a room with empty tables at Noon.
func New(t testing.TB) *Room {
	t.Helper()
	w := &Room{World: testkit.New(t, pickem.Room(), Noon)}
	w.Files = s3.New(w.Buckets...)
	w.Routes = w.ServeRoutes()

	return w
}

// Ask calls a route as user, "" for no token. body is text, or a value to encode.
func (w *Room) Ask(fn app.Function, target, user string, body any) events.APIGatewayV2HTTPResponse {
	text, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		testkit.Must(w.T, err)

		text = string(encoded)
	}

	return testkit.Call(w.Routes, fn, target, user, text)
}

// MustAdmin calls a route as an administrator. A refusal is fatal.
func (w *Room) MustAdmin(fn app.Function, target string, body any) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	out := w.Ask(fn, target, testkit.Administrator, body)
	if out.StatusCode >= 300 {
		w.T.Fatalf("%s %s: %d %s", fn.Name, target, out.StatusCode, out.Body)
	}

	return out
}

// AddMembers makes users members, named like their ids.
func (w *Room) AddMembers(users ...string) {
	w.T.Helper()

	for _, u := range users {
		testkit.PutRows(w.World, tables.Pickem, item.NewMember(u, u))
	}
}

// MatchID returns the id of the n-th match of a card.
func MatchID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// CreateEvent creates an event that starts at a time, with a card of n matches of two
// teams, for 10, 20, 30… points.
func (w *Room) CreateEvent(starts time.Time, slug string, n int) (eventID string) {
	w.T.Helper()
	out := w.MustAdmin(event.CreateEventFunction(), "/admin/events", map[string]any{
		"name": slug, "date": starts.Format(time.DateOnly), "slug": slug, "startsAt": starts,
	})

	e := testkit.Decode[event.Event](w.World, out)
	for i := range n {
		w.MustAdmin(event.AddMatchFunction(), "/admin/events/"+e.ID+"/matches", MatchOf(i+1, 10*(i+1)))
	}

	return e.ID
}

// MatchOf returns the body of add-match for a match of two teams.
func MatchOf(n, points int) map[string]any {
	return map[string]any{
		"id": MatchID(n), "name": fmt.Sprint("Match ", n), "points": points,
		"teams": []map[string]any{{"members": []string{fmt.Sprint("Left ", n)}}, {"members": []string{fmt.Sprint("Right ", n)}}},
	}
}

// CreateShow creates Show, a week after Noon.
func (w *Room) CreateShow(matches int) {
	w.T.Helper()

	if id := w.CreateEvent(Noon.AddDate(0, 0, 7), "clash-of-tides", matches); id != Show {
		w.T.Fatalf("the show is %s", id)
	}
}

// TeamID returns the id of a team by its place in a match whose teams never changed.
func TeamID(place int) string { return fmt.Sprint("t", place+1) }

// PicksOf returns picks of the first matches of an event, in order, whose teams never
// changed.
func PicksOf(teams ...int) map[string]string {
	picks := map[string]string{}
	for i, team := range teams {
		picks[MatchID(i+1)] = TeamID(team)
	}

	return picks
}

// Pick saves a member's picks of the first matches of an event, in order: the places of
// the teams.
func (w *Room) Pick(user, eventID string, teams ...int) {
	w.T.Helper()

	picks := map[string]string{}

	for i, team := range teams {
		m := testkit.Row[item.Match](w.World, tables.Pickem, item.EventRef(eventID), item.MatchSK(MatchID(i+1)))
		picks[m.ID] = m.Teams[team].ID
	}

	out := w.Ask(event.PutPredictionsFunction(), "/app/events/"+eventID+"/predictions", user, map[string]any{"predictions": picks})
	if out.StatusCode != http.StatusOK {
		w.T.Fatalf("%s picks: %d %s", user, out.StatusCode, out.Body)
	}
}

// LockEvent moves the clock to lockAt of an event and runs LockEvents.
func (w *Room) LockEvent(eventID string) {
	w.T.Helper()
	e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(eventID))
	w.MoveClock(item.ParseTime(e.LockAt))
	testkit.Must(w.T, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
}

// EnterResults enters the results of the first matches of an event, in order.
func (w *Room) EnterResults(eventID string, results ...int) {
	w.T.Helper()

	for i, r := range results {
		w.MustAdmin(event.PutResultFunction(), "/admin/events/"+eventID+"/matches/"+MatchID(i+1)+"/result",
			map[string]any{"result": item.Result(r)})
	}
}

// Score requests the scoring of an event and handles the message.
func (w *Room) Score(eventID string) {
	w.T.Helper()
	w.MustAdmin(event.RequestScoreFunction(), "/admin/events/"+eventID+"/score", "")
	w.ScoreQueued()
}

// ScoreQueued handles the messages of the scoring queue.
func (w *Room) ScoreQueued() {
	w.T.Helper()
	testkit.Drain(w.World, score.Queue, 0, testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent)
}

// Standings returns the table of a year as ann sees it, who is a member.
func (w *Room) Standings(year string) []league.Standing {
	w.T.Helper()
	return w.StandingsFor("ann", year)
}

// StandingsFor returns the table of a year as a member sees it.
func (w *Room) StandingsFor(user, year string) []league.Standing {
	w.T.Helper()

	var all []league.Standing

	for next, page := "", 0; page == 0 || next != ""; page++ {
		out := testkit.Decode[struct {
			Standings []league.Standing
			Next      string
		}](w.World, w.Ask(league.GetStandingsFunction(), "/app/standings/"+year+"?cursor="+next, user, ""))
		all, next = append(all, out.Standings...), out.Next
	}

	return all
}
