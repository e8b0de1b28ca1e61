// Command clients writes the package with which apps call the APIs to a folder: clients LANGUAGE FOLDER. It takes
// what is written by hand from clients/LANGUAGE, and generates the rest from the released contracts,
// pkg/<room>/testdata/openapi.json. The version of the package is the latest of clients/CHANGELOG.md.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"matchday/pkg/fleet"
)

func main() {
	if len(os.Args) != 3 || packages[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: clients LANGUAGE FOLDER: one of %q, and the folder to write to\n", slices.Sorted(maps.Keys(packages)))
		os.Exit(2)
	}

	if err := run(".", os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// packages write what is generated of a package, by language.
var packages = map[string]func(out string, all []contract) error{"typescript": writeTypeScript, "kotlin": writeKotlin, "swift": writeSwift}

// run writes a package. root is the module's folder.
func run(root, language, out string) error {
	all, err := contracts(root)
	if err != nil {
		return err
	}

	changes, err := os.ReadFile(filepath.Join(root, "clients", changelog))
	if err != nil {
		return err
	}

	version, err := versionOf(all, string(changes))
	if err != nil {
		return err
	}

	if err := copyPackage(filepath.Join(root, "clients", language), out, version); err != nil {
		return err
	}

	if err := write(filepath.Join(out, changelog), string(changes)); err != nil {
		return err
	}

	if language == "swift" { // the types, samples and payloads of a Live Activity, which an app adds to its targets
		if err := copyPackage(filepath.Join(root, "clients", "ios"), filepath.Join(out, "ios"), version); err != nil {
			return err
		}
	}

	if err := packages[language](out, all); err != nil {
		return err
	}

	told, err := copyStories(root, filepath.Join(out, "story"), language, all)
	if err != nil || language != "kotlin" {
		return err
	}

	return write(filepath.Join(out, "story", "Stories.kt"), kotlinStories(told))
}

// contracts returns the released contracts of all rooms that have an API.
func contracts(root string) (all []contract, err error) {
	for _, room := range fleet.Specs() {
		c, err := read(room.Name, filepath.Join(root, "pkg", room.Name, "testdata", "openapi.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil {
			return nil, err
		}

		all = append(all, c)
	}

	return all, nil
}

// changelog says what has changed in each version of the packages, the latest first.
const changelog = "CHANGELOG.md"

var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// versionOf returns the version of the packages, the first heading of their changes. Its first number is the
// contracts', because a contract of the same version only grows.
func versionOf(all []contract, changes string) (string, error) {
	major := all[0].Version

	for _, c := range all {
		if c.Version != major {
			return "", fmt.Errorf("the contract of %s has the version %s, and that of %s %s", c.Room, c.Version, all[0].Room, major)
		}
	}

	first := heading.FindStringSubmatch(changes)
	if first == nil {
		return "", fmt.Errorf("%s has no version; valid: a heading ## %s.MINOR.PATCH", changelog, major)
	}

	var minor, patch uint
	if _, err := fmt.Sscanf(first[1], major+".%d.%d", &minor, &patch); err != nil || fmt.Sprintf("%s.%d.%d", major, minor, patch) != first[1] {
		return "", fmt.Errorf("invalid version %q in %s; valid: %s.MINOR.PATCH, because the contracts have the version %s",
			first[1], changelog, major, major)
	}

	return first[1], nil
}

// copyPackage copies what is written by hand of a package into an empty folder. The version 0.0.0 becomes
// that of the package.
func copyPackage(from, to, version string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}

	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}

		return write(filepath.Join(to, name), strings.ReplaceAll(string(b), "0.0.0", version))
	})
}

// stories are the files in infra/rooms/ROOM with the story of the room, by language.
var stories = map[string]string{"typescript": "story.ts", "kotlin": "story.kt"}

// copyStories copies the stories of the rooms, each under the name of its room, and returns the rooms.
func copyStories(root, to, language string, all []contract) (told []string, err error) {
	for _, c := range all {
		file := stories[language]

		b, err := os.ReadFile(filepath.Join(root, "infra", "rooms", c.Room, file))
		if file == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil {
			return nil, err
		}

		if err := write(filepath.Join(to, c.Room+filepath.Ext(file)), string(b)); err != nil {
			return nil, err
		}

		told = append(told, c.Room)
	}

	return told, nil
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}

	return os.WriteFile(path, []byte(text), 0o644)
}
