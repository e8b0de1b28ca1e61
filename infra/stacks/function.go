package stacks

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"

	"matchday/infra/stage"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// function adds a function with its trigger, except for routes and machines. Its role has only
// the permissions of its spec, none that a construct would add. For the CDK, too, a queue whose
// name ends with .fifo is a FIFO queue.
func (r *room) function(f spec.Function) error {
	code := r.Dist
	if r.Stage.Programs {
		code = filepath.Join(r.Dist, filepath.FromSlash(f.Name))
	}

	program := filepath.Join(code, "bootstrap")
	if err := built(program, r.Stage.Arch); err != nil {
		return err
	}

	hash, err := digest(program)
	if err != nil {
		return err
	}

	_, name, _ := strings.Cut(f.Name, "/")
	// Lambda reports how an invocation ended only in JSON logs, which a filter counts. The log
	// of a job or a task has more information than its trace, and the trace costs more than the
	// run.
	tracing, group := awslambda.Tracing_ACTIVE, r.Stage.LogGroup(r.spec.Name)

	switch f.On.(type) {
	case spec.Schedule, spec.Migration, spec.Task:
		tracing = awslambda.Tracing_PASS_THROUGH
	}

	props := &awslambda.FunctionProps{
		FunctionName: text(r.Stage.Function(f)), Description: text(f.Description()),
		Runtime: awslambda.Runtime_PROVIDED_AL2023(), Architecture: awslambda.Architecture_ARM_64(),
		Handler: text("bootstrap"), Code: awslambda.Code_FromAsset(&code, nil),
		MemorySize: number(float64(f.Memory)), Timeout: seconds(f.Timeout),
		Environment: r.environment(f, hash), Tracing: tracing, LogGroup: r.groups[group], LoggingFormat: awslambda.LoggingFormat_JSON,
	}
	if r.Stage.Arch == "x86_64" {
		props.Architecture = awslambda.Architecture_X86_64()
	}

	if f.Reserved > 0 {
		props.ReservedConcurrentExecutions = number(float64(f.Reserved))
	}

	role := r.role("Role-"+name, "lambda.amazonaws.com", nil, r.rights(f))
	excuse(role, "AwsSolutions-IAM5", "X-Ray has no resources to name.", "Resource::*")
	excuse(role, "AwsSolutions-IAM5", "The log streams of the room's functions, which Lambda names.",
		fmt.Sprintf("Resource::arn:%s:logs:%s:%s:log-group:%s:log-stream:*", nagged(r.stack.Partition(), "AWS::Partition"),
			nagged(r.stack.Region(), "AWS::Region"), nagged(r.stack.Account(), "AWS::AccountId"), group))

	for _, a := range f.Objects {
		excuse(role, "AwsSolutions-IAM5", "The objects below a prefix.", fmt.Sprintf("Resource::arn:%s:s3:::%s-%s/%s*",
			nagged(r.stack.Partition(), "AWS::Partition"), r.Stage.Prefix()+a.Bucket.Name, nagged(r.stack.Account(), "AWS::AccountId"), a.Prefix))
	}

	if len(f.Mail) > 0 {
		excuse(role, "AwsSolutions-IAM5", "A recipient may be an identity, too; the condition names the sender.",
			fmt.Sprintf("Resource::arn:%s:ses:%s:%s:identity/*", nagged(r.stack.Partition(), "AWS::Partition"),
				nagged(r.stack.Region(), "AWS::Region"), nagged(r.stack.Account(), "AWS::AccountId")))
	}

	props.Role = role.WithoutPolicyUpdates(nil)

	switch on := f.On.(type) {
	case spec.Queue:
		// A function may send a message to its own queue again. Lambda would stop this as
		// an endless loop after about 16 rounds, which is fewer than the limits in the
		// code.
		if f.SendsToItself() {
			props.RecursiveLoop = awslambda.RecursiveLoop_ALLOW
		}

		reader, _ := r.spec.DeadLetterFunction(on)
		dead := r.deadLetters(r.Stage.DeadLetter(f), reader.VisibilityTimeout())
		r.dead[on.Name] = dead
		queue := awssqs.NewQueue(r.stack, text("Queue-"+r.Stage.Prefix()+on.Name), &awssqs.QueueProps{
			QueueName: text(r.Stage.Prefix() + on.Name), Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: yes(true),
			VisibilityTimeout: seconds(f.VisibilityTimeout()),
			DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: number(float64(on.MaxReceiveCount))},
		})
		fn := r.callable(f, props)
		awslambda.NewEventSourceMapping(r.stack, text("Source-"+name), &awslambda.EventSourceMappingProps{
			Target: fn, EventSourceArn: queue.QueueArn(), BatchSize: number(float64(on.Batch)),
			MaxConcurrency: number(float64(on.Concurrency)), ReportBatchItemFailures: yes(true),
		})
	case spec.DeadLetters:
		dead := r.dead[on.Of.Name]
		if dead == nil {
			return fmt.Errorf("%s takes the dead letters of %s: list it after the function of that queue", f.Name, on.Of.Name)
		}

		fn := r.callable(f, props)
		awslambda.NewEventSourceMapping(r.stack, text("Source-"+name), &awslambda.EventSourceMappingProps{
			Target: fn, EventSourceArn: dead.QueueArn(), BatchSize: number(float64(on.Of.Batch)),
			MaxConcurrency: number(spec.DeadLetterConcurrency), ReportBatchItemFailures: yes(true),
		})
	case spec.Schedule:
		var dead awssqs.Queue
		if r.Stage.DeadLetter(f) != "" {
			dead = r.jobsDead
			props.DeadLetterQueue = dead
		}

		props.RetryAttempts, props.MaxEventAge = number(2), seconds(patience(on))
		fn := r.callable(f, props)
		r.schedule("Schedule-"+name, r.Stage.Function(f), on, fn.FunctionArn(),
			allow([]string{"lambda:InvokeFunction"}, r.callables(f)...), "{}", patience(on), dead)
	case spec.UserConfirmed:
		fn := r.callable(f, props)
		fn.AddPermission(text("Users"), &awslambda.Permission{
			Principal: awsiam.NewServicePrincipal(text("cognito-idp.amazonaws.com"), nil), SourceArn: r.pool(),
		})
	default:
		r.callable(f, props)
	}

	return nil
}

// machines are the architectures of a stage.
var machines = map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}

// built returns an error of one sentence if the binary of a function is missing or
// invalid.
func built(path, arch string) error {
	goarch := map[string]string{"arm64": "arm64", "x86_64": "amd64"}[arch]

	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not built: run `make build ARCH=%s` first", path, goarch)
	}

	if err != nil {
		return err
	}
	// The digest by which the CDK detects new code does not include the file mode.
	if info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s cannot be executed: run `make build ARCH=%s` again", path, goarch)
	}

	program, err := elf.Open(path)
	if err != nil || program.Machine != machines[arch] {
		return fmt.Errorf("%s is not a program for Linux on %s: run `make build ARCH=%s`", path, arch, goarch)
	}

	return program.Close()
}

// StandIn writes what stands for the program of every function in templates without programs
// to dir: the header of an ELF file for an architecture of a stage.
func StandIn(dir, arch string) error {
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machines[arch]), Version: uint32(elf.EV_CURRENT),
		Ehsize: 64, Phentsize: 56, // the sizes of these headers
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)

	var program bytes.Buffer
	if err := binary.Write(&program, binary.LittleEndian, header); err != nil {
		return err
	}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}

	return os.WriteFile(filepath.Join(dir, "bootstrap"), program.Bytes(), 0o755)
}

// digest returns the first digits of the SHA-256 of a program.
func digest(program string) (string, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}

	return fmt.Sprintf("%x", sha256.Sum256(text))[:12], nil
}

// environment returns the environment of a function whose program has the digest code. Only new
// code or another setting changes it, and with it the function.
func (r *room) environment(f spec.Function, code string) *map[string]*string {
	env := map[string]*string{
		spec.EnvCode:   &code,
		spec.EnvStage:  text(r.Stage.Name),
		spec.EnvPrefix: text(r.Stage.Prefix()),
		spec.EnvQueues: text(fmt.Sprintf("https://sqs.%s.%s/%s/%s", *r.stack.Region(), *r.stack.UrlSuffix(),
			*r.stack.Account(), r.Stage.Prefix())),
		// The rest is for memory outside Go's heap.
		"GOMEMLIMIT": text(fmt.Sprintf("%dMiB", f.Memory*85/100)),
	}
	if r.Stage.Restart != "" && len(f.Secrets) > 0 {
		env[spec.EnvRestart] = text(r.Stage.Restart)
	}

	if r.Stage.Restored != "" && len(f.Uses) > 0 {
		env[spec.EnvRestored] = text(r.Stage.Restored)
	}

	if len(f.Users) > 0 {
		env[spec.EnvUserPool] = r.parameter(stage.UserPool)
	}

	if r.spec.KnowsPages(f) {
		env[spec.EnvAPI], env[spec.EnvOrigins] = r.url, text(strings.Join(r.Stage.Origins, ","))
	}

	if f.SignIn {
		env[spec.EnvIssuer], env[spec.EnvSignIn], env[spec.EnvClient] = r.parameter(stage.JWTIssuer), r.parameter(stage.SignInURL), r.client
	}

	if r.spec.TakesTokens(f) {
		env[spec.EnvIssuer], env[spec.EnvSignIn] = r.parameter(stage.JWTIssuer), r.parameter(stage.SignInURL)
		if r.native != nil {
			env[spec.EnvNative] = r.native
		}
	}

	if f.Keepers {
		env[spec.EnvKeepers] = text(account.FormatKeepers(account.Keepers(r.Rooms)))
	}

	if len(f.Secrets) > 0 {
		env[spec.EnvSecrets] = text(r.Stage.Secrets(r.spec.Name))
	}

	for _, l := range f.SQL {
		env[l.Database.Env()] = r.sqlURL(l)
	}

	for _, l := range f.Caches {
		env[l.Env()] = r.cacheURL(l)
	}

	for _, a := range f.Objects {
		env[a.Env()] = text(bucketName(r.stack, r.Stage, a.Bucket))
	}

	for _, s := range r.spec.Settings {
		if value, ok := r.Stage.Settings[s.Name]; ok && s.Of(f) {
			env[s.Name] = text(value)
		}
	}

	if r.Stage.SAM {
		for _, name := range stage.Overridable(r.spec, f) {
			if env[name] == nil {
				env[name] = text("")
			}
		}
	}

	return &env
}

// tables returns the statements for a function's use of tables.
func (r *room) tables(f spec.Function) (all []awsiam.PolicyStatement) {
	for _, g := range f.Grants() {
		resource := "table/" + r.Stage.Table(g.Table)
		if g.Index != "" {
			resource += "/index/" + g.Index
		}

		var actions []string
		for _, op := range g.Ops {
			actions = append(actions, "dynamodb:"+string(op))
		}

		all = append(all, allow(actions, r.arn("dynamodb", resource)))
	}

	return all
}

// rights returns the statements of a function's policy.
func (r *room) rights(f spec.Function) (all []awsiam.PolicyStatement) {
	all = r.tables(f)
	receive := []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}

	switch on := f.On.(type) {
	case spec.Queue:
		if len(on.Backoff) > 0 {
			receive = append(receive, "sqs:ChangeMessageVisibility")
		}

		all = append(all, allow(receive, r.arn("sqs", r.Stage.Prefix()+on.Name)))
	case spec.DeadLetters:
		all = append(all, allow(receive, r.arn("sqs", r.Stage.Prefix()+on.Of.DeadLetter())))
	}

	if dead := r.Stage.DeadLetter(f); dead != "" {
		all = append(all, allow([]string{"sqs:SendMessage"}, r.arn("sqs", dead)))
	}

	for _, q := range f.Sends {
		all = append(all, allow([]string{"sqs:SendMessage"}, r.arn("sqs", r.Stage.Prefix()+q.Name)))
	}

	if len(f.Users) > 0 {
		var actions []string
		for _, op := range f.Users {
			actions = append(actions, "cognito-idp:"+string(op))
		}

		all = append(all, allow(actions, r.pool()))
	}

	for _, l := range f.SQL {
		all = append(all, r.connectSQL(l))
	}

	for _, l := range f.Caches {
		all = append(all, r.connectCache(l))
	}

	for _, a := range f.Objects {
		all = append(all, r.objects(a)...)
	}

	for _, m := range f.Mail {
		all = append(all, r.sendMail(m)...)
	}

	if f.InVPC() {
		all = append(all, r.interfaces(f)...)
	}

	for _, s := range f.Secrets {
		all = append(all, allow([]string{"secretsmanager:GetSecretValue"}, r.secret(s)))
	}

	return append(all,
		allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, r.arn("logs", "log-group:"+r.Stage.LogGroup(r.spec.Name)+":log-stream:*")),
		allow([]string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, text("*")),
	)
}

// secret returns the ARN of a secret of the room. The stack creates the secret empty;
// an operator sets its value, which is in no template. Therefore the secret of a failed
// first deployment is not kept.
func (r *room) secret(name string) *string {
	if arn, ok := r.secrets[name]; ok {
		return arn
	}

	s := awssecretsmanager.NewCfnSecret(r.stack, text("Secret-"+name),
		&awssecretsmanager.CfnSecretProps{Name: text(r.Stage.Secrets(r.spec.Name) + name)})

	kept := removal(r.Stage)
	if kept == awscdk.RemovalPolicy_RETAIN {
		kept = awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}

	s.ApplyRemovalPolicy(kept, nil)
	excuse(s, "AwsSolutions-SMG4", "Others issue it, so AWS cannot rotate it; the runbook says how a person does.")
	r.secrets[name] = s.Ref()

	return s.Ref()
}

// role returns a role that a service can assume, only on behalf of one resource if
// source is given. Roles are in a nested stack, which comes before what assumes them: their rights
// name resources, and do not refer to any that has a role itself.
func (r *room) role(id, service string, source *string, rights []awsiam.PolicyStatement) awsiam.Role {
	props := &awsiam.ServicePrincipalOpts{}
	if source != nil {
		props.Conditions = &map[string]any{
			"StringEquals": map[string]*string{"aws:SourceAccount": r.stack.Account()},
			"ArnLike":      map[string]*string{"aws:SourceArn": source},
		}
	}

	if r.roles == nil {
		r.roles = r.nested("Roles", "the roles")
	}

	if r.Stage.SAM { // SAM CLI reads no roles, and with one for each function a room has more than 500 resources
		if r.samRole == nil {
			r.samRole = awsiam.NewRole(r.roles, text("Role"), &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(&service, nil)})
		}

		return r.samRole
	}

	return awsiam.NewRole(r.roles, &id, &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(&service, props),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"spec": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &rights})},
	})
}

// schedule calls a target with input. Scheduler drops a call that is later than patience, or
// moves it to the queue dead if that is not nil. By default it would repeat all missed calls of
// a day. Scheduler assumes its role on behalf of a group of schedules, not of one schedule.
func (r *room) schedule(id, name string, on spec.Schedule, target *string, call awsiam.PolicyStatement, input string,
	patience time.Duration, dead awssqs.Queue) {
	rights := []awsiam.PolicyStatement{call}

	var lost *awsscheduler.CfnSchedule_DeadLetterConfigProperty

	if dead != nil {
		rights = append(rights, allow([]string{"sqs:SendMessage"}, r.arn("sqs", r.Stage.JobsDead(r.spec.Name))))
		lost = &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: dead.QueueArn()}
	}

	role := r.role(id+"-role", "scheduler.amazonaws.com", r.arn("scheduler", "schedule-group/default"), rights)
	awsscheduler.NewCfnSchedule(r.stack, &id, &awsscheduler.CfnScheduleProps{
		Name: &name, ScheduleExpression: text(string(on)), ScheduleExpressionTimezone: text("UTC"),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: text("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: target, RoleArn: role.RoleArn(), Input: &input,
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumRetryAttempts:     number(2),
				MaximumEventAgeInSeconds: number(patience.Seconds()),
			},
			DeadLetterConfig: lost,
		},
	})
}

// patience returns the maximum delay of a job: until it is due again, but at most an
// hour.
func patience(on spec.Schedule) time.Duration {
	if on == "cron(* * * * ? *)" {
		return time.Minute
	}

	for _, form := range []string{"rate(%d minute", "cron(0/%d * * * ? *)"} {
		var minutes int
		if _, err := fmt.Sscanf(string(on), form, &minutes); err == nil {
			return min(time.Duration(minutes)*time.Minute, time.Hour)
		}
	}

	return time.Hour
}

// nagged returns the form in which cdk-nag writes a value that is known only after a
// deployment.
func nagged(value *string, variable string) string {
	if *awscdk.Token_IsUnresolved(value) {
		return "<" + variable + ">"
	}

	return *value
}
