// Package ready checks a deployment before it starts: it finds what CloudFormation
// accepts, and what then fails half-way or separates users from their data.
package ready

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

// Settings returns the settings of a deployment, which are a tool's arguments: stage=dev,
// mail=ops@example.com.
func Settings(args []string) (map[string]string, error) {
	settings := map[string]string{}

	for _, s := range args {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("invalid setting %q: must be like mail=ops@example.com", s)
		}

		settings[key] = value
	}

	return settings, nil
}

// Stage returns the stage of settings in which rooms are deployed. Settings that only a running
// fleet needs may be missing.
func Stage(rooms fleet.Choice, settings map[string]string) (stage.Stage, error) {
	context := rooms.Own(settings)
	context["agnostic"] = "true"
	context["cdn"] = "" // the checks of cdn=true need a region

	return stage.Read(rooms.Deployed(), context, func(string) string { return "" })
}

// Config returns the credentials of the environment, as the AWS CLI finds them, and the
// region of the settings or, if they have none, of the environment. Like the CDK it takes
// us-east-1 if no region is set at all.
func Config(ctx context.Context, settings []string) (aws.Config, error) {
	// The SDK warns of a connection that it closes early: what predeploy prints is its findings.
	cfg, err := config.LoadDefaultConfig(ctx, config.WithDefaultRegion("us-east-1"), config.WithLogger(logging.Nop{}))

	for _, s := range settings {
		if region, ok := strings.CutPrefix(s, "region="); ok && region != "" {
			cfg.Region = region
		}
	}

	return cfg, err
}

// Template is what is read of a CloudFormation template.
type Template struct {
	Resources map[string]Resource // by logical id
}

// Resource is a resource of a template.
type Resource struct {
	Type       string
	Nested     Template // of a nested stack
	Metadata   Metadata
	Properties struct {
		TableName              string
		UserPoolName           string
		Name                   string // of a secret
		BucketName             any
		EmailIdentity          string
		KeySchema              any
		GlobalSecondaryIndexes []index

		ReservedConcurrentExecutions int // of a function
	}
}

// Metadata is what the CDK notes of a resource.
type Metadata struct {
	Asset string `json:"aws:asset:path"` // the file of a nested stack's template
}

// Reserved returns how many concurrent executions the functions of a template reserve.
func (t Template) Reserved() (n int) {
	for _, r := range t.Resources {
		n += r.Properties.ReservedConcurrentExecutions
	}

	return n
}

// Creates returns how many resources of a kind a deployment of the template creates, in a stack
// that has the resources owned. Of a nested stack that exists it takes each resource for its own.
func (t Template) Creates(kind string, owned map[string]bool) (n int) {
	for id, r := range t.Resources {
		if owned[id] {
			continue
		}

		if r.Type == kind {
			n++
		}

		n += r.Nested.Creates(kind, nil)
	}

	return n
}

type index struct {
	IndexName             string
	KeySchema, Projection any
}

// Parse parses a template.
func Parse(text []byte) (t Template, err error) {
	// Properties of other types may have other forms under the same names.
	var raw struct {
		Resources map[string]struct {
			Type       string
			Metadata   Metadata
			Properties json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return t, fmt.Errorf("the template is not JSON: %w", err)
	}

	t.Resources = map[string]Resource{}
	for id, r := range raw.Resources {
		one := Resource{Type: r.Type, Metadata: r.Metadata}
		if slices.Contains([]string{Table, UserPool, Secret, Bucket, Identity, function}, r.Type) && r.Properties != nil {
			if err := json.Unmarshal(r.Properties, &one.Properties); err != nil {
				return t, fmt.Errorf("the properties of %s: %w", id, err)
			}
		}

		t.Resources[id] = one
	}

	return t, nil
}

// The types of resources that outlive their stack in production.
const (
	Table    = "AWS::DynamoDB::GlobalTable"
	UserPool = "AWS::Cognito::UserPool"
	Secret   = "AWS::SecretsManager::Secret"
	Bucket   = "AWS::S3::Bucket"
	Identity = "AWS::SES::EmailIdentity"
)

const function = "AWS::Lambda::Function"

// Stacks returns the templates of the stacks that the CDK synthesized to a folder, by the name of
// the stack. The error names a template of no stack, which is that of a nested stack, if it has a
// resource that a check of the stacks would have to see.
func Stacks(dir string) (map[string]Template, error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}

	var manifest struct {
		Artifacts map[string]struct {
			Type       string
			Properties struct{ TemplateFile, StackName string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("%s is no manifest of the CDK: %w", filepath.Join(dir, "manifest.json"), err)
	}

	files := map[string]string{} // stack by file
	for id, a := range manifest.Artifacts {
		if a.Type == "aws:cloudformation:stack" {
			files[a.Properties.TemplateFile] = cmp.Or(a.Properties.StackName, id) // it is left out if it is the id
		}
	}

	if len(files) == 0 {
		return nil, fmt.Errorf("there is no stack in %s", dir)
	}

	others, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil {
		return nil, err
	}

	for _, file := range others {
		if name := filepath.Base(file); files[name] == "" {
			files[name] = ""
		}
	}

	stacks, nested := map[string]Template{}, map[string]Template{} // by name, and by file

	for file, stack := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}

		t, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}

		if stack != "" {
			stacks[stack] = t
			continue
		}

		if err := checkNested(t); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}

		nested[file] = t
	}

	for _, t := range stacks {
		for id, r := range t.Resources {
			r.Nested = nested[r.Metadata.Asset]
			t.Resources[id] = r
		}
	}

	return stacks, nil
}

// checkNested returns an error for the first resource of a nested stack that must be in a stack
// of its own: one that outlives its stack, or a function that reserves concurrent executions.
func checkNested(t Template) error {
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		switch r := t.Resources[id]; {
		case slices.Contains([]string{Table, UserPool, Secret, Bucket, Identity}, r.Type):
			return fmt.Errorf("a nested stack must not have %s of the type %s, which outlives its stack and is not checked there", id, r.Type)
		case r.Properties.ReservedConcurrentExecutions > 0:
			return fmt.Errorf("a nested stack must not have %s, which reserves concurrent executions that are not counted there", id)
		}
	}

	return nil
}

// CheckConcurrency returns an error if the functions of a deployment reserve more concurrent
// executions than the account has. left is what the account has not reserved, deployed what
// the stacks reserve already. Lambda keeps 100 for functions that reserve none: Lambda
// Developer Guide, "Configuring reserved concurrency".
func CheckConcurrency(left, deployed, next int) error {
	const kept = 100
	if missing := next + kept - left - deployed; next > deployed && missing > 0 {
		return fmt.Errorf("the functions reserve %d concurrent executions, and Lambda keeps %d for others: the account lacks %d. Ask for more "+
			"of the quota \"Concurrent executions\" of Lambda (L-B99A9384) in Service Quotas", next, kept, missing)
	}

	return nil
}

// CheckIndexes returns an error for each table whose indexes a deployment cannot change as
// the templates say: DynamoDB adds or deletes one index of a table per update, and never
// changes one. A table that only one of the templates has is no error.
func CheckIndexes(deployed, next Template) (all []error) {
	for _, id := range slices.Sorted(maps.Keys(next.Resources)) {
		is, was := next.Resources[id], deployed.Resources[id]
		if is.Type != Table || was.Type != Table {
			continue
		}

		name := is.Properties.TableName

		old, changes := named(was.Properties.GlobalSecondaryIndexes), []string(nil)
		for _, x := range is.Properties.GlobalSecondaryIndexes {
			o, ok := old[x.IndexName]
			switch {
			case !ok:
				changes = append(changes, "adds "+x.IndexName)
			case text(o.KeySchema) != text(x.KeySchema) || text(o.Projection) != text(x.Projection):
				all = append(all, fmt.Errorf("the table %s changes the index %s in place, which DynamoDB cannot: add an index with another name, "+
					"move the functions to it, and then delete the old one, in three deployments", name, x.IndexName))
			}

			delete(old, x.IndexName)
		}

		for _, gone := range slices.Sorted(maps.Keys(old)) {
			changes = append(changes, "deletes "+gone)
		}

		if len(changes) > 1 {
			all = append(all, fmt.Errorf("the table %s %s: DynamoDB changes one index of a table per deployment, so deploy them one at a time",
				name, strings.Join(changes, " and ")))
		}
	}

	return all
}

func named(all []index) map[string]index {
	by := map[string]index{}
	for _, x := range all {
		by[x.IndexName] = x
	}

	return by
}

// text returns a value as JSON, in which equal values are equal.
func text(v any) string {
	s, _ := json.Marshal(v) // never fails: it was decoded from JSON
	return string(s)
}

// Like returns an error that names the first difference between a table and its spec, in
// keys or indexes.
func Like(t spec.Table, is types.TableDescription) error {
	name := aws.ToString(is.TableName)
	if got := key(is.KeySchema); got != t.Key {
		return fmt.Errorf("the key of %s is %s, and must be %s", name, got, t.Key)
	}

	for _, want := range t.Indexes {
		i := slices.IndexFunc(is.GlobalSecondaryIndexes,
			func(x types.GlobalSecondaryIndexDescription) bool { return aws.ToString(x.IndexName) == want.Name })
		if i < 0 {
			return fmt.Errorf("%s lacks the index %s", name, want.Name)
		}

		got := is.GlobalSecondaryIndexes[i]
		projection := cmp.Or(got.Projection, &types.Projection{})
		wanted := types.ProjectionTypeAll

		switch {
		case want.KeysOnly:
			wanted = types.ProjectionTypeKeysOnly
		case len(want.Include) > 0:
			wanted = types.ProjectionTypeInclude
		}

		if key(got.KeySchema) != want.Key || projection.ProjectionType != wanted ||
			wanted == types.ProjectionTypeInclude && !same(projection.NonKeyAttributes, want.Include) {
			return fmt.Errorf("the index %s of %s has another key or other attributes than its spec", want.Name, name)
		}
	}

	return nil
}

func key(schema []types.KeySchemaElement) (k spec.Key) {
	for _, e := range schema {
		if e.KeyType == types.KeyTypeHash {
			k.Partition = aws.ToString(e.AttributeName)
		} else {
			k.Sort = aws.ToString(e.AttributeName)
		}
	}

	return k
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
