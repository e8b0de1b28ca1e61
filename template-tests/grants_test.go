package templatetests

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// statement is one of a policy, spelled out.
type statement struct {
	Effect             string
	Actions, Resources []string
	Principals         []string          // services by their names; others after their kinds
	Conditions         map[string]string // by key, after its operator if that is none of the usual
	Other              []string          // keys that no statement here has
}

func (t template) statements(document any) (all []statement) {
	doc, _ := document.(map[string]any)
	for _, s := range many(doc["Statement"]) {
		one := statement{Conditions: map[string]string{}}
		for key, value := range s.(map[string]any) {
			switch key {
			case "Sid":
			case "Effect":
				one.Effect = fmt.Sprint(value)
			case "Action":
				one.Actions = t.spelled(value)
			case "Resource":
				one.Resources = t.spelled(value)
			case "Principal":
				kinds, ok := value.(map[string]any)
				if !ok {
					one.Principals = t.spelled(value)
				}
				for kind, names := range kinds {
					for _, name := range t.spelled(names) {
						one.Principals = append(one.Principals, strings.TrimPrefix(kind+" "+name, "Service "))
					}
				}
			case "Condition":
				for operator, keys := range value.(map[string]any) {
					for key, value := range keys.(map[string]any) {
						if !slices.Contains([]string{"StringEquals", "ArnLike", "Bool"}, operator) {
							key = operator + " " + key
						}
						one.Conditions[key] = strings.Join(t.spelled(value), " or ")
					}
				}
			default:
				one.Other = append(one.Other, key)
			}
		}
		slices.Sort(one.Principals)
		all = append(all, one)
	}
	return all
}

// spelled is one value, or several, spelled out.
func (t template) spelled(v any) (all []string) {
	for _, one := range many(v) {
		all = append(all, t.plain(one))
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

// policies are the statements of every policy of a template, by the logical id of
// what has it. A permission of Lambda is one, too.
func (t template) policies() map[string][]statement {
	all := map[string][]statement{}
	for id, r := range t.Resources {
		all[id] = append(t.statements(r.at("AssumeRolePolicyDocument")), t.statements(r.at("PolicyDocument"))...)
		for _, p := range many(r.at("Policies")) {
			if p, ok := p.(map[string]any); ok {
				all[id] = append(all[id], t.statements(p["PolicyDocument"])...)
			}
		}
		if r.Type != "AWS::Lambda::Permission" {
			continue
		}
		s := statement{Effect: "Allow", Conditions: map[string]string{}}
		for key, value := range r.Properties {
			switch key {
			case "FunctionName":
			case "Action":
				s.Actions = t.spelled(value)
			case "Principal":
				s.Principals = t.spelled(value)
			case "SourceArn", "SourceAccount":
				s.Conditions["aws:"+key] = t.plain(value)
			default:
				s.Other = append(s.Other, key)
			}
		}
		all[id] = append(all[id], s)
	}
	return all
}

// rights are what a function may do: lines of an action and a resource.
func (t template) rights(f resource) []string {
	var own []statement
	for _, s := range t.policies()[roleOf(f)] {
		if s.Principals == nil {
			own = append(own, s)
		}
	}
	return lines(own)
}

func roleOf(f resource) string {
	role, _ := f.at("Role", "Fn::GetAtt").([]any)
	if len(role) == 0 {
		return ""
	}
	return role[0].(string)
}

// lines are what statements say: an action, on what, by whom and if what, as far
// as they say it.
func lines(statements []statement) (all []string) {
	for _, s := range statements {
		rest := ""
		if s.Principals != nil {
			rest = " by " + strings.Join(s.Principals, " and ")
		}
		word := " if "
		for _, key := range slices.Sorted(maps.Keys(s.Conditions)) {
			rest, word = rest+word+key+" is "+short(s.Conditions[key]), " and "
		}
		for _, key := range s.Other {
			rest += " with " + key
		}
		if len(s.Actions) == 0 {
			s.Actions = []string{"everything"}
		}
		for _, a := range s.Actions {
			if s.Effect != "Allow" {
				a = strings.ToLower(s.Effect) + " " + a
			}
			for _, r := range s.Resources {
				all = append(all, a+" "+short(r)+rest)
			}
			if len(s.Resources) == 0 {
				all = append(all, a+rest)
			}
		}
	}
	slices.Sort(all)
	return all
}

// short is an ARN without what is the same of all.
func short(arn string) string {
	return strings.Replace(strings.Replace(arn, "arn:aws:", "", 1), ":us-east-1:123456789012:", ":", 1)
}

// hash is what the CDK adds to the names of resources, and inner what read adds to those of a
// nested stack.
var (
	hash  = regexp.MustCompile(`[0-9A-F]{8}$`)
	inner = regexp.MustCompile(`^[A-Za-z]+NestedStackResource[0-9A-F]{8}`)
)

// owners are whose policies the template's are: of a function's role and of its
// permissions the function, else the queue, topic or role.
func (t template) owners() map[string]string {
	all := map[string]string{}
	for id, r := range t.Resources {
		attached := append(append(many(r.at("Queues")), many(r.at("Topics"))...), many(r.at("FunctionName"))...)
		if len(attached) == 0 {
			attached = []any{inner.ReplaceAllString(hash.ReplaceAllString(id, ""), "")}
		}
		all[id] = strings.TrimPrefix(t.plain(attached[0]), "Function ")
	}
	for _, f := range t.of("AWS::Lambda::Function") {
		all[roleOf(f)] = f.name("FunctionName")
	}
	return all
}

// TestGrants compares what may be done in production, by whom and to what, with
// testdata/grants.golden of each room, and with the file of this package for what rooms share: a
// change of permissions shows in review as a change of one text file. A line is of a function, or
// else a role, queue or topic: what it may do, or, by whom, what may be done to it. The queues by
// which the accounts ask other rooms are one line, whatever rooms there are. With the environment
// variable UPDATE=1 the files are written.
func TestGrants(t *testing.T) {
	t.Parallel()
	grants := map[string][]string{} // by file
	for _, tmpl := range templates {
		if tmpl.Stage.Name != "prod" {
			continue
		}
		file := filepath.Join("testdata", "grants.golden")
		if tmpl.Room.Name != "" && tmpl.Room.Name != edge.Name {
			file = filepath.Join("..", "pkg", tmpl.Room.Name, file)
		}
		owners := tmpl.owners()
		for id, statements := range tmpl.policies() {
			for _, line := range lines(statements) {
				grants[file] = append(grants[file], owners[id]+" "+tmpl.ofAnyRoom(line))
			}
		}
	}

	for file, got := range grants {
		slices.Sort(got)
		got = slices.Compact(got)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if !same(t, "the grants of "+file, got, strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")) {
			t.Error("if that is meant, UPDATE=1 go test ./template-tests -run TestGrants")
		}
	}
}

// ofAnyRoom returns a line of grants with {room} for the room that is asked to delete or export data.
func (t template) ofAnyRoom(line string) string {
	for _, room := range account.Keepers(t.Rooms) {
		for _, k := range []account.Kind{account.Forget, account.Export} {
			if end := " sqs:" + account.Queue(room, k).Name; room != t.Room.Name && strings.HasSuffix(line, end) {
				return strings.TrimSuffix(line, end) + " sqs:" + account.Queue("{room}", k).Name
			}
		}
	}
	return line
}

// TestSendsFollowTheSpec: a function may send to the queues of its spec, and to the queue of what it
// gives up.
func TestSendsFollowTheSpec(t *testing.T) {
	each(t, checkSends)
}

func checkSends(t *testing.T, tmpl template) {
	for _, f := range tmpl.Room.Functions {
		var want []string
		for _, q := range f.Sends {
			want = append(want, "sqs:SendMessage sqs:"+tmpl.Stage.Prefix()+q.Name)
		}
		if dead := tmpl.Stage.DeadLetter(f); dead != "" {
			want = append(want, "sqs:SendMessage sqs:"+dead)
		}
		got := slices.DeleteFunc(tmpl.rights(tmpl.function(f)), func(line string) bool { return !strings.HasPrefix(line, "sqs:SendMessage") })
		same(t, f.Name, got, want)
	}
}

// same reports what is missing from got, and what is in it that should not be, and
// returns whether neither was.
func same(t *testing.T, what string, got, want []string) bool {
	t.Helper()
	ok, left := true, slices.Clone(want)
	for _, g := range got {
		if i := slices.Index(left, g); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		ok = false
		t.Errorf("%s: there is %s", what, g)
	}
	for _, w := range left {
		t.Errorf("%s: there is no %s", what, w)
	}
	return ok && len(left) == 0
}

// TestGrantsFollowTheSpec: on tables a role holds its function's grants, and
// nothing more.
func TestGrantsFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, f := range tmpl.Room.Functions {
			var want []string
			for _, g := range f.Grants() {
				for _, op := range g.Ops {
					line := "dynamodb:" + string(op) + " dynamodb:table/" + tmpl.Stage.Table(g.Table)
					if g.Index != "" {
						line += "/index/" + g.Index
					}
					want = append(want, line)
				}
			}
			got := slices.DeleteFunc(tmpl.rights(tmpl.function(f)), func(line string) bool { return !strings.HasPrefix(line, "dynamodb:") })
			same(t, f.Name, got, want)
		}
	})
}

// TestUsersFollowTheSpec: of Cognito a role holds what its function does to the
// accounts of the stage's own user pool.
func TestUsersFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		pool := "{" + tmpl.Stage.Parameter("user-pool") + "}"
		for _, f := range tmpl.Room.Functions {
			var want []string
			for _, op := range f.Users {
				want = append(want, "cognito-idp:"+string(op)+" cognito-idp:userpool/"+pool)
			}
			got := slices.DeleteFunc(tmpl.rights(tmpl.function(f)), func(line string) bool { return !strings.HasPrefix(line, "cognito") })
			same(t, f.Name, got, want)
		}
		for name, p := range tmpl.Parameters {
			if strings.HasPrefix(p.Default, "/matchday/") && p.Type != "AWS::SSM::Parameter::Value<String>" {
				t.Errorf("the parameter %s is a %s", name, p.Type)
			}
		}
	})
}

// interfaces are the actions with which Lambda puts a function into a VPC. They have
// no resources to name before the interface is made.
var interfaces = []string{
	"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DeleteNetworkInterface",
	"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
}

// TestNoStars: nothing may do everything, nor all but something, and only what has
// no resources to name may be done to all.
func TestNoStars(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for id, statements := range tmpl.policies() {
			if of := tmpl.Resources[id].at("ManagedPolicyArns"); of != nil {
				t.Errorf("%s has the policies %v beside its own", id, of)
			}
			for _, s := range statements {
				for _, key := range s.Other {
					t.Errorf("a policy of %s has a %s", id, key)
				}
				if s.Effect != "Allow" {
					continue
				}
				for _, a := range s.Actions {
					if strings.Contains(a, "*") {
						t.Errorf("%s allows the action %s", id, a)
					}
					if slices.Contains(s.Resources, "*") && !strings.HasPrefix(a, "xray:") && !strings.HasPrefix(a, "logs:") &&
						!slices.Contains(interfaces, a) && a != "cloudwatch:DescribeAlarms" {
						t.Errorf("%s allows %s on everything", id, a)
					}
				}
			}
		}
	})
}

// TestCallers: whom a policy lets in is a service of AWS, on behalf of this account.
// Lambda takes on the roles of functions, and says for no account. A function is
// called by the API for its own route and by the user pool that it waits for, and by
// nobody else; schedules and state machines call by roles of their own.
func TestCallers(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		const account = "123456789012"
		owners := tmpl.owners()
		var got, want []string
		for id, statements := range tmpl.policies() {
			for _, s := range statements {
				if s.Effect != "Allow" || s.Principals == nil || tmpl.Resources[id].Type == "AWS::EC2::VPCEndpoint" { // of TestNetwork
					continue
				}
				by := strings.Join(s.Principals, " and ")
				if !regexp.MustCompile(`^[a-z-]+\.amazonaws\.com$`).MatchString(by) {
					t.Errorf("%s lets in %s", owners[id], by)
				}
				source := s.Conditions["aws:SourceArn"]
				ours := strings.HasPrefix(source, "arn:aws:") && strings.Contains(source, ":us-east-1:"+account+":")
				switch tmpl.Resources[id].Type {
				case "AWS::IAM::Role":
					if by != "lambda.amazonaws.com" && (s.Conditions["aws:SourceAccount"] != account || !ours ||
						strings.Contains(source, "*") && by != "codedeploy.amazonaws.com") {
						t.Errorf("%s is taken on by %s if %v", owners[id], by, s.Conditions)
					}
				case "AWS::Lambda::Permission":
					got = append(got, owners[id]+" by "+by+" of "+short(source))
				default:
					if s.Conditions["aws:SourceAccount"] != account {
						t.Errorf("%s lets in %s if %v", owners[id], by, s.Conditions)
					}
				}
			}
		}
		for _, f := range tmpl.Room.Functions {
			switch on := f.On.(type) {
			case spec.Route:
				path := regexp.MustCompile(`\{[^/]*\}`).ReplaceAllString(on.Path, "*")
				for _, method := range on.Methods() {
					want = append(want, strings.TrimPrefix(tmpl.callable(f), "Function ")+" by apigateway.amazonaws.com of execute-api:Api "+
						tmpl.Stage.API(tmpl.Room.Name)+"/*/"+method+path)
				}
			case spec.UserConfirmed:
				want = append(want, tmpl.Stage.Function(f)+" by cognito-idp.amazonaws.com of cognito-idp:userpool/{"+tmpl.Stage.Parameter("user-pool")+
					"}")
			}
		}
		same(t, "calls", got, want)
	})
}

// TestFunctionsLogByName: a function's own policy names its room's log group, and may
// not touch the delivery of logs.
func TestFunctionsLogByName(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, f := range tmpl.of("AWS::Lambda::Function") {
			for _, line := range tmpl.rights(f) {
				if want := "logs:log-group:" + tmpl.Stage.LogGroup(tmpl.Room.Name) + ":log-stream:*"; strings.HasPrefix(line, "logs:") &&
					!strings.HasSuffix(line, " "+want) {
					t.Errorf("%s may %s", f.name("FunctionName"), line)
				}
			}
		}
	})
}

var secretLike = regexp.MustCompile(`(?i)BEGIN [A-Z ]*PRIVATE KEY|api_token=|AKIA[0-9A-Z]{16}|"SecretString"|\{\{resolve:secretsmanager`)

// keyLike is a reference to a key of CloudFront. CloudFront and the API's stages hold the
// value, where everyone who may list them can read it: it proves the way that a request
// took, and opens nothing that a token or the firewall would not let through.
var keyLike = regexp.MustCompile(`\{\{resolve:secretsmanager:[a-z]+/cdn/key[0-9]+:SecretString\}\}`)

// TestNoSecrets: a template names secrets and holds none, and who needs one may
// read it. TestFunctionsFollowTheSpec sees to it that no function gets one by its
// environment, where everyone who may list functions could read it.
func TestNoSecrets(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if found := secretLike.FindString(keyLike.ReplaceAllString(tmpl.text, "")); found != "" {
			t.Errorf("the template holds %q", found)
		}
		for _, f := range tmpl.Room.Functions {
			for _, s := range f.Secrets {
				want := fmt.Sprintf("secretsmanager:GetSecretValue Secret %s/%s/%s", tmpl.Stage.Name, tmpl.Room.Name, s)
				if !slices.Contains(tmpl.rights(tmpl.function(f)), want) {
					t.Errorf("%s may not read the secret %s", f.Name, s)
				}
			}
		}
	})
}
