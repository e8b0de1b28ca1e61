package pickem

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// pool is a user pool as account.go sees it: it answers three calls of Cognito's
// API, https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference.
// The subject of an address is the name in it.
type pool struct {
	mu       sync.Mutex
	accounts map[string]string // addresses by subject
	mails    []string          // to whom it wrote
	broken   bool              // it answers nothing
}

// withAccounts adds a user pool to a world, with accounts of these subjects.
func (w *world) withAccounts(subjects ...string) *pool {
	p := &pool{accounts: map[string]string{}}
	for _, s := range subjects {
		p.accounts[s] = s + "@example.com"
	}
	w.Users = p
	return p
}

func (p *pool) subjects() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.accounts))
}

func (p *pool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var in struct{ UserPoolID, Username string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.UserPoolID != "local" || p.broken {
		refuse(w, "InvalidParameterException")
		return
	}
	subject := ""
	for s, address := range p.accounts {
		if in.Username == s || in.Username == address {
			subject = s
		}
	}
	type attribute struct{ Name, Value string }
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case operation == "AdminCreateUser" && subject != "":
		refuse(w, "UsernameExistsException")
	case operation == "AdminCreateUser":
		subject, _, _ = strings.Cut(in.Username, "@")
		p.accounts[subject] = in.Username
		p.mails = append(p.mails, in.Username)
		json.NewEncoder(w).Encode(map[string]any{"User": map[string]any{"Username": subject, "Attributes": []attribute{{"email", in.Username}, {"sub", subject}}}})
	case subject == "":
		refuse(w, "UserNotFoundException")
	case operation == "AdminGetUser":
		json.NewEncoder(w).Encode(map[string]any{"Username": subject, "UserAttributes": []attribute{{"sub", subject}}})
	case operation == "AdminDeleteUser":
		delete(p.accounts, subject)
		json.NewEncoder(w).Encode(map[string]any{})
	}
}

func refuse(w http.ResponseWriter, kind string) {
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": "no"})
}

// busy is a world in which ann has done everything that a member can do, and two
// others keep her company.
func busy(t *testing.T) (*world, *pool) {
	w := newWorld(t)
	p := w.withAccounts("ann", "bob", "cat")
	w.join("ann", "bob", "cat")
	w.phone("red", "ann")
	w.phone("blue", "ann")
	w.phone("green", "bob")
	office, family := w.founded("ann", "Office"), w.founded("bob", "Family")
	w.founded("ann", "Alone")
	w.entered(office, "bob", "cat")
	w.entered(family, "ann")
	w.played(1, "opening", map[string]int{"ann": 2, "bob": 1, "cat": 3})
	w.clash(1)
	w.pick("ann", show, 0)
	return w, p
}

func TestDeleteUser(t *testing.T) {
	t.Parallel()
	w, p := busy(t)
	gone := func(user string) events.APIGatewayV2HTTPResponse {
		return w.ask(DeleteUserFunction, "/admin/users/"+user, testkit.Administrator, "")
	}
	if out := gone("ann"); out.StatusCode != http.StatusNoContent {
		t.Fatalf("deleting ann: %d %s", out.StatusCode, out.Body)
	}
	if got, want := about(w.kept(), "ann"), []string{"USER#ann USER"}; !slices.Equal(got, want) {
		t.Errorf("of ann is kept %q, want %q", got, want)
	}
	left := testkit.Row[map[string]any](w.World, table, ofUser("ann"), userKey)
	if left["ttl"] != float64(w.Clock.Now().Add(keepDeleted).Unix()) || left["deletedAt"] != stamp(w.Clock.Now()) || left["name"] != nil {
		t.Errorf("the mark is %v", left)
	}
	if got, want := p.subjects(), []string{"bob", "cat"}; !slices.Equal(got, want) {
		t.Errorf("the accounts are %q, want %q", got, want)
	}
	if got := append(w.registered("red", "blue", "green"), w.says("Office"), w.says("Family"), w.says("Alone")); !slices.Equal(got, []string{
		"green of bob", "LEAGUE#Office LEAGUE LEAGUE#Office LEAGUE bob 2", "LEAGUE#Family LEAGUE LEAGUE#Family LEAGUE bob 1", "",
	}) {
		t.Errorf("there are %q", got)
	}

	// A token of ann's that is still valid brings nothing back.
	l := testkit.Decode[League](w.World, w.ask(CreateLeagueFunction, "/app/leagues", "bob", `{"name":"New"}`))
	for name, c := range map[string]struct {
		out    events.APIGatewayV2HTTPResponse
		status int
		code   string
	}{
		"says a name": {w.ask(UpdateMeFunction, "/app/me", "ann", `{"name":"Ann"}`), 404, "user_not_found"},
		"looks":       {w.ask(GetMeFunction, "/app/me", "ann", ""), 404, "user_not_found"},
		"picks":       {w.ask(PutPredictionsFunction, "/app/events/"+show+"/predictions", "ann", `{"predictions":{}}`), 403, "not_a_member"},
		"joins":       {w.enters("ann", l.Code), 403, "not_a_member"},
		"founds":      {w.ask(CreateLeagueFunction, "/app/leagues", "ann", `{"name":"Back"}`), 403, "not_a_member"},
		"registers":   {w.ask(RegisterDeviceFunction, "/app/devices/"+tokenOf("red"), "ann", ""), 403, "not_a_member"},
	} {
		if err := testkit.Refuses(c.out, c.status, c.code); err != nil {
			t.Errorf("ann %s: %v", name, err)
		}
	}
	if got := about(w.kept(), "ann"); len(got) != 1 {
		t.Errorf("ann is back: %q", got)
	}
	w.lock(show)
	w.results(show, 0)
	w.score(show)
	if got := about(w.kept(), "ann"); len(got) != 1 {
		t.Errorf("a scoring brings ann back: %q", got)
	}

	for user, status := range map[string]int{"ann": 204, "stranger": 404} {
		if out := gone(user); out.StatusCode != status || status == 404 && testkit.Refuses(out, 404, "user_not_found") != nil {
			t.Errorf("deleting %s: %d %s", user, out.StatusCode, out.Body)
		}
	}
	testkit.Must(t, w.Drop(table, ofUser("ann"), userKey)) // as its ttl does
	if err := testkit.Refuses(gone("ann"), 404, "user_not_found"); err != nil {
		t.Errorf("deleting ann, who is forgotten: %v", err)
	}
}

// TestDeleteAccount removes an account of nobody, who could become a member.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.withAccounts("dan")
	if out := w.ask(DeleteUserFunction, "/admin/users/dan", testkit.Administrator, ""); out.StatusCode != http.StatusNoContent || len(p.subjects()) != 0 {
		t.Errorf("deleting dan: %d %s, the accounts are %q", out.StatusCode, out.Body, p.subjects())
	}
	if err := testkit.Refuses(w.ask(UpdateMeFunction, "/app/me", "dan", `{"name":"Dan"}`), 404, "user_not_found"); err != nil {
		t.Errorf("dan says a name: %v", err)
	}
	p.broken = true
	for _, user := range []string{"dan", "stranger"} {
		if out := w.ask(DeleteUserFunction, "/admin/users/"+user, testkit.Administrator, ""); out.StatusCode != 500 {
			t.Errorf("without Cognito %s: %d %s", user, out.StatusCode, out.Body)
		}
	}
}

// TestDeletedMeanwhile deletes a member who is being scored.
func TestDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w, _ := busy(t)
	w.lock(show)
	w.results(show, 0)
	w.admin(RequestScoreFunction, "/admin/events/"+show+"/score", "")
	env := before(w.Env(ScoreEventFunction), "TransactWriteItems", 1, func() {
		w.ask(DeleteUserFunction, "/admin/users/ann", testkit.Administrator, "")
	})
	testkit.Must(t, testkit.OpenWith(w.World, env, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{EventID: show}))
	if got, want := about(w.kept(), "ann"), []string{"USER#ann USER"}; !slices.Equal(got, want) {
		t.Errorf("of ann is kept %q, want %q", got, want)
	}
}

// TestBusyToTheEnd has a member go on until the moment of being marked as deleted.
func TestBusyToTheEnd(t *testing.T) {
	t.Parallel()
	w, _ := busy(t)
	l := w.founded("bob", "New")
	other := w.announce(noon.AddDate(0, 0, 8), "second", 1)
	env := before(w.Env(DeleteUserFunction), "UpdateItem", 1, func() {
		w.entered(l, "ann")
		w.pick("ann", other, 0)
	})
	_, err := testkit.OpenWith(w.World, env, OpenMembers).DeleteUser(w.Ctx(), &DeleteUser{ID: "ann"})
	testkit.Must(t, err)
	if got, want := about(w.kept(), "ann"), []string{"USER#ann USER"}; !slices.Equal(got, want) {
		t.Errorf("of ann is kept %q, want %q", got, want)
	}
	if got, want := w.says("New"), "LEAGUE#New LEAGUE LEAGUE#New LEAGUE bob 1"; got != want {
		t.Errorf("the league is %q, want %q", got, want)
	}
}

// TestDeleteOwnerOfEnded finishes the end of a league that its owner has left half
// done.
func TestDeleteOwnerOfEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withAccounts("ann")
	w.join("ann", "bob")
	l := w.founded("ann", "Office")
	w.entered(l, "bob")
	w.halfEnded(l, "ann")
	w.ask(DeleteUserFunction, "/admin/users/ann", testkit.Administrator, "")
	if got := append(about(w.kept(), l.LeagueID), about(w.kept(), "Office")...); len(got) != 0 {
		t.Errorf("of the league is left %q", got)
	}
}

func TestDeleteUserCrashes(t *testing.T) {
	t.Parallel()
	type outcome struct{ Kept, Accounts []string }
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w, accounts := busy(t)
		in := &DeleteUser{ID: "ann"}
		testkit.OpenWith(w.World, w.Crashing(DeleteUserFunction, p), OpenMembers).DeleteUser(w.Ctx(), in)
		w.To(w.Clock.Now().Add(time.Minute))
		if _, err := testkit.Open(w.World, DeleteUserFunction, OpenMembers).DeleteUser(w.Ctx(), in); err != nil {
			t.Error(err)
		}
		return outcome{w.kept(), accounts.subjects()}
	})
}
