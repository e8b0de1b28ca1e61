// Package templatetests checks what the synthesized CloudFormation templates say.
package templatetests

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"matchday/infra/stacks"
	"matchday/infra/stage"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

// template is a synthesized template.
type template struct {
	Name      string
	Stage     stage.Stage
	Room      spec.Room   // without a name if it is what rooms share, edge if it is in front of them
	Rooms     []spec.Room // all of the deployment
	Resources map[string]resource
	// Parameters are what is read from the parameter store at deployment.
	Parameters map[string]struct{ Type, Default string }
	Outputs    map[string]struct{ Value, Export any }
	Rules      map[string]struct{ Assertions []struct{ Assert any } }
	text       string
	sizes      []size // of its own template and of those nested in it, which limits are per
}

type size struct{ resources, parameters, bytes int }

// tables returns the tables of the template: the room's, or those that rooms share.
func (tmpl template) tables() []spec.Table {
	if tmpl.Room.Name == "" {
		shared, _ := spec.Shared(tmpl.Rooms)
		return shared
	}
	return slices.DeleteFunc(tmpl.Room.Tables(), func(t spec.Table) bool { return t.Shared })
}

// buckets returns the buckets of the template: the room's, or those that rooms share.
func (tmpl template) buckets() []spec.Bucket {
	if tmpl.Room.Name == "" {
		_, shared := spec.Shared(tmpl.Rooms)
		return shared
	}
	return slices.DeleteFunc(tmpl.Room.Buckets(), func(b spec.Bucket) bool { return b.Shared })
}

// edge stands for a room in the template of CloudFront.
var edge = spec.Room{Name: "edge"}

type resource struct {
	Type                                string
	Properties                          map[string]any
	Metadata, UpdatePolicy              map[string]any
	DeletionPolicy, UpdateReplacePolicy string
	DependsOn                           any
}

var (
	templates []template
	assembly  string // folder of the synthesized app

	// process is held by a test while it synthesizes: the process behind the CDK takes one call at
	// a time.
	process sync.Mutex
)

// Everything is synthesized once: the process behind the CDK is slow to start.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := restart(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot start again:", err)
		return 1
	}
	defer jsii.Close()
	dir, err := os.MkdirTemp("", "matchday-templates-*")
	if err == nil {
		defer os.RemoveAll(dir)
		assembly = filepath.Join(dir, "out")
		err = synthesize(filepath.Join(dir, "dist"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot synthesize:", err)
		return 1
	}
	return m.Run()
}

// restart has the CDK's process do without the validation that `make synth` does,
// and without its complaint of old Node versions. That process gets the
// environment that this one had when its packages were initialized, before any
// test could change it.
func restart() error {
	const validation = "CDK_VALIDATION"
	if os.Getenv(validation) != "" {
		return nil
	}
	jsii.Close() // removes its temporary files
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, append(os.Environ(), validation+"=false", "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20"))
}

// Three deployments that differ in all that can: production in an account, with
// every option; a trial of no account in particular, with none but gradual deployments and a domain
// without CloudFront; and a room that the fleet does not have, for whatever rooms may come to
// need, with CloudFront without a domain, and without programs.
var deployments = []struct {
	context map[string]string
	rooms   []spec.Room
}{
	{map[string]string{
		"stage":       "prod",
		"account":     "123456789012",
		"region":      "us-east-1",
		"cdn":         "true",
		"cdnkey":      "2",
		"mail":        "ops@example.com",
		"domain":      "api.example.com",
		"certificate": "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000",
		"origins":     "https://example.com",
		"callbacks":   "matchday://signed-in,https://example.com/signed-in",
		"apps":        "https://example.com/in-the-app,com.example.app:/signed-in",
		"commit":      "0a1b2c3d4e5f",
		"ses":         "hello@example.com",
		"identity":    "example.com",
		"signup":      "false",
		"rate":        "50",
		"burst":       "80",
		"reads":       "900",
		"writes":      "300",
		"budget":      "70",
		"pager":       "pager@example.com",
		"zones":       "us-east-1b,us-east-1c",
		"reader":      "true",
		"restart":     "2",
		"canary":      "0",
	}, fleet.Specs()},
	{map[string]string{
		"stage": "dev", "agnostic": "true", "arch": "x86_64", "triggers": "false", "canary": "10",
		"domain": "dev.example.com", "certificate": "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000",
	}, fleet.Specs()},
	{map[string]string{
		"stage": "try", "agnostic": "true", "programs": "false", "cdn": "true", "insights": "true", "identity": "lab.example.com",
		"restored": "lab-things:r1", "restoredsql": restoredBooks, "warm": "lab-things:12000/4000",
		"LAB_MODE": "slow", "LAB_FROM": "hello@lab.example.com",
	}, []spec.Room{lab}},
}

// restoredBooks is the database of the lab as another cluster.
const restoredBooks = "lab-books:lab-books-r1.cluster-a1b2c3.us-east-1.rds.amazonaws.com:cluster-A1B2C3"

var (
	things = spec.Table{
		Name:    "lab-things",
		Key:     spec.Key{Partition: "id", Sort: "at"},
		Indexes: []spec.Index{{Name: "by-day", Key: spec.Key{Partition: "day"}}},
		Busy:    true,
	}
	work  = spec.Queue{Name: "lab-work", MaxReceiveCount: 3, Batch: 10, Concurrency: 4, Holds: 9}
	turns = spec.Queue{Name: "lab-turns.fifo", MaxReceiveCount: 2, Batch: 10, Concurrency: 2}
	lab   = spec.Room{
		Name: "lab",
		Functions: []spec.Function{
			labFunction("get-thing", spec.Route{Method: "GET", Path: "/things/{id}", Auth: spec.Public, Queries: []string{"day"}}),
			labFunction("get-note", spec.Route{Method: "GET", Path: "/things/{id}/note", Auth: spec.Session}),
			labFunction("take-hook", spec.Route{Method: "POST", Path: "/hook/{key}", Auth: spec.Secret}),
			labFunction("do-work", work),
			labFunction("take-turns", turns),
			labFunction("tidy-up", spec.Schedule("rate(5 minutes)")),
			labFunction("say-hello", spec.UserConfirmed{}),
			labMigrate, labTally, labKeep, labScore, labUpload,
		},
		Settings: []spec.Setting{
			{Name: "LAB_MODE", Secret: "LAB_KEY", Does: "how the lab works", Like: "slow|fast"},
			{Name: "LAB_FROM", Does: "the address of the lab's mail", Like: `[a-z]+@[a-z.]+`},
		},
	}

	// What is reached in a VPC, and what is reached outside.
	books = spec.SQLDatabase{Name: "lab-books", Migrations: fstest.MapFS{"00001_create.sql": {}, "00002_more.sql": {}}}
	tally = spec.Queue{Name: "lab-tally", MaxReceiveCount: 3, Batch: 1, Concurrency: 2, Backoff: []time.Duration{time.Minute}}
	ranks = spec.Cache{Name: "lab-ranks"}
	files = spec.Bucket{Name: "lab-files", Expires: 30 * 24 * time.Hour}

	labMigrate = spec.Function{
		Name: "lab/migrate", Does: "Migrates.", IfDown: "Nothing is migrated.", On: spec.Migration{Of: books}, Memory: 128, Timeout: time.Minute,
		SQL: []spec.SQLLogin{books.As(spec.SQLAdmin)},
	}
	labTally = spec.Function{
		Name:    "lab/tally",
		Does:    "Tallies.",
		IfDown:  "Nothing is tallied.",
		On:      tally,
		Uses:    []spec.Access{things.On("Get", "id, at", spec.Rate{}, spec.GetItem)},
		SQL:     []spec.SQLLogin{books.As("tally")},
		Caches:  []spec.CacheLogin{ranks.As("writer", "~* +@all -@dangerous")},
		Memory:  128,
		Timeout: 10 * time.Second,
	}
	labKeep = spec.Function{
		Name:    "lab/keep",
		Does:    "Keeps.",
		IfDown:  "Nothing is kept.",
		On:      spec.DeadLetters{Of: tally},
		Objects: []spec.ObjectAccess{files.On("dead/", spec.PutObject)},
		SQL:     []spec.SQLLogin{books.As("tally")},
		Memory:  128,
		Timeout: 20 * time.Second,
	}
	labScore = spec.Function{
		Name: "lab/get-score", Does: "Reads.", IfDown: "Nothing is read.", On: spec.Route{Method: "GET", Path: "/score", Auth: spec.User},
		Caches: []spec.CacheLogin{ranks.As("reader", "~* +@read")}, Memory: 128, Timeout: 10 * time.Second,
	}
	labUpload = spec.Function{
		Name: "lab/upload", Does: "Stores and writes.", IfDown: "Nothing is stored.", On: spec.Task{}, Memory: 128, Timeout: 10 * time.Second,
		Objects: []spec.ObjectAccess{files.On("in/", spec.PutObject, spec.ListBucket), files.On("", spec.GetObject)},
		Mail:    []spec.MailSender{{Setting: "LAB_FROM"}},
	}
)

func labFunction(name string, on spec.Trigger) spec.Function {
	f := spec.Function{
		Name: "lab/" + name, Does: "Does " + name + ".", IfDown: "Nobody notices " + name + ".", On: on, Memory: 128, Timeout: 10 * time.Second,
		Uses: []spec.Access{things.OnIndex("by-day", "Of a day", "day", spec.Rate{}, spec.Query),
			things.On("Put", "id, at", spec.Rate{}, spec.PutItem)},
	}
	switch name {
	case "do-work":
		f.Sends, f.Secrets = []spec.Queue{work, turns}, []string{"LAB_KEY"}
	case "take-turns":
		f.Users = []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser}
	}
	return f
}

func synthesize(dist string) error {
	flags, err := context()
	if err != nil {
		return err
	}
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir:             &assembly,
		Context:            &flags,
		AnalyticsReporting: jsii.Bool(false),
		TreeMetadata:       jsii.Bool(false),
	})
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Reports: jsii.Bool(true)}), nil)
	var stages []stage.Stage
	for _, d := range deployments {
		for _, r := range d.rooms {
			for _, s := range r.Settings {
				if s.Required && d.context["agnostic"] == "" {
					d.context[s.Name] = s.Example
				}
			}
		}
		s, err := stage.Read(d.rooms, d.context, func(string) string { return "" })
		if err != nil {
			return err
		}
		binaries := filepath.Join(dist, s.Name)
		if err := build(binaries, s, d.rooms); err != nil {
			return err
		}
		cfg := stacks.Config{Stage: s, Rooms: d.rooms, Dist: binaries, Machines: filepath.Join("..", "infra", "machines")}
		if err := stacks.All(app, cfg); err != nil {
			return err
		}
		stages = append(stages, s)
	}
	app.Synth(nil)
	for i, s := range stages {
		rooms := append([]spec.Room{{}}, deployments[i].rooms...)
		if s.CDN {
			rooms = append(rooms, edge)
		}
		for _, r := range rooms {
			name := s.Stack(cmp.Or(r.Name, "shared"))
			t := template{Name: name, Stage: s, Room: r, Rooms: deployments[i].rooms}
			if err := t.read(assembly, name+".template.json"); err != nil {
				return err
			}
			templates = append(templates, t)
		}
	}
	return nil
}

// read reads the template of a file of a synthesized app, with the resources of the stacks nested
// in it, as if they were its own.
func (t *template) read(dir, file string) error {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, t); err != nil {
		return err
	}
	t.text, t.sizes = string(text), []size{{len(t.Resources), len(t.Parameters), len(text)}}
	outputs := map[string]any{} // of nested stacks
	for id, r := range t.Resources {
		if r.Type != "AWS::CloudFormation::Stack" {
			continue
		}
		var nested template
		if err := nested.read(dir, r.Metadata["aws:asset:path"].(string)); err != nil {
			return err
		}
		delete(t.Resources, id)
		given, _ := r.at("Parameters").(map[string]any)
		for name, n := range nested.Resources {
			n.Properties = bind(n.Properties, id, given, nested.Resources).(map[string]any)
			t.Resources[id+name] = n
		}
		for name, o := range nested.Outputs {
			outputs[id+" Outputs."+name] = bind(o.Value, id, given, nested.Resources)
		}
		t.text += nested.text
		t.sizes = append(t.sizes, nested.sizes...)
	}
	for id, r := range t.Resources {
		r.Properties, _ = replace(r.Properties, outputs).(map[string]any)
		r.UpdatePolicy, _ = replace(r.UpdatePolicy, outputs).(map[string]any)
		t.Resources[id] = r
	}
	return nil
}

// replace returns a value with the outputs of nested stacks in place of references to them.
func replace(v any, outputs map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			if value, ok := outputs[fmt.Sprint(get[0], " ", get[1])]; ok {
				return value
			}
		}
		replaced := map[string]any{}
		for key, value := range v {
			replaced[key] = replace(value, outputs)
		}
		return replaced
	case []any:
		replaced := make([]any, len(v))
		for i, value := range v {
			replaced[i] = replace(value, outputs)
		}
		return replaced
	}
	return v
}

// bind returns a value of the nested stack id as it is in the stack around it: with the
// values given to its parameters, and its resources under their names there.
func bind(v any, id string, given map[string]any, own map[string]resource) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			if value, ok := given[name]; ok {
				return value
			}
			if _, ok := own[name]; ok {
				return map[string]any{"Ref": id + name}
			}
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			if _, ok := own[get[0].(string)]; ok {
				return map[string]any{"Fn::GetAtt": []any{id + get[0].(string), get[1]}}
			}
		}
		bound := map[string]any{}
		for key, value := range v {
			bound[key] = bind(value, id, given, own)
		}
		return bound
	case []any:
		bound := make([]any, len(v))
		for i, value := range v {
			bound[i] = bind(value, id, given, own)
		}
		return bound
	}
	return v
}

// context is what the CDK's CLI would hand the app: the feature flags, but for the
// one by which a finding of cdk-nag ends this process before it is told.
func context() (map[string]any, error) {
	text, err := os.ReadFile(filepath.Join("..", "cdk.json"))
	if err != nil {
		return nil, err
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	file.Context["@aws-cdk/core:annotationsInValidationReport"] = false
	file.Context["aws:cdk:enable-asset-metadata"] = true // where a nested stack's template is
	return file.Context, nil
}

// build puts a binary with nothing in it where each function's would be.
func build(dist string, s stage.Stage, rooms []spec.Room) error {
	if !s.Programs {
		return stacks.StandIn(dist, s.Arch)
	}
	for _, r := range rooms {
		for _, f := range r.Functions {
			if err := stacks.StandIn(filepath.Join(dist, f.Name), s.Arch); err != nil {
				return err
			}
		}
	}
	return nil
}

// callable is what is called of a function: its alias, or the function.
func (t template) callable(f spec.Function) string {
	if t.Stage.Aliased(t.Room, f) {
		return "Function " + t.Stage.Function(f) + ":live"
	}
	return "Function " + t.Stage.Function(f)
}

// of are the resources of a type, in order of their logical ids.
func (t template) of(kind string) (all []resource) {
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		if r := t.Resources[id]; r.Type == kind {
			all = append(all, r)
		}
	}
	return all
}

// at is the value at a path of keys, nil if there is none.
func (r resource) at(path ...string) any {
	var v any = r.Properties
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// name is the text at a key, "" if there is none, or none yet.
func (r resource) name(key string) string {
	s, _ := r.at(key).(string)
	return s
}

// each runs a test on every template.
func each(t *testing.T, test func(*testing.T, template)) {
	t.Helper()
	t.Parallel()
	for _, tmpl := range templates {
		t.Run(tmpl.Name, func(t *testing.T) {
			t.Parallel()
			test(t, tmpl)
		})
	}
}

// plain spells a value of a template out, with the variables of CloudFormation
// in place of what they stand for, and the names of resources for references, or
// those of stored parameters, in braces.
func (t template) plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if join, ok := v["Fn::Join"].([]any); ok && join[0] == "" {
			var b strings.Builder
			parts, ok := join[1].([]any)
			if !ok { // of a text that is split
				split := join[1].(map[string]any)["Fn::Split"].([]any)
				return strings.ReplaceAll(t.plain(split[1]), split[0].(string), "")
			}
			for _, part := range parts {
				b.WriteString(t.plain(part))
			}
			return b.String()
		}
		if ref, ok := v["Ref"].(string); ok {
			if r, ok := t.Resources[ref]; ok {
				return t.label(r)
			}
			if p, ok := t.Parameters[ref]; ok {
				return "{" + p.Default + "}"
			}
			return map[string]string{
				"AWS::Partition": "aws",
				"AWS::Region":    "us-east-1",
				"AWS::AccountId": "123456789012",
				"AWS::URLSuffix": "amazonaws.com",
			}[ref]
		}
		if pick, ok := v["Fn::Select"].([]any); ok { // a part of an alias's ARN: the function, or the alias
			if split, ok := pick[1].(map[string]any)["Fn::Split"].([]any); ok && split[0] == ":" {
				function, alias, _ := strings.Cut(t.plain(split[1]), ":")
				return map[string]string{"6": function, "7": alias}[fmt.Sprint(pick[0])]
			}
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			return t.label(t.Resources[get[0].(string)])
		}
	}
	return fmt.Sprint(v)
}

// label names a resource as people do.
func (t template) label(r resource) string {
	if r.Type == "AWS::Lambda::Alias" {
		return t.plain(r.at("FunctionName")) + ":" + r.name("Name")
	}
	kind := r.Type[strings.LastIndex(r.Type, ":")+1:]
	for _, key := range []string{"FunctionName", "QueueName", "TopicName", "StateMachineName", "LogGroupName", "Name", "GroupDescription",
		"CidrBlock", "DBClusterIdentifier", "DBSubnetGroupName", "ServerlessCacheName", "UserGroupId", "UserId"} {
		if n := r.name(key); n != "" {
			return kind + " " + n
		}
	}
	return kind
}

// parse reads a file of the synthesized app.
func parse(name string, into any) error {
	text, err := os.ReadFile(filepath.Join(assembly, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// compare reports how a part of the template differs from what it should be, which
// has the values of a template as plain spells them.
func (t template) compare(test *testing.T, what string, got, want any) {
	test.Helper()
	text, err := json.Marshal(want)
	if err == nil {
		want = nil
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		test.Fatal(err)
	}
	same(test, what, t.flat(got), t.flat(want))
}

// flat is a part of a template as lines of a path and a value. Where a value is in a
// list does not matter, but for what has several.
func (t template) flat(v any) (all []string) {
	under := func(key string, v any) {
		for _, line := range t.flat(v) {
			all = append(all, key+" "+line)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "Ref" || strings.HasPrefix(key, "Fn::") {
				return []string{t.plain(v)}
			}
			under(key, value)
		}
	case []any:
		for i, value := range v {
			if lines := t.flat(value); len(lines) == 1 {
				all = append(all, lines...)
			} else {
				under(strconv.Itoa(i+1), value)
			}
		}
	default:
		return []string{t.plain(v)}
	}
	return all
}
