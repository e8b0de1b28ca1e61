package pickem

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// TestInvitations: an address is invited once, whatever breaks off in between.
func TestInvitations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool := w.withAccounts()
	pool.broken = true
	const dan = `{"name":"Dan","email":"dan@example.com"}`
	invite := func(body string) events.APIGatewayV2HTTPResponse {
		return w.ask(InviteUserFunction, "/admin/users", testkit.Administrator, body)
	}
	if got := refusalOf(invite(dan)); got.status != 500 {
		t.Errorf("Cognito fails, and the answer is %v", got)
	}
	pool.broken = false
	if out := invite(dan); out.StatusCode != 201 || !strings.Contains(out.Body, `{"userId":"dan","name":"Dan"}`) {
		t.Errorf("invited: %d %s", out.StatusCode, out.Body)
	}
	if got, want := refusalOf(invite(`{"name":"Daniel","email":"dan@example.com"}`)), (refusal{409, "user_exists", ""}); got != want {
		t.Errorf("invited again: %v", got)
	}
	testkit.Must(t, w.Drop(table, ofUser("dan"), userKey))
	if out := invite(dan); out.StatusCode != 201 {
		t.Errorf("an account without a member is invited: %d %s", out.StatusCode, out.Body)
	}
	gone := newPerson("dan", "")
	gone.DeletedAt = stamp(noon)
	testkit.Put(w.World, table, gone)
	if got, want := refusalOf(invite(dan)), (refusal{409, "user_removed", ""}); got != want {
		t.Errorf("who is being removed is invited: %v, want %v", got, want)
	}
	if got := testkit.Row[person](w.World, table, ofUser("dan"), userKey); got != gone {
		t.Errorf("the member is %+v", got)
	}
	if want := []string{"dan@example.com"}; !slices.Equal(pool.mails, want) {
		t.Errorf("mails went to %q, want %q", pool.mails, want)
	}
}

func TestInvitationCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := newWorld(t)
		w.withAccounts()
		ask := func(s *Members) {
			var in InviteUser
			in.Body.Name, in.Body.Email = "Dan", "dan@example.com"
			s.InviteUser(w.Ctx(), &in)
		}
		ask(testkit.OpenWith(w.World, w.Crashing(InviteUserFunction, p), OpenMembers))
		ask(testkit.Open(w.World, InviteUserFunction, OpenMembers))
		return w.rows()
	})
}

// TestOnUserConfirmed: who signs up is a member under the name that was given, once.
func TestOnUserConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := testkit.Open(w.World, OnUserConfirmedFunction, OpenMembers)
	confirm := func(attributes map[string]string) error {
		var e events.CognitoEventUserPoolsPostConfirmation
		e.UserName, e.Request.UserAttributes = "x", attributes
		back, err := s.OnUserConfirmed(w.Ctx(), e)
		if !reflect.DeepEqual(back, e) {
			t.Errorf("%v is answered with %v", e, back)
		}
		return err
	}
	for i, c := range []struct{ given, name string }{
		{"Dan", "Dan"}, {"  Dan  ", "Dan"}, {"Dan\nthe Man", "Dan the Man"}, {"", noName}, {" ", noName},
		{strings.Repeat("é", 40), strings.Repeat("é", 40)}, {strings.Repeat("é", 41), noName},
	} {
		id := fmt.Sprint("user-", i)
		testkit.Must(t, confirm(map[string]string{"sub": id, "name": c.given}))
		testkit.Must(t, confirm(map[string]string{"sub": id, "name": "Another"}))
		if got := testkit.Row[person](w.World, table, ofUser(id), userKey); got != newPerson(id, c.name) {
			t.Errorf("%q is the member %+v, want %q", c.given, got, c.name)
		}
	}
	gone := newPerson("gone", "")
	gone.DeletedAt = stamp(noon)
	testkit.Put(w.World, table, gone)
	testkit.Must(t, confirm(map[string]string{"sub": "gone"}))
	if got := testkit.Row[person](w.World, table, ofUser("gone"), userKey); got != gone {
		t.Errorf("who was deleted is %+v", got)
	}
	if confirm(map[string]string{"name": "Dan"}) == nil {
		t.Error("an event without a subject makes somebody a member")
	}
}

// TestUpdateMe: a new name shows wherever the old one did, and a name makes a
// member of who is none.
func TestUpdateMe(t *testing.T) {
	t.Parallel()
	w := season(t)
	rename := func(user, name string) string {
		return w.ask(UpdateMeFunction, "/app/me", user, map[string]string{"name": name}).Body
	}
	first := rename("ann", "Zoe")
	was := w.rows()
	if second := rename("ann", "Zoe"); second != first || !reflect.DeepEqual(w.rows(), was) {
		t.Errorf("the same name again: %s, at first %s", second, first)
	}
	for _, c := range []struct{ where, body string }{
		{"her profile", w.ask(GetMeFunction, "/app/me", "ann", "").Body},
		{"what others see of her", w.ask(GetUserFunction, "/app/users/ann", "bob", "").Body},
		{"the standings", w.ask(GetStandingsFunction, "/app/standings/2026", "bob", "").Body},
		{"the results", w.ask(GetResultsFunction, appEvent(scoredShow)+"/results", "bob", "").Body},
	} {
		if !strings.Contains(c.body, `"name":"Zoe"`) || strings.Contains(c.body, `"name":"ann"`) {
			t.Errorf("%s has the old name: %s", c.where, c.body)
		}
	}
	w.results(scoredShow, 1)
	w.work()
	if got := w.standings("2026")[2]; got.Name != "Zoe" {
		t.Errorf("scored again, the name is %s", got.Name)
	}
	testkit.Put(w.World, table, membership{row: row{PK: ofUser("ann"), SK: ofLeague("l"), Type: membershipType}, LeagueID: "l", BelongsTo: ofUser("ann"), Name: "Zoe"})
	if rename("ann", "Ann"); testkit.Row[membership](w.World, table, ofUser("ann"), ofLeague("l")).Name != "Ann" {
		t.Error("in a league she has the old name")
	}
	if rename("eve", "Eve"); testkit.Row[person](w.World, table, ofUser("eve"), userKey).Name != "Eve" {
		t.Error("a name makes no member")
	}
	w.pick("eve", show, 0)
	gone := newPerson("gone", "")
	gone.DeletedAt = stamp(noon)
	testkit.Put(w.World, table, gone)
	if got, want := refusalOf(w.ask(UpdateMeFunction, "/app/me", "gone", `{"name":"Gus"}`)), (refusal{404, "user_not_found", ""}); got != want {
		t.Errorf("who was deleted is answered with %v, want %v", got, want)
	}
}

func TestUpdateMeCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := season(t)
		ask := func(s *Members) {
			var in UpdateMe
			in.UserID, in.Body.Name = "ann", "Zoe"
			s.UpdateMe(w.Ctx(), &in)
		}
		ask(testkit.OpenWith(w.World, w.Crashing(UpdateMeFunction, p), OpenMembers))
		ask(testkit.Open(w.World, UpdateMeFunction, OpenMembers))
		return w.rows()
	})
}

// TestProfiles: everybody sees their own picks and what is not scored, and neither
// of others.
func TestProfiles(t *testing.T) {
	t.Parallel()
	w := season(t)
	testkit.Put(w.World, table, standing{
		row: row{PK: ofUser("ann"), SK: ofYear("2025"), GSIPK: ofYear("2025"), GSISK: "SCORE#00007#ann", Type: standingType}, BelongsTo: ofUser("ann"), Name: "ann", tally: tally{Points: 7, Correct: 1, Played: 1},
	}, standing{
		row: row{PK: ofUser("ann"), SK: inLeague("2026", "l"), GSIPK: tableOf("l", "2026"), GSISK: "SCORE#00010#ann", Type: standingType}, BelongsTo: ofUser("ann"), Name: "ann", tally: tally{Points: 10},
	})
	years := []YearPoints{{"2026", 10, 1, 1}, {"2025", 7, 1, 1}}
	scored := Played{EventID: scoredShow, Scored: true, Points: 10, Correct: 1}
	var mine, hers UserScreen
	w.see(GetMeFunction, "/app/me", "ann", &mine.Body)
	w.see(GetUserFunction, "/app/users/ann", "bob", &hers.Body)
	b := mine.Body
	if b.UserID != "ann" || b.Name != "ann" || !slices.Equal(b.Standings, years) || len(b.Events) != 3 {
		t.Errorf("ann sees of herself %+v", b)
	}
	for i, want := range []Played{
		{EventID: show, Predictions: map[string]int{matchID(1): 0, matchID(2): 0, matchID(3): secret}},
		{EventID: scoredShow, Scored: true, Points: 10, Correct: 1, Predictions: map[string]int{matchID(1): 0, matchID(2): 0}},
		{EventID: lockedShow, Predictions: map[string]int{matchID(1): 0, matchID(2): 0}},
	} {
		if got := b.Events[i]; !maps.Equal(got.Predictions, want.Predictions) || !reflect.DeepEqual(got, want) {
			t.Errorf("ann's event %d is %+v, want %+v", i, got, want)
		}
	}
	b = hers.Body
	if b.UserID != "ann" || !slices.Equal(b.Standings, years) || !reflect.DeepEqual(b.Events, []Played{scored}) {
		t.Errorf("bob sees of ann %+v", b)
	}
	var own UserScreen
	w.see(GetUserFunction, "/app/users/ann", "ann", &own.Body)
	if !reflect.DeepEqual(own, hers) {
		t.Errorf("what others see of ann is to her %+v", own)
	}
	w.join("new")
	if out := w.ask(GetMeFunction, "/app/me", "new", ""); !strings.Contains(out.Body, `"standings":[],"events":[]`) {
		t.Errorf("a new member is %s", out.Body)
	}
	gone := newPerson("gone", "")
	gone.DeletedAt = stamp(noon)
	testkit.Put(w.World, table, gone)
	for _, user := range []string{"eve", "gone"} {
		want := refusal{404, "user_not_found", ""}
		if me, them := refusalOf(w.ask(GetMeFunction, "/app/me", user, "")), refusalOf(w.ask(GetUserFunction, "/app/users/"+user, "ann", "")); me != want || them != want {
			t.Errorf("%s is answered with %v, and others with %v", user, me, them)
		}
	}
}
