package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// writeTypeScript writes the entries of the rooms.
func writeTypeScript(out string, all []contract) error {
	for _, c := range all {
		if err := write(filepath.Join(out, "src", "rooms", c.Room+".ts"), typescript(c)); err != nil {
			return err
		}
	}

	return nil
}

// typescript returns the entry of a room. openapi-typescript writes the types beside it, ROOM.types.ts.
func typescript(c contract) string {
	var keyed, removing []string

	for _, o := range c.Operations {
		line := fmt.Sprintf("  %q,\n", o.Method+" "+o.Path)

		if o.Keyed {
			keyed = append(keyed, line)
		}

		if o.Method == "DELETE" && o.Answer == nil {
			removing = append(removing, line)
		}
	}

	var codes []string
	for _, code := range c.Codes {
		codes = append(codes, fmt.Sprintf("  | %q\n", code))
	}

	return `import { connect as open, type Client, type Options } from "../client.js";
import type { components, paths } from "./` + c.Room + `.types.js";

export type { components, operations, paths } from "./` + c.Room + `.types.js";

/** The objects of the contract, by name. */
export type Schemas = components["schemas"];

/** The codes of the problems that the operations may answer today. More may come. */
export type Code =
` + strings.Join(codes, "") + `  | (string & {});

const keyed: ReadonlySet<string> = new Set([
` + strings.Join(keyed, "") + `]);

const removing: ReadonlySet<string> = new Set([
` + strings.Join(removing, "") + `]);

/** connect returns a client of ` + c.Room + `. */
export const connect = (options: Options): Client<paths> => open<paths>(options, keyed, removing);
`
}
