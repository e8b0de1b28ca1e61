package pickemtest

import (
	"matchday/infra/testkit/pooltest"

	"encoding/json"
	"net/http"
	"testing"

	"matchday/infra/sim/cognito"
)

// WithUserPool adds an empty user pool.
func (w *Room) WithUserPool() *cognito.Pool {
	w.T.Helper()
	return pooltest.Attach(w.World, "http://pool/identity", "app")
}

// RefuseCall writes an error answer of an AWS service.
func RefuseCall(w http.ResponseWriter, kind string) {
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": "no"})
}

// NewBusy returns a room in which ann has items of every kind that a member can have, and
// bob and cat share her leagues.
func NewBusy(t *testing.T) *Room {
	w := New(t)
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

	return w
}
