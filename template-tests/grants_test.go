package templatetests

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matchday/pkg/spec"
)

var update = flag.Bool("update", false, "rewrite testdata/grants.golden")

// statement is one of a policy, spelled out.
type statement struct {
	Effect             string
	Actions, Resources []string
	Principal          any
}

func (t template) statements(document any) (all []statement) {
	doc, _ := document.(map[string]any)
	list, _ := doc["Statement"].([]any)
	for _, s := range list {
		s := s.(map[string]any)
		one := statement{Effect: fmt.Sprint(s["Effect"]), Principal: s["Principal"]}
		for _, a := range many(s["Action"]) {
			one.Actions = append(one.Actions, t.plain(a))
		}
		for _, r := range many(s["Resource"]) {
			one.Resources = append(one.Resources, t.plain(r))
		}
		all = append(all, one)
	}
	return all
}

func many(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// policies are the statements of every policy of a template, by whose they are.
func (t template) policies() map[string][]statement {
	all := map[string][]statement{}
	for id, r := range t.Resources {
		switch r.Type {
		case "AWS::IAM::Role":
			list, _ := r.at("Policies").([]any)
			for _, p := range list {
				all[id] = append(all[id], t.statements(p.(map[string]any)["PolicyDocument"])...)
			}
		default:
			all[id] = append(all[id], t.statements(r.at("PolicyDocument"))...)
		}
	}
	return all
}

// rights are what a function may do: lines of an action and a resource.
func (t template) rights(f resource) []string {
	return t.lines(t.policies()[roleOf(f)])
}

func roleOf(f resource) string {
	role, _ := f.at("Role", "Fn::GetAtt").([]any)
	if len(role) == 0 {
		return ""
	}
	return role[0].(string)
}

func (t template) lines(statements []statement) (lines []string) {
	for _, s := range statements {
		for _, a := range s.Actions {
			for _, r := range s.Resources {
				lines = append(lines, a+" "+t.short(r))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// hash is what the CDK adds to the names of resources.
var hash = regexp.MustCompile(`[0-9A-F]{8}$`)

// short is a resource without what is the same of all.
func (t template) short(arn string) string {
	arn = strings.Replace(arn, "arn:aws:", "", 1)
	arn = strings.Replace(arn, ":us-east-1:123456789012:", ":", 1)
	return arn
}

// TestGrants compares what every role of production may do with
// testdata/grants.golden, so that a change of permissions shows in review as a
// change of one text file.
func TestGrants(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, tmpl := range templates {
		if tmpl.Stage.Name != "prod" {
			continue
		}
		policies, of := tmpl.policies(), map[string]string{}
		for _, f := range tmpl.of("AWS::Lambda::Function") {
			of[roleOf(f)] = f.name("FunctionName")
		}
		for _, id := range slices.Sorted(maps.Keys(policies)) {
			if r := tmpl.Resources[id]; r.Type != "AWS::IAM::Role" && r.Type != "AWS::IAM::Policy" {
				continue
			}
			for _, line := range tmpl.lines(policies[id]) {
				fmt.Fprintf(&got, "%s %s\n", cmp.Or(of[id], hash.ReplaceAllString(id, "")), line)
			}
		}
	}
	golden := filepath.Join("testdata", "grants.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() == string(want) {
		return
	}
	had, has := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for _, line := range had {
		if !slices.Contains(has, line) {
			t.Errorf("no more: %s", line)
		}
	}
	for _, line := range has {
		if !slices.Contains(had, line) {
			t.Errorf("new: %s", line)
		}
	}
	t.Error("the grants changed: if that is meant, go test ./template-tests -update")
}

// TestGrantsFollowTheSpec: on tables a role holds its function's grants, and
// nothing more.
func TestGrantsFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, f := range tmpl.Room.Functions {
			want := []string{}
			for _, g := range f.Grants() {
				for _, op := range g.Ops {
					line := "dynamodb:" + string(op) + " dynamodb:table/" + tmpl.Stage.Prefix() + g.Table
					if g.Index != "" {
						line += "/index/" + g.Index
					}
					want = append(want, line)
				}
			}
			slices.Sort(want)
			got := slices.DeleteFunc(tmpl.rights(tmpl.function(f)), func(line string) bool { return !strings.HasPrefix(line, "dynamodb:") })
			if !slices.Equal(got, want) {
				t.Errorf("%s may %q, want %q", f.Name, got, want)
			}
		}
	})
}

// TestUsersFollowTheSpec: of Cognito a role holds what its function does to the
// accounts of the stage's own user pool, which the function knows by its id; and a
// function that does nothing to them does not know it.
func TestUsersFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		pool := "{" + tmpl.Stage.Parameter("user-pool") + "}"
		for _, f := range tmpl.Room.Functions {
			want := []string{}
			for _, op := range f.Users {
				want = append(want, "cognito-idp:"+string(op)+" cognito-idp:userpool/"+pool)
			}
			slices.Sort(want)
			got := slices.DeleteFunc(tmpl.rights(tmpl.function(f)), func(line string) bool { return !strings.HasPrefix(line, "cognito") })
			if !slices.Equal(got, want) {
				t.Errorf("%s may %q, want %q", f.Name, got, want)
			}
			id := tmpl.function(f).at("Environment", "Variables", spec.EnvUserPool)
			if known := tmpl.plain(id) == pool; known != (len(f.Users) > 0) || !known && id != nil {
				t.Errorf("%s knows the pool %v", f.Name, id)
			}
		}
		for name, p := range tmpl.Parameters {
			if strings.HasPrefix(p.Default, "/matchday/") && p.Type != "AWS::SSM::Parameter::Value<String>" {
				t.Errorf("the parameter %s is a %s", name, p.Type)
			}
		}
	})
}

// TestNoStars: nothing may do everything, and only what has no resources to name
// may be done to all.
func TestNoStars(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for id, statements := range tmpl.policies() {
			for _, s := range statements {
				if s.Effect != "Allow" {
					continue
				}
				for _, a := range s.Actions {
					if strings.Contains(a, "*") {
						t.Errorf("%s allows the action %s", id, a)
					}
					if slices.Contains(s.Resources, "*") && !strings.HasPrefix(a, "xray:") && !strings.HasPrefix(a, "logs:") {
						t.Errorf("%s allows %s on everything", id, a)
					}
				}
			}
		}
	})
}

// TestFunctionsLogByName: a function's own policy names its log group, and may
// not touch the delivery of logs.
func TestFunctionsLogByName(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, f := range tmpl.of("AWS::Lambda::Function") {
			for _, line := range tmpl.rights(f) {
				if want := "logs:log-group:/aws/lambda/" + f.name("FunctionName") + ":log-stream:*"; strings.HasPrefix(line, "logs:") && !strings.HasSuffix(line, " "+want) {
					t.Errorf("%s may %s", f.name("FunctionName"), line)
				}
			}
		}
	})
}

var secretLike = regexp.MustCompile(`(?i)BEGIN [A-Z ]*PRIVATE KEY|api_token=|AKIA[0-9A-Z]{16}|"SecretString"|GenerateSecretString|\{\{resolve:secretsmanager`)

// TestNoSecrets: a template names secrets and holds none, and no function gets one
// by its environment, where everyone who may list functions could read it.
func TestNoSecrets(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if found := secretLike.FindString(tmpl.text); found != "" {
			t.Errorf("the template holds %q", found)
		}
		for _, f := range tmpl.Room.Functions {
			env, _ := tmpl.function(f).at("Environment", "Variables").(map[string]any)
			for _, s := range f.Secrets {
				if _, ok := env[s]; ok {
					t.Errorf("%s gets the secret %s by its environment", f.Name, s)
				}
				want := fmt.Sprintf("secretsmanager:GetSecretValue Secret %s/%s/%s", tmpl.Stage.Name, tmpl.Room.Name, s)
				if !slices.Contains(tmpl.rights(tmpl.function(f)), want) {
					t.Errorf("%s may not read the secret %s", f.Name, s)
				}
			}
		}
	})
}
