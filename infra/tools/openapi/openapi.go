// Package openapi merges the OpenAPI documents of a room's functions. Each binary
// describes its own route, from the types that it decodes and encodes, so that the
// document cannot differ from the code.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"

	"matchday/pkg/spec"
)

// Room runs the binaries of a room, in the folder bin/<room>, and returns one OpenAPI
// 3.1 document. It returns an error if a binary fails, or if two describe the same
// route or different components of one name.
func Room(ctx context.Context, bin string, room spec.Room) ([]byte, error) {
	whole := document{Servers: []map[string]string{{"url": "/" + room.Name}}}
	for _, fn := range room.Functions {
		if _, ok := fn.On.(spec.Route); !ok {
			continue
		}
		out, err := exec.CommandContext(ctx, filepath.Join(bin, fn.Name), "openapi").Output()
		if err != nil {
			return nil, fmt.Errorf("%s does not describe its route: %w", fn.Name, err)
		}
		part, err := parse(out)
		if err == nil {
			err = whole.add(part)
		}
		if err != nil {
			return nil, fmt.Errorf("the description of %s: %w", fn.Name, err)
		}
	}
	return json.Marshal(whole)
}

// document has the members that are merged; others are taken from the first part.
type document struct {
	OpenAPI    string                    `json:"openapi"`
	Info       map[string]any            `json:"info"`
	Servers    []map[string]string       `json:"servers,omitempty"`
	Paths      map[string]map[string]any `json:"paths"`
	Components map[string]map[string]any `json:"components"`
}

func parse(text []byte) (d document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // keep the digits
	return d, decoder.Decode(&d)
}

// add merges a part. Two parts may have the same component, and different methods of
// one path.
func (d *document) add(part document) error {
	if d.Paths == nil {
		part.Servers = d.Servers
		*d = part
		return nil
	}
	for path, methods := range part.Paths {
		if err := merge(d.Paths, path, methods); err != nil {
			return err
		}
	}
	for kind, components := range part.Components {
		for name, c := range components {
			if have, ok := d.Components[kind][name]; ok && !reflect.DeepEqual(have, c) {
				return fmt.Errorf("another function has a different %s called %s", kind, name)
			}
		}
		if d.Components[kind] == nil {
			d.Components[kind] = map[string]any{}
		}
		maps.Copy(d.Components[kind], components)
	}
	return nil
}

func merge(paths map[string]map[string]any, path string, methods map[string]any) error {
	if paths[path] == nil {
		paths[path] = methods
		return nil
	}
	for method, operation := range methods {
		if _, twice := paths[path][method]; twice {
			return fmt.Errorf("another function has the route %s %s", method, path)
		}
		paths[path][method] = operation
	}
	return nil
}
