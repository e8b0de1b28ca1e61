package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

const good = `{"Resources":{
	"Table":{"Type":"AWS::DynamoDB::Table"},
	"GetThing":{"Type":"AWS::Lambda::Function","Metadata":{"aws:asset:path":"/src/dist/lab/get-thing"},"Properties":{"FunctionName":"dev-lab-get-thing","Environment":{"Variables":{
		"MATCHDAY_STAGE":"dev","MATCHDAY_PREFIX":"dev-","MATCHDAY_QUEUES":{"Fn::Join":[]},"AWS_ENDPOINT_URL_DYNAMODB":"","AWS_ENDPOINT_URL_SQS":"","KEY":"","KEY_ID":""}}}}}}`

// TestCheck: everything that prevents SAM CLI from running a function is reported by
// name.
func TestCheck(t *testing.T) {
	t.Parallel()

	room := spec.Room{
		Name: "lab", Functions: []spec.Function{{Name: "lab/get-thing", Secrets: []string{"KEY"}}},
		Settings: []spec.Setting{{Name: "KEY_ID", Secret: "KEY"}, {Name: "OTHER", Secret: "OTHER_KEY"}},
	}

	for name, c := range map[string]struct {
		old, new  string
		variables []string
		want      string
	}{
		"as it is": {variables: []string{"KEY", "MATCHDAY_STAGE"}},
		"a name to come": {
			old:  `"dev-lab-get-thing"`,
			new:  `{"Ref":"X"}`,
			want: "dev-lab-get-thing is missing\nthe function GetThing has no literal name",
		},
		"another stage": {old: "dev-lab", new: "prod-lab", want: "dev-lab-get-thing is missing\nprod-lab-get-thing is not a function of lab"},
		"a relative path": {
			old:  "/src/dist",
			new:  "asset.1a2b",
			want: `the code of dev-lab-get-thing is at "asset.1a2b/lab/get-thing", which is not an absolute path`,
		},
		"no path": {
			old:  "aws:asset:path",
			new:  "aws:cdk:path",
			want: `the code of dev-lab-get-thing is at "", which is not an absolute path`,
		},
		"an endpoint":      {old: `"AWS_ENDPOINT_URL_SQS":"",`, want: "dev-lab-get-thing does not declare AWS_ENDPOINT_URL_SQS"},
		"a secret":         {old: `"KEY":"",`, want: "dev-lab-get-thing does not declare KEY"},
		"a setting":        {old: `,"KEY_ID":""`, want: "dev-lab-get-thing does not declare KEY_ID"},
		"a documented one": {variables: []string{"OTHER"}, want: "no function declares OTHER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			text := good
			if c.old != "" {
				if !strings.Contains(text, c.old) {
					t.Fatalf("there is no %s to change", c.old)
				}

				text = strings.Replace(text, c.old, c.new, 1)
			}

			var tmpl template
			if err := json.Unmarshal([]byte(text), &tmpl); err != nil {
				t.Fatal(err)
			}

			got := ""
			if err := errors.Join(tmpl.check(stage.Stage{Name: "dev"}, room, c.variables)...); err != nil {
				got = err.Error()
			}

			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestExample: the example environment of the repository has every variable that can
// be set for some function, and no other.
func TestExample(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "env.local.example.json"))
	if err != nil {
		t.Fatal(err)
	}

	var env struct{ Parameters map[string]string }
	if err := json.Unmarshal(text, &env); err != nil {
		t.Fatal(err)
	}

	var want []string

	for _, room := range fleet.Specs() {
		for _, f := range room.Functions {
			want = append(want, stage.Overridable(room, f)...)
		}
	}

	slices.Sort(want)

	want = slices.Compact(want)
	for v, value := range env.Parameters {
		if !slices.Contains(want, v) {
			t.Errorf("no function takes %s", v)
		}

		if value == "" {
			t.Errorf("%s is empty, which SAM CLI treats as unset", v)
		}
	}

	for _, v := range want {
		if _, ok := env.Parameters[v]; !ok {
			t.Errorf("docs/env.local.example.json lacks %s", v)
		}
	}
}

// TestInvocations: the printed commands can be pasted, also on Linux.
func TestInvocations(t *testing.T) {
	t.Parallel()

	job, route := spec.Function{Name: "lab/tidy", On: spec.Schedule("rate(1 hour)")}, spec.Function{Name: "lab/get", On: spec.Route{}}

	const invoke = "  sam local invoke dev-lab-tidy -e events/lab/tidy.json -t lab.json --env-vars env.local.json --add-host " +
		"host.docker.internal:host-gateway\n"
	for _, c := range []struct {
		functions []spec.Function
		want      string
	}{
		{[]spec.Function{job}, invoke},
		{
			[]spec.Function{job, route},
			invoke + "  sam local start-api -t lab.json --env-vars env.local.json --add-host host.docker.internal:host-gateway\n",
		},
	} {
		if got := invocations(stage.Stage{Name: "dev"}, "lab.json", spec.Room{Functions: c.functions}); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}

// TestCompare: what SAM finds is what the spec has, each once.
func TestCompare(t *testing.T) {
	t.Parallel()

	rooms := []spec.Room{{Name: "lab", Functions: []spec.Function{
		{Name: "lab/get-thing", On: spec.Route{Method: "GET", Path: "/things/{id}"}},
		{Name: "lab/tidy", On: spec.Schedule("rate(1 day)")},
	}}}

	const all = "function dev-lab-tidy\nfunction dev-lab-get-thing\nroute GET /things/{id} dev-lab-get-thing\n"
	for name, c := range map[string]struct{ found, want string }{
		"all": {all, ""},
		"no functions": {"", "SAM does not find the function dev-lab-get-thing\nSAM does not find the route GET /things/{id} " +
			"dev-lab-get-thing\nSAM does not find the function dev-lab-tidy\nthe spec does not have the  that SAM finds"},
		"another method": {strings.Replace(all, "GET", "PUT", 1),
			"SAM does not find the route GET /things/{id} dev-lab-get-thing\nthe spec does not have the route PUT /things/{id} dev-lab-get-thing " +
				"that SAM finds"},
		"one function twice": {all + "function dev-lab-tidy\n", "the spec does not have the function dev-lab-tidy that SAM finds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var out strings.Builder

			got := ""
			if err := compare(rooms, stage.Stage{Name: "dev"}, strings.NewReader(c.found), &out); err != nil {
				got = err.Error()
			}

			if got != c.want || (got == "") != (out.String() == "SAM finds the 2 functions and 1 routes of the spec\n") {
				t.Errorf("got %q and printed %q, want %q", got, out.String(), c.want)
			}
		})
	}
}

// TestDocumentExplainsTheExample: the table of docs/local-sam.md has each variable of the example.
func TestDocumentExplainsTheExample(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "env.local.example.json"))
	if err != nil {
		t.Fatal(err)
	}

	var env struct{ Parameters map[string]string }
	if err := json.Unmarshal(text, &env); err != nil {
		t.Fatal(err)
	}

	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "local-sam.md"))
	if err != nil {
		t.Fatal(err)
	}

	var rows strings.Builder

	for line := range strings.Lines(string(document)) {
		if strings.HasPrefix(line, "| `") {
			rows.WriteString(line)
		}
	}

	for name := range env.Parameters {
		if !strings.Contains(rows.String(), "`"+name+"`") {
			t.Errorf("the table of docs/local-sam.md lacks %s", name)
		}
	}
}
