package pickemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/tables"
)

// CreateLeague creates a league of a member.
func (w *Room) CreateLeague(owner, name string) league.League {
	w.T.Helper()
	return testkit.Decode[league.League](w.World, w.Ask(league.CreateLeagueFunction(), "/app/leagues", owner, map[string]any{"name": name}))
}

// RequestJoin sends a member's request to join a league and returns the answer.
func (w *Room) RequestJoin(user, code string) events.APIGatewayV2HTTPResponse {
	return w.Ask(league.JoinLeagueFunction(), "/app/leagues/join", user, map[string]any{"code": code})
}

// JoinLeague adds members to a league.
func (w *Room) JoinLeague(l league.League, users ...string) {
	w.T.Helper()

	for _, u := range users {
		testkit.Decode[league.League](w.World, w.RequestJoin(u, l.Code))
	}
}

// LeaveLeague sends the request of by to remove a user from a league.
func (w *Room) LeaveLeague(l league.League, user, by string) events.APIGatewayV2HTTPResponse {
	return w.Ask(league.LeaveLeagueFunction(), "/app/leagues/"+l.LeagueID+"/members/"+user, by, "")
}

// PlayEvent creates and scores an event some days after Noon. right is the number of
// matches that each user has right, of three: 0, 10, 30 or 60 points.
func (w *Room) PlayEvent(days int, slug string, right map[string]int) (eventID string) {
	w.T.Helper()
	id := w.CreateEvent(Noon.AddDate(0, 0, days), slug, 3)

	for user, n := range right {
		teams := []int{1, 1, 1}
		for i := range n {
			teams[i] = 0
		}

		w.Pick(user, id, teams...)
	}

	w.LockEvent(id)
	w.EnterResults(id, 0, 0, 0)
	w.Score(id)

	return id
}

// Dump returns a line for each item: its keys, and the owner, members and points.
// Names replace the ids and codes of leagues.
func (w *Room) Dump() (all []string) {
	w.T.Helper()
	rows := testkit.Rows[map[string]any](w.World, tables.Pickem)
	names := []string{}

	for _, r := range rows {
		if r["type"] == item.LeagueType {
			names = append(names, r["id"].(string), r["name"].(string), r["code"].(string), r["name"].(string))
		}
	}

	for _, r := range rows {
		text := fmt.Sprint(r["PK"], " ", r["SK"])
		for _, attribute := range []string{"GSI_PK", "GSI_SK", "ownerId", "members", "points"} {
			if v, ok := r[attribute]; ok {
				text += fmt.Sprint(" ", v)
			}
		}

		all = append(all, strings.NewReplacer(names...).Replace(text))
	}

	slices.Sort(all)

	return all
}

// LinesWith returns the lines that contain a text.
func LinesWith(lines []string, what string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.Contains(l, what) })
}

// LeagueLine returns the line of Dump for a league, "" if there is none.
func (w *Room) LeagueLine(name string) string {
	w.T.Helper()

	for _, line := range w.Dump() {
		if strings.HasPrefix(line, "LEAGUE#"+name+" LEAGUE") {
			return line
		}
	}

	return ""
}

// InterruptBefore returns env with do run before each of the first n calls of an
// operation.
func InterruptBefore(env app.Env, operation string, n int64, do func()) app.Env {
	next := env.AWS.HTTPClient

	var calls atomic.Int64

	env.AWS.HTTPClient = Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) && calls.Add(1) <= n {
			do()
		}

		return next.Do(r)
	})

	return env
}

type Client func(*http.Request) (*http.Response, error)

func (f Client) Do(r *http.Request) (*http.Response, error) { return f(r) }

// EndLeagueHalfway deletes a league and stops after it is marked.
func (w *Room) EndLeagueHalfway(l league.League, owner string) {
	w.T.Helper()

	ctx, cancel := context.WithCancel(w.NewContext())
	defer cancel()

	env := InterruptBefore(w.Env(league.DeleteLeagueFunction()), "Query", 1, cancel)

	_, err := testkit.OpenWith(w.World, env, league.OpenLeagues).DeleteLeague(ctx,
		&league.DeleteLeague{User: auth.User{UserID: owner}, LeagueID: l.LeagueID})
	if !errors.Is(err, context.Canceled) {
		w.T.Fatalf("ending the league gave %v", err)
	}
}
