package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/stage"
)

const root = "../../.."

// lab is a contract with one of each.
const lab = `{
	"info": {"version": "1"},
	"paths": {
		"/things": {
			"get": {
				"operationId": "list-things", "summary": "Lists things", "description": "Lists things, newest first.",
				"parameters": [
					{"name": "cursor", "in": "query", "schema": {"type": "string"}},
					{"name": "ids", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
					{"name": "since", "in": "query", "schema": {"type": "string", "format": "date-time"}},
					{"name": "others", "in": "query", "schema": {"type": "object", "additionalProperties": {"type": "string"}}}
				],
				"responses": {
					"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ThingList"}}}},
					"304": {},
					"404": {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem",
						"properties": {"type": {"type": "string", "x-extensible-enum": ["urn:problem-type:matchday:no_things"]}}}}}}
				}
			},
			"post": {
				"operationId": "create-thing", "summary": "Creates a thing",
				"parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
				"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}}}},
				"responses": {"201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
			}
		},
		"/things/{id}": {
			"get": {
				"operationId": "get-thing",
				"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
				"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
			},
			"delete": {
				"operationId": "remove-thing",
				"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
				"responses": {"204": {}}
			}
		},
		"/things/{id}/end": {
			"post": {
				"operationId": "end-thing",
				"parameters": [
					{"name": "If-Match", "in": "header", "schema": {"type": "string"}},
					{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}
				],
				"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}}}},
				"responses": {"204": {}}
			},
			"delete": {
				"operationId": "reopen-thing",
				"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
				"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
			}
		},
		"/page": {"get": {"operationId": "show-page", "responses": {"200": {"content": {"text/html": {"schema": {"type": "string"}}}}}}},
		"/form": {"post": {"operationId": "submit-form", "responses": {"204": {}}, "requestBody":
			{"content": {"application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/Form"}}}}}},
		"/sign-in": {"get": {"operationId": "start-sign-in", "responses": {"302": {}}}}
	},
	"components": {"schemas": {
		"Form": {"type": "object"},
		"Problem": {"type": "object"},
		"NewThing": {"type": "object", "properties": {}},
		"ThingList": {"type": "object", "required": ["things"], "properties": {
			"things": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
			"next": {"type": "string", "description": "The cursor of the next page."}
		}},
		"Thing": {"type": "object", "required": ["id", "note", "state"], "properties": {
			"id": {"type": "string", "format": "uuid"},
			"note": {"type": ["string", "null"]},
			"state": {"type": "string", "enum": ["", "kick-off", "NO_RESULT"]},
			"in": {"type": "integer", "format": "int32"},
			"hub.at": {"type": "string", "format": "date-time"},
			"weights": {"type": "object", "additionalProperties": {"type": "integer", "format": "int64"}},
			"result": {"oneOf": [{"type": "integer"}, {"type": ["string", "null"]}]}
		}}
	}}
}`

// TestOperations: what an app calls is in the package, and what a browser opens is not.
func TestOperations(t *testing.T) {
	t.Parallel()

	c, err := parse("lab", []byte(lab))
	if err != nil {
		t.Fatal(err)
	}

	var got []string

	for _, o := range c.Operations {
		line := o.Method + " " + o.Path + " " + o.ID

		for _, p := range o.Parameters {
			line += " " + p.Name
		}

		for word, is := range map[string]bool{" keyed": o.Keyed, " tagged": o.Tagged, " optional body": o.Body != nil && !o.BodyNeeded} {
			if is {
				line += word
			}
		}

		got = append(got, line+strings.Join(append([]string{""}, o.Next...), " -> "))
	}

	want := []string{
		"GET /things list-things cursor ids since -> next",
		"POST /things create-thing keyed",
		"DELETE /things/{id} remove-thing id",
		"GET /things/{id} get-thing id tagged",
		"DELETE /things/{id}/end reopen-thing id",
		"POST /things/{id}/end end-thing id If-Match optional body",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{"no_things"}, c.Codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}

	var names []string
	for _, s := range c.Schemas {
		names = append(names, s.Name)
	}

	if diff := cmp.Diff([]string{"NewThing", "Thing", "ThingList"}, names); diff != "" {
		t.Errorf("schemas (-want +got):\n%s", diff)
	}
}

// TestRefused: what a package cannot express is an error, and never left out.
func TestRefused(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ old, new, want string }{
		"two answers": {`"304": {}`, `"202": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}`,
			"list-things has two answers, ThingList and Thing"},
		"a cookie": {`"in": "header", "schema"`, `"in": "cookie", "schema"`,
			"create-thing has the parameter Idempotency-Key in cookie, which no package can send"},
		"a list of numbers": {`"items": {"type": "string"}}}`, `"items": {"type": "integer"}}}`,
			"list-things has the parameter ids in query, which no package can send"},
		"a number in a header": {`"If-Match", "in": "header", "schema": {"type": "string"}`,
			`"If-Match", "in": "header", "schema": {"type": "integer"}`,
			"end-thing has the parameter If-Match in header, which no package can send"},
		"a time in a path": {`"in": "path", "required": true, "schema": {"type": "string"}`,
			`"in": "path", "required": true, "schema": {"type": "string", "format": "date-time"}`,
			"get-thing has the parameter id in path, which no package can send"},
		"no such schema":  {`"items": {"$ref": "#/components/schemas/Thing"}`, `"items": {"$ref": "#/components/schemas/None"}`, "there is no schema None"},
		"a nested object": {`"additionalProperties": {"type": "integer", "format": "int64"}`, `"properties": {}`, "ThingWeights is an object without a name"},
		"a type":          {`{"type": ["string", "null"]},`, `{"type": "file"},`, "ThingNote has the type file"},
		"a named text":    {`"NewThing": {"type": "object"`, `"NewThing": {"type": "string"`, "the schema NewThing is no object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			changed := strings.Replace(lab, c.old, c.new, 1)
			if _, err := parse("lab", []byte(changed)); err == nil || err.Error() != c.want {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

// TestGenerated: what is generated of a contract with one of each.
func TestGenerated(t *testing.T) {
	t.Parallel()

	c, err := parse("lab", []byte(lab))
	if err != nil {
		t.Fatal(err)
	}

	for name, got := range map[string]string{
		"lab.ts":    typescript(c),
		"Lab.kt":    kotlinAPI(c),
		"Models.kt": kotlinModels(c),
		"Lab.swift": swiftAPI(c) + swiftModels(c),
	} {
		file := filepath.Join("testdata", name)

		if os.Getenv("UPDATE") != "" {
			if err := write(file, got); err != nil {
				t.Fatal(err)
			}
		}

		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got; UPDATE=1 writes it):\n%s", name, diff)
		}
	}
}

// Of the Swift sources: a type with what is in it, a member, and the name of a member in the JSON.
var (
	swiftStruct = regexp.MustCompile(`(?ms)^    public struct (\w+): Codable, Hashable, Sendable \{\n(.*?)^    \}$`)
	swiftMember = regexp.MustCompile(`(?m)^        public var (\S+): (.+)$`)
	swiftKey    = regexp.MustCompile(`(?m)^            case (\S+) = "(.+)"$`)
)

// TestSwiftSendsTheParameters compares the functions in Swift with the released contracts, as TestSwiftFitsTheContracts does the
// models: a parameter has its name and its type, and becomes a text by an expression that takes this type.
func TestSwiftSendsTheParameters(t *testing.T) {
	t.Parallel()

	all, err := contracts(root)
	if err != nil {
		t.Fatal(err)
	}

	convert := map[string]string{
		"String": "%s", "Bool": "String(%s)", "Int32": "String(%s)", "Int64": "String(%s)", "Double": "String(%s)",
		"Date": "timestamp(%s)", "[String]": `%s.joined(separator: ",")`,
	}

	for _, c := range all {
		b, err := os.ReadFile(filepath.Join(root, "pkg", c.Room, "testdata", "openapi.json"))
		if err != nil {
			t.Fatal(err)
		}

		var d struct {
			Paths map[string]map[string]struct {
				OperationID string
				Parameters  []struct {
					Name, In string
					Required bool
					Schema   map[string]any
				}
			}
		}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}

		api := swiftAPI(c)

		for _, o := range c.Operations {
			head := `func ` + regexp.QuoteMeta(swiftName(o.ID)) + `\((.*)\) async throws .*\n`

			function := regexp.MustCompile(head + `(.*)\n`).FindStringSubmatch(api)
			if function == nil {
				t.Errorf("%s: there is no function of %s", c.Room, o.ID)
				continue
			}

			got := map[string]string{}
			for _, m := range regexp.MustCompile(`(\S+): (\[.*?\]\??|[^\s,]+)`).FindAllStringSubmatch(function[1], -1) {
				got[m[1]] = m[2]
			}

			delete(got, "body")

			if o.Keyed {
				delete(got, "idempotencyKey")
			}

			want := map[string]string{}

			for _, p := range d.Paths[o.Path][strings.ToLower(o.Method)].Parameters {
				if p.Name == "Idempotency-Key" || p.Schema["type"] == "object" {
					continue
				}

				delete(p.Schema, "enum") // a text
				name, of := swiftName(p.Name), swiftOf(p.Schema, true)
				want[name] = optional(of, !p.Required)

				value := fmt.Sprintf(convert[of], name)
				if !p.Required && of != "String" {
					value = name + ".map { " + fmt.Sprintf(convert[of], "$0") + " }"
				}

				value = fmt.Sprintf("(name: %q, value: %s)", p.Name, value)
				if p.In == "path" {
					value = `\(segment(` + name + `))`
				}

				if convert[of] == "" || !strings.Contains(function[2], value) {
					t.Errorf("%s: %s does not send %s as %s: %s", c.Room, o.ID, p.Name, value, function[2])
				}
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-contract +Swift):\n%s", c.Room, o.ID, diff)
			}
		}
	}
}

// TestSwiftFitsTheContracts compares the models in Swift with the released contracts. No compiler does. It reads the contracts
// without what generates: a member has the name of its property in the JSON, the type that JSONDecoder reads, and is optional
// where the property may be absent or null.
func TestSwiftFitsTheContracts(t *testing.T) {
	t.Parallel()

	all, err := contracts(root)
	if err != nil {
		t.Fatal(err)
	}

	if len(all) < 2 {
		t.Fatalf("there are %d contracts", len(all))
	}

	for _, c := range all {
		b, err := os.ReadFile(filepath.Join(root, "pkg", c.Room, "testdata", "openapi.json"))
		if err != nil {
			t.Fatal(err)
		}

		var d struct {
			Components struct{ Schemas map[string]map[string]any }
		}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}

		models := swiftModels(c)
		structs := swiftStruct.FindAllStringSubmatch(models, -1)

		if len(structs) != len(c.Schemas) {
			t.Errorf("%s: there are %d models, want %d", c.Room, len(structs), len(c.Schemas))
		}

		for _, s := range structs {
			name, body := s[1], s[2]
			properties, _ := d.Components.Schemas[name]["properties"].(map[string]any)
			required, _ := d.Components.Schemas[name]["required"].([]any)

			types := map[string]string{}
			for _, m := range swiftMember.FindAllStringSubmatch(body, -1) {
				types[m[1]] = m[2]
			}

			got := map[string]string{}
			for _, m := range swiftKey.FindAllStringSubmatch(body, -1) {
				got[m[2]] = types[m[1]]
			}

			want := map[string]string{}

			for property, p := range properties {
				want[property] = swiftOf(p.(map[string]any), slices.Contains(required, any(property)))
				if strings.Contains(want[property], "enum") { // the name of its structure
					word := regexp.MustCompile(`\w*` + regexp.QuoteMeta(title(property)) + `(Value)?`).FindString(got[property])
					want[property] = strings.Replace(want[property], "enum", word, 1)

					if !strings.Contains(models, "public struct "+word+": RawRepresentable, Codable, Hashable, Sendable {") {
						t.Errorf("%s: there is no type %q of %s.%s", c.Room, word, name, property)
					}
				}
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-contract +Swift):\n%s", c.Room, name, diff)
			}

			if len(types) != len(properties) {
				t.Errorf("%s: %s has %d members, want %d", c.Room, name, len(types), len(properties))
			}
		}
	}
}

// swiftOf returns the Swift type of a property; enum for one of some words.
func swiftOf(p map[string]any, needed bool) string {
	if ref, ok := p["$ref"].(string); ok {
		return optional(ref[strings.LastIndex(ref, "/")+1:], !needed)
	}

	one, _ := p["type"].(string)
	null := false

	if several, ok := p["type"].([]any); ok {
		null = slices.Contains(several, any("null"))
		one, _ = several[0].(string)
	}

	format, _ := p["format"].(string)
	items, _ := p["items"].(map[string]any)
	values, _ := p["additionalProperties"].(map[string]any)

	switch {
	case one == "string" && p["enum"] != nil:
		one = "enum"
	case one == "string" && format == "date-time":
		one = "Date"
	case one == "string":
		one = "String"
	case one == "integer" && format == "int32":
		one = "Int32"
	case one == "integer":
		one = "Int64"
	case one == "number":
		one = "Double"
	case one == "boolean":
		one = "Bool"
	case one == "array":
		one = "[" + swiftOf(items, true) + "]"
	case one == "object":
		one = "[String: " + swiftOf(values, true) + "]"
	default:
		one, null = "JSONValue", false // which has null
	}

	return optional(one, null || !needed)
}

func optional(t string, is bool) string {
	if is {
		return t + "?"
	}

	return t
}

// TestPagesMaySend: a browser lets a page of another origin send every header that the operations take, and read those
// that the TypeScript package reads.
func TestPagesMaySend(t *testing.T) {
	t.Parallel()

	all, err := contracts(root)
	if err != nil {
		t.Fatal(err)
	}

	sent := map[string]bool{"authorization": true, "content-type": true}

	for _, c := range all {
		for _, o := range c.Operations {
			if o.Keyed {
				sent["idempotency-key"] = true
			}

			for _, p := range o.Parameters {
				if p.In == "header" {
					sent[strings.ToLower(p.Name)] = true
				}
			}
		}
	}

	if !sent["if-match"] || !sent["idempotency-key"] {
		t.Fatalf("the contracts have the headers %q only", sortedKeys(sent))
	}

	for name := range sent {
		if !slices.Contains(stage.CORSHeaders, name) {
			t.Errorf("a page may not send %s: %q", name, stage.CORSHeaders)
		}
	}

	for _, name := range []string{"etag", "retry-after"} {
		if !slices.Contains(stage.CORSExposed, name) {
			t.Errorf("a page may not read %s: %q", name, stage.CORSExposed)
		}
	}
}

// TestEveryContractHasItsStories: the packages play a story of each room whose contract is released.
func TestEveryContractHasItsStories(t *testing.T) {
	t.Parallel()

	all, err := contracts(root)
	if err != nil {
		t.Fatal(err)
	}

	if len(all) == 0 {
		t.Fatal("there is no contract")
	}

	for _, c := range all {
		for _, file := range stories {
			name := filepath.Join("infra", "rooms", c.Room, file)
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("the room %s lacks %s, in which an app plays with its package", c.Room, name)
			}
		}
	}
}

// TestSampleCallsThePackage: the sample for iPhones calls functions that the package has, with arguments in the order of
// their parameters. No compiler looks at it.
func TestSampleCallsThePackage(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile(filepath.Join(root, "clients", "ios", "MatchActivities.swift"))
	if err != nil {
		t.Fatal(err)
	}

	c, err := read("cricket", filepath.Join(root, "pkg", "cricket", "testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}

	api, models := swiftAPI(c), swiftModels(c)
	calls := regexp.MustCompile(`(?s)cricket\.(\w+)\((.*?)\)\n`).FindAllStringSubmatch(string(source), -1)

	if len(calls) < 4 {
		t.Fatalf("the sample has %d calls", len(calls))
	}

	for _, call := range calls {
		function := regexp.MustCompile(`func ` + call[1] + `\((.*)\) async`).FindStringSubmatch(api)
		if function == nil {
			t.Errorf("the package has no function %s", call[1])
			continue
		}

		outer, inner, _ := strings.Cut(call[2], ".init(")
		checkLabels(t, call[1], outer, function[1])

		if body := regexp.MustCompile(`body: (\w+)`).FindStringSubmatch(function[1]); body != nil {
			of := regexp.MustCompile(`(?s)public struct ` + body[1] + `: .*?public init\((.*?)\) \{`).FindStringSubmatch(models)
			checkLabels(t, body[1], inner, of[1])
		}
	}
}

// TestSampleKeepsItsActivitiesUpdated: the sample for iPhones registers the token that an activity has already, whatever is shown
// of it, until the API answers. It starts an activity without a channel only if the API refuses the channel.
func TestSampleKeepsItsActivitiesUpdated(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile(filepath.Join(root, "clients", "ios", "MatchActivities.swift"))
	if err != nil {
		t.Fatal(err)
	}

	c, err := read("cricket", filepath.Join(root, "pkg", "cricket", "testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}

	for text, want := range map[string]bool{
		"activity.pushToken {": true, "activityState == .active": false, "try? await cricket.startActivity": false,
		"started.current": true, "activity.end(": true,
	} {
		if strings.Contains(string(source), text) != want {
			t.Errorf("the sample has %q: %t, want %t", text, !want, want)
		}
	}

	var got []string
	for _, m := range regexp.MustCompile(`Cricket\.Codes\.(\w+)`).FindAllStringSubmatch(string(source), -1) {
		got = append(got, m[1])
	}

	var want []string

	for _, code := range c.Codes {
		if code == "push_token_required" || strings.HasPrefix(code, "channel_") {
			want = append(want, swiftWord(code))
		}
	}

	slices.Sort(got)
	slices.Sort(want)

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the refusals of a channel (-contract +sample):\n%s", diff)
	}
}

// TestSwiftClient: the answer of an operation can be that of a Tagged, and a Retry-After is of digits: a wait of any other number
// would end the app.
func TestSwiftClient(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile(filepath.Join(root, "clients", "swift", "Sources", "Matchday", "Client.swift"))
	if err != nil {
		t.Fatal(err)
	}

	for text, want := range map[string]bool{
		"<Answer: Decodable>": false, "<Answer: Decodable & Sendable>": true, "flatMap(Double.init)": false,
		`.allSatisfy { $0.isASCII && $0.isNumber }`: true,
	} {
		if strings.Contains(string(source), text) != want {
			t.Errorf("the client has %q: %t, want %t", text, !want, want)
		}
	}
}

// checkLabels fails unless the labels of arguments are those of parameters, in their order, and none is missing that has no
// default.
func checkLabels(t *testing.T, of, arguments, parameters string) {
	t.Helper()

	given := regexp.MustCompile(`(\w+): `).FindAllStringSubmatch(arguments, -1)

	for _, p := range regexp.MustCompile(`(\w+): (\S+)( = nil)?`).FindAllStringSubmatch(parameters, -1) {
		switch {
		case len(given) > 0 && given[0][1] == p[1]:
			given = given[1:]
		case p[3] == "":
			t.Errorf("%s lacks the argument %s: %s", of, p[1], arguments)
		}
	}

	if len(given) > 0 {
		t.Errorf("%s has no parameter %s here: %s", of, given[0][1], parameters)
	}
}

// TestVersion: a contract only grows, so its version is the first number of the packages.
func TestVersion(t *testing.T) {
	t.Parallel()

	all := []contract{{Room: "a", Version: "1"}, {Room: "b", Version: "1"}}

	for heading, want := range map[string]string{
		"## 1.2.3\n\nNew.\n\n## 1.2.2": "1.2.3", "## 1.0.0": "1.0.0", "# 1.2.3": "", "": "", "## 2.0.0": "", "## 1.2": "", "## 1.2.3.4": "",
		"## 1.02.3": "", "## 1.2.3-x": "", "## Next\n\n## 1.2.3": "",
	} {
		if got, err := versionOf(all, "# Changes\n\n"+heading+"\n"); got != want || (err == nil) != (want != "") {
			t.Errorf("the version of %q is %q, %v; want %q", heading, got, err, want)
		}
	}

	if _, err := versionOf(append(all, contract{Room: "c", Version: "2"}), "## 1.0.0\n"); err == nil {
		t.Error("contracts of different versions are no error")
	}
}

// TestSwiftPackage: the package has what an app needs for a Live Activity, payloads and their schema included.
func TestSwiftPackage(t *testing.T) {
	t.Parallel()

	out := t.TempDir()
	if err := run(root, "swift", out); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"Package.swift", "README.md", changelog, "Sources/Matchday/Cricket.swift", "ios/MatchActivityAttributes.swift",
		"ios/MatchWidget.swift", "ios/MatchActivities.swift", "ios/content-state.schema.json", "ios/payloads/04-wicket.json"} {
		if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
}

// TestNPMPackage: what npm publishes has the entry of each room with its types, and neither tests nor stories.
func TestNPMPackage(t *testing.T) {
	t.Parallel()

	out := t.TempDir()
	if err := run(root, "typescript", out); err != nil {
		t.Fatal(err)
	}

	all, err := contracts(root)
	if err != nil {
		t.Fatal(err)
	}

	changes, err := os.ReadFile(filepath.Join(out, changelog))
	if err != nil {
		t.Fatal(err)
	}

	version, err := versionOf(all, string(changes))
	if err != nil {
		t.Fatal(err)
	}

	want := []string{"README.md", "package.json", "dist/src/index.js", "dist/src/index.d.ts"}
	for _, c := range all {
		want = append(want, "dist/src/rooms/"+c.Room+".js", "dist/src/rooms/"+c.Room+".d.ts")
	}

	for _, name := range append(want[2:len(want):len(want)], "dist/test/client.test.js", "dist/story/play.js") { // of the compiler
		if err := write(filepath.Join(out, name), ""); err != nil {
			t.Fatal(err)
		}
	}

	pack := exec.CommandContext(t.Context(), "npm", "pack", "--dry-run", "--json", "--offline")
	pack.Dir = out

	text, err := pack.Output()
	if err != nil {
		t.Fatal(err)
	}

	var packed []struct {
		Version string
		Files   []struct{ Path string }
	}
	if err := json.Unmarshal(text, &packed); err != nil {
		t.Fatal(err)
	}

	if packed[0].Version != version {
		t.Errorf("the version is %s, want %s", packed[0].Version, version)
	}

	want = append(want, changelog)

	for _, f := range packed[0].Files {
		if strings.Contains(f.Path, "test") || strings.Contains(f.Path, "story") {
			t.Errorf("%s is published", f.Path)
		}

		want = slices.DeleteFunc(want, func(name string) bool { return name == f.Path })
	}

	if len(want) > 0 {
		t.Errorf("the package lacks %q", want)
	}
}
