// Command print writes the OpenAPI description of each room to a folder,
// <room>.json: print FOLDER. It fails if a description or an example is missing.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"matchday/infra/tools/openapi"
	"matchday/pkg/fleet"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: print FOLDER: the folder to write to")
		os.Exit(2)
	}

	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}

	for _, room := range fleet.Rooms() {
		description, err := openapi.Room(room)
		if err != nil {
			return err
		}

		missing, err := openapi.Missing(description, room.Spec)
		if err != nil {
			return err
		}

		if len(missing) > 0 {
			return fmt.Errorf("the OpenAPI document of %s lacks:\n%s", room.Spec.Name, strings.Join(missing, "\n"))
		}

		var text bytes.Buffer
		if err := json.Indent(&text, description, "", "  "); err != nil {
			return err
		}

		text.WriteByte('\n')

		if err := os.WriteFile(filepath.Join(folder, room.Spec.Name+".json"), text.Bytes(), 0o644); err != nil {
			return err
		}
	}

	return nil
}
