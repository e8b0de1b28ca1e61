package stacks

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// canaryMinutes is how long the first calls test a new version. The alarm of the room needs two
// of three periods of 5 minutes.
const canaryMinutes = 15

// versioned is a function whose calls are shifted gradually to a new version.
type versioned struct {
	spec.Function
	alias awslambda.Alias
}

// callable adds a function and returns the target of calls: the function, or with canary= its
// alias, which moves to each new version.
func (r *room) callable(f spec.Function, props *awslambda.FunctionProps) awslambda.IFunction {
	_, name, _ := strings.Cut(f.Name, "/")
	if !r.Stage.Aliased(r.spec, f) {
		fn := awslambda.NewFunction(r.stack, &name, props)
		r.inside(f, fn)
		r.functions[f.Name] = fn

		return fn
	}

	tries, age := props.RetryAttempts, props.MaxEventAge
	props.RetryAttempts, props.MaxEventAge = nil, nil // of calls of the latest code, which do not occur
	fn := awslambda.NewFunction(r.stack, &name, props)
	r.inside(f, fn)
	alias := awslambda.NewAlias(r.stack, text("Live-"+name), &awslambda.AliasProps{
		AliasName: text(stage.Live), Version: fn.CurrentVersion(), RetryAttempts: tries, MaxEventAge: age,
	})
	r.functions[f.Name] = alias
	r.versioned = append(r.versioned, versioned{f, alias})

	return alias
}

// callables returns the ARNs by which a function is called: its own, and that of its alias.
// A role has both, because the deployment that sets or removes canary= changes the role before what
// assumes it, and an execution that has started goes on with the old one.
func (r *room) callables(f spec.Function) []*string {
	name := "function:" + r.Stage.Function(f)
	return []*string{r.arn("lambda", name), r.arn("lambda", name+":"+stage.Live)}
}

// shiftGradually makes CodeDeploy move each alias: first for the percentage canary= of the
// calls, and after canaryMinutes for the rest. If the alarm of the room goes off, it moves them
// back. With canary=100 all calls move at once, without regard to the alarm.
func (r *room) shiftGradually() {
	if len(r.versioned) == 0 {
		return
	}

	var functions []*string

	for _, v := range r.versioned {
		functions = append(functions, r.callables(v.Function)...)
	}

	role := r.role("Role-codedeploy", "codedeploy.amazonaws.com",
		r.arn("codedeploy", "deploymentgroup:"+r.Stage.Prefix()+r.spec.Name+"/*"), []awsiam.PolicyStatement{
			allow([]string{"lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"}, functions...),
			allow([]string{"cloudwatch:DescribeAlarms"}, text("*")),
		})
	excuse(role, "AwsSolutions-IAM5", "The description of alarms has no resources to name.", "Resource::*")

	// An update could not move what has a name, such as the application.
	scope := r.nested("Shifts", "the gradual deployments")
	application := awscodedeploy.NewLambdaApplication(r.stack, text("Deployments"),
		&awscodedeploy.LambdaApplicationProps{ApplicationName: text(r.Stage.Prefix() + r.spec.Name)})

	var shift awscodedeploy.ILambdaDeploymentConfig = awscodedeploy.LambdaDeploymentConfig_ALL_AT_ONCE()

	all := r.Stage.Canary == 100
	if !all {
		shift = awscodedeploy.NewLambdaDeploymentConfig(r.stack, text("Shift"), &awscodedeploy.LambdaDeploymentConfigProps{
			TrafficRouting: awscodedeploy.NewTimeBasedCanaryTrafficRouting(&awscodedeploy.TimeBasedCanaryTrafficRoutingProps{
				Interval: awscdk.Duration_Minutes(number(canaryMinutes)), Percentage: number(float64(r.Stage.Canary)),
			}),
		})
	}
	// By its name: the alarm watches the state machine, which calls the aliases.
	alarms := []interfacesawscloudwatch.IAlarmRef{awscloudwatch.Alarm_FromAlarmName(scope, text("Failing"),
		text(r.Stage.Failing(r.spec.Name)))}
	for _, v := range r.versioned {
		id := "Shift-" + strings.TrimPrefix(v.Name, r.spec.Name+"/")
		group := awscodedeploy.NewLambdaDeploymentGroup(scope, &id, &awscodedeploy.LambdaDeploymentGroupProps{
			DeploymentGroupName: text(r.Stage.Function(v.Function)),
			Alias:               v.alias, Application: application, DeploymentConfig: shift, Role: role.WithoutPolicyUpdates(nil), Alarms: &alarms,
			AutoRollback: &awscodedeploy.AutoRollbackConfig{
				FailedDeployment:  jsii.Bool(true),
				StoppedDeployment: jsii.Bool(true),
				DeploymentInAlarm: jsii.Bool(!all),
			},
			IgnoreAlarmConfiguration: &all,
		})
		// The CDK refers to the group as if it were in the stack of the alias.
		v.alias.Node().DefaultChild().(awslambda.CfnAlias).CfnOptions().SetUpdatePolicy(&awscdk.CfnUpdatePolicy{
			CodeDeployLambdaAliasUpdate: &awscdk.CfnCodeDeployLambdaAliasUpdate{
				ApplicationName: application.ApplicationName(), DeploymentGroupName: text(r.Stage.Function(v.Function)),
			},
		})
		v.alias.Node().AddDependency(group)
	}
}
