package pickem

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// The events of a season: see it.
const (
	lockedShow = "2026-03-01-high-tide"
	scoredShow = "2026-03-01-low-tide"
)

func appEvent(id string) string   { return "/app/events/" + id }
func adminEvent(id string) string { return "/admin/events/" + id }
func adminMatch(id string, n int) string {
	return adminEvent(id) + "/matches/" + matchID(n)
}

// secret is the pick that nobody but ann may see, and no other number of a season.
const secret = 37

// season is a world with an event of each kind: show is open, with ann's secret
// pick of its third match; lockedShow is locked and has no results; scoredShow is
// scored. Ann, bob and cat are members, and have picked each.
func season(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	played.once.Do(func() { played.rows = play(w) })
	testkit.Put(w.World, table, played.rows...)
	w.To(noon.Add(time.Hour))
	return w
}

// played is a season that was played once, for all tests.
var played struct {
	once sync.Once
	rows []map[string]any
}

func play(w *world) []map[string]any {
	w.join("ann", "bob", "cat")
	for _, slug := range []string{"high-tide", "low-tide"} {
		id := w.announce(noon.Add(2*time.Hour), slug, 2)
		w.pick("ann", id, 0, 0)
		w.pick("bob", id, 1, 1)
		w.pick("cat", id, 1)
	}
	w.clash(2)
	w.admin(AddMatchFunction, adminEvent(show)+"/matches", battleRoyal(3))
	w.pick("ann", show, 0, 0, secret)
	w.pick("bob", show, 0, 1, 2)
	w.pick("cat", show)
	w.lock(scoredShow)
	w.results(scoredShow, 0, 1)
	w.score(scoredShow)
	return testkit.Rows[map[string]any](w.World, table)
}

// fill puts a card of n matches onto an event that has none.
func (w *world) fill(eventID string, n int) {
	w.T.Helper()
	card := make([]match, n)
	for i := range card {
		place, err := placeSK(i + 1)
		testkit.Must(w.T, err)
		card[i] = match{
			row: row{PK: ofEvent(eventID), SK: matchSK(matchID(i + 1)), GSIPK: ofEvent(eventID), GSISK: place, Type: matchType},
			ID:  matchID(i + 1), Name: fmt.Sprint("Match ", i+1), Points: 2, Teams: []Team{{Members: []string{"a"}}, {Members: []string{"b"}}},
		}
	}
	testkit.Put(w.World, table, card...)
}

// battleRoyal is a match of forty.
func battleRoyal(n int) map[string]any {
	m := matchOf(n, 5)
	var teams []map[string]any
	for i := range 40 {
		teams = append(teams, map[string]any{"members": []string{strings.Repeat("x", i+1)}})
	}
	m["teams"] = teams
	return m
}

// see decodes what a user is answered into body.
func (w *world) see(fn spec.Function, target, user string, body any) {
	w.T.Helper()
	out := w.ask(fn, target, user, "")
	if out.StatusCode != http.StatusOK {
		w.T.Fatalf("%s %s: %d %s", fn.Name, target, out.StatusCode, out.Body)
	}
	testkit.Must(w.T, json.Unmarshal([]byte(out.Body), body))
}

// rows are all of the table but what counts how often a member was written, by key.
func (w *world) rows() map[string]map[string]any {
	w.T.Helper()
	all := map[string]map[string]any{}
	for _, r := range testkit.Rows[map[string]any](w.World, table) {
		if r["SK"] == userKey {
			delete(r, "rev")
		}
		all[fmt.Sprint(r["PK"], " ", r["SK"])] = r
	}
	return all
}

// inTheWay is fn's environment, in which others do something right before each of
// fn's calls of an operation.
func (w *world) inTheWay(fn spec.Function, operation string, do func()) app.Env {
	env := w.Env(fn)
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) {
			do()
		}
		return next.Do(r)
	})
	return env
}

// refusal is what is wrong with a request: the status, type and place of the
// problem document. An answer that is none has its status alone.
type refusal struct {
	status      int
	code, field string
}

func refusalOf(out events.APIGatewayV2HTTPResponse) refusal {
	var p testkit.Problem
	if out.StatusCode < 400 || json.Unmarshal([]byte(out.Body), &p) != nil || p.Status != out.StatusCode {
		return refusal{status: out.StatusCode}
	}
	r := refusal{status: p.Status, code: strings.TrimPrefix(p.Type, "urn:problem-type:matchday:")}
	if len(p.Errors) > 0 {
		r.field = p.Errors[0].Location
	}
	return r
}

// codeOf is the code of a fault, "" for none; what is no fault is its text.
func codeOf(err error) string {
	if f, ok := errors.AsType[*problem.Error](err); ok {
		return f.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestRefusals answers whatever is wrong with a request with a problem of its
// type and with the place of it, and changes nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := season(t)
	const full = "2026-03-09-full"
	w.announce(noon.AddDate(0, 0, 8), "full", 0)
	w.fill(full, maxCard)
	with := func(m map[string]any, more ...any) map[string]any {
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	announcement := func(more ...any) map[string]any {
		return with(map[string]any{"name": "Clash", "date": "2026-04-01", "slug": "clash", "startsAt": "2026-04-01T18:00:00Z"}, more...)
	}
	teams := func(members ...[]string) (all []map[string]any) {
		for _, m := range members {
			all = append(all, map[string]any{"members": m})
		}
		return all
	}
	picks := func(id string, team any) any { return map[string]any{"predictions": map[string]any{id: team}} }
	upper := "ABCDEF00-0000-4000-8000-000000000001"
	const none, gone = "2026-03-08-none", "/admin/events/2026-03-08-none"
	noEvent, locked := refusal{404, "event_not_found", ""}, refusal{409, "event_locked", ""}
	noMatch, cursor := refusal{404, "match_not_found", ""}, refusal{400, "bad_cursor", "query.cursor"}
	long := strings.Repeat("x", 65)
	before := w.rows()
	for _, c := range []struct {
		fn     spec.Function
		target string
		body   any
		want   refusal
	}{
		{ListEventsFunction, "/app/events?cursor=x", nil, cursor},
		{ListEventsFunction, "/app/events?cursor=" + matchID(1), nil, cursor},
		{ListEventsFunction, "/app/events?cursor=" + show + "&year=2025", nil, cursor},
		{ListEventsFunction, "/app/events?year=26", nil, refusal{422, "invalid", "query.year"}},
		{ListEventsFunction, "/app/events?limit=0", nil, refusal{422, "invalid", "query.limit"}},
		{ListEventsFunction, "/app/events?limit=101", nil, refusal{422, "invalid", "query.limit"}},
		{ListEventsFunction, "/app/events?color=red", nil, refusal{422, "invalid", "query.color"}},
		{GetEventFunction, appEvent(none), nil, noEvent},
		{GetEventFunction, appEvent(long), nil, refusal{422, "invalid", "path.eventId"}},
		{GetResultsFunction, appEvent(none) + "/results", nil, noEvent},
		{GetResultsFunction, appEvent(show) + "/results", nil, refusal{409, "event_not_scored", ""}},
		{GetResultsFunction, appEvent(lockedShow) + "/results", nil, refusal{409, "event_not_scored", ""}},
		{GetResultsFunction, appEvent(scoredShow) + "/results?cursor=eve", nil, cursor},
		{GetResultsFunction, appEvent(scoredShow) + "/results?limit=501", nil, refusal{422, "invalid", "query.limit"}},
		{GetStandingsFunction, "/app/standings/26", nil, refusal{422, "invalid", "path.year"}},
		{GetStandingsFunction, "/app/standings/2026?cursor=eve", nil, cursor},
		{GetStandingsFunction, "/app/standings/2025?cursor=ann", nil, cursor},
		{GetStandingsFunction, "/app/standings/2026?limit=501", nil, refusal{422, "invalid", "query.limit"}},
		{ListCorrectionsFunction, appEvent(none) + "/corrections", nil, noEvent},
		{ListCorrectionsFunction, appEvent(scoredShow) + "/corrections?cursor=ann", nil, cursor},
		{ListCorrectionsFunction, appEvent(scoredShow) + "/corrections?limit=101", nil, refusal{422, "invalid", "query.limit"}},
		{GetUserFunction, "/app/users/eve", nil, refusal{404, "user_not_found", ""}},
		{UpdateMeFunction, "/app/me", `{"name":""}`, refusal{422, "invalid", "body.name"}},
		{UpdateMeFunction, "/app/me", `{"name":" Ann"}`, refusal{422, "invalid", "body.name"}},
		{UpdateMeFunction, "/app/me", map[string]any{"name": long[:41]}, refusal{422, "invalid", "body.name"}},
		{UpdateMeFunction, "/app/me", `{"name":"Ann","email":"x"}`, refusal{422, "invalid", "body.email"}},

		{PutPredictionsFunction, appEvent(none) + "/predictions", picks(matchID(1), 0), noEvent},
		{PutPredictionsFunction, appEvent(lockedShow) + "/predictions", picks(matchID(1), 0), locked},
		{PutPredictionsFunction, appEvent(scoredShow) + "/predictions", picks(matchID(1), 0), locked},
		{PutPredictionsFunction, appEvent(show) + "/predictions", picks(matchID(4), 0), refusal{422, "unknown_match", "body.predictions"}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", picks("x", 0), refusal{422, "unknown_match", "body.predictions"}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", picks(matchID(1), 2), refusal{422, "invalid_team", "body.predictions." + matchID(1)}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", picks(matchID(1), -1), refusal{422, "invalid_team", "body.predictions." + matchID(1)}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", picks(matchID(1), "0"), refusal{422, "invalid", "body.predictions." + matchID(1)}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", picks(matchID(1), 0.5), refusal{422, "invalid", "body.predictions." + matchID(1)}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", `{"predictions":null}`, refusal{422, "invalid", "body.predictions"}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", `{`, refusal{400, "bad_request", "body"}},
		{PutPredictionsFunction, appEvent(show) + "/predictions", nil, refusal{400, "bad_request", ""}},
		{DeletePredictionsFunction, appEvent(none) + "/predictions", nil, noEvent},
		{DeletePredictionsFunction, appEvent(lockedShow) + "/predictions", nil, locked},
		{DeletePredictionsFunction, appEvent(scoredShow) + "/predictions", nil, locked},

		{InviteUserFunction, "/admin/users", `{"name":"Dan","email":"dan"}`, refusal{422, "invalid", "body.email"}},
		{InviteUserFunction, "/admin/users", `{"name":"","email":"dan@example.com"}`, refusal{422, "invalid", "body.name"}},
		{CreateEventFunction, "/admin/events", announcement("name", " "), refusal{422, "invalid", "body.name"}},
		{CreateEventFunction, "/admin/events", announcement("slug", "Clash"), refusal{422, "invalid", "body.slug"}},
		{CreateEventFunction, "/admin/events", announcement("slug", "clash-"), refusal{422, "invalid", "body.slug"}},
		{CreateEventFunction, "/admin/events", announcement("slug", long[:49]), refusal{422, "invalid", "body.slug"}},
		{CreateEventFunction, "/admin/events", announcement("date", "2026-02-30"), refusal{422, "invalid", "body.date"}},
		{CreateEventFunction, "/admin/events", announcement("date", "2026-04-04"), refusal{400, "bad_request", "body.date"}},
		{CreateEventFunction, "/admin/events", announcement("startsAt", "tomorrow"), refusal{422, "invalid", "body.startsAt"}},
		{CreateEventFunction, "/admin/events", announcement("date", "1999-04-01", "startsAt", "1999-04-01T18:00:00Z"), refusal{400, "bad_request", "body.startsAt"}},
		{CreateEventFunction, "/admin/events", announcement("date", "3000-04-01", "startsAt", "3000-04-01T18:00:00Z"), refusal{400, "bad_request", "body.startsAt"}},
		{CreateEventFunction, "/admin/events", announcement("lockAt", "2026-04-01T18:00:01Z"), refusal{400, "bad_request", "body.lockAt"}},
		{CreateEventFunction, "/admin/events", announcement("lockAt", "1999-12-31T23:59:59Z"), refusal{400, "bad_request", "body.lockAt"}},
		{CreateEventFunction, "/admin/events", announcement("bonus", 901), refusal{422, "invalid", "body.bonus"}},
		{CreateEventFunction, "/admin/events", announcement("date", "2026-03-08", "slug", "clash-of-tides", "startsAt", noon.AddDate(0, 0, 7)), refusal{409, "event_exists", ""}},
		{UpdateEventFunction, gone, `{}`, noEvent},
		{UpdateEventFunction, adminEvent(show), `{"state":"scored"}`, refusal{422, "invalid", "body.state"}},
		{UpdateEventFunction, adminEvent(show), `{"name":""}`, refusal{422, "invalid", "body.name"}},
		{UpdateEventFunction, adminEvent(show), `{"date":"2026-04-08"}`, refusal{400, "bad_request", "body.date"}},
		{UpdateEventFunction, adminEvent(show), `{"lockAt":"2026-04-08T00:00:00Z"}`, refusal{400, "bad_request", "body.lockAt"}},
		{UpdateEventFunction, adminEvent(show), `{"startsAt":"3026-04-08T00:00:00Z"}`, refusal{400, "bad_request", "body.startsAt"}},
		{UpdateEventFunction, adminEvent(show), `{"bonus":901}`, refusal{422, "invalid", "body.bonus"}},
		{UpdateEventFunction, adminEvent(full), `{"bonus":802}`, refusal{422, "card_overflow", "body.bonus"}}, // 198 + 802
		{DeleteEventFunction, gone, nil, noEvent},
		{DeleteEventFunction, adminEvent(scoredShow), nil, refusal{409, "event_scored", ""}},
		{AddMatchFunction, gone + "/matches", matchOf(4, 1), noEvent},
		{AddMatchFunction, adminEvent(lockedShow) + "/matches", matchOf(4, 1), locked},
		{AddMatchFunction, adminEvent(scoredShow) + "/matches", matchOf(4, 1), locked},
		{AddMatchFunction, adminEvent(show) + "/matches", matchOf(1, 11), refusal{409, "match_exists", ""}},
		{AddMatchFunction, adminEvent(show) + "/matches", matchOf(4, 0), refusal{422, "invalid", "body.points"}},
		{AddMatchFunction, adminEvent(show) + "/matches", matchOf(4, 1000), refusal{422, "invalid", "body.points"}},
		{AddMatchFunction, adminEvent(show) + "/matches", matchOf(4, 999-35+1), refusal{422, "card_overflow", "body.points"}},
		{AddMatchFunction, adminEvent(full) + "/matches", matchOf(100, 1), refusal{422, "card_full", ""}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "name", " "), refusal{422, "invalid", "body.name"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "teams", nil), refusal{422, "invalid", "body.teams"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "teams", teams([]string{"a"})), refusal{422, "invalid", "body.teams"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "teams", teams([]string{"a"}, []string{})), refusal{422, "invalid", "body.teams[1].members"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "teams", teams([]string{"a"}, nil)), refusal{422, "invalid", "body.teams[1].members"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "teams", teams([]string{"a"}, []string{""})), refusal{422, "invalid", "body.teams[1].members[0]"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "teams", teams([]string{"a"}, []string{long})), refusal{422, "invalid", "body.teams[1].members[0]"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "championships", []string{""}), refusal{422, "invalid", "body.championships[0]"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "id", "4"), refusal{422, "invalid", "body.id"}},
		{AddMatchFunction, adminEvent(show) + "/matches", with(matchOf(4, 1), "id", "urn:uuid:"+matchID(4)), refusal{422, "invalid", "body.id"}},
		{UpdateMatchFunction, gone + "/matches/" + matchID(1), without(matchOf(1, 1), "id"), noEvent},
		{UpdateMatchFunction, adminMatch(show, 4), without(matchOf(4, 1), "id"), noMatch},
		{UpdateMatchFunction, adminMatch(show, 1), matchOf(1, 1), refusal{422, "invalid", "body.id"}},
		{UpdateMatchFunction, adminMatch(show, 1), without(matchOf(1, 999-25+1), "id"), refusal{422, "card_overflow", "body.points"}},
		{UpdateMatchFunction, adminMatch(lockedShow, 1), without(matchOf(2, 10), "id"), locked},
		{DeleteMatchFunction, gone + "/matches/" + matchID(1), nil, noEvent},
		{DeleteMatchFunction, adminMatch(show, 4), nil, noMatch},
		{DeleteMatchFunction, adminMatch(lockedShow, 1), nil, locked},
		{OrderCardFunction, gone + "/card", orderOf(1), noEvent},
		{OrderCardFunction, adminEvent(show) + "/card", orderOf(), refusal{422, "invalid", "body.matchIds"}},
		{OrderCardFunction, adminEvent(show) + "/card", orderOf(1, 2), refusal{422, "not_the_card", "body.matchIds"}},
		{OrderCardFunction, adminEvent(show) + "/card", orderOf(1, 2, 2), refusal{422, "not_the_card", "body.matchIds"}},
		{OrderCardFunction, adminEvent(show) + "/card", orderOf(1, 2, 4), refusal{422, "not_the_card", "body.matchIds"}},
		{OrderCardFunction, adminEvent(show) + "/card", orderOf(1, 2, 3, 3), refusal{422, "not_the_card", "body.matchIds"}},
		{PutResultFunction, gone + "/matches/" + matchID(1) + "/result", `{"result":0}`, noEvent},
		{PutResultFunction, adminMatch(lockedShow, 3) + "/result", `{"result":0}`, noMatch},
		{PutResultFunction, adminEvent(lockedShow) + "/matches/" + upper + "/result", `{"result":0}`, noMatch},
		{PutResultFunction, adminMatch(show, 1) + "/result", `{"result":0}`, refusal{409, "event_upcoming", ""}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":2}`, refusal{422, "invalid_team", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":-1}`, refusal{422, "invalid", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":null}`, refusal{422, "invalid", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":"0"}`, refusal{422, "invalid", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":"draw"}`, refusal{422, "invalid", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":true}`, refusal{422, "invalid", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":1.5}`, refusal{422, "invalid", "body.result"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":1.0}`, refusal{422, "invalid", "body"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{"result":-0}`, refusal{422, "invalid", "body"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", `{}`, refusal{422, "invalid", "body"}},
		{PutResultFunction, adminMatch(lockedShow, 1) + "/result", map[string]any{"result": 0, "reason": strings.Repeat("x", 201)}, refusal{422, "invalid", "body.reason"}},
		{RequestScoreFunction, gone + "/score", nil, noEvent},
		{RequestScoreFunction, adminEvent(show) + "/score", nil, refusal{409, "event_upcoming", ""}},
		{RequestScoreFunction, adminEvent(lockedShow) + "/score", nil, refusal{409, "results_missing", ""}},
		{ListEntriesFunction, gone + "/entries", nil, noEvent},
		{ListEntriesFunction, adminEvent(show) + "/entries?cursor=eve", nil, cursor},
		{ListEntriesFunction, adminEvent(show) + "/entries?limit=1001", nil, refusal{422, "invalid", "query.limit"}},
	} {
		user := "ann"
		if c.fn.On.(spec.Route).Auth == spec.Admin {
			user = testkit.Administrator
		}
		if out := w.ask(c.fn, c.target, user, c.body); refusalOf(out) != c.want {
			t.Errorf("%s %s %v: %d %s, want %v", c.fn.Name, c.target, c.body, out.StatusCode, out.Body, c.want)
		}
	}
	if after := w.rows(); !reflect.DeepEqual(after, before) {
		t.Errorf("refused, they have changed the table:\n%v\nwas\n%v", after, before)
	}
}

func without(m map[string]any, key string) map[string]any {
	m = maps.Clone(m)
	delete(m, key)
	return m
}

// orderOf is a card in an order, by the numbers of its matches.
func orderOf(matches ...int) map[string]any {
	ids := []string{}
	for _, n := range matches {
		ids = append(ids, matchID(n))
	}
	return map[string]any{"matchIds": ids}
}

// TestAuthorization calls every route of the room as nobody, as bob, as an
// administrator, who is no member, and as ann, whose things they are. Who may is
// asked of the spec, which the gateway goes by, and of the function, which does not
// rely on it.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	type row struct {
		fn             spec.Function
		target         string
		body           any
		auth           spec.Auth
		ann, bob, root int
	}
	members := func(fn spec.Function, target string, body any, ann, bob, root int) row {
		return row{fn, target, body, spec.User, ann, bob, root}
	}
	admins := func(fn spec.Function, target string, body any, root int) row {
		return row{fn, target, body, spec.Admin, 403, 403, root}
	}
	cases := []row{
		members(ListEventsFunction, "/app/events", nil, 200, 200, 200),
		members(GetEventFunction, appEvent(show), nil, 200, 200, 200),
		members(GetResultsFunction, appEvent(scoredShow)+"/results", nil, 200, 200, 200),
		members(GetStandingsFunction, "/app/standings/2026", nil, 200, 200, 200),
		members(ListCorrectionsFunction, appEvent(scoredShow)+"/corrections", nil, 200, 200, 200),
		members(GetMeFunction, "/app/me", nil, 200, 200, 404),
		members(GetUserFunction, "/app/users/ann", nil, 200, 200, 200),
		members(UpdateMeFunction, "/app/me", `{"name":"Zoe"}`, 200, 200, 200),
		members(PutPredictionsFunction, appEvent(show)+"/predictions", map[string]any{"predictions": map[string]int{matchID(1): 1}}, 200, 200, 403),
		members(DeletePredictionsFunction, appEvent(show)+"/predictions", nil, 204, 204, 204),
		members(RegisterDeviceFunction, "/app/devices/"+tokenOf("green"), nil, 200, 200, 403),
		members(DeleteDeviceFunction, "/app/devices/"+tokenOf("red"), nil, 204, 404, 404),
		members(CreateLeagueFunction, "/app/leagues", `{"name":"Pier"}`, 201, 201, 403),
		members(ListLeaguesFunction, "/app/leagues", nil, 200, 200, 200),
		members(JoinLeagueFunction, "/app/leagues/join", `{"code":"TEST1234"}`, 200, 200, 403),
		members(GetLeagueFunction, "/app/leagues/harbour", nil, 200, 404, 404),
		members(GetLeagueStandingsFunction, "/app/leagues/harbour/standings/2026", nil, 200, 404, 404),
		members(LeaveLeagueFunction, "/app/leagues/harbour/members/ann", nil, 204, 404, 404),
		members(RenewCodeFunction, "/app/leagues/harbour/code", nil, 200, 404, 404),
		members(DeleteLeagueFunction, "/app/leagues/harbour", nil, 204, 404, 404),
		admins(DeleteUserFunction, "/admin/users/bob", nil, 204),
		admins(InviteUserFunction, "/admin/users", `{"name":"Dan","email":"dan@example.com"}`, 201),
		admins(CreateEventFunction, "/admin/events", `{"name":"Tides","date":"2026-04-01","slug":"tides","startsAt":"2026-04-01T18:00:00Z"}`, 201),
		admins(UpdateEventFunction, adminEvent(show), `{"name":"Tides"}`, 200),
		admins(DeleteEventFunction, adminEvent(show), nil, 204),
		admins(AddMatchFunction, adminEvent(show)+"/matches", matchOf(4, 1), 201),
		admins(UpdateMatchFunction, adminMatch(show, 1), without(matchOf(9, 1), "id"), 200),
		admins(DeleteMatchFunction, adminMatch(show, 1), nil, 204),
		admins(OrderCardFunction, adminEvent(show)+"/card", orderOf(3, 2, 1), 200),
		admins(PutResultFunction, adminMatch(lockedShow, 1)+"/result", `{"result":0}`, 200),
		admins(RequestScoreFunction, adminEvent(scoredShow)+"/score", nil, 202),
		admins(ListEntriesFunction, adminEvent(show)+"/entries", nil, 200),
		{GetHealthFunction, "/health", nil, spec.Public, 200, 200, 200},
	}
	tried := 0
	for _, fn := range Room.Functions {
		route, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}
		i := slices.IndexFunc(cases, func(c row) bool { return c.fn.Name == fn.Name })
		if i < 0 {
			t.Errorf("who may call %s is not said here", fn.Name)
			continue
		}
		tried++
		c := cases[i]
		if route.Auth != c.auth {
			t.Errorf("%s is open to %q by the spec, want %q", fn.Name, route.Auth, c.auth)
		}
		t.Run(fn.Name, func(t *testing.T) {
			t.Parallel()
			w := season(t)
			w.withAccounts()
			w.phone("red", "ann")
			w.harbour("ann")
			nobody := 401
			if c.auth == spec.Public {
				nobody = 200
			}
			for _, caller := range []struct {
				user   string
				status int
			}{{"", nobody}, {"bob", c.bob}, {testkit.Administrator, c.root}, {"ann", c.ann}} {
				was := w.rows()
				out := w.ask(c.fn, c.target, caller.user, c.body)
				if out.StatusCode != caller.status {
					t.Errorf("%q is answered with %d %s, want %d", caller.user, out.StatusCode, out.Body, caller.status)
				}
				if out.StatusCode >= 400 {
					if err := testkit.Blames(out, caller.status, ""); err != nil {
						t.Error(err)
					}
				}
				if cache := testkit.Header(out).Get("Cache-Control"); out.StatusCode < 300 && cache != httpapi.NoStore && cache != shortly {
					t.Errorf("%q is told to cache as %q", caller.user, cache)
				}
				if caller.user != "ann" && strings.Contains(out.Body, fmt.Sprint(secret)) {
					t.Errorf("%q is shown ann's pick: %s", caller.user, out.Body)
				}
				is := w.rows()
				for key := range maps.Keys(was) {
					mine := strings.HasPrefix(key, ofUser(caller.user)+" ") || strings.HasPrefix(key, devicePrefix) ||
						strings.HasPrefix(key, "LEAGUE#harbour ") || strings.HasPrefix(key, "CODE#TEST1234 ")
					mayChange := caller.status < 300 && (mine || c.auth == spec.Admin)
					if !mayChange && !reflect.DeepEqual(is[key], was[key]) {
						t.Errorf("%q has changed %s to %v", caller.user, key, is[key])
					}
				}
				if caller.status >= 300 && len(is) != len(was) {
					t.Errorf("%q has added to the table", caller.user)
				}
			}
		})
	}
	if len(cases) != tried {
		t.Errorf("%d routes are tried, of %d", len(cases), tried)
	}
}

// harbour is a league of a member's, known by that id and by TEST1234.
func (w *world) harbour(owner string) {
	w.T.Helper()
	l := league{
		row: row{PK: ofLeague("harbour"), SK: leagueSK, GSIPK: ofLeague("harbour"), GSISK: leagueSK, Type: leagueType},
		ID:  "harbour", Name: "Harbour", OwnerID: owner, Code: "TEST1234", Members: 1,
	}
	testkit.Put(w.World, table, l)
	testkit.Put(w.World, table, newInvitation(l.Code, l.ID))
	testkit.Put(w.World, table, membership{
		row:      row{PK: ofUser(owner), SK: ofLeague(l.ID), GSIPK: ofLeague(l.ID), GSISK: memberIn(owner), Type: membershipType},
		LeagueID: l.ID, LeagueName: l.Name, BelongsTo: ofUser(owner), Name: owner, JoinedAt: stamp(noon),
	})
	testkit.Put(w.World, table, seat{row{PK: ofLeague(l.ID), SK: memberIn(owner), Type: seatType}, owner, stamp(noon)})
}
