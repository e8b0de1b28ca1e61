package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"matchday/infra/tools/pipeline/policy"
	"matchday/pkg/fleet"
)

// TestTemplateIsCurrent: the committed template equals the one that the spec generates now.
func TestTemplateIsCurrent(t *testing.T) {
	t.Parallel()

	got, err := os.ReadFile(filepath.Join("..", "..", "pipeline.template.json"))
	if err != nil {
		t.Fatal(err)
	}

	want, err := policy.Template(fleet.Specs())
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got, want) {
		t.Error("infra/pipeline.template.json is out of date: run `make pipeline`")
	}

	if len(want) > 51_200 {
		t.Errorf("the template has %d bytes: `aws cloudformation deploy` takes 51,200 without a bucket", len(want))
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()

	if err := command(nil); err == nil {
		t.Error("a command without a file is accepted")
	}

	file := filepath.Join(t.TempDir(), "template.json")
	if err := command([]string{file}); err != nil {
		t.Error(err)
	}
}

// TestPipelineReadsWhatPredeployAsks: the pipeline's roles may make each call of infra/tools/predeploy.
func TestPipelineReadsWhatPredeployAsks(t *testing.T) {
	t.Parallel()

	var allowed []string
	for _, s := range policy.Reads(fleet.Specs()) {
		allowed = append(allowed, s.Actions...)
	}

	files, err := filepath.Glob(filepath.Join("..", "predeploy", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %q, %v", files, err)
	}

	services := map[string]string{"cloudcontrol": "cloudformation", "cognitoidentityprovider": "cognito-idp", "sesv2": "ses"}
	calls := regexp.MustCompile(`\b([a-z0-9]+)\.([A-Z][A-Za-z0-9]*)Input\{`)

	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		for _, m := range calls.FindAllStringSubmatch(string(text), -1) {
			service, operation := m[1], m[2]
			if name, ok := services[service]; ok {
				service = name
			}

			if operation == "HeadBucket" { // which the action of ListObjects allows
				operation = "ListBucket"
			}

			if action := service + ":" + operation; !slices.Contains(allowed, action) {
				t.Errorf("%s calls %s: add it to policy.Reads, and run `make pipeline`", filepath.Base(file), action)
			}
		}
	}
}
