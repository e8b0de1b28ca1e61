package openapi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBreakingDifferences: what breaks a client of the released contract is an error by the
// severities of `make check`, and what adds to the contract is none.
func TestBreakingDifferences(t *testing.T) {
	t.Parallel()

	const released = `{"openapi":"3.1.0","info":{"title":"lab","version":"1"},"paths":{"/things":{"get":{"operationId":"list-things",
		"parameters":[{"in":"query","name":"limit","schema":{"type":"integer","maximum":9}}],
		"responses":{"200":{"description":"OK","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}}}}}},
		"components":{"schemas":{"Thing":{"type":"object","required":["name"],"properties":{
			"name":{"type":"string"},"note":{"type":"string"},"size":{"type":"number"}}}}}}`

	oasdiff, err := filepath.Abs("oasdiff.mod")
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct{ was, is, want string }{
		"a required field is removed":    {`"name":{"type":"string"},`, ``, "response-required-property-removed"},
		"an optional field is removed":   {`"note":{"type":"string"},`, ``, "response-optional-property-removed"},
		"a schema is renamed":            {`Thing"`, `Item"`, "api-schema-removed"},
		"an operation is renamed":        {`list-things`, `get-things`, "api-operation-id-removed"},
		"a type is narrowed":             {`"maximum":9`, `"maximum":5`, "request-parameter-max-decreased"},
		"a type is another":              {`"number"`, `"string"`, "response-property-type-changed"},
		"a field is added":               {`"note":`, `"more":{"type":"string"},"note":`, ""},
		"an optional parameter is added": {`"parameters":[`, `"parameters":[{"in":"query","name":"cursor","schema":{"type":"string"}},`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			folder := t.TempDir()
			for file, text := range map[string]string{"was.json": released, "is.json": strings.ReplaceAll(released, c.was, c.is)} {
				if !json.Valid([]byte(text)) {
					t.Fatalf("%s is no JSON: %s", file, text)
				}

				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			out, err := exec.Command("go", "tool", "-modfile="+oasdiff, "oasdiff", "breaking", filepath.Join(folder, "was.json"),
				filepath.Join(folder, "is.json"), "--fail-on", "ERR", "--severity-levels", "severity.txt", "--color", "never").CombinedOutput()
			if (err != nil) != (c.want != "") || !strings.Contains(string(out), c.want) {
				t.Errorf("got %v, want %q:\n%s", err, c.want, out)
			}
		})
	}
}
