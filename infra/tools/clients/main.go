// Command clients writes the package with which apps call the APIs to a folder: clients LANGUAGE FOLDER VERSION. It
// takes what is written by hand from clients/LANGUAGE, and generates the rest from the released contracts,
// pkg/<room>/testdata/openapi.json. VERSION is that of the package; "" is the first of the contracts' version.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matchday/pkg/fleet"
)

func main() {
	if len(os.Args) != 4 || packages[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: clients LANGUAGE FOLDER VERSION: one of %q, the folder to write to, and the version of the package, "+
			"such as 1.2.0, or \"\"\n", slices.Sorted(maps.Keys(packages)))
		os.Exit(2)
	}

	if err := run(".", os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// packages write what is generated of a package, by language.
var packages = map[string]func(out string, all []contract) error{"typescript": writeTypeScript, "kotlin": writeKotlin, "swift": writeSwift}

// run writes a package. root is the module's folder.
func run(root, language, out, version string) error {
	all, err := contracts(root)
	if err != nil {
		return err
	}

	if version, err = versionOf(all, version); err != nil {
		return err
	}

	if err := copyPackage(filepath.Join(root, "clients", language), out, version); err != nil {
		return err
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

// versionOf checks the version of a package: its first number is the contracts', because a contract of the same
// version only grows.
func versionOf(all []contract, version string) (string, error) {
	major := all[0].Version

	for _, c := range all {
		if c.Version != major {
			return "", fmt.Errorf("the contract of %s has the version %s, and that of %s %s", c.Room, c.Version, all[0].Room, major)
		}
	}

	if version == "" {
		return major + ".0.0", nil
	}

	var minor, patch uint
	if _, err := fmt.Sscanf(version, major+".%d.%d", &minor, &patch); err != nil || fmt.Sprintf("%s.%d.%d", major, minor, patch) != version {
		return "", fmt.Errorf("invalid version %q of the package; valid: %s.MINOR.PATCH, because the contracts have the version %s", version, major, major)
	}

	return version, nil
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
