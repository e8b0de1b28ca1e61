package spec_test

import (
	"fmt"
	"time"

	"matchday/pkg/spec"
)

// A room is described by values: its tables with the ways to access them, and its
// functions with what each uses. All else follows from them.
func Example() {
	players := spec.Table{Name: "club-players", Key: spec.Key{Partition: "club", Sort: "number"}}
	squad := players.On("Get squad", "club = :club", spec.Rate{Driver: spec.Request}, spec.Query)
	sign := players.On("Sign player", "club, number, absent", spec.Rate{Driver: spec.UserAction}, spec.PutItem)
	signings := spec.Metric{Name: "Signings", Unit: spec.Count}

	room := spec.Room{Name: "club", Functions: []spec.Function{
		{
			Name: "club/get-squad", Does: "The players of a club.", IfDown: "Club pages do not open.",
			On:   spec.Route{Method: "GET", Path: "/clubs/{id}", Auth: spec.Public},
			Uses: []spec.Access{squad}, Memory: 256, Timeout: 5 * time.Second,
		},
		{
			Name: "club/sign-player", Does: "Adds a player to a club.", IfDown: "Nobody can be signed.",
			On:   spec.Queue{Name: "club-signings", MaxReceiveCount: 5, Batch: 1, Concurrency: 2},
			Uses: []spec.Access{squad, sign}, Emits: []spec.Metric{signings}, Memory: 256, Timeout: 10 * time.Second,
		},
	}}
	for _, a := range room.Access() {
		fmt.Printf("%s, %v\n", a.ID(), a.Rate)
	}

	for _, f := range room.Functions {
		fmt.Println(f.Name, "may", f.Grants()[0].Ops)
	}
	// Output:
	// club-players: Get squad, per request
	// club-players: Sign player, per user action
	// club/get-squad may [Query]
	// club/sign-player may [PutItem Query]
}
