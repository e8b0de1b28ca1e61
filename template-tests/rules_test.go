package templatetests

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// function is the one of the template that stands for f.
func (t template) function(f spec.Function) (found resource) {
	for _, r := range t.of("AWS::Lambda::Function") {
		if r.name("FunctionName") == t.Stage.Function(f) {
			return r
		}
	}
	return found
}

// TestFunctions pairs the folders of functions with the deployed ones, which have
// literal names: what SAM CLI finds them by.
func TestFunctions(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob(filepath.Join("..", "functions", "*", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("no functions are found: %v", err)
	}
	var want []string
	for _, m := range mains {
		folder := filepath.Dir(m)
		want = append(want, filepath.Base(filepath.Dir(folder))+"-"+filepath.Base(folder))
	}
	for _, stage := range []string{"prod", "dev"} {
		var got []string
		for _, tmpl := range templates {
			if tmpl.Stage.Name != stage {
				continue
			}
			for _, f := range tmpl.of("AWS::Lambda::Function") {
				name, ok := strings.CutPrefix(f.name("FunctionName"), tmpl.Stage.Prefix())
				if !ok || len(name) > 64 {
					t.Errorf("%s has a function called %v", tmpl.Name, f.at("FunctionName"))
				}
				got = append(got, name)
			}
		}
		for _, name := range got {
			if !slices.Contains(want, name) {
				t.Errorf("the function %s of the stage %s has no folder", name, stage)
			}
		}
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("the folder of %s has no function in the stage %s", name, stage)
			}
		}
	}
}

// standIns are the first 12 digits of the SHA-256 of what stands for a program, by architecture.
var standIns = map[string]string{"arm64": "051bf339d2c0", "x86_64": "b185548fb4f7"}

// TestFunctionsFollowTheSpec: a function is run with what its spec and its stage
// say, and with nothing else, in its environment least of all.
func TestFunctionsFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, f := range tmpl.Room.Functions {
			env := map[string]string{
				spec.EnvStage: tmpl.Stage.Name, spec.EnvPrefix: tmpl.Stage.Prefix(), "GOMEMLIMIT": fmt.Sprintf("%dMiB", f.Memory*85/100),
				spec.EnvQueues: "https://sqs.us-east-1.amazonaws.com/123456789012/" + tmpl.Stage.Prefix(),
			}
			env[spec.EnvCode] = standIns[tmpl.Stage.Arch]
			if tmpl.Stage.Restart != "" && len(f.Secrets) > 0 {
				env[spec.EnvRestart] = tmpl.Stage.Restart
			}
			if tmpl.Stage.Restored != "" && len(f.Uses) > 0 {
				env[spec.EnvRestored] = tmpl.Stage.Restored
			}
			if f.Keepers {
				env[spec.EnvKeepers] = account.FormatKeepers(account.Keepers(tmpl.Rooms))
			}
			if len(f.Secrets) > 0 {
				env[spec.EnvSecrets] = tmpl.Stage.Name + "/" + tmpl.Room.Name + "/"
			}
			if len(f.Users) > 0 {
				env[spec.EnvUserPool] = "{" + tmpl.Stage.Parameter("user-pool") + "}"
			}
			if tmpl.Room.KnowsPages(f) {
				env[spec.EnvAPI], env[spec.EnvOrigins] = "https://"+tmpl.Stage.Domain+"/"+tmpl.Room.Name, strings.Join(tmpl.Stage.Origins, ",")
			}
			if f.SignIn {
				env[spec.EnvIssuer], env[spec.EnvSignIn], env[spec.EnvClient] = "{"+tmpl.Stage.Parameter("jwt-issuer")+"}",
					"{"+tmpl.Stage.Parameter("sign-in")+"}", "UserPoolClient"
			}
			if tmpl.Room.TakesTokens(f) {
				env[spec.EnvIssuer], env[spec.EnvSignIn] = "{"+tmpl.Stage.Parameter("jwt-issuer")+"}", "{"+tmpl.Stage.Parameter("sign-in")+"}"
				if len(tmpl.Stage.Apps) > 0 {
					env[spec.EnvNative] = "UserPoolClient"
				}
			}
			for _, s := range tmpl.Room.Settings {
				if value, set := tmpl.Stage.Settings[s.Name]; set && s.Of(f) {
					env[s.Name] = value
				}
			}
			prefix := tmpl.Stage.Prefix()
			for _, l := range f.SQL {
				address := "DBCluster " + prefix + l.Database.Name
				if other, ok := tmpl.Stage.RestoredSQL[l.Database.Name]; ok {
					address = other.Address
				}
				env[l.Database.Env()] = fmt.Sprintf("postgres://%s@%s:5432/matchday?sslmode=verify-full", l.Role, address)
			}
			for _, l := range f.Caches {
				env[l.Env()] = fmt.Sprintf("rediss://%s@ServerlessCache %s:6379/%s", prefix+l.Cache.Name+"-"+l.User,
					prefix+l.Cache.Name, prefix+l.Cache.Name)
			}
			for _, a := range f.Objects {
				env[a.Env()] = prefix + a.Bucket.Name + "-123456789012"
			}
			want := map[string]any{
				"FunctionName":  tmpl.Stage.Function(f),
				"Description":   f.Description(),
				"Runtime":       "provided.al2023",
				"Handler":       "bootstrap",
				"Architectures": []any{tmpl.Stage.Arch},
				"MemorySize":    f.Memory,
				"Timeout":       f.Timeout.Seconds(),
				"TracingConfig": map[string]any{"Mode": "Active"},
				"Environment":   map[string]any{"Variables": env},
				"LoggingConfig": map[string]any{"LogGroup": "LogGroup " + tmpl.Stage.LogGroup(tmpl.Room.Name), "LogFormat": "JSON"},
			}
			if f.InVPC() {
				want["VpcConfig"] = map[string]any{"SubnetIds": isolated, "SecurityGroupIds": []any{"SecurityGroup The functions of " + tmpl.Room.Name}}
			}
			if f.Reserved > 0 {
				want["ReservedConcurrentExecutions"] = f.Reserved
			}
			if f.SendsToItself() {
				want["RecursiveLoop"] = "Allow"
			}
			switch f.On.(type) {
			case spec.Schedule, spec.Migration, spec.Task:
				want["TracingConfig"] = map[string]any{"Mode": "PassThrough"}
			}
			if _, ok := f.On.(spec.Schedule); ok {
				if dead := tmpl.Stage.DeadLetter(f); dead != "" {
					want["DeadLetterConfig"] = map[string]any{"TargetArn": "Queue " + dead}
				}
			}
			got := maps.Clone(tmpl.function(f).Properties)
			delete(got, "Role") // what it holds is compared with the spec
			delete(got, "Code")
			tmpl.compare(t, f.Name, got, want)
		}
	})
}

// TestTemplatesWithoutProgramsAreRefused: CloudFormation refuses them by a rule that no version
// of the CDK's bootstrap satisfies. Other templates do not have the rule.
func TestTemplatesWithoutProgramsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		var got, want []string
		for _, a := range tmpl.Rules["Programs"].Assertions {
			got = append(got, fmt.Sprint(a.Assert))
		}
		if !tmpl.Stage.Programs {
			want = []string{fmt.Sprint(map[string]any{"Fn::Equals": []any{map[string]any{"Ref": "BootstrapVersion"}, "programs"}})}
		}
		same(t, "what CloudFormation asserts", got, want)
	})
}

// TestTables: there are the spec's tables and no others. Each can be brought back,
// costs what it is used, says which keys are throttled if the stage wants it, and expires
// as it should.
func TestTables(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got := map[string]any{}
		for _, r := range tmpl.of("AWS::DynamoDB::GlobalTable") {
			got[r.name("TableName")] = r.Properties
		}
		insights := map[string]any{"Enabled": true, "Mode": "THROTTLED_KEYS"}
		want := map[string]any{}
		reads, writes := map[string]any{"MaxReadRequestUnits": tmpl.Stage.Reads}, map[string]any{"MaxWriteRequestUnits": tmpl.Stage.Writes}
		for _, table := range tmpl.tables() {
			replica := map[string]any{
				"Region": "us-east-1", "ReadOnDemandThroughputSettings": reads,
				"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true},
				"DeletionProtectionEnabled":        tmpl.Stage.Name == "prod",
			}
			one := map[string]any{
				"TableName":                       spec.TableIn(tmpl.Stage.Prefix(), table.Name),
				"BillingMode":                     "PAY_PER_REQUEST",
				"KeySchema":                       schema(table.Key),
				"WriteOnDemandThroughputSettings": writes,
			}
			if w, ok := tmpl.Stage.Warm[table.Name]; ok {
				one["WarmThroughput"] = map[string]any{"ReadUnitsPerSecond": w.Reads, "WriteUnitsPerSecond": w.Writes}
			}
			if table.TTL != "" {
				one["TimeToLiveSpecification"] = map[string]any{"AttributeName": table.TTL, "Enabled": true}
			}
			var attributes, indexes, replicas []any
			declare := func(names ...string) {
				for _, name := range names {
					one := map[string]any{"AttributeName": name, "AttributeType": "S"}
					if name != "" && !slices.ContainsFunc(attributes, func(a any) bool { return reflect.DeepEqual(a, any(one)) }) {
						attributes = append(attributes, one)
					}
				}
			}
			declare(table.Key.Partition, table.Key.Sort)
			for _, x := range table.Indexes {
				declare(x.Key.Partition, x.Key.Sort)
				projection := map[string]any{"ProjectionType": "ALL"}
				switch {
				case x.KeysOnly:
					projection["ProjectionType"] = "KEYS_ONLY"
				case len(x.Include) > 0:
					names := make([]any, len(x.Include))
					for i, name := range x.Include {
						names[i] = name
					}
					projection["ProjectionType"], projection["NonKeyAttributes"] = "INCLUDE", names
				}
				indexes = append(indexes, map[string]any{
					"IndexName":                       x.Name,
					"KeySchema":                       schema(x.Key),
					"Projection":                      projection,
					"WriteOnDemandThroughputSettings": writes,
				})
				in := map[string]any{"IndexName": x.Name, "ReadOnDemandThroughputSettings": reads}
				if tmpl.Stage.Insights {
					in["ContributorInsightsSpecification"] = insights
				}
				replicas = append(replicas, in)
			}
			if tmpl.Stage.Insights {
				replica["ContributorInsightsSpecification"] = insights
			}
			if indexes != nil {
				one["GlobalSecondaryIndexes"], replica["GlobalSecondaryIndexes"] = indexes, replicas
			}
			one["Replicas"], one["AttributeDefinitions"] = []any{replica}, attributes
			want[spec.TableIn(tmpl.Stage.Prefix(), table.Name)] = one
		}
		tmpl.compare(t, "tables", got, want)
	})
}

// schema is a key as a template spells it.
func schema(key spec.Key) (all []any) {
	all = append(all, map[string]any{"AttributeName": key.Partition, "KeyType": "HASH"})
	if key.Sort != "" {
		all = append(all, map[string]any{"AttributeName": key.Sort, "KeyType": "RANGE"})
	}
	return all
}

// TestDataStays: in production tables, buckets, users and secrets outlive their stacks, and
// stacks and users are protected from a slip; elsewhere all goes, and so do keys that AWS
// makes up. Of a deployment
// that fails at the first go no secret is left, for its name would be taken.
func TestDataStays(t *testing.T) {
	var manifest struct {
		Artifacts map[string]struct {
			Properties struct{ TerminationProtection bool }
		}
	}
	if err := parse("manifest.json", &manifest); err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{
		"AWS::DynamoDB::GlobalTable":  "Retain",
		"AWS::S3::Bucket":             "Retain",
		"AWS::Cognito::UserPool":      "Retain",
		"AWS::SecretsManager::Secret": "RetainExceptOnCreate",
		"AWS::SES::EmailIdentity":     "Retain",
		"AWS::RDS::DBCluster":         "Snapshot",
	}
	each(t, func(t *testing.T, tmpl template) {
		prod := tmpl.Stage.Name == "prod"
		if got := manifest.Artifacts[tmpl.Name].Properties.TerminationProtection; got != prod {
			t.Errorf("the stack is protected from deletion: %v", got)
		}
		for id, r := range tmpl.Resources {
			deleted, replaced := "Delete", "Delete"
			if prod && kept[r.Type] != "" && r.at("GenerateSecretString") == nil {
				deleted, replaced = kept[r.Type], "Retain"
				if deleted == "Snapshot" {
					replaced = deleted
				}
			}
			if got := cmp.Or(r.DeletionPolicy, "Delete"); got != deleted {
				t.Errorf("%s, when it goes: %s, want %s", id, got, deleted)
			}
			if got := cmp.Or(r.UpdateReplacePolicy, "Delete"); got != replaced {
				t.Errorf("%s, when it is replaced: %s, want %s", id, got, replaced)
			}
			if got := r.at("DeletionProtection") == "ACTIVE"; r.Type == "AWS::Cognito::UserPool" && got != prod {
				t.Errorf("users are protected from deletion: %v", got)
			}
		}
	})
}

// isDead reports whether a queue is one of dead letters, by its name.
func isDead(queue string) bool { return strings.HasSuffix(strings.TrimSuffix(queue, ".fifo"), "-dead") }

// TestQueues: a queue has a dead-letter queue of its kind, or is one, for 14 days;
// both are encrypted; and a message hides for long enough to be handled. A FIFO
// queue does not take messages that are alike for one, and Lambda reads it in
// batches that it may: of ten at most, and without waiting for more.
func TestQueues(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, q := range tmpl.of("AWS::SQS::Queue") {
			name := q.name("QueueName")
			if q.at("SqsManagedSseEnabled") != true {
				t.Errorf("%s is not encrypted", name)
			}
			fifo := strings.HasSuffix(name, ".fifo")
			if (q.at("FifoQueue") == true) != fifo || q.at("ContentBasedDeduplication") == true || q.at("FifoThroughputLimit") != nil ||
				q.at("DeduplicationScope") != nil {
				t.Errorf("%s is %v", name, q.Properties)
			}
			if isDead(name) {
				if q.at("MessageRetentionPeriod") != float64(14*24*3600) {
					t.Errorf("%s keeps messages for %v s", name, q.at("MessageRetentionPeriod"))
				}
				continue
			}
			if dead := tmpl.plain(q.at("RedrivePolicy", "deadLetterTargetArn")); dead != "Queue "+(spec.Queue{Name: name}).DeadLetter() {
				t.Errorf("what %s cannot deliver goes to %s", name, dead)
			}
		}
		sources := map[string]resource{}
		for _, s := range tmpl.of("AWS::Lambda::EventSourceMapping") {
			sources[tmpl.plain(s.at("EventSourceArn"))] = s
		}
		for _, f := range tmpl.Room.Functions {
			if on, ok := f.On.(spec.DeadLetters); ok {
				dead := "Queue " + tmpl.Stage.Prefix() + on.Of.DeadLetter()
				tmpl.compare(t, f.Name, sources[dead].Properties, map[string]any{
					"EventSourceArn": dead, "FunctionName": tmpl.callable(f), "BatchSize": on.Of.Batch,
					"ScalingConfig": map[string]any{"MaximumConcurrency": 2}, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
				})
				for _, q := range tmpl.of("AWS::SQS::Queue") {
					if tmpl.label(q) == dead && q.at("VisibilityTimeout") != 6*f.Timeout.Seconds() {
						t.Errorf("%s hides messages for %v s", dead, q.at("VisibilityTimeout"))
					}
				}
			}
			on, ok := f.On.(spec.Queue)
			if !ok {
				continue
			}
			i := slices.IndexFunc(tmpl.of("AWS::SQS::Queue"), func(q resource) bool { return q.name("QueueName") == tmpl.Stage.Prefix()+on.Name })
			if i < 0 {
				t.Errorf("the queue %s is missing", on.Name)
				continue
			}
			q := tmpl.of("AWS::SQS::Queue")[i]
			if q.at("VisibilityTimeout") != 6*f.Timeout.Seconds() || q.at("RedrivePolicy", "maxReceiveCount") != float64(on.MaxReceiveCount) {
				t.Errorf("%s hides messages for %v s, %v times", on.Name, q.at("VisibilityTimeout"), q.at("RedrivePolicy", "maxReceiveCount"))
			}
			tmpl.compare(t, f.Name, sources["Queue "+tmpl.Stage.Prefix()+on.Name].Properties, map[string]any{
				"EventSourceArn": "Queue " + tmpl.Stage.Prefix() + on.Name, "FunctionName": tmpl.callable(f), "BatchSize": on.Batch,
				"ScalingConfig": map[string]any{"MaximumConcurrency": on.Concurrency}, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
			})
			if on.Concurrency < 2 || on.FIFO() && on.Batch > 10 {
				t.Errorf("Lambda refuses to read %s: %+v", on.Name, on)
			}
		}
	})
}

// TestSchedules: a schedule is exact, retries twice while it makes sense, and
// tells of what it could not start.
func TestSchedules(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got := map[string]resource{}
		for _, s := range tmpl.of("AWS::Scheduler::Schedule") {
			got[s.name("Name")] = s
			age, _ := s.at("Target", "RetryPolicy", "MaximumEventAgeInSeconds").(float64)
			if s.at("FlexibleTimeWindow", "Mode") != "OFF" || s.at("Target", "RetryPolicy", "MaximumRetryAttempts") != 2.0 || age < 60 ||
				age > 3600 {
				t.Errorf("%s is %v", s.name("Name"), s.Properties)
			}
			dead := any("Queue " + tmpl.Stage.JobsDead(tmpl.Room.Name))
			if on := s.at("ScheduleExpression"); on == "rate(1 minute)" || on == "cron(* * * * ? *)" {
				dead = nil // it starts again in a minute
			}
			if got := tmpl.plain(s.at("Target", "DeadLetterConfig", "Arn")); got != fmt.Sprint(dead) {
				t.Errorf("what %s cannot start goes to %s, want %v", s.name("Name"), got, dead)
			}
		}
		want, calls := map[string]spec.Schedule{}, map[string]string{}
		var tries []string
		for _, f := range tmpl.Room.Functions {
			if on, ok := f.On.(spec.Schedule); ok {
				want[tmpl.Stage.Function(f)], calls[tmpl.Stage.Function(f)] = on, tmpl.callable(f)
				qualifier := "$LATEST"
				if tmpl.Stage.Aliased(tmpl.Room, f) {
					qualifier = "live"
				}
				tries = append(tries, fmt.Sprintf("Function %s %s 2 %v", tmpl.Stage.Function(f), qualifier,
					got[tmpl.Stage.Function(f)].at("Target", "RetryPolicy", "MaximumEventAgeInSeconds")))
			}
		}
		var tried []string
		for _, c := range tmpl.of("AWS::Lambda::EventInvokeConfig") {
			tried = append(tried, fmt.Sprint(tmpl.plain(c.at("FunctionName")), " ", tmpl.plain(c.at("Qualifier")), " ",
				c.at("MaximumRetryAttempts"), " ", c.at("MaximumEventAgeInSeconds")))
		}
		same(t, "tries", tried, tries)
		for _, m := range tmpl.Room.Machines {
			want[tmpl.Stage.Machine(m)], calls[tmpl.Stage.Machine(m)] = m.Every, "StateMachine "+tmpl.Stage.Machine(m)
			if s := got[tmpl.Stage.Machine(m)]; s.at("Target", "Input") != `{"scheduledTime":"<aws.scheduler.scheduled-time>"}` ||
				s.at("Target", "RetryPolicy", "MaximumEventAgeInSeconds") != 60.0 {
				t.Errorf("%s is started with %v", m.Name, s.at("Target"))
			}
		}
		for name, on := range want {
			if s := got[name]; s.at("ScheduleExpression") != string(on) || s.at("ScheduleExpressionTimezone") != "UTC" ||
				s.at("State") == "DISABLED" {
				t.Errorf("%s is woken by %v, want %s", name, s.Properties, on)
			}
			if call := tmpl.plain(got[name].at("Target", "Arn")); call != calls[name] {
				t.Errorf("the schedule %s calls %s, want %s", name, call, calls[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("there are %d schedules, want %d", len(got), len(want))
		}
	})
}

// TestGradualDeployments: with canary= what wakes a function calls its alias, which
// CodeDeploy moves to the next version, and back if the alarm of the room is on. The other
// tests compare what is called.
func TestGradualDeployments(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		var want, got, groups []string
		for _, f := range tmpl.Room.Functions {
			if tmpl.Stage.Aliased(tmpl.Room, f) {
				want = append(want, tmpl.callable(f))
			}
		}
		for _, a := range tmpl.of("AWS::Lambda::Alias") {
			got = append(got, tmpl.label(a))
			version, _ := a.at("FunctionVersion", "Fn::GetAtt").([]any)
			if len(version) != 2 || version[1] != "Version" ||
				tmpl.plain(tmpl.Resources[version[0].(string)].at("FunctionName"))+":live" != tmpl.label(a) {
				t.Errorf("%s is of %v", tmpl.label(a), a.at("FunctionVersion"))
			}
			shift, _ := a.UpdatePolicy["CodeDeployLambdaAliasUpdate"].(map[string]any)
			groups = append(groups, tmpl.plain(shift["ApplicationName"])+" "+tmpl.plain(shift["DeploymentGroupName"]))
		}
		same(t, "aliases", got, want)
		if n := len(tmpl.of("AWS::Lambda::Version")); n != len(want) {
			t.Errorf("there are %d versions, want %d", n, len(want))
		}
		var deployed []string
		for id, g := range tmpl.Resources {
			if g.Type != "AWS::CodeDeploy::DeploymentGroup" {
				continue
			}
			deployed = append(deployed, tmpl.plain(g.at("ApplicationName"))+" "+g.name("DeploymentGroupName"))
			group := maps.Clone(g.Properties)
			delete(group, "DeploymentConfigName")
			delete(group, "DeploymentGroupName")
			tmpl.compare(t, id, group, map[string]any{
				"ApplicationName": "Application",
				"ServiceRoleArn":  "Role",
				"DeploymentStyle": map[string]any{"DeploymentOption": "WITH_TRAFFIC_CONTROL", "DeploymentType": "BLUE_GREEN"},
				"AlarmConfiguration": map[string]any{
					"Alarms":  []any{map[string]any{"Name": tmpl.Stage.Failing(tmpl.Room.Name)}},
					"Enabled": true,
				},
				"AutoRollbackConfiguration": map[string]any{
					"Enabled": true,
					"Events":  []any{"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"},
				},
			})
		}
		same(t, "deployment groups", deployed, groups)
		if len(want) == 0 {
			return
		}
		if !slices.ContainsFunc(tmpl.of("AWS::CloudWatch::Alarm"),
			func(a resource) bool { return a.name("AlarmName") == tmpl.Stage.Failing(tmpl.Room.Name) }) {
			t.Errorf("the alarm %s, which moves calls back, is missing", tmpl.Stage.Failing(tmpl.Room.Name))
		}
		for _, c := range tmpl.of("AWS::CodeDeploy::DeploymentConfig") {
			tmpl.compare(t, "the shift", c.Properties, map[string]any{"ComputePlatform": "Lambda", "TrafficRoutingConfig": map[string]any{
				"Type": "TimeBasedCanary", "TimeBasedCanary": map[string]any{"CanaryInterval": 15, "CanaryPercentage": tmpl.Stage.Canary},
			}})
		}
	})
}

// TestMachines: a state machine runs the definition of its file, by Express, and
// says what it does.
func TestMachines(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		machines := tmpl.of("AWS::StepFunctions::StateMachine")
		if len(machines) != len(tmpl.Room.Machines) {
			t.Fatalf("there are %d state machines, want %d", len(machines), len(tmpl.Room.Machines))
		}
		for _, m := range tmpl.Room.Machines {
			r := machines[slices.IndexFunc(machines, func(r resource) bool { return r.name("StateMachineName") == tmpl.Stage.Machine(m) })]
			file, err := os.ReadFile(filepath.Join("..", "infra", "machines", m.Definition))
			if err != nil {
				t.Fatal(err)
			}
			if r.at("DefinitionString") != string(file) {
				t.Errorf("%s is not what %s says", m.Name, m.Definition)
			}
			for placeholder, function := range m.Calls {
				want := tmpl.callable(tmpl.Room.Functions[slices.IndexFunc(tmpl.Room.Functions,
					func(f spec.Function) bool { return f.Name == function })])
				if got := tmpl.plain(r.at("DefinitionSubstitutions", placeholder)); got != want {
					t.Errorf("%s calls %s for %s, want %s", m.Name, got, placeholder, want)
				}
			}
			if r.at("StateMachineType") != "EXPRESS" || r.at("LoggingConfiguration", "Level") != "ALL" {
				t.Errorf("%s is %v", m.Name, r.Properties)
			}
		}
	})
}

// TestLogs: the functions of a room have one log group, and every log group has an end.
func TestLogs(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		want := 7.0
		if tmpl.Stage.Name == "prod" {
			want = 30
		}
		groups := map[string]bool{}
		for _, g := range tmpl.of("AWS::Logs::LogGroup") {
			groups[g.name("LogGroupName")] = true
			if g.at("RetentionInDays") != want {
				t.Errorf("%s keeps logs for %v days, want %v", g.name("LogGroupName"), g.at("RetentionInDays"), want)
			}
		}
		for _, f := range tmpl.of("AWS::Lambda::Function") {
			if group := "/aws/lambda/" + tmpl.Stage.Prefix() + tmpl.Room.Name; !groups[group] ||
				tmpl.plain(f.at("LoggingConfig", "LogGroup")) != "LogGroup "+group {
				t.Errorf("%s logs to %v", f.name("FunctionName"), f.at("LoggingConfig", "LogGroup"))
			}
		}
	})
}

// kinds are what is deployed. Whoever adds one says here which rules hold of it: a
// function's own URL, say, would be a way past the API and its authorizer.
var kinds = []string{
	"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::Authorizer", "AWS::ApiGatewayV2::DomainName",
	"AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Stage", // TestRoutes
	// TestEdge
	"AWS::CloudFront::CachePolicy", "AWS::CloudFront::Distribution", "AWS::CloudFront::OriginRequestPolicy",
	"AWS::CloudFront::ResponseHeadersPolicy", "AWS::WAFv2::WebACL",
	// TestAlarms and TestDashboard
	"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Logs::MetricFilter", "AWS::SNS::Subscription",
	"AWS::SNS::Topic", "AWS::SNS::TopicPolicy",
	// TestSignIn
	"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolDomain",
	"AWS::Cognito::UserPoolGroup", "AWS::SSM::Parameter",
	"AWS::Budgets::Budget",                                          // TestStageSettings
	"AWS::SES::EmailIdentity",                                       // TestIdentity
	"AWS::DynamoDB::GlobalTable",                                    // TestTables
	"AWS::IAM::Policy", "AWS::IAM::Role", "AWS::Lambda::Permission", // TestGrants, TestNoStars and TestCallers
	"AWS::Lambda::Function",                                                       // TestFunctionsFollowTheSpec
	"AWS::Lambda::EventSourceMapping", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy", // TestQueues
	"AWS::Logs::LogGroup",                                                                            // TestLogs
	"AWS::Lambda::EventInvokeConfig", "AWS::Scheduler::Schedule", "AWS::StepFunctions::StateMachine", // TestSchedules and TestMachines
	// TestGradualDeployments
	"AWS::Lambda::Alias", "AWS::Lambda::Version", "AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentConfig",
	"AWS::CodeDeploy::DeploymentGroup",
	// TestNoSecrets
	"AWS::SecretsManager::Secret",
	// TestNetwork
	"AWS::EC2::SecurityGroup", "AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress", "AWS::EC2::Subnet", "AWS::EC2::VPC",
	"AWS::EC2::VPCEndpoint", "AWS::EC2::RouteTable", "AWS::EC2::SubnetRouteTableAssociation",
	"AWS::CloudFormation::CustomResource",                                                                         // TestMigrations
	"AWS::RDS::DBCluster", "AWS::RDS::DBClusterParameterGroup", "AWS::RDS::DBInstance", "AWS::RDS::DBSubnetGroup", // TestDatabases
	"AWS::ElastiCache::ServerlessCache", "AWS::ElastiCache::User", "AWS::ElastiCache::UserGroup", // TestCaches
	"AWS::S3::Bucket", "AWS::S3::BucketPolicy", // TestBuckets
}

// TestKinds: nothing is deployed that no rule is of.
func TestKinds(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for id, r := range tmpl.Resources {
			if !slices.Contains(kinds, r.Type) {
				t.Errorf("%s is a %s", id, r.Type)
			}
		}
	})
}

// nestedStack begins the name of a stack in a room's.
var nestedStack = regexp.MustCompile(`^(Roles|Routes|Shifts)`)

// TestCommitIsKnown: each stack says from which commit it was deployed.
func TestCommitIsKnown(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		want := any(tmpl.Stage.Commit)
		if want == "" {
			want = nil
		}
		if got := tmpl.Outputs["Commit"].Value; got != want {
			t.Errorf("the output is %v, want %v", got, want)
		}
	})
}

// TestStacksStandAlone: no stack needs another's values at deployment, and each
// stays well below CloudFormation's 500 resources, 200 parameters and 1 MB.
func TestStacksStandAlone(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if strings.Contains(tmpl.text, "Fn::ImportValue") || strings.Contains(tmpl.text, "Fn::GetStackOutput") {
			t.Error("it imports a value")
		}
		for name, o := range tmpl.Outputs {
			if o.Export != nil {
				t.Errorf("it exports %s", name)
			}
		}
		for _, s := range tmpl.sizes {
			if s.resources >= 450 || s.parameters >= 180 || s.bytes > 900_000 {
				t.Errorf("a template has %d resources, %d parameters and %d bytes", s.resources, s.parameters, s.bytes)
			}
			t.Logf("%d resources, %d parameters, %d KB", s.resources, s.parameters, s.bytes>>10)
		}
	})
}

// TestQuotas: the page about deployments says how much a room uses of what an account has a quota of.
func TestQuotas(t *testing.T) {
	page, err := os.ReadFile("../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"AWS::EC2::VPC", "AWS::CloudWatch::Alarm", "AWS::DynamoDB::GlobalTable", "AWS::Scheduler::Schedule"}
	each(t, func(t *testing.T, tmpl template) {
		if tmpl.Room.Name == "" || tmpl.Room.Name == "edge" || tmpl.Stage.Name != stage.Prod {
			return
		}
		reserved := 0.0
		for _, r := range tmpl.of("AWS::Lambda::Function") {
			n, _ := r.Properties["ReservedConcurrentExecutions"].(float64)
			reserved += n
		}
		row := fmt.Sprintf("| %d | %g |", len(tmpl.of("AWS::IAM::Role")), reserved)
		for _, kind := range kinds {
			row += fmt.Sprintf(" %d |", len(tmpl.of(kind)))
		}
		found := regexp.MustCompile("(?m)^\\| `" + tmpl.Room.Name + "`[^|]*(\\|.*[0-9] \\|)$").FindStringSubmatch(string(page))
		if found == nil || found[1] != row {
			t.Errorf("docs/deploy.md has %q, want %q", found, row)
		}
	})
}

// TestNag: the CDK's AwsSolutions rules hold, but where a reason says why not;
// and no reason is left of what is no more.
func TestNag(t *testing.T) {
	t.Parallel()
	reports, err := filepath.Glob(filepath.Join(assembly, "AwsSolutions-*-NagReport.csv"))
	stacks := 0
	for _, tmpl := range templates {
		stacks += len(tmpl.sizes)
	}
	if err != nil || len(reports) != stacks {
		t.Fatalf("there are %d reports of %d stacks: %v", len(reports), stacks, err)
	}
	excused := map[string]map[string]int{} // by report and rule
	for _, report := range reports {
		file, err := os.Open(report)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		held, of := 0, map[string]int{}
		for _, row := range rows[1:] {
			rule, id, compliance, reason := row[0], row[1], row[2], row[3]
			switch {
			case compliance == "Compliant":
				held++
			case compliance == "Suppressed" && len(reason) > 10:
				of[rule]++
			default:
				t.Errorf("%s: %s is %s: %s", rule, id, compliance, row[5])
			}
		}
		t.Logf("%s: %d held, %v excused", filepath.Base(report), held, of)
		excused[filepath.Base(report)] = of
	}
	for _, tmpl := range templates {
		of := map[string]int{}
		for report, some := range excused {
			nested, inside := strings.CutPrefix(report, "AwsSolutions-"+strings.ReplaceAll(tmpl.Name, "-", ""))
			if report != "AwsSolutions-"+tmpl.Name+"-NagReport.csv" && (!inside || !nestedStack.MatchString(nested)) {
				continue
			}
			for rule, n := range some {
				of[rule] += n
			}
		}
		for id, r := range tmpl.Resources {
			nag, _ := r.Metadata["cdk_nag"].(map[string]any)
			for _, excuse := range many(nag["rules_to_suppress"]) {
				if rule := excuse.(map[string]any)["id"].(string); of[rule] == 0 {
					t.Errorf("%s excuses %s, which nothing breaks", id, rule)
				}
			}
		}
	}
}

// TestNoWarnings: synthesizing says nothing of our stacks that is to be done.
func TestNoWarnings(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		var said map[string][]struct{ Type, Data any }
		if err := parse(tmpl.Name+".metadata.json", &said); err != nil {
			t.Fatal(err)
		}
		if len(said) == 0 {
			t.Error("nothing at all is said")
		}
		for id, all := range said {
			for _, one := range all {
				if one.Type == "aws:cdk:warning" || one.Type == "aws:cdk:error" {
					t.Errorf("%s: %v", id, one.Data)
				}
			}
		}
	})
}
