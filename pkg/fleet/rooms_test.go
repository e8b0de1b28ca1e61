package fleet

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// places are the folders that have one folder for each room, with the names of other folders
// that they have.
var places = map[string][]string{
	"pkg":         {"fleet", "kit", "spec"},
	"functions":   nil,
	"events":      nil,
	"infra/rooms": {"all"},
}

// reviewed are the files of a room's package in which a change of its promises and permissions is
// reviewed.
var reviewed = []string{"testdata/contract.golden", "testdata/grants.golden"}

// missing returns a sentence for each place that a room lacks, and for each folder of a place
// that is of no room.
func missing(tree fs.FS, rooms []string) (sentences []string, err error) {
	for place, others := range places {
		entries, err := fs.ReadDir(tree, place)
		if err != nil {
			return nil, err
		}

		var folders []string

		for _, e := range entries {
			if e.IsDir() {
				folders = append(folders, e.Name())
			}
		}

		for _, room := range rooms {
			if !slices.Contains(folders, room) {
				sentences = append(sentences, fmt.Sprintf("the room %s lacks the folder %s", room, path.Join(place, room)))
			}
		}

		for _, name := range folders {
			if !slices.Contains(rooms, name) && !slices.Contains(others, name) {
				sentence := fmt.Sprintf("%s is of no room: add %s.Room() to the list in pkg/fleet/fleet.go", path.Join(place, name), name)
				sentences = append(sentences, sentence)
			}
		}
	}

	for _, room := range rooms {
		for _, file := range reviewed {
			if name := path.Join("pkg", room, file); !exists(tree, name) {
				const how = "the room %s lacks the file %s: UPDATE=1 go test ./pkg/%[1]s ./template-tests -run 'TestContract|TestGrants'"
				sentences = append(sentences, fmt.Sprintf(how, room, name))
			}
		}
	}

	slices.Sort(sentences)

	return sentences, nil
}

func exists(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, name)
	return err == nil
}

// TestEveryRoomIsInEachPlace compares the folders with the list.
func TestEveryRoomIsInEachPlace(t *testing.T) {
	t.Parallel()

	wrong, err := missing(os.DirFS(root), rooms)
	if err != nil {
		t.Fatal(err)
	}

	for _, sentence := range wrong {
		t.Error(sentence)
	}
}

// TestMissing: the sentence names the place and what to add.
func TestMissing(t *testing.T) {
	t.Parallel()

	tree := fstest.MapFS{
		"pkg/chess/doc.go": {}, "pkg/chess/testdata/contract.golden": {}, "pkg/kit/kit.go": {}, "pkg/go/doc.go": {},
		"functions/chess/move/main.go": {}, "functions/go/play/main.go": {},
		"events/chess/move.json": {}, "events/README.md": {},
		"infra/rooms/all/all.go": {}, "infra/rooms/rooms.go": {},
	}

	got, err := missing(tree, []string{"chess"})
	if err != nil {
		t.Fatal(err)
	}

	want := []string{
		"functions/go is of no room: add go.Room() to the list in pkg/fleet/fleet.go",
		"pkg/go is of no room: add go.Room() to the list in pkg/fleet/fleet.go",
		"the room chess lacks the file pkg/chess/testdata/grants.golden: UPDATE=1 go test ./pkg/chess ./template-tests -run " +
			"'TestContract|TestGrants'",
		"the room chess lacks the folder infra/rooms/chess",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is missing (-want +got):\n%s", diff)
	}
}
