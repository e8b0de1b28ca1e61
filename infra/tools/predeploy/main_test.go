package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/dynamodb"
	"matchday/infra/stage"
	"matchday/infra/tools/judge/calls"
	"matchday/infra/tools/predeploy/ready"
	"matchday/pkg/spec"
)

// cloud answers as the services of an account do.
type cloud struct {
	stacks  map[string]string            // template by stack
	outputs map[string]map[string]string // by stack
	status  map[string]string            // by stack, CREATE_COMPLETE if there is none
	owns    map[string]map[string]string // physical by logical id, by stack
	tables  map[string]string            // description in JSON by name
	pools   map[string]string            // name by id
	secrets map[string]string            // ARN by name
	buckets []string
	domains []string // the identities in SES
	left    int      // concurrent executions that no function has reserved

	has    map[string]int // resources by type
	quotas map[string]int // by code
}

func (c cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, operation, isJSON := strings.Cut(r.Header.Get("X-Amz-Target"), ".")

	domain, isIdentity := strings.CutPrefix(r.URL.Path, "/v2/email/identities/")
	switch {
	case r.URL.Path == "/2016-08-19/account-settings":
		fmt.Fprintf(w, `{"AccountLimit":{"ConcurrentExecutions":1000,"UnreservedConcurrentExecutions":%d}}`, c.left)
	case isIdentity && slices.Contains(c.domains, domain):
		fmt.Fprint(w, `{}`)
	case isIdentity:
		w.Header().Set("X-Amzn-ErrorType", "NotFoundException")
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodHead:
		for _, b := range c.buckets {
			if r.URL.Path == "/"+b || r.URL.Path == "/"+b+"/" {
				return
			}
		}

		w.WriteHeader(http.StatusNotFound)
	case isJSON:
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")

		var in struct{ TableName, SecretId, NextToken, TypeName, QuotaCode string }
		json.Unmarshal(body, &in)

		switch {
		case operation == "GetServiceQuota":
			fmt.Fprintf(w, `{"Quota":{"Value":%d.0}}`, c.quotas[in.QuotaCode])
		case operation == "ListResources" && in.NextToken == "" && c.has[in.TypeName] > 0: // all but one are on the second page
			fmt.Fprint(w, `{"ResourceDescriptions":[{"Identifier":"1"}],"NextToken":"2"}`)
		case operation == "ListResources":
			fmt.Fprintf(w, `{"ResourceDescriptions":[%s]}`, strings.TrimSuffix(strings.Repeat("{},", max(0, c.has[in.TypeName]-1)), ","))
		case operation == "DescribeTable" && c.tables[in.TableName] != "":
			fmt.Fprintf(w, `{"Table":%s}`, c.tables[in.TableName])
		case operation == "DescribeSecret" && c.secrets[in.SecretId] != "":
			fmt.Fprintf(w, `{"ARN":%q}`, c.secrets[in.SecretId])
		case operation == "ListUserPools" && in.NextToken == "": // the pools are on the second page
			fmt.Fprint(w, `{"UserPools":[{"Id":"eu-west-1_other","Name":"another"}],"NextToken":"2"}`)
		case operation == "ListUserPools":
			var all []string
			for id, name := range c.pools {
				all = append(all, fmt.Sprintf(`{"Id":%q,"Name":%q}`, id, name))
			}

			fmt.Fprintf(w, `{"UserPools":[%s]}`, strings.Join(all, ","))
		default:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ResourceNotFoundException","message":"not found"}`)
		}
	default:
		form, _ := url.ParseQuery(string(body))
		stack, action := form.Get("StackName"), form.Get("Action")

		template, ok := c.stacks[stack]
		refusal := ""

		switch {
		case !stackName.MatchString(stack):
			refusal = "1 validation error detected: Value '" + stack + "' at 'stackName' failed to satisfy constraint: Member must satisfy " +
				"regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*"
		case !ok:
			refusal = "Stack with id " + stack + " does not exist"
		case action == "GetTemplate" && form.Get("TemplateStage") != "Original":
			refusal = "the default of TemplateStage is not documented without contradiction"
		}

		if refusal != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `<ErrorResponse><Error><Code>ValidationError</Code><Message>%s</Message></Error></ErrorResponse>`, refusal)

			return
		}

		inner := "<TemplateBody><![CDATA[" + template + "]]></TemplateBody>"
		if action == "ListStackResources" {
			inner = "<StackResourceSummaries>"
			for logical, physical := range c.owns[stack] {
				inner += fmt.Sprintf(`<member><LogicalResourceId>%s</LogicalResourceId><PhysicalResourceId>%s</PhysicalResourceId><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`, logical, physical)
			}

			inner += "</StackResourceSummaries>"
		}

		if action == "DescribeStacks" {
			status, ok := c.status[stack]
			if !ok {
				status = "CREATE_COMPLETE"
			}

			inner = "<Stacks><member><StackName>" + stack + "</StackName><StackStatus>" + status + "</StackStatus><Outputs>"
			for key, value := range c.outputs[stack] {
				inner += "<member><OutputKey>" + key + "</OutputKey><OutputValue>" + value + "</OutputValue></member>"
			}

			inner += "</Outputs></member></Stacks>"
		}

		fmt.Fprintf(w, `<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>`, action, inner)
	}
}

// stackName is what CloudFormation takes for the name of a stack.
var stackName = regexp.MustCompile(`^([a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*)$`)

const shared = `{"Resources":{
	"Users0A":{"Type":"AWS::Cognito::UserPool","Properties":{"UserPoolName":"matchday-prod-users"}},
	"Table1":{"Type":"AWS::DynamoDB::GlobalTable","Properties":{"TableName":"deleted-users","KeySchema":[{"AttributeName":"userId","KeyType":"HASH"}]}},
	"Key":{"Type":"AWS::SecretsManager::Secret","Properties":{"Name":"prod/cdn/key1"}},
	"Identity":{"Type":"AWS::SES::EmailIdentity","Properties":{"EmailIdentity":"example.com"}},
	"Exports":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"account-exports-123456789012"}}}}`

// table returns a template with a table that has indexes: name, key and projection.
func table(indexes ...[3]string) string {
	var all []string
	for _, x := range indexes {
		all = append(all, fmt.Sprintf(`{"IndexName":%q,"KeySchema":[{"AttributeName":%q,"KeyType":"HASH"}],"Projection":{"ProjectionType":%q}}`,
			x[0], x[1], x[2]))
	}

	return fmt.Sprintf(`{"Resources":{"T":{"Type":"AWS::DynamoDB::GlobalTable","Properties":{"TableName":"games","GlobalSecondaryIndexes":[%s]}}}}`, strings.Join(all, ","))
}

// games is a room with a table that can be restored.
var games = []spec.Room{{Name: "games", Functions: []spec.Function{{Name: "games/list", Uses: []spec.Access{
	spec.Table{
		Name:    "games",
		Key:     spec.Key{Partition: "id"},
		Indexes: []spec.Index{{Name: "by-day", Key: spec.Key{Partition: "day"}, KeysOnly: true}},
	}.On("Get", "PK=id", spec.Rate{}, spec.GetItem),
}}}}}

// synthesized writes templates by stack to a folder, as the CDK does: with a manifest, and with the
// template of a nested stack, which is no stack of the manifest.
func synthesized(t *testing.T, next map[string]string, nested string) (dir string) {
	t.Helper()

	dir = t.TempDir()
	artifacts := map[string]any{"Tree": map[string]any{"type": "cdk:tree", "properties": map[string]string{"file": "tree.json"}}}
	files := map[string]string{"routes.nested.template.json": nested}

	for stack, text := range next {
		files[stack+".template.json"] = text
		artifacts[stack] = map[string]any{"type": "aws:cloudformation:stack", "properties": map[string]string{"templateFile": stack + ".template.json"}}
	}

	manifest, err := json.Marshal(map[string]any{"version": "53.0.0", "artifacts": artifacts})
	if err != nil {
		t.Fatal(err)
	}

	files["manifest.json"] = string(manifest)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// checked returns the errors of a deployment of templates by stack, one a line.
func checked(t *testing.T, c cloud, verb string, s stage.Stage, next map[string]string) (dir string, errs []string) {
	t.Helper()

	dir = synthesized(t, next, `{"Resources":{"Route":{"Type":"AWS::ApiGatewayV2::Route"}}}`)

	return dir, checkedIn(t, c, verb, s, dir)
}

// checkedIn is checked for the templates of a folder.
func checkedIn(t *testing.T, c cloud, verb string, s stage.Stage, dir string) (errs []string) {
	t.Helper()

	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	cfg := dynamodb.Config(server.URL)
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }

	err := run(t.Context(), open(calls.On(cfg)), games, s, verb, dir, io.Discard)
	if err != nil {
		errs = strings.Split(err.Error(), "\n")
	}

	return errs
}

// TestStacksOfADeployment: the stacks are those of the manifest, under the names that it gives them.
// A nested stack must not have what the check of the stacks would not see.
func TestStacksOfADeployment(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ nested, want string }{
		"routes":   {`"Route":{"Type":"AWS::ApiGatewayV2::Route"},"F":{"Type":"AWS::Lambda::Function","Properties":{}}`, ""},
		"table":    {`"R":{"Type":"AWS::DynamoDB::GlobalTable","Properties":{"TableName":"games"}}`, ready.Table},
		"pool":     {`"R":{"Type":"AWS::Cognito::UserPool","Properties":{"UserPoolName":"users"}}`, ready.UserPool},
		"secret":   {`"R":{"Type":"AWS::SecretsManager::Secret","Properties":{"Name":"key"}}`, ready.Secret},
		"bucket":   {`"R":{"Type":"AWS::S3::Bucket"}`, ready.Bucket},
		"identity": {`"R":{"Type":"AWS::SES::EmailIdentity","Properties":{"EmailIdentity":"example.com"}}`, ready.Identity},
		"reserved": {`"R":{"Type":"AWS::Lambda::Function","Properties":{"ReservedConcurrentExecutions":1}}`, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var want []string

			switch c.want {
			case "":
			case "-":
				want = []string{"routes.nested.template.json: a nested stack must not have R, which reserves concurrent executions that are not " +
					"counted there"}
			default:
				want = []string{"routes.nested.template.json: a nested stack must not have R of the type " + c.want + ", which outlives its " +
					"stack and is not checked there"}
			}

			dir := synthesized(t, map[string]string{"matchday-dev-games": table()}, `{"Resources":{`+c.nested+`}}`)
			if diff := cmp.Diff(want, checkedIn(t, cloud{}, "check", stage.Stage{Name: "dev"}, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	t.Run("a name of its own", func(t *testing.T) {
		t.Parallel()

		dir := t.TempDir()
		for name, text := range map[string]string{
			"manifest.json": `{"artifacts":{"Games":{"type":"aws:cloudformation:stack",` +
				`"properties":{"templateFile":"Games.template.json","stackName":"matchday-dev-games"}}}}`,
			"Games.template.json": table(),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}

		in := cloud{
			tables: map[string]string{"games": `{"TableName":"games"}`},
			stacks: map[string]string{"matchday-dev-games": table()},
			owns:   map[string]map[string]string{"matchday-dev-games": {"T": "games"}},
		}
		if got := checkedIn(t, in, "check", stage.Stage{Name: "dev"}, dir); got != nil {
			t.Errorf("the stack matchday-dev-games has the table, and it is refused: %q", got)
		}
	})

	for name, want := range map[string]string{
		`{"artifacts":{"Tree":{"type":"cdk:tree"}}}`: "there is no stack in ",
		`[]`: "manifest.json is no manifest of the CDK: ",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}

		if got := checkedIn(t, cloud{}, "check", stage.Stage{Name: "dev"}, dir); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("a folder with the manifest %s: got %q, want %q", name, got, want)
		}
	}
}

// TestReservedConcurrency: a deployment is refused before it starts if the account has too few
// concurrent executions for what its functions reserve.
func TestReservedConcurrency(t *testing.T) {
	t.Parallel()

	reserves := func(all ...int) string {
		var functions []string
		for i, n := range all {
			functions = append(functions, fmt.Sprintf(`"F%d":{"Type":"AWS::Lambda::Function","Properties":{"ReservedConcurrentExecutions":%d}}`,
				i, n))
		}

		return `{"Resources":{` + strings.Join(append(functions, `"Free":{"Type":"AWS::Lambda::Function","Properties":{}}`), ",") + "}}"
	}
	for name, c := range map[string]struct {
		left     int
		deployed map[string]string
		want     []string
	}{
		"enough": {360, nil, nil},
		"one too few": {359, nil, []string{"nothing was deployed:",
			`the functions reserve 260 concurrent executions, and Lambda keeps 100 for others: the account lacks 1. Ask for more of the quota "Concurrent executions" of Lambda (L-B99A9384) in Service Quotas`}},
		"a new account": {10, nil, []string{"nothing was deployed:",
			`the functions reserve 260 concurrent executions, and Lambda keeps 100 for others: the account lacks 350. Ask for more of the quota "Concurrent executions" of Lambda (L-B99A9384) in Service Quotas`}},
		"reserved already": {100, map[string]string{"a": reserves(200, 10), "b": reserves(50)}, nil},
		"in part":          {150, map[string]string{"a": reserves(200, 10)}, nil},
		"in part, one too few": {149, map[string]string{"a": reserves(200, 10)},
			[]string{"nothing was deployed:", `the functions reserve 260 concurrent executions, and Lambda keeps 100 for others: the account lacks 1. Ask for more of the quota "Concurrent executions" of Lambda (L-B99A9384) in Service Quotas`}},
		"fewer than before": {40, map[string]string{"a": reserves(300)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, errs := checked(t, cloud{left: c.left, stacks: c.deployed}, "check", stage.Stage{},
				map[string]string{"a": reserves(200, 10), "b": reserves(50)})
			if diff := cmp.Diff(c.want, errs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestQuotas: a deployment is refused before it starts if the account has no room for the roles and
// VPCs that it creates, those of nested stacks, too.
func TestQuotas(t *testing.T) {
	t.Parallel()

	const (
		games = `{"Resources":{"Net":{"Type":"AWS::EC2::VPC"},"Role":{"Type":"AWS::IAM::Role"},` +
			`"Roles":{"Type":"AWS::CloudFormation::Stack","Metadata":{"aws:asset:path":"routes.nested.template.json"}}}}`
		nested = `{"Resources":{"A":{"Type":"AWS::IAM::Role"},"B":{"Type":"AWS::IAM::Role"}}}`
		role   = "AWS::IAM::Role"
		vpc    = "AWS::EC2::VPC"
	)

	for name, c := range map[string]struct {
		has  map[string]int
		owns map[string]string
		want []string
	}{
		"an empty account": {},
		"enough":           {has: map[string]int{role: 997, vpc: 4}},
		"one role too few": {has: map[string]int{role: 998}, want: []string{"nothing was deployed:",
			"the stacks create 3 roles, and the account has 998: it lacks 1. Delete what is not needed, or ask for more of the quota " +
				"L-FE177D64 of iam in Service Quotas"}},
		"no VPC left": {has: map[string]int{vpc: 5}, want: []string{"nothing was deployed:",
			"the stacks create 1 VPCs, and the account has 5: it lacks 1. Delete what is not needed, or ask for more of the quota " +
				"L-F678F1CE of vpc in Service Quotas"}},
		"a second time": {has: map[string]int{role: 1000, vpc: 5}, owns: map[string]string{"Net": "vpc-1", "Role": "r", "Roles": "arn:1"}},
		"a new role in an old stack": {has: map[string]int{role: 1000}, owns: map[string]string{"Net": "vpc-1", "Roles": "arn:1"},
			want: []string{"nothing was deployed:", "the stacks create 1 roles, and the account has 1000: it lacks 1. Delete what is not " +
				"needed, or ask for more of the quota L-FE177D64 of iam in Service Quotas"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := cloud{left: 1000, has: c.has, quotas: map[string]int{"L-FE177D64": 1000, "L-F678F1CE": 5}}
			if c.owns != nil {
				in.stacks = map[string]string{"matchday-dev-games": games}
				in.owns = map[string]map[string]string{"matchday-dev-games": c.owns}
			}

			dir := synthesized(t, map[string]string{"matchday-dev-games": games}, nested)
			if diff := cmp.Diff(c.want, checkedIn(t, in, "check", stage.Stage{Name: "dev"}, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestIndexesOfADeployment checks pairs of templates.
func TestIndexesOfADeployment(t *testing.T) {
	t.Parallel()

	var (
		day   = [3]string{"by-day", "day", "ALL"}
		team  = [3]string{"by-team", "team", "ALL"}
		other = [3]string{"by-day", "day", "KEYS_ONLY"}
		key   = [3]string{"by-day", "month", "ALL"}
	)

	twice := "the table games adds by-team and deletes by-day: DynamoDB changes one index of a table per deployment, so deploy them one " +
		"at a time"

	place := "the table games changes the index by-day in place, which DynamoDB cannot: add an index with another name, move the functions " +
		"to it, and then delete the old one, in three deployments"
	for name, c := range map[string]struct {
		was, is [][3]string
		want    string
	}{
		"none":           {[][3]string{day}, [][3]string{day}, ""},
		"one is added":   {[][3]string{day}, [][3]string{day, team}, ""},
		"one is deleted": {[][3]string{day, team}, [][3]string{team}, ""},
		"the order":      {[][3]string{day, team}, [][3]string{team, day}, ""},
		"two are added": {nil, [][3]string{day, team},
			"the table games adds by-day and adds by-team: DynamoDB changes one index of a table per deployment, so deploy them one at a time"},
		"one for another":    {[][3]string{day}, [][3]string{team}, twice},
		"another projection": {[][3]string{day}, [][3]string{other}, place},
		"another key":        {[][3]string{day}, [][3]string{key}, place},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := cloud{
				stacks: map[string]string{"matchday-dev-games": table(c.was...)},
				owns:   map[string]map[string]string{"matchday-dev-games": {"T": "games"}},
			}
			_, got := checked(t, in, "check", stage.Stage{Name: "dev"}, map[string]string{"matchday-dev-games": table(c.is...)})

			var want []string
			if c.want != "" {
				want = []string{"nothing was deployed:", c.want}
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	t.Run("a new table", func(t *testing.T) {
		t.Parallel()

		if _, got := checked(t, cloud{}, "check", stage.Stage{Name: "dev"},
			map[string]string{"matchday-dev-games": table(day, team)}); got != nil {
			t.Errorf("a new table with two indexes is refused: %q", got)
		}
	})
}

// TestSecondUserPoolIsRefused: production was torn down, and its data were kept.
func TestSecondUserPoolIsRefused(t *testing.T) {
	t.Parallel()

	left := cloud{
		pools:   map[string]string{"eu-west-1_first": "matchday-prod-users"},
		tables:  map[string]string{"deleted-users": `{"TableName":"deleted-users"}`},
		secrets: map[string]string{"prod/cdn/key1": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/cdn/key1-a1b2c3"},
		buckets: []string{"account-exports-123456789012"},
		domains: []string{"example.com"},
	}
	next := map[string]string{"matchday-prod-shared": shared}
	_, got := checked(t, left, "check", stage.Stage{Name: "prod"}, next)
	end := " and is not in the stack matchday-prod-shared, which would create it: "

	name, way := "its name is in use, so the deployment would fail",
		". Import it with `make import STAGE=prod`, or delete it if its data are no longer needed"
	if diff := cmp.Diff([]string{
		"nothing was deployed:",
		"the bucket account-exports-123456789012 exists (account-exports-123456789012)" + end + name + way,
		"the identity example.com exists in SES and is not in the stack matchday-prod-shared, which would create it: deploy without " +
			"identity=example.com, or import it with `make import STAGE=prod`",
		"the secret prod/cdn/key1 exists (arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/cdn/key1-a1b2c3)" + end + name + way,
		"the table deleted-users exists (deleted-users)" + end + name + way,
		"the user pool matchday-prod-users exists (eu-west-1_first)" + end +
			"a second pool would give its users new ids, and separate them from all their data" + way,
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	dir, errs := checked(t, left, "import", stage.Stage{Name: "prod"}, next)

	text, err := os.ReadFile(filepath.Join(dir, "matchday-prod-shared.import.json"))
	if err != nil || errs != nil {
		t.Fatal(err, errs)
	}

	var ids map[string]map[string]string
	if err := json.Unmarshal(text, &ids); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(map[string]map[string]string{
		"Users0A":  {"UserPoolId": "eu-west-1_first"},
		"Table1":   {"TableName": "deleted-users"},
		"Exports":  {"BucketName": "account-exports-123456789012"},
		"Identity": {"EmailIdentity": "example.com"},
		"Key":      {"Id": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/cdn/key1-a1b2c3"},
	}, ids); diff != "" {
		t.Errorf("what is imported (-want +got):\n%s", diff)
	}

	left.pools["eu-west-1_second"] = "matchday-prod-users"
	if _, errs := checked(t, left, "import", stage.Stage{Name: "prod"}, next); len(errs) != 1 ||
		!strings.Contains(errs[0], "the user pool matchday-prod-users exists twice") {
		t.Errorf("two pools of one name are imported: %q", errs)
	}

	// What the stack has already is in nobody's way.
	delete(left.pools, "eu-west-1_second")
	left.stacks = next

	left.owns = map[string]map[string]string{
		"matchday-prod-shared": {"Users0A": "eu-west-1_first", "Table1": "deleted-users", "Key": "k", "Exports": "b", "Identity": "example.com"},
	}
	if _, got := checked(t, left, "check", stage.Stage{Name: "prod"}, next); got != nil {
		t.Errorf("a deployed stack is refused: %q", got)
	}

	if dir, errs := checked(t, left, "import", stage.Stage{Name: "prod"}, next); errs != nil {
		t.Error(errs)
	} else if _, err := os.Stat(filepath.Join(dir, "matchday-prod-shared.import.json")); err == nil {
		t.Error("a deployed stack has something to import")
	}
}

// TestRestoredTableMustBeUsable checks what the setting restored= names.
func TestRestoredTableMustBeUsable(t *testing.T) {
	t.Parallel()

	const (
		keys  = `"TableName":"dev-games-r1","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]`
		index = `,"GlobalSecondaryIndexes":[{"IndexName":"by-day","KeySchema":[{"AttributeName":"day","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`
	)
	for name, c := range map[string]struct{ table, want string }{
		"usable":    {`{` + keys + index + `,"TableStatus":"ACTIVE"}`, ""},
		"restoring": {`{` + keys + index + `,"TableStatus":"CREATING"}`, "its status is CREATING"},
		"no index":  {`{` + keys + `,"TableStatus":"ACTIVE"}`, "dev-games-r1 lacks the index by-day"},
		"absent":    {"", "ResourceNotFoundException"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := cloud{
				stacks: map[string]string{"matchday-dev-games": table()},
				owns:   map[string]map[string]string{"matchday-dev-games": {"T": "games"}},
				tables: map[string]string{"dev-games-r1": c.table},
			}

			_, got := checked(t, in, "check", stage.Stage{Name: "dev", Restored: "games:r1"}, map[string]string{"matchday-dev-games": table()})
			if c.want == "" && got != nil || c.want != "" &&
				(len(got) != 2 || !strings.HasPrefix(got[1], "the setting restored= names dev-games-r1, which the functions could not use: ") ||
					!strings.Contains(got[1], c.want)) {
				t.Errorf("the errors are %q, want %q in them", got, c.want)
			}
		})
	}
}
