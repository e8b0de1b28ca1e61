package pickem_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
	"matchday/pkg/spec"
)

// TestInvalidRequestsAreRefused: the problem has a code and the invalid field, and nothing
// changes.
func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)

	const full = "2026-03-09-full"

	w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 8), "full", 0)
	w.AddMatches(full, item.MaxMatches)

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

	noEvent, locked := pickemtest.Refusal{Status: 404, Code: "event_not_found", Field: ""}, pickemtest.Refusal{
		Status: 409,
		Code:   "event_locked",
		Field:  "",
	}
	noMatch, cursor := pickemtest.Refusal{Status: 404, Code: "match_not_found", Field: ""}, pickemtest.Refusal{
		Status: 400,
		Code:   "bad_cursor",
		Field:  "query.cursor",
	}
	long := strings.Repeat("x", 65)
	before := w.Rows()

	for _, c := range []struct {
		fn     app.Function
		target string
		body   any
		want   pickemtest.Refusal
	}{
		{event.ListEventsFunction(), "/app/events?cursor=x", nil, cursor},
		{event.ListEventsFunction(), "/app/events?cursor=" + pickemtest.MatchID(1), nil, cursor},
		{event.ListEventsFunction(), "/app/events?cursor=" + pickemtest.Show + "&year=2025", nil, cursor},
		{event.ListEventsFunction(), "/app/events?year=26", nil, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.year"}},
		{event.ListEventsFunction(), "/app/events?limit=0", nil, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.limit"}},
		{event.ListEventsFunction(), "/app/events?limit=101", nil, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.limit"}},
		{event.ListEventsFunction(), "/app/events?color=red", nil, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.color"}},
		{event.GetEventFunction(), pickemtest.AppEvent(none), nil, noEvent},
		{event.GetEventFunction(), pickemtest.AppEvent(long), nil, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "path.eventId"}},
		{event.GetResultsFunction(), pickemtest.AppEvent(none) + "/results", nil, noEvent},
		{event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/results", nil,
			pickemtest.Refusal{Status: 409, Code: "event_not_scored", Field: ""}},
		{event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.LockedShow) + "/results", nil,
			pickemtest.Refusal{Status: 409, Code: "event_not_scored", Field: ""}},
		{event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow) + "/results?cursor=eve", nil, cursor},
		{event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow) + "/results?limit=51", nil,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.limit"}},
		{league.GetStandingsFunction(), "/app/standings/26", nil, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "path.year"}},
		{league.GetStandingsFunction(), "/app/standings/2026?cursor=eve", nil, cursor},
		{league.GetStandingsFunction(), "/app/standings/2025?cursor=ann", nil, cursor},
		{league.GetStandingsFunction(), "/app/standings/2026?limit=51", nil,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.limit"}},
		{event.ListCorrectionsFunction(), pickemtest.AppEvent(none) + "/corrections", nil, noEvent},
		{event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow) + "/corrections?cursor=ann", nil, cursor},
		{event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow) + "/corrections?limit=101", nil,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.limit"}},
		{member.GetUserFunction(), "/app/users/eve", nil, pickemtest.Refusal{Status: 404, Code: "user_not_found", Field: ""}},
		{member.UpdateMeFunction(), "/app/me", `{"name":""}`, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{member.UpdateMeFunction(), "/app/me", `{"name":"A\u202enn"}`, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{member.UpdateMeFunction(), "/app/me", map[string]any{"name": long[:41]},
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{member.UpdateMeFunction(), "/app/me", `{"name":"Ann","email":"x"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.email"}},

		{event.PutPredictionsFunction(), pickemtest.AppEvent(none) + "/predictions", picks(pickemtest.MatchID(1), "t1"), noEvent},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.LockedShow) + "/predictions", picks(pickemtest.MatchID(1), "t1"), locked},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow) + "/predictions", picks(pickemtest.MatchID(1), "t1"), locked},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", picks(pickemtest.MatchID(4), "t1"),
			pickemtest.Refusal{Status: 422, Code: "unknown_match", Field: "body.predictions"}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", picks("x", "t1"),
			pickemtest.Refusal{Status: 422, Code: "unknown_match", Field: "body.predictions"}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", picks(pickemtest.MatchID(1), "t3"),
			pickemtest.Refusal{Status: 422, Code: "invalid_team", Field: "body.predictions." + pickemtest.MatchID(1)}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", picks(pickemtest.MatchID(1), ""),
			pickemtest.Refusal{Status: 422, Code: "invalid_team", Field: "body.predictions." + pickemtest.MatchID(1)}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":"void","reason":"\u202eevil"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.reason"}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", `{"predictions":{},"cardRev":-1}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.cardRev"}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", picks(pickemtest.MatchID(1), nil),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.predictions." + pickemtest.MatchID(1)}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", picks(pickemtest.MatchID(1), 0.5),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.predictions." + pickemtest.MatchID(1)}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", `{"predictions":null}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.predictions"}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", `{`,
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body"}},
		{event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show) + "/predictions", nil,
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body"}},
		{event.DeletePredictionsFunction(), pickemtest.AppEvent(none) + "/predictions", nil, noEvent},
		{event.DeletePredictionsFunction(), pickemtest.AppEvent(pickemtest.LockedShow) + "/predictions", nil, locked},
		{event.DeletePredictionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow) + "/predictions", nil, locked},

		{member.InviteUserFunction(), "/admin/users", `{"name":"Dan","email":"dan"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.email"}},
		{member.InviteUserFunction(), "/admin/users", `{"name":"","email":"dan@example.com"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{event.CreateEventFunction(), "/admin/events", announcement("name", " "),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{event.CreateEventFunction(), "/admin/events", announcement("slug", "Clash"),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.slug"}},
		{event.CreateEventFunction(), "/admin/events", announcement("slug", "clash-"),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.slug"}},
		{event.CreateEventFunction(), "/admin/events", announcement("slug", long[:49]),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.slug"}},
		{event.CreateEventFunction(), "/admin/events", announcement("date", "2026-02-30"),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.date"}},
		{event.CreateEventFunction(), "/admin/events", announcement("date", "2026-04-04"),
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.date"}},
		{event.CreateEventFunction(), "/admin/events", announcement("startsAt", "tomorrow"),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.startsAt"}},
		{event.CreateEventFunction(), "/admin/events", announcement("date", "1999-04-01", "startsAt", "1999-04-01T18:00:00Z"),
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.startsAt"}},
		{event.CreateEventFunction(), "/admin/events", announcement("date", "3000-04-01", "startsAt", "3000-04-01T18:00:00Z"),
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.startsAt"}},
		{event.CreateEventFunction(), "/admin/events", announcement("lockAt", "2026-04-01T18:00:01Z"),
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.lockAt"}},
		{event.CreateEventFunction(), "/admin/events", announcement("lockAt", "1999-12-31T23:59:59Z"),
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.lockAt"}},
		{event.CreateEventFunction(), "/admin/events", announcement("bonus", 901),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.bonus"}},
		{event.CreateEventFunction(), "/admin/events",
			announcement("date", "2026-03-08", "slug", "clash-of-tides", "startsAt", pickemtest.Noon.AddDate(0, 0, 7)),
			pickemtest.Refusal{Status: 409, Code: "event_exists", Field: ""}},
		{event.UpdateEventFunction(), gone, `{}`, noEvent},
		{event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"state":"scored"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.state"}},
		{event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"name":""}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"date":"2026-04-08"}`,
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.date"}},
		{event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"lockAt":"2026-04-08T00:00:00Z"}`,
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.lockAt"}},
		{event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"startsAt":"3026-04-08T00:00:00Z"}`,
			pickemtest.Refusal{Status: 400, Code: "bad_request", Field: "body.startsAt"}},
		{event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":901}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.bonus"}},
		// 198 + 802
		{event.UpdateEventFunction(), pickemtest.AdminEvent(full), `{"bonus":802}`,
			pickemtest.Refusal{Status: 422, Code: "card_overflow", Field: "body.bonus"}},
		{event.DeleteEventFunction(), gone, nil, noEvent},
		{event.DeleteEventFunction(), pickemtest.AdminEvent(pickemtest.ScoredShow), nil,
			pickemtest.Refusal{Status: 409, Code: "event_scored", Field: ""}},
		{event.AddMatchFunction(), gone + "/matches", pickemtest.MatchOf(4, 1), noEvent},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.LockedShow) + "/matches", pickemtest.MatchOf(4, 1), locked},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.ScoredShow) + "/matches", pickemtest.MatchOf(4, 1), locked},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", pickemtest.MatchOf(1, 11),
			pickemtest.Refusal{Status: 409, Code: "match_exists", Field: ""}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", pickemtest.MatchOf(4, 0),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.points"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", pickemtest.MatchOf(4, 1000),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.points"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", pickemtest.MatchOf(4, 999-35+1),
			pickemtest.Refusal{Status: 422, Code: "card_overflow", Field: "body.points"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(full) + "/matches", pickemtest.MatchOf(100, 1),
			pickemtest.Refusal{Status: 422, Code: "card_full", Field: ""}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", with(pickemtest.MatchOf(4, 1), "name", " "),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.name"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", with(pickemtest.MatchOf(4, 1), "teams", nil),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.teams"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "teams", teams([]string{"a"})), pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.teams"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "teams", teams([]string{"a"}, []string{})),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.teams[1].members"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "teams", teams([]string{"a"}, nil)),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.teams[1].members"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "teams", teams([]string{"a"}, []string{""})),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.teams[1].members[0]"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "teams", teams([]string{"a"}, []string{long})),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.teams[1].members[0]"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "championships", []string{""}),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.championships[0]"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches", with(pickemtest.MatchOf(4, 1), "id", "4"),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.id"}},
		{event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/matches",
			with(pickemtest.MatchOf(4, 1), "id", "urn:uuid:"+pickemtest.MatchID(4)),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.id"}},
		{event.UpdateMatchFunction(), gone + "/matches/" + pickemtest.MatchID(1), pickemtest.WithoutKey(pickemtest.MatchOf(1, 1), "id"), noEvent},
		{event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 4), pickemtest.WithoutKey(pickemtest.MatchOf(4, 1), "id"), noMatch},
		{event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.MatchOf(1, 1),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.id"}},
		{event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.WithoutKey(pickemtest.MatchOf(1, 999-25+1), "id"),
			pickemtest.Refusal{Status: 422, Code: "card_overflow", Field: "body.points"}},
		{event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1),
			pickemtest.WithoutKey(pickemtest.MatchOf(2, 10), "id"), locked},
		{event.DeleteMatchFunction(), gone + "/matches/" + pickemtest.MatchID(1), nil, noEvent},
		{event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 4), nil, noMatch},
		{event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1), nil, locked},
		{event.OrderCardFunction(), gone + "/card", pickemtest.OrderOf(1), noEvent},
		{event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/card", pickemtest.OrderOf(),
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.matchIds"}},
		{event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/card", pickemtest.OrderOf(1, 2),
			pickemtest.Refusal{Status: 422, Code: "not_the_card", Field: "body.matchIds"}},
		{event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/card", pickemtest.OrderOf(1, 2, 2),
			pickemtest.Refusal{Status: 422, Code: "not_the_card", Field: "body.matchIds"}},
		{event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/card", pickemtest.OrderOf(1, 2, 4),
			pickemtest.Refusal{Status: 422, Code: "not_the_card", Field: "body.matchIds"}},
		{event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/card", pickemtest.OrderOf(1, 2, 3, 3),
			pickemtest.Refusal{Status: 422, Code: "not_the_card", Field: "body.matchIds"}},
		{event.PutResultFunction(), gone + "/matches/" + pickemtest.MatchID(1) + "/result", `{"result":0}`, noEvent},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 3) + "/result", `{"result":0}`, noMatch},
		{event.PutResultFunction(), pickemtest.AdminEvent(pickemtest.LockedShow) + "/matches/" + upper + "/result", `{"result":0}`, noMatch},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.Show, 1) + "/result", `{"result":0}`,
			pickemtest.Refusal{Status: 409, Code: "event_upcoming", Field: ""}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":2}`,
			pickemtest.Refusal{Status: 422, Code: "invalid_team", Field: "body.result"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":-1}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.result"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":"0"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.result"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":"draw"}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.result"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":true}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.result"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{"result":1.5}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.result"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result", `{}`,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body"}},
		{event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1) + "/result",
			map[string]any{"result": 0, "reason": strings.Repeat("x", 201)}, pickemtest.Refusal{Status: 422, Code: "invalid", Field: "body.reason"}},
		{event.RequestScoreFunction(), gone + "/score", nil, noEvent},
		{event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/score", nil,
			pickemtest.Refusal{Status: 409, Code: "event_upcoming", Field: ""}},
		{event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.LockedShow) + "/score", nil,
			pickemtest.Refusal{Status: 409, Code: "results_missing", Field: ""}},
		{event.ListEntriesFunction(), gone + "/entries", nil, noEvent},
		{event.ListEntriesFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/entries?cursor=eve", nil, cursor},
		{event.ListEntriesFunction(), pickemtest.AdminEvent(pickemtest.Show) + "/entries?limit=1001", nil,
			pickemtest.Refusal{Status: 422, Code: "invalid", Field: "query.limit"}},
	} {
		user := "ann"
		if c.fn.On.(spec.Route).Auth == spec.Admin {
			user = testkit.Administrator
		}

		if out := w.Ask(c.fn, c.target, user, c.body); pickemtest.RefusalOf(out) != c.want {
			t.Errorf("%s %s %v: %d %s, want %v", c.fn.Name, c.target, c.body, out.StatusCode, out.Body, c.want)
		}
	}

	if after := w.Rows(); !reflect.DeepEqual(after, before) {
		t.Errorf("rows changed by refused requests (-was +is):\n%s", cmp.Diff(before, after))
	}
}

// A routeCase is a request to a route, in the world of newRouteWorld, with its status for
// ann, bob and the administrator.
type routeCase struct {
	fn             app.Function
	target         string
	body           any
	auth           spec.Auth
	ann, bob, root int
}

// routeCases returns a request to every route of the room.
func routeCases() []routeCase {
	members := func(fn app.Function, target string, body any, ann, bob, root int) routeCase {
		return routeCase{fn, target, body, spec.User, ann, bob, root}
	}
	admins := func(fn app.Function, target string, body any, root int) routeCase {
		return routeCase{fn, target, body, spec.Admin, 403, 403, root}
	}

	return []routeCase{
		members(event.ListEventsFunction(), "/app/events", nil, 200, 200, 403),
		members(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), nil, 200, 200, 403),
		members(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/results", nil, 200, 200, 403),
		members(league.GetStandingsFunction(), "/app/standings/2026", nil, 200, 200, 403),
		members(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.ScoredShow)+"/corrections", nil, 200, 200, 403),
		members(member.GetMeFunction(), "/app/me", nil, 200, 200, 403),
		members(member.GetUserFunction(), "/app/users/ann", nil, 200, 200, 403),
		members(member.UpdateMeFunction(), "/app/me", `{"name":"Zoe"}`, 200, 200, 403),
		members(event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/predictions",
			map[string]any{"predictions": pickemtest.PicksOf(1)}, 200, 200, 403),
		members(event.DeletePredictionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/predictions", nil, 204, 204, 204),
		members(notice.RegisterDeviceFunction(), "/app/devices", map[string]string{"deviceToken": pickemtest.TokenOf("green")}, 201, 201, 403),
		members(notice.DeleteDeviceFunction(), "/app/devices/"+pickemtest.DeviceID("red"), nil, 204, 404, 404),
		members(league.CreateLeagueFunction(), "/app/leagues", `{"name":"Pier"}`, 201, 201, 403),
		members(league.ListLeaguesFunction(), "/app/leagues", nil, 200, 200, 200),
		members(league.JoinLeagueFunction(), "/app/leagues/join", `{"code":"TEST1234"}`, 200, 200, 403),
		members(league.GetLeagueFunction(), "/app/leagues/harbour", nil, 200, 404, 404),
		members(league.GetLeagueStandingsFunction(), "/app/leagues/harbour/standings/2026", nil, 200, 404, 404),
		members(league.GetLeagueResultsFunction(), "/app/leagues/harbour/events/"+pickemtest.ScoredShow, nil, 200, 404, 404),
		members(league.LeaveLeagueFunction(), "/app/leagues/harbour/members/ann", nil, 204, 404, 404),
		members(league.RenewCodeFunction(), "/app/leagues/harbour/code", nil, 200, 404, 404),
		members(league.DeleteLeagueFunction(), "/app/leagues/harbour", nil, 204, 404, 404),
		admins(userdata.DeleteUserFunction(), "/admin/users/bob", nil, 204),
		admins(member.ListUsersFunction(), "/admin/users", nil, 200),
		admins(member.InviteUserFunction(), "/admin/users", `{"name":"Dan","email":"dan@example.com"}`, 201),
		admins(event.CreateEventFunction(), "/admin/events",
			`{"name":"Tides","date":"2026-04-01","slug":"tides","startsAt":"2026-04-01T18:00:00Z"}`, 201),
		admins(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"name":"Tides"}`, 200),
		admins(event.DeleteEventFunction(), pickemtest.AdminEvent(pickemtest.Show), nil, 204),
		admins(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(4, 1), 201),
		admins(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1),
			pickemtest.WithoutKey(pickemtest.MatchOf(9, 1), "id"), 200),
		admins(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), nil, 204),
		admins(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2, 1), 200),
		admins(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.LockedShow, 1)+"/result", `{"result":0}`, 200),
		admins(event.ImportFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/import",
			`{"kind":"card","dryRun":true,"text":"name,points,teams\nTag,5,Ann;Bob\n"}`, 200),
		admins(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.ScoredShow)+"/score", nil, 202),
		admins(event.ListEntriesFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/entries", nil, 200),
		{event.GetHealthFunction(), "/health", nil, spec.Public, 200, 200, 200},
	}
}

// newRouteWorld returns a world with rows for every route. Ann owns them.
func newRouteWorld(t *testing.T) *pickemtest.Room {
	w := pickemtest.NewSeason(t)
	w.WithUserPool()
	w.RegisterPhone("red", "ann")
	addHarbourLeague(w, "ann")

	return w
}

// TestAuthorization calls every route without a user, as bob, as an administrator who is not
// a member, and as ann, who owns the items. It checks the authorization of the spec, which
// the gateway enforces, and that of the function.
func TestAuthorization(t *testing.T) {
	t.Parallel()

	cases := routeCases()
	tried := 0

	for _, fn := range pickem.Room().Functions {
		route, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}

		i := slices.IndexFunc(cases, func(c routeCase) bool { return c.fn.Name == fn.Name })
		if i < 0 {
			t.Errorf("%s has no case in this test", fn.Name)
			continue
		}

		tried++

		c := cases[i]
		if route.Auth != c.auth {
			t.Errorf("the spec of %s has the authorization %q, want %q", fn.Name, route.Auth, c.auth)
		}

		t.Run(fn.Name, func(t *testing.T) {
			t.Parallel()
			w := newRouteWorld(t)

			nobody := 401
			if c.auth == spec.Public {
				nobody = 200
			}

			for _, caller := range []struct {
				user   string
				status int
			}{{"", nobody}, {"bob", c.bob}, {testkit.Administrator, c.root}, {"ann", c.ann}} {
				was := w.Rows()

				out := w.Ask(c.fn, c.target, caller.user, c.body)
				if out.StatusCode != caller.status {
					t.Errorf("user %q: %d %s, want %d", caller.user, out.StatusCode, out.Body, caller.status)
				}

				if out.StatusCode >= 400 {
					if err := testkit.CheckProblemField(out, caller.status, ""); err != nil {
						t.Error(err)
					}
				}

				kept := httpapi.NoStore
				if fn.Name == event.ListEventsFunction().Name {
					kept = "private, max-age=60"
				}

				if cache := testkit.Header(out).Get("Cache-Control"); out.StatusCode < 300 && cache != kept {
					t.Errorf("user %q: Cache-Control %q, want %q", caller.user, cache, kept)
				}

				if caller.user != "ann" && pickemtest.HasSecretPick.MatchString(out.Body) {
					t.Errorf("user %q: the answer has ann's pick: %s", caller.user, out.Body)
				}

				is := w.Rows()

				for key := range maps.Keys(was) {
					mine := strings.HasPrefix(key, item.UserRef(caller.user)+" ") || strings.HasPrefix(key, "DEVICE#") ||
						strings.HasPrefix(key, "LEAGUE#harbour ") || strings.HasPrefix(key, "CODE#TEST1234 ") ||
						c.fn.Name == member.UpdateMeFunction().Name && strings.HasPrefix(key, "RANKING#")

					mayChange := caller.status < 300 && (mine || c.auth == spec.Admin)
					if !mayChange && !reflect.DeepEqual(is[key], was[key]) {
						t.Errorf("user %q has changed %s (-was +is):\n%s", caller.user, key, cmp.Diff(was[key], is[key]))
					}
				}

				if caller.status >= 300 && len(is) != len(was) {
					t.Errorf("user %q has added or deleted rows: %d, want %d", caller.user, len(is), len(was))
				}
			}
		})
	}

	if len(cases) != tried {
		t.Errorf("%d cases for %d routes", len(cases), tried)
	}
}

// TestFailedCallIsReported: no answer hides that a read or a write has failed.
func TestFailedCallIsReported(t *testing.T) {
	t.Parallel()

	cases := append(routeCases(), routeCase{fn: league.LeaveLeagueFunction(), target: "/app/leagues/harbour/members/bob", auth: spec.User})
	for _, c := range cases {
		if len(c.fn.Uses) == 0 {
			continue
		}

		t.Run(c.fn.Name+" "+c.target, func(t *testing.T) {
			t.Parallel()
			w := newRouteWorld(t)
			w.JoinLeague(league.League{Code: "TEST1234"}, "bob")

			user := "ann"
			if c.auth == spec.Admin {
				user = testkit.Administrator
			}

			dynamotest.CheckFailures(t, &w.IO, func() error { return testkit.Failed(w.Ask(c.fn, c.target, user, c.body)) })
		})
	}
}

// addHarbourLeague stores a league of a member, with the id harbour and the code TEST1234.
func addHarbourLeague(w *pickemtest.Room, owner string) {
	w.T.Helper()

	l := item.League{
		Row: item.Row{PK: item.LeagueRef("harbour"), SK: "LEAGUE", Type: item.LeagueType},
		ID:  "harbour", Name: "Harbour", OwnerID: owner, Code: "TEST1234", Members: 1,
	}
	testkit.PutRows(w.World, tables.Pickem, l)
	testkit.PutRows(w.World, tables.Pickem, map[string]any{"PK": "CODE#" + l.Code, "SK": "CODE", "type": "code", "leagueId": l.ID})
	m := item.Membership{
		Row:      item.Row{PK: item.UserRef(owner), SK: item.LeagueRef(l.ID), Type: item.MembershipType},
		LeagueID: l.ID, LeagueName: l.Name, BelongsTo: item.UserRef(owner), JoinedAt: item.FormatTime(pickemtest.Noon),
	}
	testkit.PutRows(w.World, tables.Pickem, m, m.Seat(owner))
}
