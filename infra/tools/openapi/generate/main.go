// Command generate generates Kotlin and Swift clients from the OpenAPI documents of a folder, and
// fails if a generator renames a schema: generate DOCUMENTS CLIENTS GENERATOR. CLIENTS is the folder
// to write to, and GENERATOR the command openapi-generator-cli.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are the extensions of the files of the generators' models.
var extensions = map[string]string{"kotlin": ".kt", "swift6": ".swift"}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: generate DOCUMENTS CLIENTS GENERATOR: folders to read and to write to, and openapi-generator-cli")
		os.Exit(2)
	}

	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(documents, clients, generator string) error {
	files, err := filepath.Glob(filepath.Join(documents, "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no document in %s: %w", documents, err)
	}

	if err := generated(files, clients, generator); err != nil {
		return err
	}

	var renamed []string

	for _, file := range files {
		for language, extension := range extensions {
			missing, err := withoutModel(file, filepath.Join(clients, language, filepath.Base(file)), extension)
			if err != nil {
				return err
			}

			for _, name := range missing {
				renamed = append(renamed, fmt.Sprintf("%s renames the schema %s of %s", language, name, file))
			}
		}
	}

	if len(renamed) > 0 {
		slices.Sort(renamed)
		return errors.New(strings.Join(renamed, "\n"))
	}

	return nil
}

// generated generates the clients of all documents in one process.
func generated(files []string, clients, generator string) error {
	if err := os.RemoveAll(clients); err != nil {
		return err
	}

	batch := []string{"batch", "--threads", "2", "--timeout", "10", "--root-dir", "."}

	for _, file := range files {
		for language := range extensions {
			folder := filepath.Join(clients, language, filepath.Base(file))
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}

			text, err := json.Marshal(map[string]string{"generatorName": language, "inputSpec": file, "outputDir": folder})
			if err != nil {
				return err
			}

			config := folder + ".config.json"
			if err := os.WriteFile(config, text, 0o644); err != nil {
				return err
			}

			batch = append(batch, config)
		}
	}

	if out, err := exec.Command(generator, batch...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", generator, err, out)
	}

	return nil
}

// ofForms returns the schemas of the forms of a document. A client has no model of a form: its fields are parameters
// of a function.
func ofForms(text []byte) (names []string, err error) {
	var d struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}

	for _, operations := range d.Paths {
		for _, o := range operations {
			if form, ok := o.RequestBody.Content["application/x-www-form-urlencoded"]; ok {
				names = append(names, filepath.Base(form.Schema.Ref))
			}
		}
	}

	return names, nil
}

// withoutModel returns the schemas of a document for which a client has no model of the same name.
func withoutModel(document, client, extension string) ([]string, error) {
	text, err := os.ReadFile(document)
	if err != nil {
		return nil, err
	}

	var d struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}

	missing := d.Components.Schemas

	forms, err := ofForms(text)
	if err != nil {
		return nil, err
	}

	for _, name := range forms {
		delete(missing, name)
	}

	err = filepath.WalkDir(client, func(path string, _ fs.DirEntry, err error) error {
		delete(missing, strings.TrimSuffix(filepath.Base(path), extension))
		return err
	})

	return slices.Collect(maps.Keys(missing)), err
}
