package pickem

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/pkg/spec"
)

func TestMain(m *testing.M) {
	testkit.LogByWorld()
	os.Exit(m.Run())
}

// noon is when the tests begin, a week before the show.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// show is the id of the event of most tests.
const show = "2026-03-08-clash-of-tides"

// world is one test's room.
type world struct {
	*testkit.World
	routes map[string]testkit.Route
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{World: testkit.New(t, Room, noon)}
	w.routes = map[string]testkit.Route{
		ListEventsFunction.Name:        testkit.Serve(w.World, ListEventsFunction, OpenEvents, (*Events).ListEvents),
		GetEventFunction.Name:          testkit.Serve(w.World, GetEventFunction, OpenEvents, (*Events).GetEvent),
		GetResultsFunction.Name:        testkit.Serve(w.World, GetResultsFunction, OpenEvents, (*Events).GetResults),
		GetStandingsFunction.Name:      testkit.Serve(w.World, GetStandingsFunction, OpenEvents, (*Events).GetStandings),
		ListCorrectionsFunction.Name:   testkit.Serve(w.World, ListCorrectionsFunction, OpenEvents, (*Events).ListCorrections),
		GetMeFunction.Name:             testkit.Serve(w.World, GetMeFunction, OpenMembers, (*Members).GetMe),
		GetUserFunction.Name:           testkit.Serve(w.World, GetUserFunction, OpenMembers, (*Members).GetUser),
		UpdateMeFunction.Name:          testkit.Serve(w.World, UpdateMeFunction, OpenMembers, (*Members).UpdateMe),
		PutPredictionsFunction.Name:    testkit.Serve(w.World, PutPredictionsFunction, OpenEvents, (*Events).PutPredictions),
		DeletePredictionsFunction.Name: testkit.Serve(w.World, DeletePredictionsFunction, OpenEvents, (*Events).DeletePredictions),
		InviteUserFunction.Name:        testkit.Serve(w.World, InviteUserFunction, OpenMembers, (*Members).InviteUser),
		CreateEventFunction.Name:       testkit.Serve(w.World, CreateEventFunction, OpenEvents, (*Events).CreateEvent),
		UpdateEventFunction.Name:       testkit.Serve(w.World, UpdateEventFunction, OpenEvents, (*Events).UpdateEvent),
		DeleteEventFunction.Name:       testkit.Serve(w.World, DeleteEventFunction, OpenEvents, (*Events).DeleteEvent),
		AddMatchFunction.Name:          testkit.Serve(w.World, AddMatchFunction, OpenEvents, (*Events).AddMatch),
		UpdateMatchFunction.Name:       testkit.Serve(w.World, UpdateMatchFunction, OpenEvents, (*Events).UpdateMatch),
		DeleteMatchFunction.Name:       testkit.Serve(w.World, DeleteMatchFunction, OpenEvents, (*Events).DeleteMatch),
		OrderCardFunction.Name:         testkit.Serve(w.World, OrderCardFunction, OpenEvents, (*Events).OrderCard),
		PutResultFunction.Name:         testkit.Serve(w.World, PutResultFunction, OpenEvents, (*Events).PutResult),
		RequestScoreFunction.Name:      testkit.Serve(w.World, RequestScoreFunction, OpenEvents, (*Events).RequestScore),
		ListEntriesFunction.Name:       testkit.Serve(w.World, ListEntriesFunction, OpenEvents, (*Events).ListEntries),
		GetHealthFunction.Name:         testkit.Serve(w.World, GetHealthFunction, OpenEvents, (*Events).GetHealth),
		DeleteUserFunction.Name:        testkit.Serve(w.World, DeleteUserFunction, OpenMembers, (*Members).DeleteUser),
		RegisterDeviceFunction.Name:    testkit.Serve(w.World, RegisterDeviceFunction, OpenDevices, (*Devices).RegisterDevice),
		DeleteDeviceFunction.Name:      testkit.Serve(w.World, DeleteDeviceFunction, OpenDevices, (*Devices).DeleteDevice),

		CreateLeagueFunction.Name:       testkit.Serve(w.World, CreateLeagueFunction, OpenLeagues, (*Leagues).CreateLeague),
		ListLeaguesFunction.Name:        testkit.Serve(w.World, ListLeaguesFunction, OpenLeagues, (*Leagues).ListLeagues),
		JoinLeagueFunction.Name:         testkit.Serve(w.World, JoinLeagueFunction, OpenLeagues, (*Leagues).JoinLeague),
		GetLeagueFunction.Name:          testkit.Serve(w.World, GetLeagueFunction, OpenLeagues, (*Leagues).GetLeague),
		GetLeagueStandingsFunction.Name: testkit.Serve(w.World, GetLeagueStandingsFunction, OpenLeagues, (*Leagues).GetLeagueStandings),
		LeaveLeagueFunction.Name:        testkit.Serve(w.World, LeaveLeagueFunction, OpenLeagues, (*Leagues).LeaveLeague),
		RenewCodeFunction.Name:          testkit.Serve(w.World, RenewCodeFunction, OpenLeagues, (*Leagues).RenewCode),
		DeleteLeagueFunction.Name:       testkit.Serve(w.World, DeleteLeagueFunction, OpenLeagues, (*Leagues).DeleteLeague),
	}
	return w
}

// ask calls a route as user, "" for nobody; body is text, or encoded.
func (w *world) ask(fn spec.Function, target, user string, body any) events.APIGatewayV2HTTPResponse {
	text, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		testkit.Must(w.T, err)
		text = string(encoded)
	}
	return testkit.Ask(w.routes, fn, target, user, text)
}

// admin has an administrator do what must succeed.
func (w *world) admin(fn spec.Function, target string, body any) events.APIGatewayV2HTTPResponse {
	w.T.Helper()
	out := w.ask(fn, target, testkit.Administrator, body)
	if out.StatusCode >= 300 {
		w.T.Fatalf("%s %s: %d %s", fn.Name, target, out.StatusCode, out.Body)
	}
	return out
}

// join makes members of users, each by the user's own name.
func (w *world) join(users ...string) {
	w.T.Helper()
	for _, u := range users {
		testkit.Put(w.World, table, newPerson(u, u))
	}
}

// matchID is the id of the n-th match of a test's card.
func matchID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// announce announces an event that begins at a time, with a card of n matches of
// two teams, worth 10, 20, 30… points.
func (w *world) announce(starts time.Time, slug string, n int) (eventID string) {
	w.T.Helper()
	out := w.admin(CreateEventFunction, "/admin/events", map[string]any{
		"name": slug, "date": starts.Format(time.DateOnly), "slug": slug, "startsAt": starts,
	})
	e := testkit.Decode[Event](w.World, out)
	for i := range n {
		w.admin(AddMatchFunction, "/admin/events/"+e.ID+"/matches", matchOf(i+1, 10*(i+1)))
	}
	return e.ID
}

// matchOf is a match of two, as an administrator says it.
func matchOf(n, points int) map[string]any {
	return map[string]any{
		"id": matchID(n), "name": fmt.Sprint("Match ", n), "points": points,
		"teams": []map[string]any{{"members": []string{fmt.Sprint("Left ", n)}}, {"members": []string{fmt.Sprint("Right ", n)}}},
	}
}

// clash announces the show of most tests, a week after noon.
func (w *world) clash(matches int) {
	w.T.Helper()
	if id := w.announce(noon.AddDate(0, 0, 7), "clash-of-tides", matches); id != show {
		w.T.Fatalf("the show is %s", id)
	}
}

// pick saves a member's picks of the first matches of an event, in order.
func (w *world) pick(user, eventID string, teams ...int) {
	w.T.Helper()
	picks := map[string]int{}
	for i, team := range teams {
		picks[matchID(i+1)] = team
	}
	out := w.ask(PutPredictionsFunction, "/app/events/"+eventID+"/predictions", user, map[string]any{"predictions": picks})
	if out.StatusCode != http.StatusOK {
		w.T.Fatalf("%s picks: %d %s", user, out.StatusCode, out.Body)
	}
}

// lock moves the clock to when an event locks, and has it locked.
func (w *world) lock(eventID string) {
	w.T.Helper()
	e := testkit.Row[event](w.World, table, eventKey, ofEvent(eventID))
	w.To(instant(e.LockAt))
	testkit.Must(w.T, testkit.Open(w.World, LockEventsFunction, OpenEvents).LockEvents(w.Ctx()))
}

// results enters the results of the first matches of an event, in order.
func (w *world) results(eventID string, results ...int) {
	w.T.Helper()
	for i, r := range results {
		w.admin(PutResultFunction, "/admin/events/"+eventID+"/matches/"+matchID(i+1)+"/result", map[string]any{"result": Result(r)})
	}
}

// score has an event scored.
func (w *world) score(eventID string) {
	w.T.Helper()
	w.admin(RequestScoreFunction, "/admin/events/"+eventID+"/score", "")
	w.work()
}

// work has the messages handled that wait to have events scored.
func (w *world) work() {
	w.T.Helper()
	testkit.Drain(w.World, scoreQueue, 0, testkit.Open(w.World, ScoreEventFunction, OpenScorer).ScoreEvent)
}

// table is the table of a year as a member sees it.
func (w *world) standings(year string) []Standing {
	w.T.Helper()
	out := w.ask(GetStandingsFunction, "/app/standings/"+year+"?limit=500", "ann", "")
	return testkit.Decode[struct{ Standings []Standing }](w.World, out).Standings
}
