// Package fleet lists the rooms, and chooses those of a deployment or of a fleet on one machine.
package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"matchday/pkg/accounts"
	"matchday/pkg/bestshot"
	"matchday/pkg/commitcollect"
	"matchday/pkg/cricket"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
)

// list returns the rooms beside the accounts, in the order in which a newcomer should visit them.
func list() []app.Room {
	return []app.Room{
		cricket.Room(),
		pickem.Room(),
		commitcollect.Room(),
		threefc.Room(),
		bestshot.Room(),
	}
}

// Rooms returns all rooms, the accounts last.
func Rooms() []app.Room {
	all, _ := Choose("", "") // no name is unknown

	return all.Rooms
}

// Specs returns the specs of all rooms.
func Specs() []spec.Room { return specs(Rooms()) }

func specs(rooms []app.Room) (all []spec.Room) {
	for _, room := range rooms {
		all = append(all, room.Spec)
	}

	return all
}

// Choice is the rooms of a deployment, or of a fleet on one machine.
type Choice struct {
	Rooms []app.Room // in the order of the list
	// Left are the names of those whose stacks stay as they are: they are part of the stage, and
	// are not deployed.
	Left []string
}

// Choose returns the rooms with names, or without a name all but those to leave. The names are
// separated by commas or spaces. The accounts are among the rooms if one of them keeps data of
// users. An alarm of the first room watches Lambda's concurrency if no other room does. The error
// describes in one sentence which name is wrong, and which are valid.
func Choose(names, leave string) (Choice, error) {
	all := append(list(), accounts.Room())

	chosen, err := namesIn("ROOMS", names, all)
	if err != nil {
		return Choice{}, err
	}

	left, err := namesIn("LEAVE", leave, all)
	if err != nil {
		return Choice{}, err
	}

	for _, name := range left {
		if slices.Contains(chosen, name) {
			return Choice{}, fmt.Errorf("ROOMS and LEAVE both name %s: it is either deployed or left as it is", name)
		}
	}

	kept := slices.DeleteFunc(slices.Clone(all), func(room app.Room) bool {
		return chosen != nil && !slices.Contains(chosen, room.Spec.Name) && !slices.Contains(left, room.Spec.Name)
	})

	owner := all[len(all)-1].Spec.Name
	keepers := account.Keepers(specs(kept))

	switch {
	case len(keepers) > 0 && slices.Contains(left, owner):
		return Choice{}, fmt.Errorf("%s cannot be in LEAVE: it asks %s to delete data of users", owner, strings.Join(keepers, ", "))
	case len(kept) == len(left):
		return Choice{}, errors.New("LEAVE names all rooms: no room is deployed")
	}

	kept = slices.DeleteFunc(kept, func(room app.Room) bool { return room.Spec.Name == owner })
	if len(keepers) > 0 || chosen == nil || slices.Contains(chosen, owner) {
		kept = append(kept, accounts.Room(keepers...))
	}

	if !slices.ContainsFunc(kept, func(room app.Room) bool { return room.Spec.WatchesConcurrency }) {
		kept[0].Spec.WatchesConcurrency = true
	}

	return Choice{kept, left}, nil
}

// namesIn returns the names in the text of an option, each once. The error names one that is not
// the name of a room.
func namesIn(option, text string, rooms []app.Room) (names []string, err error) {
	var valid []string
	for _, room := range rooms {
		valid = append(valid, room.Spec.Name)
	}

	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(valid, name) {
			return nil, fmt.Errorf("unknown room %s in %s; valid rooms: %s", name, option, strings.Join(valid, ", "))
		}

		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	return names, nil
}

// Names returns the names of the rooms that are deployed.
func (c Choice) Names() (names []string) {
	for _, room := range c.Deployed() {
		names = append(names, room.Name)
	}

	return names
}

// Specs returns the specs of all rooms of the choice.
func (c Choice) Specs() []spec.Room { return specs(c.Rooms) }

// Deployed returns the specs of the rooms that are deployed.
func (c Choice) Deployed() []spec.Room {
	return slices.DeleteFunc(c.Specs(), func(room spec.Room) bool { return slices.Contains(c.Left, room.Name) })
}

// Own returns the settings of a deployment without those that only other rooms have: one file has
// the settings of all rooms of a stage, whichever of them are deployed.
func (c Choice) Own(settings map[string]string) map[string]string {
	own, tables := names(c.Deployed())
	all, allTables := names(Specs())

	settings = maps.Clone(settings)
	maps.DeleteFunc(settings, func(name, _ string) bool { return all[name] && !own[name] })

	if list := settings[restored]; list != "" {
		settings[restored] = strings.Join(slices.DeleteFunc(strings.Split(list, ","), func(entry string) bool {
			table, _, _ := strings.Cut(entry, ":")
			return allTables[table] && !tables[table]
		}), ",")
	}

	return settings
}

// restored is the setting with the restored tables: see spec.ParseRestored.
const restored = "restored"

// names returns the names of the settings and tables of rooms.
func names(rooms []spec.Room) (settings, tables map[string]bool) {
	settings, tables = map[string]bool{}, map[string]bool{}

	for _, room := range rooms {
		for _, s := range room.Settings {
			settings[s.Name] = true
		}

		for _, t := range room.Tables() {
			tables[t.Name] = true
		}
	}

	return settings, tables
}
