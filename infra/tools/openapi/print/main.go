// Command print writes the OpenAPI description of each room to a folder,
// <room>.json, from the binaries of its functions: print BIN FOLDER. It fails if a
// description or an example is missing.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"matchday/infra/tools/openapi"
	"matchday/pkg/fleet"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: print BIN FOLDER: the folder of the binaries, and the folder to write to")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(bin, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, room := range fleet.Rooms() {
		description, err := openapi.Room(context.Background(), bin, room)
		if err != nil {
			return err
		}
		missing, err := openapi.Missing(description, room)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("the OpenAPI document of %s lacks:\n%s", room.Name, strings.Join(missing, "\n"))
		}
		if err := os.WriteFile(filepath.Join(folder, room.Name+".json"), description, 0o644); err != nil {
			return err
		}
	}
	return nil
}
