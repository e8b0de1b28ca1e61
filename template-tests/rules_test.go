package templatetests

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchday/pkg/fleet"
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
	slices.Sort(want)
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
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the stage %s has the functions\n%q, and the folders are\n%q", stage, got, want)
		}
	}
}

// TestFunctionsFollowTheSpec checks what a function is run with.
func TestFunctionsFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, f := range tmpl.Room.Functions {
			r := tmpl.function(f)
			want := map[string]string{
				"Runtime": "provided.al2023", "Handler": "bootstrap", "MemorySize": fmt.Sprint(f.Memory), "Timeout": fmt.Sprint(f.Timeout.Seconds()),
				"Architectures": fmt.Sprintf("[%s]", tmpl.Stage.Arch), "TracingConfig": "map[Mode:Active]", "Description": f.Does,
			}
			if f.Reserved > 0 {
				want["ReservedConcurrentExecutions"] = fmt.Sprint(f.Reserved)
			}
			for key, value := range want {
				if got := fmt.Sprint(r.at(key)); got != value {
					t.Errorf("%s has the %s %s, want %s", f.Name, key, got, value)
				}
			}
			env, _ := r.at("Environment", "Variables").(map[string]any)
			base := "https://sqs.us-east-1.amazonaws.com/123456789012/" + tmpl.Stage.Prefix()
			for key, value := range map[string]string{
				spec.EnvStage: tmpl.Stage.Name, spec.EnvPrefix: tmpl.Stage.Prefix(), spec.EnvQueues: base, "GOMEMLIMIT": fmt.Sprintf("%dMiB", f.Memory*85/100),
			} {
				if got := tmpl.plain(env[key]); got != value {
					t.Errorf("%s has %s=%s, want %s", f.Name, key, got, value)
				}
			}
			if got := fmt.Sprint(env[spec.EnvSecrets]); (got == tmpl.Stage.Name+"/"+tmpl.Room.Name+"/") != (len(f.Secrets) > 0) {
				t.Errorf("%s looks for its secrets at %s", f.Name, got)
			}
			for _, s := range tmpl.Room.Settings {
				value, set := tmpl.Stage.Settings[s.Name]
				if got, ok := env[s.Name]; ok != (set && slices.Contains(f.Secrets, s.Secret)) || ok && got != value {
					t.Errorf("%s has the setting %s=%v", f.Name, s.Name, got)
				}
			}
		}
	})
}

// The tables of the documents that rooms were built from: name, partition and sort
// key, TTL, and indexes as name:partition:sort.
var documented = map[string][]struct {
	name, partition, sort, ttl string
	indexes                    []string
}{"cricket": {
	{"cricket-fixtures", "matchId", "", "", []string{"leagueCode-startTime-index:leagueCode:startTime", "live-index:live:startTime"}},
	{"cricket-teams", "teamId", "", "", nil},
	{"cricket-team-seasons", "seasonId", "teamId", "", nil},
	{"cricket-leagues", "leagueId", "", "", nil},
	{"cricket-devices", "userId", "deviceToken", "expiresAt", nil},
	{"cricket-match-follows", "matchId", "userId", "expiresAt", nil},
	{"cricket-activity-subscriptions", "matchId", "pushToken", "expiresAt", nil},
	{"cricket-prematch-notifications", "matchId", "userId", "ttl", nil},
	{"cricket-locks", "lockKey", "", "expiresAt", nil},
	{"cricket-state-hashes", "matchTeamKey", "", "", nil},
	{"DisplayStateCache", "cacheKey", "", "ttl", nil},
	{"cricket-fixture-cache", "matchId", "", "ttl", []string{"leagueId-startingAt-index:leagueId:startingAt"}},
	{"match-processing-state", "matchId", "", "ttl", nil},
}, "pickem": {
	{"pickem", "PK", "SK", "ttl", []string{"GSI:GSI_PK:GSI_SK"}},
}}

func TestTables(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got := map[string]resource{}
		for _, r := range tmpl.of("AWS::DynamoDB::GlobalTable") {
			got[r.name("TableName")] = r
		}
		for _, want := range documented[tmpl.Room.Name] {
			r, ok := got[tmpl.Stage.Prefix()+want.name]
			if !ok {
				t.Errorf("the table %s is missing", want.name)
				continue
			}
			if p, s := keys(r.at("KeySchema")); p != want.partition || s != want.sort {
				t.Errorf("%s is keyed by %s and %s, want %s and %s", want.name, p, s, want.partition, want.sort)
			}
			ttl, _ := r.at("TimeToLiveSpecification", "AttributeName").(string)
			if ttl != want.ttl || ttl != "" && r.at("TimeToLiveSpecification", "Enabled") != true {
				t.Errorf("%s expires by %q, want %q", want.name, ttl, want.ttl)
			}
			var indexes []string
			for _, x := range many(r.at("GlobalSecondaryIndexes")) {
				x := x.(map[string]any)
				p, s := keys(x["KeySchema"])
				indexes = append(indexes, fmt.Sprintf("%s:%s:%s", x["IndexName"], p, s))
			}
			slices.Sort(indexes)
			if !slices.Equal(indexes, want.indexes) {
				t.Errorf("%s has the indexes %q, want %q", want.name, indexes, want.indexes)
			}
		}
	})
}

// keys are the partition and the sort attribute of a key schema.
func keys(schema any) (partition, sort string) {
	for _, k := range many(schema) {
		k := k.(map[string]any)
		if k["KeyType"] == "HASH" {
			partition = fmt.Sprint(k["AttributeName"])
		} else {
			sort = fmt.Sprint(k["AttributeName"])
		}
	}
	return partition, sort
}

// TestTablesAreSafe: every table can be brought back, costs what it is used, and
// outlives its stack in production.
func TestTablesAreSafe(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		prod := tmpl.Stage.Name == "prod"
		for _, r := range tmpl.of("AWS::DynamoDB::GlobalTable") {
			name := r.name("TableName")
			replica, _ := r.at("Replicas").([]any)[0].(map[string]any)
			if r.at("BillingMode") != "PAY_PER_REQUEST" {
				t.Errorf("%s is not on demand", name)
			}
			of := resource{Properties: replica}
			if of.at("PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
				t.Errorf("%s has no point-in-time recovery", name)
			}
			if of.at("ContributorInsightsSpecification", "Mode") != "THROTTLED_KEYS" {
				t.Errorf("%s does not say which keys are throttled", name)
			}
			if got := of.at("DeletionProtectionEnabled") == true; got != prod {
				t.Errorf("%s is protected from deletion: %v", name, got)
			}
			if got := r.DeletionPolicy == "Retain"; got != prod {
				t.Errorf("%s outlives its stack: %v", name, got)
			}
		}
	})
}

// TestIndexProjections: an index projects what its spec says.
func TestIndexProjections(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got := map[string]any{}
		for _, r := range tmpl.of("AWS::DynamoDB::GlobalTable") {
			for _, x := range many(r.at("GlobalSecondaryIndexes")) {
				x := resource{Properties: x.(map[string]any)}
				got[r.name("TableName")+"/"+x.name("IndexName")] = x.at("Projection", "ProjectionType")
			}
		}
		for _, table := range tmpl.Room.Tables {
			for _, x := range table.Indexes {
				want := "ALL"
				if x.KeysOnly {
					want = "KEYS_ONLY"
				}
				if key := tmpl.Stage.Prefix() + table.Name + "/" + x.Name; got[key] != want {
					t.Errorf("%s projects %v, want %s", key, got[key], want)
				}
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
			if (q.at("FifoQueue") == true) != fifo || q.at("ContentBasedDeduplication") == true || q.at("FifoThroughputLimit") != nil || q.at("DeduplicationScope") != nil {
				t.Errorf("%s is %v", name, q.Properties)
			}
			if isDead(name) {
				if q.at("MessageRetentionPeriod") != float64(14*24*3600) {
					t.Errorf("%s keeps messages for %v s", name, q.at("MessageRetentionPeriod"))
				}
				continue
			}
			if dead := tmpl.plain(q.at("RedrivePolicy", "deadLetterTargetArn")); dead != "Queue "+(spec.Queue{Name: name}).Dead() {
				t.Errorf("what %s cannot deliver goes to %s", name, dead)
			}
		}
		sources := map[string]resource{}
		for _, s := range tmpl.of("AWS::Lambda::EventSourceMapping") {
			sources[tmpl.plain(s.at("EventSourceArn"))] = s
		}
		for _, f := range tmpl.Room.Functions {
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
			if q.at("VisibilityTimeout") != 6*f.Timeout.Seconds() || q.at("RedrivePolicy", "maxReceiveCount") != float64(on.Tries) {
				t.Errorf("%s hides messages for %v s, %v times", on.Name, q.at("VisibilityTimeout"), q.at("RedrivePolicy", "maxReceiveCount"))
			}
			s := sources["Queue "+tmpl.Stage.Prefix()+on.Name]
			if s.at("BatchSize") != float64(on.Batch) || s.at("ScalingConfig", "MaximumConcurrency") != float64(on.Concurrency) ||
				fmt.Sprint(s.at("FunctionResponseTypes")) != "[ReportBatchItemFailures]" {
				t.Errorf("%s is read by %v", on.Name, s.Properties)
			}
			if on.Concurrency < 2 || on.FIFO() && (on.Batch > 10 || s.at("MaximumBatchingWindowInSeconds") != nil) {
				t.Errorf("Lambda refuses to read %s by %v", on.Name, s.Properties)
			}
			loop, _ := tmpl.function(f).at("RecursiveLoop").(string)
			if (loop == "Allow") != slices.Contains(f.Sends, on) {
				t.Errorf("%s, which sends to %v, has the recursive loop detection %q", f.Name, f.Sends, loop)
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
			if s.at("FlexibleTimeWindow", "Mode") != "OFF" || s.at("Target", "RetryPolicy", "MaximumRetryAttempts") != 2.0 || age < 60 || age > 3600 {
				t.Errorf("%s is %v", s.name("Name"), s.Properties)
			}
			if dead := tmpl.plain(s.at("Target", "DeadLetterConfig", "Arn")); dead != "Queue "+s.name("Name")+"-dead" {
				t.Errorf("what %s cannot start goes to %s", s.name("Name"), dead)
			}
		}
		want := map[string]spec.Schedule{}
		for _, f := range tmpl.Room.Functions {
			if on, ok := f.On.(spec.Schedule); ok {
				want[tmpl.Stage.Function(f)] = on
			}
		}
		for _, m := range tmpl.Room.Machines {
			want[tmpl.Stage.Machine(m)] = m.Every
			if s := got[tmpl.Stage.Machine(m)]; s.at("Target", "Input") != `{"scheduledTime":"<aws.scheduler.scheduled-time>"}` || s.at("Target", "RetryPolicy", "MaximumEventAgeInSeconds") != 60.0 {
				t.Errorf("%s is started with %v", m.Name, s.at("Target"))
			}
		}
		for name, on := range want {
			if got[name].at("ScheduleExpression") != string(on) {
				t.Errorf("%s is woken by %v, want %s", name, got[name].at("ScheduleExpression"), on)
			}
		}
		if len(got) != len(want) {
			t.Errorf("there are %d schedules, want %d", len(got), len(want))
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
				want := "Function " + tmpl.Stage.Prefix() + strings.ReplaceAll(function, "/", "-")
				if got := tmpl.plain(r.at("DefinitionSubstitutions", placeholder)); got != want {
					t.Errorf("%s calls %s for %s, want %s", m.Name, got, placeholder, want)
				}
			}
			if r.at("StateMachineType") != "EXPRESS" || r.at("LoggingConfiguration", "Level") != "ALL" || r.at("TracingConfiguration", "Enabled") != true {
				t.Errorf("%s is %v", m.Name, r.Properties)
			}
		}
	})
}

// TestRoutes: the API has the spec's routes and no others, and itself checks the
// caller of those that want a user; writes have throttles of their own.
func TestRoutes(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		got := map[string]string{}
		for _, r := range tmpl.of("AWS::ApiGatewayV2::Route") {
			auth := fmt.Sprint(r.at("AuthorizationType"))
			if auth == "JWT" && r.at("AuthorizerId") == nil {
				t.Errorf("%s has no authorizer", r.name("RouteKey"))
			}
			got[r.name("RouteKey")] = auth
		}
		want := 0
		for _, f := range tmpl.Room.Functions {
			on, ok := f.On.(spec.Route)
			if !ok {
				continue
			}
			want++
			auth, key := "<nil>", on.Method+" "+on.Path
			if on.Auth == spec.User || on.Auth == spec.Admin {
				auth = "JWT"
			}
			if got[key] != auth {
				t.Errorf("%s is authorized by %q, want %q", key, got[key], auth)
			}
			stage := tmpl.of("AWS::ApiGatewayV2::Stage")[0]
			limited := stage.at("RouteSettings", key, "ThrottlingRateLimit") != nil
			if limited != (on.Method != "GET") {
				t.Errorf("%s has a throttle of its own: %v", key, limited)
			}
		}
		if len(got) != want {
			t.Errorf("there are %d routes, want %d", len(got), want)
		}
		for _, i := range tmpl.of("AWS::ApiGatewayV2::Integration") {
			if i.at("PayloadFormatVersion") != "2.0" {
				t.Errorf("%v has the payload format %v", tmpl.plain(i.at("IntegrationUri")), i.at("PayloadFormatVersion"))
			}
		}
		for _, s := range tmpl.of("AWS::ApiGatewayV2::Stage") {
			if s.at("DefaultRouteSettings", "ThrottlingRateLimit") == nil || s.at("AccessLogSettings", "DestinationArn") == nil {
				t.Error("the API has no throttle or no access log")
			}
			if format := s.at("AccessLogSettings", "Format").(string); !json.Valid([]byte(format)) || strings.Contains(strings.ToLower(format), "header") {
				t.Errorf("the API logs %s", format)
			}
		}
		for _, a := range tmpl.of("AWS::ApiGatewayV2::Api") {
			if !slices.Contains(many(a.at("CorsConfiguration", "AllowHeaders")), any("authorization")) {
				t.Error("web pages may not send a token")
			}
		}
	})
}

// TestLogs: every function has a log group, and every log group an end.
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
			if group := "/aws/lambda/" + f.name("FunctionName"); !groups[group] || tmpl.plain(f.at("LoggingConfig", "LogGroup")) != "LogGroup "+group {
				t.Errorf("%s logs to %v", f.name("FunctionName"), f.at("LoggingConfig", "LogGroup"))
			}
		}
	})
}

// TestAlarms: every function, queue of dead letters and machine wakes someone, who
// is told what users notice.
func TestAlarms(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		watched := map[string]bool{}
		for _, a := range tmpl.of("AWS::CloudWatch::Alarm") {
			if a.name("AlarmDescription") == "" || len(many(a.at("AlarmActions"))) == 0 || len(many(a.at("OKActions"))) == 0 {
				t.Errorf("%s tells nobody, or nothing", a.name("AlarmName"))
			}
			returned := 0
			for _, m := range many(a.at("Metrics")) {
				m := resource{Properties: m.(map[string]any)}
				if m.at("ReturnData") == true {
					returned++
				}
				for _, d := range many(m.at("MetricStat", "Metric", "Dimensions")) {
					d := d.(map[string]any)
					value := tmpl.plain(d["Value"])
					if strings.HasPrefix(value, "{") {
						t.Errorf("%s watches %s", a.name("AlarmName"), value)
					}
					watched[fmt.Sprint(m.at("MetricStat", "Metric", "MetricName"))+" "+value] = true
				}
			}
			if returned != 1 {
				t.Errorf("%s watches %d values", a.name("AlarmName"), returned)
			}
		}
		for _, f := range tmpl.of("AWS::Lambda::Function") {
			for _, metric := range []string{"Errors ", "Throttles "} {
				if !watched[metric+f.name("FunctionName")] {
					t.Errorf("no alarm watches the %sof %s", metric, f.name("FunctionName"))
				}
			}
		}
		for _, q := range tmpl.of("AWS::SQS::Queue") {
			if name := q.name("QueueName"); isDead(name) && !watched["ApproximateNumberOfMessagesVisible "+name] {
				t.Errorf("no alarm watches %s", name)
			}
		}
		for _, m := range tmpl.of("AWS::StepFunctions::StateMachine") {
			if !watched["ExecutionsFailed "+tmpl.label(m)] {
				t.Errorf("no alarm watches %s", m.name("StateMachineName"))
			}
		}
	})
}

// TestAlarmsFollowTheCode: an alarm of a room watches metrics that its code emits.
func TestAlarmsFollowTheCode(t *testing.T) {
	t.Parallel()
	for _, room := range fleet.Rooms() {
		var code strings.Builder
		files, err := filepath.Glob(filepath.Join("..", "pkg", room.Name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
		for _, a := range room.Alarms {
			metrics := a.Metrics
			if a.While != "" {
				metrics = append(slices.Clone(metrics), a.While)
			}
			for _, m := range metrics {
				if !emits(code.String(), m) {
					t.Errorf("the alarm %s watches %s, which nothing emits", a.Name, m)
				}
			}
			if !slices.ContainsFunc(room.Functions, func(f spec.Function) bool { return f.Name == a.Function }) {
				t.Errorf("the alarm %s is of %s, which is no function", a.Name, a.Function)
			}
		}
	}
}

// emits reports whether code emits a metric: by its name, or by a constant that is it.
func emits(code, metric string) bool {
	names := []string{strconv.Quote(metric)}
	for _, c := range regexp.MustCompile(`(?m)^(?:const|\s)\s*(\w+)\s*=\s*`+names[0]).FindAllStringSubmatch(code, -1) {
		names = append(names, c[1])
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(code, "obs.Count("+name+",") || strings.Contains(code, "obs.Millis("+name+",")
	})
}

func TestEmits(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"obs.Count(\"Late\", 1)":                                        true,
		"obs.Millis(\"Late\", d)":                                       true,
		"const late = \"Late\"\n\nobs.Count(late, 1)":                   true,
		"const (\n\ta    = 1\n\tlate = \"Late\"\n)\nobs.Count(late, n)": true,
		"const late = \"Late\"":                                         false,
		"const late = \"Late\"\nobs.Count(later, 1)":                    false,
		"obs.Count(\"Later\", 1)":                                       false,
	} {
		if got := emits(code, "Late"); got != want {
			t.Errorf("%q emits Late: %v", code, got)
		}
	}
}

// TestStacksStandAlone: no stack needs another's values at deployment, and each
// stays well below CloudFormation's 500 resources and 1 MB.
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
		if n := len(tmpl.Resources); n >= 450 {
			t.Errorf("it has %d resources", n)
		}
		if len(tmpl.text) > 900_000 {
			t.Errorf("it has %d bytes", len(tmpl.text))
		}
		t.Logf("%d resources, %d KB", len(tmpl.Resources), len(tmpl.text)>>10)
	})
}

// TestSignIn: the app signs in by an authorization code and keeps no secret, and
// the rooms learn by SSM parameters whose tokens to take.
func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if tmpl.Room.Name == "" {
			client := tmpl.of("AWS::Cognito::UserPoolClient")[0]
			if fmt.Sprint(client.at("AllowedOAuthFlows")) != "[code]" || client.at("GenerateSecret") != false {
				t.Errorf("the app's client is %v", client.Properties)
			}
			if group := tmpl.of("AWS::Cognito::UserPoolGroup")[0].name("GroupName"); group != "admin" {
				t.Errorf("the group is %s", group)
			}
			var names []string
			for _, p := range tmpl.of("AWS::SSM::Parameter") {
				names = append(names, p.name("Name"))
			}
			if slices.Sort(names); !slices.Equal(names, []string{tmpl.Stage.Parameter("jwt-audience"), tmpl.Stage.Parameter("jwt-issuer"), tmpl.Stage.Parameter("user-pool")}) {
				t.Errorf("the parameters are %q", names)
			}
			return
		}
		for _, a := range tmpl.of("AWS::ApiGatewayV2::Authorizer") {
			for _, name := range []string{"jwt-audience", "jwt-issuer"} {
				if !strings.Contains(tmpl.text, `"Default": "`+tmpl.Stage.Parameter(name)+`"`) {
					t.Errorf("the room does not read the parameter %s", name)
				}
			}
			if a.at("JwtConfiguration", "Issuer", "Ref") == nil {
				t.Errorf("the issuer is %v", a.at("JwtConfiguration", "Issuer"))
			}
		}
	})
}

// TestTriggers: the user pool calls the function that waits for its users by the
// name that it has in its room's stack, unless the deployment says that it calls
// nothing; and of Cognito's pools that function may be called by this one alone.
func TestTriggers(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		arn := func(f spec.Function) string {
			return "arn:aws:lambda:us-east-1:123456789012:function:" + tmpl.Stage.Function(f)
		}
		if tmpl.Room.Name == "" {
			want := "<nil>"
			for _, room := range tmpl.Rooms {
				for _, f := range room.Functions {
					if f.On == (spec.UserConfirmed{}) && tmpl.Stage.Triggers {
						want = arn(f)
					}
				}
			}
			pool := tmpl.of("AWS::Cognito::UserPool")[0]
			if got := tmpl.plain(pool.at("LambdaConfig", "PostConfirmation")); got != want {
				t.Errorf("the pool calls %s for who has signed up, want %s", got, want)
			}
			if all, _ := pool.at("LambdaConfig").(map[string]any); len(all) > 1 || (pool.at("LambdaConfig") != nil) != (want != "<nil>") {
				t.Errorf("the pool calls %v", all)
			}
			return
		}
		var got, want []string
		for _, p := range tmpl.of("AWS::Lambda::Permission") {
			if p.at("Principal") == "cognito-idp.amazonaws.com" {
				got = append(got, tmpl.plain(p.at("FunctionName"))+" by "+tmpl.plain(p.at("SourceArn")))
			}
		}
		for _, f := range tmpl.Room.Functions {
			if f.On == (spec.UserConfirmed{}) {
				want = append(want, "Function "+tmpl.Stage.Function(f)+" by arn:aws:cognito-idp:us-east-1:123456789012:userpool/{"+tmpl.Stage.Parameter("user-pool")+"}")
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("Cognito may call %q, want %q", got, want)
		}
	})
}

// TestEdge: with cdn=true, and only then, what is cached is what anyone may read.
func TestEdge(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		all := tmpl.of("AWS::CloudFront::Distribution")
		if want := tmpl.Stage.CDN && tmpl.Room.Name != ""; (len(all) == 1) != want {
			t.Fatalf("there are %d distributions", len(all))
		}
		for _, d := range all {
			if d.at("DistributionConfig", "WebACLId") == nil || len(tmpl.of("AWS::WAFv2::WebACL")) != 1 {
				t.Error("it has no firewall")
			}
			behaviors := many(d.at("DistributionConfig", "CacheBehaviors"))
			for _, f := range tmpl.Room.Functions {
				on, ok := f.On.(spec.Route)
				if !ok || on.Method != "GET" {
					continue
				}
				path := regexp.MustCompile(`\{[^/]*\}`).ReplaceAllString(on.Path, "1")
				cached := false // by the first pattern that fits
				for _, b := range behaviors {
					b := resource{Properties: b.(map[string]any)}
					if fits := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(b.name("PathPattern")), `\*`, ".*") + "$"); fits.MatchString(path) {
						cached = b.at("CachePolicyId", "Ref") != nil
						break
					}
				}
				if cached != (on.Auth == spec.Public) {
					t.Errorf("GET %s is for %s, and is cached: %v", on.Path, on.Auth, cached)
				}
			}
			policy := tmpl.of("AWS::CloudFront::CachePolicy")[0]
			if policy.at("CachePolicyConfig", "DefaultTTL") != 2.0 || policy.at("CachePolicyConfig", "MinTTL") != 0.0 {
				t.Errorf("answers stand for %v", policy.at("CachePolicyConfig"))
			}
		}
	})
}

// TestNag: the CDK's AwsSolutions rules hold, but where a reason says why not;
// and no reason is left of what is no more.
func TestNag(t *testing.T) {
	t.Parallel()
	reports, err := filepath.Glob(filepath.Join(assembly, "AwsSolutions-*-NagReport.csv"))
	if err != nil || len(reports) != len(templates) {
		t.Fatalf("there are %d reports of %d stacks: %v", len(reports), len(templates), err)
	}
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
		held, excused := 0, map[string]int{}
		for _, row := range rows[1:] {
			rule, id, compliance, reason := row[0], row[1], row[2], row[3]
			switch {
			case compliance == "Compliant":
				held++
			case compliance == "Suppressed" && len(reason) > 10:
				excused[rule]++
			default:
				t.Errorf("%s: %s is %s: %s", rule, id, compliance, row[5])
			}
		}
		t.Logf("%s: %d held, %v excused", filepath.Base(report), held, excused)
		for _, tmpl := range templates {
			if filepath.Base(report) != "AwsSolutions-"+tmpl.Name+"-NagReport.csv" {
				continue
			}
			for id, r := range tmpl.Resources {
				nag, _ := r.Metadata["cdk_nag"].(map[string]any)
				for _, excuse := range many(nag["rules_to_suppress"]) {
					if rule := excuse.(map[string]any)["id"].(string); excused[rule] == 0 {
						t.Errorf("%s excuses %s, which nothing breaks", id, rule)
					}
				}
			}
		}
	}
}

// TestNoWarnings: synthesizing says nothing of our stacks that is to be done.
func TestNoWarnings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(assembly, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"aws:cdk:warning", "aws:cdk:error"} {
		if strings.Contains(string(text), kind) {
			t.Errorf("the manifest holds %s", kind)
		}
	}
}
