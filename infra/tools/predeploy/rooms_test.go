package main

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/dynamodb"
	"matchday/infra/stage"
	"matchday/pkg/fleet"
)

// TestRoomsOfADeployment: a deployment has the rooms that are named, or else those of the stage, or
// else all. A room of the stage is not left out without a word.
func TestRoomsOfADeployment(t *testing.T) {
	t.Parallel()

	all, err := fleet.Choose("", "")
	if err != nil {
		t.Fatal(err)
	}

	first, second, third, owner := all.Names()[0], all.Names()[1], all.Names()[2], all.Names()[len(all.Names())-1]
	list := func(names ...string) string { return strings.Join(names, ",") }
	refused := func(forgotten string, choice ...string) string {
		return fmt.Sprintf("the stage dev has %s, and ROOMS does not: deploy it with ROOMS=%s, or add LEAVE=%s, which leaves its stack as it "+
			"is, with its data", forgotten, list(choice...)+","+forgotten, forgotten)
	}

	more := func(has ...string) string {
		lacks := slices.DeleteFunc(all.Names(), func(name string) bool { return slices.Contains(has, name) })
		return fmt.Sprintf("the stage dev does not have %s: ROOMS=", list(lacks...))
	}

	type settings = map[string]string

	for name, c := range map[string]struct {
		last   settings // outputs of the shared stack
		stacks []string
		given  settings
		rooms  string
		left   []string
		notes  string
		fails  string
	}{
		"a new stage":                    {nil, nil, nil, list(all.Names()...), nil, "", ""},
		"a new stage of one room":        {nil, nil, settings{"rooms": first}, list(first, owner), nil, "", ""},
		"a stage from before the choice": {nil, all.Names(), nil, list(all.Names()...), nil, "", ""},
		"as before": {
			settings{stage.RoomsOutput: list(first, owner)}, []string{first, owner}, nil, list(first, owner), nil, more(first, owner), "",
		},
		"as before, of which one has failed": {
			settings{stage.RoomsOutput: list(first, second, owner)}, []string{first}, nil, list(first, second, owner), nil,
			more(first, second, owner), "",
		},
		"one more": {
			settings{stage.RoomsOutput: list(first, owner)}, []string{first, owner}, settings{"rooms": first + " " + second},
			list(first, second, owner), nil, "", "",
		},
		"one less": {
			settings{stage.RoomsOutput: list(first, second, owner)}, []string{first, second, owner}, settings{"rooms": first},
			"", nil, "", refused(second, first, owner),
		},
		"two less": {
			nil, []string{first, second, third, owner}, settings{"rooms": first}, "", nil, "", refused(list(second, third), first, owner),
		},
		"one less, which is left": {
			nil, []string{first, second, owner}, settings{"rooms": first, "leave": second}, list(first, owner), []string{second}, "", "",
		},
		"all but one": {
			settings{stage.RoomsOutput: list(first, second, owner)}, []string{first, second, owner}, settings{"leave": second},
			list(first, owner), []string{second}, more(first, second, owner), "",
		},
		"as before, with one that is left": {
			settings{stage.RoomsOutput: list(first, owner), stage.LeftOutput: second}, []string{first, second, owner}, nil,
			list(first, owner), []string{second}, more(first, second, owner), "",
		},
		"one that was left is deployed again": {
			settings{stage.RoomsOutput: list(first, owner), stage.LeftOutput: second}, []string{first, second, owner},
			settings{"rooms": list(first, second)}, list(first, second, owner), nil, "", "",
		},
		"one that was left, and is not any more": {
			settings{stage.RoomsOutput: list(first, owner), stage.LeftOutput: second}, []string{first, second, owner}, settings{"leave": ""},
			"", nil, "", refused(second, first, owner),
		},
		"one that was left, and is deleted": {
			settings{stage.RoomsOutput: list(first, owner), stage.LeftOutput: second}, []string{first, owner}, nil, list(first, owner), nil,
			second + " has no stack in the stage dev, so there is nothing to leave\n" + more(first, owner), "",
		},
		"nothing but a room to leave": {
			settings{stage.RoomsOutput: first}, []string{first}, settings{"leave": first}, "", nil, "",
			"LEAVE names all rooms of the stage: no room is deployed",
		},
		"an unknown room": {nil, nil, settings{"rooms": "no-such-room"}, "", nil, "",
			"unknown room no-such-room in ROOMS; valid rooms: " + strings.Join(all.Names(), ", ")},
		"an unknown room to leave": {nil, nil, settings{"leave": "no-such-room"}, "", nil, "",
			"unknown room no-such-room in LEAVE; valid rooms: " + strings.Join(all.Names(), ", ")},
		"a room of another source": {settings{stage.RoomsOutput: list(first, "no-such-room")}, []string{first}, nil, "", nil, "",
			"unknown room no-such-room in ROOMS; valid rooms: " + strings.Join(all.Names(), ", ")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := cloud{
				stacks:  map[string]string{"matchday-dev-shared": "{}", "matchday-dev-" + third: "{}"},
				outputs: map[string]settings{"matchday-dev-shared": c.last},
				status:  map[string]string{"matchday-dev-" + third: "ROLLBACK_COMPLETE"}, // what its creation left
			}

			for _, name := range c.stacks {
				in.stacks["matchday-dev-"+name] = "{}"
				delete(in.status, "matchday-dev-"+name)
			}

			server := httptest.NewServer(in)
			t.Cleanup(server.Close)
			cfg := dynamodb.Config(server.URL)
			cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }

			given := settings{"stage": "dev"}
			maps.Copy(given, c.given)

			var notes strings.Builder

			got, err := open(cfg).choose(t.Context(), given, &notes)

			fails := ""
			if err != nil {
				fails = err.Error()
			}

			if diff := cmp.Diff(c.fails, fails); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}

			if diff := cmp.Diff(c.rooms, list(got.Names()...)); diff != "" {
				t.Errorf("deployed rooms (-want +got):\n%s", diff)
			}

			if !slices.Equal(c.left, got.Left) || !strings.HasPrefix(notes.String(), c.notes) || (c.notes == "") != (notes.String() == "") {
				t.Errorf("left are %q, with the notes %q; want %q and the beginning %q", got.Left, notes.String(), c.left, c.notes)
			}
		})
	}
}
