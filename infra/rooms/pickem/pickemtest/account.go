package pickemtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// UserPool simulates a user pool with three operations of Cognito's API,
// https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference. The subject
// of an account is the local part of its address.
type UserPool struct {
	mu       sync.Mutex
	accounts map[string]string // addresses by subject
	Mails    []string          // the addresses of its mails
	Broken   bool              // it refuses every request
}

// WithUserPool adds a user pool with accounts of these subjects.
func (w *Room) WithUserPool(subjects ...string) *UserPool {
	p := &UserPool{accounts: map[string]string{}}
	for _, s := range subjects {
		p.accounts[s] = s + "@example.com"
	}
	w.Users = p
	return p
}

// Subjects returns the subjects of the accounts, sorted.
func (p *UserPool) Subjects() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.accounts))
}

func (p *UserPool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var in struct{ UserPoolID, Username string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.UserPoolID != "local" || p.Broken {
		RefuseCognito(w, "InvalidParameterException")
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
		RefuseCognito(w, "UsernameExistsException")
	case operation == "AdminCreateUser":
		subject, _, _ = strings.Cut(in.Username, "@")
		p.accounts[subject] = in.Username
		p.Mails = append(p.Mails, in.Username)
		json.NewEncoder(w).Encode(map[string]any{"User": map[string]any{"Username": subject, "Attributes": []attribute{{"email", in.Username}, {"sub", subject}}}})
	case subject == "":
		RefuseCognito(w, "UserNotFoundException")
	case operation == "AdminGetUser":
		json.NewEncoder(w).Encode(map[string]any{"Username": subject, "UserAttributes": []attribute{{"sub", subject}}})
	case operation == "AdminDeleteUser":
		delete(p.accounts, subject)
		json.NewEncoder(w).Encode(map[string]any{})
	}
}

// RefuseCognito writes an error answer of Cognito.
func RefuseCognito(w http.ResponseWriter, kind string) {
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": "no"})
}

// NewBusy returns a room in which ann has items of every kind that a member can have, and
// bob and cat share her leagues.
func NewBusy(t *testing.T) (*Room, *UserPool) {
	w := New(t)
	p := w.WithUserPool("ann", "bob", "cat")
	w.AddMembers("ann", "bob", "cat")
	w.RegisterPhone("red", "ann")
	w.RegisterPhone("blue", "ann")
	w.RegisterPhone("green", "bob")
	office, family := w.CreateLeague("ann", "Office"), w.CreateLeague("bob", "Family")
	w.CreateLeague("ann", "Alone")
	w.JoinLeague(office, "bob", "cat")
	w.JoinLeague(family, "ann")
	w.PlayEvent(1, "opening", map[string]int{"ann": 2, "bob": 1, "cat": 3})
	w.CreateShow(1)
	w.Pick("ann", Show, 0)
	return w, p
}
