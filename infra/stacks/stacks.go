// Package stacks turns the spec into CloudFormation: a stack for each room, a small one for what
// rooms share, and with cdn=true one for CloudFront in front of them. Stacks refer to each other
// only by names and SSM parameters, so each can be deployed and deleted without the others.
//
// A room's roles, routes and gradual deployments are in nested stacks. The templates for SAM CLI
// have them beside the functions and the API, with literal names, because SAM CLI supports nothing
// else.
package stacks

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	api "github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticache"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsrds"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// Config configures what to synthesize.
type Config struct {
	Stage    stage.Stage
	Rooms    []spec.Room // all of the stage
	Left     []string    // those of them whose stacks stay as they are
	Dist     string      // the functions' binaries: <room>/<verb-noun>/bootstrap; of a stage without programs bootstrap alone
	Machines string      // folder of the state machines' definitions
}

// All adds the stacks to app. What rooms share is for all rooms of the stage, also for those
// without a stack in app. The error describes in one sentence what to change.
func All(app constructs.Construct, cfg Config) error {
	shared, err := addShared(app, cfg)
	if err != nil {
		return err
	}

	var rooms []awscdk.Stack

	for _, spec := range cfg.Rooms {
		if slices.Contains(cfg.Left, spec.Name) {
			continue
		}

		stack, err := addRoom(app, cfg, spec)
		if err != nil {
			return err
		}

		stack.AddStackDependency(shared, text("it reads the shared stack's parameters"))
		rooms = append(rooms, stack)
	}

	if !cfg.Stage.CDN {
		return nil
	}

	edge, err := addEdge(app, cfg)
	if err != nil {
		return err
	}

	for _, room := range rooms {
		edge.AddStackDependency(room, text("it reads the room's parameter, and the room must accept its key first"))
	}

	return nil
}

func newStack(app constructs.Construct, s stage.Stage, of, description string) awscdk.Stack {
	env := &awscdk.Environment{}
	if s.Account != "" {
		env.Account, env.Region = text(s.Account), text(s.Region)
	}

	stack := awscdk.NewStack(app, text(s.Stack(of)), &awscdk.StackProps{
		Env: env, Description: text(description), TerminationProtection: yes(s.Name == stage.Prod), AnalyticsReporting: yes(false),
		Tags: &map[string]*string{"stage": text(s.Name), "room": text(of)},
	})
	// The CDK lists the role of a function in DependsOn, too, which cfn-lint reports as
	// redundant.
	stack.TemplateOptions().SetMetadata(&map[string]any{
		"cfn-lint": map[string]any{"config": map[string]any{"ignore_checks": []string{"W3005"}}},
	})

	if s.Commit != "" {
		output(stack, "Commit", text(s.Commit), "The commit of the source that is deployed")
	}

	if !s.Programs {
		refuse(stack)
	}

	return stack
}

// refuse has CloudFormation refuse a stack: a version of the CDK's bootstrap is a number.
func refuse(stack awscdk.Stack) {
	awscdk.NewCfnRule(stack, text("Programs"), &awscdk.CfnRuleProps{Assertions: &[]*awscdk.CfnRuleAssertion{{
		Assert:            awscdk.Fn_ConditionEquals(awscdk.Fn_Ref(text("BootstrapVersion")), text("programs")),
		AssertDescription: text("These templates are for checks: their functions have no programs. Leave programs=false out."),
	}}})
}

// room is a stack under construction.
type room struct {
	Config
	stack     awscdk.Stack
	spec      spec.Room
	functions map[string]awslambda.IFunction // targets of calls, by the name in the spec
	versioned []versioned
	roles     constructs.Construct        // nil until there is one
	samRole   awsiam.Role                 // of everything in the templates for SAM CLI
	secrets   map[string]*string          // ARN by the name in the spec
	groups    map[string]awslogs.LogGroup // by name
	jobsDead  awssqs.Queue                // nil if the room has no jobs that can fail for good
	deployed  map[string]*string          // the values of the placeholders in the dimensions of alarms
	net       *network                    // nil if no function needs one
	rest      api.CfnApi                  // nil if the room has no routes
	url       *string                     // of the API, if browsers call it
	client    *string                     // id of the client by which browsers sign in
	native    *string                     // that by which native apps do, nil if there is none
	databases map[string]awsrds.CfnDBCluster
	instances map[string]awsrds.CfnDBInstance
	code      map[string]awslambda.CfnFunction // the functions themselves, by the name in the spec
	dead      map[string]awssqs.Queue          // dead-letter queues, by the name in the spec of their queues
	cached    map[string]awselasticache.CfnServerlessCache
}

func addRoom(app constructs.Construct, cfg Config, s spec.Room) (awscdk.Stack, error) {
	r := &room{
		stack: newStack(app, cfg.Stage, s.Name, "Matchday: "+s.Name), Config: cfg, spec: s,
		functions: map[string]awslambda.IFunction{}, secrets: map[string]*string{}, deployed: map[string]*string{},
		groups: map[string]awslogs.LogGroup{},
		code:   map[string]awslambda.CfnFunction{}, dead: map[string]awssqs.Queue{}, instances: map[string]awsrds.CfnDBInstance{},
		databases: map[string]awsrds.CfnDBCluster{}, cached: map[string]awselasticache.CfnServerlessCache{},
	}
	for _, t := range s.Tables() {
		if !t.Shared {
			addTable(r.stack, cfg.Stage, t)
		}
	}

	for _, b := range s.Buckets() {
		if !b.Shared {
			addBucket(r.stack, cfg.Stage, b)
		}
	}

	if err := r.network(); err != nil {
		return nil, err
	}

	for _, d := range s.Databases() {
		r.database(d)
	}

	r.caches()

	if len(s.Functions) > 0 {
		r.logGroup("Logs", cfg.Stage.LogGroup(s.Name))
	}

	if cfg.Stage.HasJobs(s) {
		r.jobsDead = r.deadLetters(cfg.Stage.JobsDead(s.Name), 0)
	}

	r.newAPI()

	for _, f := range s.Functions {
		if err := r.function(f); err != nil {
			return nil, err
		}
	}

	if err := r.migrations(); err != nil {
		return nil, err
	}

	r.api()

	for _, m := range s.Machines {
		if err := r.machine(m); err != nil {
			return nil, err
		}
	}

	r.alarms()
	r.shiftGradually()

	return r.stack, nil
}

// nested adds a stack inside the room's, which has at most 500 resources. Its resources have no
// names that an update could find in use. SAM CLI reads one template, so there is none for it.
func (r *room) nested(id, what string) constructs.Construct {
	if r.Stage.SAM {
		return r.stack
	}

	return awscdk.NewNestedStack(r.stack, &id, &awscdk.NestedStackProps{Description: text("Matchday: " + what + " of " + r.spec.Name)})
}

// removal returns the removal policy of data when its stack is deleted.
func removal(s stage.Stage) awscdk.RemovalPolicy {
	if s.Name == stage.Prod {
		return awscdk.RemovalPolicy_RETAIN
	}

	return awscdk.RemovalPolicy_DESTROY
}

// deadLetters returns a queue for messages that could not be processed, with the maximum
// retention of SQS. visibility is how long a received message is hidden, 0 for the default of
// SQS.
func (r *room) deadLetters(name string, visibility time.Duration) awssqs.Queue {
	props := &awssqs.QueueProps{
		QueueName:       text(name),
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      yes(true),
		RetentionPeriod: awscdk.Duration_Days(number(14)),
	}
	if visibility > 0 {
		props.VisibilityTimeout = seconds(visibility)
	}

	return awssqs.NewQueue(r.stack, text("Queue-"+name), props)
}

// logGroup returns a log group that keeps logs for a month in production and for a week
// in other stages.
func (r *room) logGroup(id, name string) awslogs.LogGroup {
	days := awslogs.RetentionDays_ONE_WEEK
	if r.Stage.Name == stage.Prod {
		days = awslogs.RetentionDays_ONE_MONTH
	}

	r.groups[name] = awslogs.NewLogGroup(r.stack, text(id), &awslogs.LogGroupProps{
		LogGroupName: text(name), Retention: days, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})

	return r.groups[name]
}

func (r *room) arn(service, resource string) *string { return arn(r.stack, service, resource) }

// arn is the ARN of a resource of a stack's account, by its name alone.
func arn(of awscdk.Stack, service, resource string) *string {
	return of.FormatArn(&awscdk.ArnComponents{Service: &service, Resource: &resource, ArnFormat: awscdk.ArnFormat_NO_RESOURCE_NAME})
}

// parameter returns a value that the shared stack publishes.
func (r *room) parameter(name string) *string {
	return awsssm.StringParameter_ValueForStringParameter(r.stack, text(r.Stage.Parameter(name)), nil)
}

// pool returns the ARN of the user pool.
func (r *room) pool() *string { return r.arn("cognito-idp", "userpool/"+*r.parameter(stage.UserPool)) }

// allow returns a statement of a policy.
func allow(actions []string, resources ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: &resources})
}

// excuse suppresses a finding of cdk-nag. findings limits it to parts of the finding;
// without them it suppresses all.
func excuse(of constructs.IConstruct, rule, reason string, findings ...string) {
	suppression := &cdknag.NagPackSuppression{Id: &rule, Reason: &reason}

	if len(findings) > 0 {
		var all []any
		for _, f := range findings {
			all = append(all, f)
		}

		suppression.AppliesTo = &all
	}

	cdknag.NagSuppressions_AddResourceSuppressions(of, &[]*cdknag.NagPackSuppression{suppression}, yes(true))
}

func text(s string) *string     { return &s }
func yes(b bool) *bool          { return &b }
func number(n float64) *float64 { return &n }

func seconds(d time.Duration) awscdk.Duration { return awscdk.Duration_Seconds(number(d.Seconds())) }

func output(of awscdk.Stack, name string, value *string, format string, args ...any) {
	awscdk.NewCfnOutput(of, &name, &awscdk.CfnOutputProps{Value: value, Description: text(fmt.Sprintf(format, args...))})
}
