package pickemtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// The ids of the other events of NewSeason.
const (
	LockedShow = "2026-03-01-high-tide"
	ScoredShow = "2026-03-01-low-tide"
)

// AppEvent returns the path of an event for members.
func AppEvent(id string) string { return "/app/events/" + id }

// AdminEvent returns the path of an event for administrators.
func AdminEvent(id string) string { return "/admin/events/" + id }

// AdminMatch returns the path of the n-th match of an event for administrators.
func AdminMatch(id string, n int) string {
	return AdminEvent(id) + "/matches/" + MatchID(n)
}

// SecretPick is ann's pick that no other member may see. The number appears nowhere
// else in NewSeason.
const SecretPick = 37

// HasSecretPick matches an answer with SecretPick: as a pick, or in a score.
var HasSecretPick = regexp.MustCompile(fmt.Sprintf(`"%s":"%s"|"pick":%d\b`, MatchID(3), TeamID(SecretPick), SecretPick))

// NewSeason returns a room with an event in each state: Show is open, and ann has
// picked SecretPick in its third match; LockedShow is locked and has no results;
// ScoredShow is scored. Ann, bob and cat are members with predictions of each.
func NewSeason(t testing.TB) *Room {
	t.Helper()
	w := New(t)

	played.once.Do(func() { played.rows = playSeason(w) })
	testkit.PutRows(w.World, tables.Pickem, played.rows...)
	w.MoveClock(Noon.Add(time.Hour))

	return w
}

// played holds the rows of NewSeason, which are made once for all tests.
var played struct {
	once sync.Once
	rows []map[string]any
}

func playSeason(w *Room) []map[string]any {
	w.AddMembers("ann", "bob", "cat")

	for _, slug := range []string{"high-tide", "low-tide"} {
		id := w.CreateEvent(Noon.Add(2*time.Hour), slug, 2)
		w.Pick("ann", id, 0, 0)
		w.Pick("bob", id, 1, 1)
		w.Pick("cat", id, 1)
	}

	w.CreateShow(2)
	w.MustAdmin(event.AddMatchFunction(), AdminEvent(Show)+"/matches", battleRoyal(3))
	w.Pick("ann", Show, 0, 0, SecretPick)
	w.Pick("bob", Show, 0, 1, 2)
	w.Pick("cat", Show)
	w.LockEvent(ScoredShow)
	w.EnterResults(ScoredShow, 0, 1)
	w.Score(ScoredShow)

	return testkit.Rows[map[string]any](w.World, tables.Pickem)
}

// AddMatches writes a card of n matches for an event without matches.
func (w *Room) AddMatches(eventID string, n int) {
	w.T.Helper()

	card := make([]item.Match, n)
	for i := range card {
		place, err := item.PlaceSK(i + 1)
		testkit.Must(w.T, err)

		card[i] = item.Match{
			Row: item.Row{
				PK:    item.EventRef(eventID),
				SK:    item.MatchSK(MatchID(i + 1)),
				GSIPK: item.EventRef(eventID),
				GSISK: place,
				Type:  item.MatchType,
			},
			ID:       MatchID(i + 1),
			Name:     fmt.Sprint("Match ", i+1),
			Points:   2,
			Teams:    []item.Team{{ID: TeamID(0), Members: []string{"a"}}, {ID: TeamID(1), Members: []string{"b"}}},
			LastTeam: 2,
		}
	}

	testkit.PutRows(w.World, tables.Pickem, card...)
}

// battleRoyal returns the body of add-match for a match of forty teams.
func battleRoyal(n int) map[string]any {
	m := MatchOf(n, 5)

	var teams []map[string]any
	for i := range 40 {
		teams = append(teams, map[string]any{"members": []string{strings.Repeat("x", i+1)}})
	}

	m["teams"] = teams

	return m
}

// Read decodes the answer to a user into body. Any status but 200 is fatal.
func (w *Room) Read(fn app.Function, target, user string, body any) {
	w.T.Helper()

	out := w.Ask(fn, target, user, "")
	if out.StatusCode != http.StatusOK {
		w.T.Fatalf("%s %s: %d %s", fn.Name, target, out.StatusCode, out.Body)
	}

	testkit.Must(w.T, json.Unmarshal([]byte(out.Body), body))
}

// Rows returns all items by key, without rev.
func (w *Room) Rows() map[string]map[string]any {
	w.T.Helper()

	all := map[string]map[string]any{}

	for _, r := range testkit.Rows[map[string]any](w.World, tables.Pickem) {
		delete(r, "rev")
		all[fmt.Sprint(r["PK"], " ", r["SK"])] = r
	}

	return all
}

// InterruptEach returns fn's environment, in which do runs before each call of an
// operation.
func (w *Room) InterruptEach(fn app.Function, operation string, do func()) app.Env {
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

// Refusal is the status, code and field of a problem document. For another answer it
// has the status only.
type Refusal struct {
	Status      int
	Code, Field string
}

// RefusalOf returns the refusal of an answer.
func RefusalOf(out events.APIGatewayV2HTTPResponse) Refusal {
	var p testkit.Problem
	if out.StatusCode < 400 || json.Unmarshal([]byte(out.Body), &p) != nil || p.Status != out.StatusCode {
		return Refusal{Status: out.StatusCode}
	}

	r := Refusal{Status: p.Status, Code: strings.TrimPrefix(p.Type, "urn:problem-type:matchday:")}
	if len(p.Errors) > 0 {
		r.Field = p.Errors[0].Location
	}

	return r
}

// CodeOf returns the code of a problem, "" for nil, or the text of another error.
func CodeOf(err error) string {
	if f, ok := errors.AsType[*problem.Error](err); ok {
		return f.Code
	}

	if err != nil {
		return err.Error()
	}

	return ""
}

// WithoutKey returns a copy of a map without a key.
func WithoutKey(m map[string]any, key string) map[string]any {
	m = maps.Clone(m)
	delete(m, key)

	return m
}

// OrderOf returns the body of order-card for matches by number.
func OrderOf(matches ...int) map[string]any {
	ids := []string{}
	for _, n := range matches {
		ids = append(ids, MatchID(n))
	}

	return map[string]any{"matchIds": ids}
}
