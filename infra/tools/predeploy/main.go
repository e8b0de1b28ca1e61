// Command predeploy finds the rooms of a deployment, checks the deployment before it starts, or
// finds what a stage's stacks have to import. `make deploy`, `make diff` and `make import` start
// it. It changes nothing in AWS.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cloudformationtypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secretstypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	sestypes "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"matchday/infra/stage"
	"matchday/infra/tools/predeploy/ready"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// command checks the templates in the folder args[1], or with the verb import writes what
// each stack has to import to a file beside its template. With the verb rooms, and without a
// folder, it prints the rooms of the deployment as make's variables. The other arguments are the
// stage's settings.
func command(ctx context.Context, args []string) error {
	verbs := map[string]int{"rooms": 1, "check": 2, "import": 2} // the arguments before the settings

	if len(args) == 0 || len(args) <= verbs[args[0]] || verbs[args[0]] == 0 {
		return errors.New("usage: `make deploy STAGE=dev` or `make import STAGE=dev`")
	}

	of := args[verbs[args[0]]:]

	settings, err := ready.Settings(of)
	if err != nil {
		return err
	}

	cfg, err := ready.Config(ctx, of)
	if err != nil {
		return err
	}

	if args[0] == "rooms" {
		rooms, err := open(cfg).choose(ctx, settings, os.Stderr)
		if err != nil {
			return err
		}

		fmt.Printf("ROOMS=%s LEAVE=%s\n", strings.Join(rooms.Names(), ","), strings.Join(rooms.Left, ","))

		return nil
	}

	rooms, err := fleet.Choose(settings["rooms"], settings["leave"])
	if err != nil {
		return err
	}

	s, err := ready.Stage(rooms, settings)
	if err != nil {
		return err
	}

	return run(ctx, open(cfg), rooms.Deployed(), s, args[0], args[1], os.Stdout)
}

// account is the services that are asked.
type account struct {
	stacks  *cloudformation.Client
	tables  *dynamodb.Client
	pools   *cognitoidentityprovider.Client
	secrets *secretsmanager.Client
	buckets *s3.Client
	mail    *sesv2.Client
	lambda  *lambda.Client
	quotas  *servicequotas.Client
	control *cloudcontrol.Client
}

func open(cfg aws.Config) account {
	return account{
		cloudformation.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), cognitoidentityprovider.NewFromConfig(cfg),
		secretsmanager.NewFromConfig(cfg), s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil }),
		sesv2.NewFromConfig(cfg), lambda.NewFromConfig(cfg), servicequotas.NewFromConfig(cfg),
		cloudcontrol.NewFromConfig(cfg),
	}
}

func run(ctx context.Context, a account, rooms []spec.Room, s stage.Stage, verb, dir string, out io.Writer) error {
	stacks, err := ready.Stacks(dir)
	if err != nil {
		return err
	}

	var found []error

	var reserved, reserves int // concurrent executions

	creates := map[string]int{} // resources by type

	for _, stack := range slices.Sorted(maps.Keys(stacks)) {
		next := stacks[stack]

		deployed, err := a.deployed(ctx, stack)
		if err != nil {
			return err
		}

		owned, err := a.owned(ctx, stack)
		if err != nil {
			return err
		}

		kept, err := a.kept(ctx, next, owned)
		if err != nil {
			return err
		}

		if verb == "import" {
			if err := writeMap(filepath.Join(dir, stack+".import.json"), kept, out); err != nil {
				return err
			}

			continue
		}

		reserved, reserves = reserved+deployed.Reserved(), reserves+next.Reserved()
		for _, q := range quotas {
			creates[q.kind] += next.Creates(q.kind, owned)
		}

		found = append(found, ready.CheckIndexes(deployed, next)...)
		for _, k := range kept {
			found = append(found, k.refusal(stack, s.Name))
		}
	}

	if verb == "check" {
		found = append(found, a.checkRestored(ctx, rooms, s)...)
		found = append(found, a.checkConcurrency(ctx, reserved, reserves))

		for _, q := range quotas {
			found = append(found, a.checkQuota(ctx, q, creates[q.kind]))
		}
	}

	if err := errors.Join(found...); err != nil {
		return fmt.Errorf("nothing was deployed:\n%w", err)
	}

	return nil
}

// deployed returns the template of a stack, without resources if there is no stack.
func (a account) deployed(ctx context.Context, stack string) (ready.Template, error) {
	out, err := a.stacks.GetTemplate(ctx, &cloudformation.GetTemplateInput{
		StackName: &stack, TemplateStage: cloudformationtypes.TemplateStageOriginal,
	})
	if none(err) {
		return ready.Template{}, nil
	}

	if err != nil {
		return ready.Template{}, fmt.Errorf("read the template of %s: %w", stack, err)
	}

	return ready.Parse([]byte(aws.ToString(out.TemplateBody)))
}

// none reports whether CloudFormation knows no such stack.
func none(err error) bool {
	refused, ok := errors.AsType[smithy.APIError](err)
	return ok && refused.ErrorCode() == "ValidationError" && strings.Contains(refused.ErrorMessage(), "does not exist")
}

// resource is a resource that exists, and that a stack would create once more.
type resource struct {
	id         string // in the template
	kind, name string
	key        map[string]string // what identifies it to CloudFormation
}

// refusal returns the error of a deployment that would create r.
func (r resource) refusal(stack, stage string) error {
	if domain, ok := r.key["EmailIdentity"]; ok {
		return fmt.Errorf("%s exists in SES and is not in the stack %s, which would create it: deploy without identity=%s, or import it with "+
			"`make import STAGE=%s`", r.name, stack, domain, stage)
	}

	why := "its name is in use, so the deployment would fail"
	if r.kind == ready.UserPool {
		why = "a second pool would give its users new ids, and separate them from all their data"
	}

	key := slices.Sorted(maps.Values(r.key))

	return fmt.Errorf("%s exists (%s) and is not in the stack %s, which would create it: %s. Import it with `make import STAGE=%s`, or "+
		"delete it if its data are no longer needed", r.name, strings.Join(key, ", "), stack, why, stage)
}

// kept returns what exists of the resources that a stack, which has those of owned, would create.
func (a account) kept(ctx context.Context, next ready.Template, owned map[string]bool) (all []resource, err error) {
	for _, id := range slices.Sorted(maps.Keys(next.Resources)) {
		if owned[id] {
			continue
		}

		r := next.Resources[id]

		var found []resource

		switch r.Type {
		case ready.Table:
			found, err = a.table(ctx, r.Properties.TableName)
		case ready.UserPool:
			found, err = a.pool(ctx, r.Properties.UserPoolName)
		case ready.Secret:
			found, err = a.secret(ctx, r.Properties.Name)
		case ready.Bucket:
			if name, ok := r.Properties.BucketName.(string); ok {
				found, err = a.bucket(ctx, name)
			}
		case ready.Identity:
			found, err = a.identity(ctx, r.Properties.EmailIdentity)
		}

		if err != nil {
			return nil, err
		}

		for _, f := range found {
			f.id, f.kind = id, r.Type
			all = append(all, f)
		}
	}

	return all, nil
}

// owned returns the logical ids of what a stack has.
func (a account) owned(ctx context.Context, stack string) (map[string]bool, error) {
	ids := map[string]bool{}

	pages := cloudformation.NewListStackResourcesPaginator(a.stacks, &cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if none(err) {
			return ids, nil
		}

		if err != nil {
			return nil, fmt.Errorf("list the resources of %s: %w", stack, err)
		}

		for _, r := range page.StackResourceSummaries {
			if !strings.HasPrefix(string(r.ResourceStatus), "DELETE_") && r.PhysicalResourceId != nil {
				ids[aws.ToString(r.LogicalResourceId)] = true
			}
		}
	}

	return ids, nil
}

func (a account) table(ctx context.Context, name string) ([]resource, error) {
	_, err := a.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, ok := errors.AsType[*dynamodbtypes.ResourceNotFoundException](err); ok {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("look for the table %s: %w", name, err)
	}

	return []resource{{name: "the table " + name, key: map[string]string{"TableName": name}}}, nil
}

// pool returns all user pools with a name: names are not unique.
func (a account) pool(ctx context.Context, name string) (all []resource, err error) {
	pages := cognitoidentityprovider.NewListUserPoolsPaginator(a.pools, &cognitoidentityprovider.ListUserPoolsInput{MaxResults: aws.Int32(60)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the user pools: %w", err)
		}

		for _, p := range page.UserPools {
			if aws.ToString(p.Name) == name {
				all = append(all, resource{name: "the user pool " + name, key: map[string]string{"UserPoolId": aws.ToString(p.Id)}})
			}
		}
	}

	return all, nil
}

func (a account) secret(ctx context.Context, name string) ([]resource, error) {
	out, err := a.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
	if _, ok := errors.AsType[*secretstypes.ResourceNotFoundException](err); ok {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("look for the secret %s: %w", name, err)
	}

	return []resource{{name: "the secret " + name, key: map[string]string{"Id": aws.ToString(out.ARN)}}}, nil
}

func (a account) bucket(ctx context.Context, name string) ([]resource, error) {
	_, err := a.buckets.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
	if _, ok := errors.AsType[*s3types.NotFound](err); ok {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("look for the bucket %s: %w", name, err)
	}

	return []resource{{name: "the bucket " + name, key: map[string]string{"BucketName": name}}}, nil
}

func (a account) identity(ctx context.Context, domain string) ([]resource, error) {
	_, err := a.mail.GetEmailIdentity(ctx, &sesv2.GetEmailIdentityInput{EmailIdentity: &domain})
	if _, ok := errors.AsType[*sestypes.NotFoundException](err); ok {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("look for the identity %s in SES: %w", domain, err)
	}

	return []resource{{name: "the identity " + domain, key: map[string]string{"EmailIdentity": domain}}}, nil
}

// checkConcurrency returns an error if the account has too few concurrent executions.
func (a account) checkConcurrency(ctx context.Context, reserved, reserves int) error {
	out, err := a.lambda.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return fmt.Errorf("read the limits of Lambda: %w", err)
	}

	return ready.CheckConcurrency(int(aws.ToInt32(out.AccountLimit.UnreservedConcurrentExecutions)), reserved, reserves)
}

// quota is a quota of an account that a stage uses much of.
type quota struct {
	name          string // of what it counts, in the plural
	kind          string // the type of CloudFormation
	service, code string // in Service Quotas
	region        string // that knows the quota, if it is not that of the stage
}

var quotas = []quota{
	{name: "roles", kind: "AWS::IAM::Role", service: "iam", code: "L-FE177D64", region: "us-east-1"},
	{name: "VPCs", kind: "AWS::EC2::VPC", service: "vpc", code: "L-F678F1CE"},
}

// checkQuota returns an error if the account cannot have as many resources more of what q counts.
func (a account) checkQuota(ctx context.Context, q quota, creates int) error {
	if creates == 0 {
		return nil
	}

	limit, err := a.quotas.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: &q.service, QuotaCode: &q.code},
		func(o *servicequotas.Options) { o.Region = cmp.Or(q.region, o.Region) })
	if err != nil {
		return fmt.Errorf("read the quota of %s: %w", q.name, err)
	}

	used := 0

	pages := cloudcontrol.NewListResourcesPaginator(a.control, &cloudcontrol.ListResourcesInput{TypeName: &q.kind})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("count the %s of the account: %w", q.name, err)
		}

		used += len(page.ResourceDescriptions)
	}

	if missing := used + creates - int(aws.ToFloat64(limit.Quota.Value)); missing > 0 {
		return fmt.Errorf("the stacks create %d %s, and the account has %d: it lacks %d. Delete what is not needed, or ask for more of the "+
			"quota %s of %s in Service Quotas", creates, q.name, used, missing, q.code, q.service)
	}

	return nil
}

// checkRestored returns an error for each table of the setting restored= that the
// functions could not use.
func (a account) checkRestored(ctx context.Context, rooms []spec.Room, s stage.Stage) (all []error) {
	names, err := spec.ParseRestored(s.Restored)
	if err != nil {
		return []error{err}
	}

	for _, name := range slices.Sorted(maps.Keys(names)) {
		in := s.Table(name)

		out, err := a.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &in})
		if err == nil && out.Table.TableStatus != dynamodbtypes.TableStatusActive {
			err = fmt.Errorf("its status is %s", out.Table.TableStatus)
		}

		for _, room := range rooms {
			for _, t := range room.Tables() {
				if err == nil && t.Name == name {
					err = ready.Like(t, *out.Table)
				}
			}
		}

		if err != nil {
			all = append(all, fmt.Errorf("the setting restored= names %s, which the functions could not use: %w", in, err))
		}
	}

	return all
}

// writeMap writes what a stack has to import, as `cdk import` reads it. It removes the file
// if there is nothing. The error names the two resources that could both be imported as
// one.
func writeMap(file string, kept []resource, out io.Writer) error {
	if len(kept) == 0 {
		return ignoreMissing(os.Remove(file))
	}

	ids := map[string]map[string]string{}
	for _, k := range kept {
		if other := ids[k.id]; other != nil {
			return fmt.Errorf("%s exists twice, as %v and %v: delete one of them", k.name, other, k.key)
		}

		ids[k.id] = k.key
		fmt.Fprintf(out, "to import: %s\n", k.name)
	}

	text, err := json.MarshalIndent(ids, "", "  ")
	if err != nil {
		return err
	}

	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}

	return err
}
