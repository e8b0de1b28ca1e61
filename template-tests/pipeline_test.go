package templatetests

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"matchday/infra/tools/pipeline/policy"
	"matchday/pkg/fleet"
)

// fleetTemplates are those of the deployments of all rooms: production and a trial, which have every
// option between them.
func fleetTemplates() []template {
	return slices.DeleteFunc(slices.Clone(templates), func(tmpl template) bool { return tmpl.Stage.Name == "try" })
}

// statements are those of all policies of the pipeline, by their Sid.
var statements = sync.OnceValue(func() map[string]policy.Statement {
	all := map[string]policy.Statement{}
	for _, p := range policy.Policies(fleet.Specs()) {
		for _, s := range p.Statements {
			all[s.Sid] = s
		}
	}
	return all
})

// TestPipelineHasAStatementForEachType: CloudFormation may create each resource of the stacks, and
// nothing of a type that they do not have.
func TestPipelineHasAStatementForEachType(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, tmpl := range fleetTemplates() {
		for _, r := range tmpl.Resources {
			used[strings.TrimPrefix(r.Type, "AWS::")] = true
		}
		if len(tmpl.sizes) > 1 {
			used["CloudFormation::Stack"] = true
		}
	}
	allowed := map[string]bool{}
	for sid, s := range statements() {
		if len(s.Types) == 0 || len(s.Actions) == 0 || len(s.Resources) == 0 {
			t.Errorf("the statement %s lacks types, actions or resources", sid)
		}
		for _, kind := range s.Types {
			if allowed[kind] = true; !used[kind] {
				t.Errorf("the statement %s is for %s, which no stack has", sid, kind)
			}
		}
	}
	for kind := range used {
		if !allowed[kind] {
			t.Errorf("no statement of infra/tools/pipeline/policy is for AWS::%s", kind)
		}
	}
}

// named are the types whose names the templates have, with the property and the ARN.
var named = map[string][2]string{
	"AWS::CloudWatch::Alarm":            {"AlarmName", "cloudwatch:us-east-1:123456789012:alarm:%s"},
	"AWS::CloudWatch::Dashboard":        {"DashboardName", "cloudwatch::123456789012:dashboard/%s"},
	"AWS::CodeDeploy::Application":      {"ApplicationName", "codedeploy:us-east-1:123456789012:application:%s"},
	"AWS::DynamoDB::GlobalTable":        {"TableName", "dynamodb:us-east-1:123456789012:table/%s"},
	"AWS::ElastiCache::ServerlessCache": {"ServerlessCacheName", "elasticache:us-east-1:123456789012:serverlesscache:%s"},
	"AWS::ElastiCache::User":            {"UserId", "elasticache:us-east-1:123456789012:user:%s"},
	"AWS::ElastiCache::UserGroup":       {"UserGroupId", "elasticache:us-east-1:123456789012:usergroup:%s"},
	"AWS::Lambda::Function":             {"FunctionName", "lambda:us-east-1:123456789012:function:%s"},
	"AWS::Logs::LogGroup":               {"LogGroupName", "logs:us-east-1:123456789012:log-group:%s"},
	"AWS::RDS::DBCluster":               {"DBClusterIdentifier", "rds:us-east-1:123456789012:cluster:%s"},
	"AWS::RDS::DBClusterParameterGroup": {"DBClusterParameterGroupName", "rds:us-east-1:123456789012:cluster-pg:%s"},
	"AWS::RDS::DBInstance":              {"DBInstanceIdentifier", "rds:us-east-1:123456789012:db:%s"},
	"AWS::RDS::DBSubnetGroup":           {"DBSubnetGroupName", "rds:us-east-1:123456789012:subgrp:%s"},
	"AWS::S3::Bucket":                   {"BucketName", "s3:::%s"},
	"AWS::SES::EmailIdentity":           {"EmailIdentity", "ses:us-east-1:123456789012:identity/%s"},
	"AWS::SNS::Topic":                   {"TopicName", "sns:us-east-1:123456789012:%s"},
	"AWS::SQS::Queue":                   {"QueueName", "sqs:us-east-1:123456789012:%s"},
	"AWS::SSM::Parameter":               {"Name", "ssm:us-east-1:123456789012:parameter%s"},
	"AWS::Scheduler::Schedule":          {"Name", "scheduler:us-east-1:123456789012:schedule/default/%s"},
	"AWS::SecretsManager::Secret":       {"Name", "secretsmanager:us-east-1:123456789012:secret:%s-a1b2c3"},
	"AWS::StepFunctions::StateMachine":  {"StateMachineName", "states:us-east-1:123456789012:stateMachine:%s"},
	"AWS::WAFv2::WebACL":                {"Name", "wafv2:us-east-1:123456789012:global/webacl/%s/0a1b"},
}

// TestPipelineKnowsEachName: the statements for a type take in the names that the stacks give to its
// resources, and not the roles of the pipeline and of the CDK.
func TestPipelineKnowsEachName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tmpl := range fleetTemplates() {
		for _, id := range slices.Sorted(maps.Keys(tmpl.Resources)) {
			r := tmpl.Resources[id]
			key, ok := named[r.Type]
			if !ok {
				continue
			}
			seen[r.Type] = true
			arn := fmt.Sprintf(key[1], tmpl.plain(r.at(key[0])))
			if !taken(tmpl.Stage.Name, tmpl.Stage.Prefix(), strings.TrimPrefix(r.Type, "AWS::"), arn) {
				t.Errorf("%s: no statement for %s takes in %s", tmpl.Name, r.Type, arn)
			}
		}
		role := "iam::123456789012:role/" + tmpl.Name + "-Rolegetthing-ABC"
		if !taken(tmpl.Stage.Name, tmpl.Stage.Prefix(), "IAM::Role", role) {
			t.Errorf("no statement takes in %s", role)
		}
	}
	if len(seen) != len(named) {
		t.Errorf("of %d types with names the templates have %d", len(named), len(seen))
	}
	others := []string{"pipeline-prod-deploy", "cdk-hnb659fds-cfn-exec-role-123456789012-us-east-1", "matchday-dev-cricket-Role-A"}
	for _, role := range others {
		if taken("prod", "", "IAM::Role", "iam::123456789012:role/"+role) {
			t.Errorf("CloudFormation may change the role %s", role)
		}
	}
}

// taken reports whether a statement for a type has a resource that matches an ARN in a stage.
func taken(stage, prefix, kind, arn string) bool {
	values := strings.NewReplacer("${Stage}", stage, "${Prefix}", prefix, "${AWS::Region}", "us-east-1", "${AWS::AccountId}", "123456789012")
	for _, s := range statements() {
		for _, pattern := range s.Resources {
			text := strings.ReplaceAll(regexp.QuoteMeta(values.Replace(pattern)), `\*`, ".*")
			if slices.Contains(s.Types, kind) && pattern != "*" && regexp.MustCompile("^"+text+"$").MatchString(arn) {
				return true
			}
		}
	}
	return false
}

// TestBoundaryIsWhatRolesDo: the boundary allows each action of the roles of the stacks, no other, and
// none by which a role gets more.
func TestBoundaryIsWhatRolesDo(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, tmpl := range templates {
		documents := []any{}
		for _, r := range tmpl.of("AWS::IAM::Role") {
			inline, _ := r.at("Policies").([]any)
			for _, p := range inline {
				documents = append(documents, p.(map[string]any)["PolicyDocument"])
			}
			if managed := r.at("ManagedPolicyArns"); managed != nil {
				t.Errorf("a role of %s has the policies %v, whose actions are not compared", tmpl.Name, managed)
			}
		}
		for _, p := range tmpl.of("AWS::IAM::Policy") {
			documents = append(documents, p.at("PolicyDocument"))
		}
		for _, d := range documents {
			for _, s := range d.(map[string]any)["Statement"].([]any) {
				switch action := s.(map[string]any)["Action"].(type) {
				case string:
					used[action] = true
				case []any:
					for _, a := range action {
						used[a.(string)] = true
					}
				}
			}
		}
	}
	same(t, "the boundary", policy.Boundary(), slices.Sorted(maps.Keys(used)))
	for _, action := range policy.Boundary() {
		if strings.Contains(action, "*") || strings.HasPrefix(action, "iam:") || strings.HasPrefix(action, "sts:") {
			t.Errorf("the boundary allows %s", action)
		}
	}
}

// TestPoliciesFitIntoIAM: a managed policy has at most 6,144 characters, white space not counted.
func TestPoliciesFitIntoIAM(t *testing.T) {
	t.Parallel()
	text, err := policy.Template(fleet.Specs())
	if err != nil {
		t.Fatal(err)
	}
	var tmpl template
	if err := json.Unmarshal(text, &tmpl); err != nil {
		t.Fatal(err)
	}
	longest := strings.NewReplacer("${Stage}", "abcdefghijkl", "${Prefix}", "abcdefghijkl-", "${AWS::Region}", "ap-southeast-2",
		"${AWS::AccountId}", "123456789012", "${AWS::Partition}", "aws", `{"Fn::Sub":`, "", `"}`, `"`)
	policies := tmpl.of("AWS::IAM::ManagedPolicy")
	if len(policies) < 2 || len(policies) > 10 {
		t.Errorf("%d policies: a role takes 10", len(policies))
	}
	for _, p := range policies {
		document, err := json.Marshal(p.at("PolicyDocument"))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(longest.Replace(string(document))); n > 6144 {
			t.Errorf("%s has %d characters", p.name("Description"), n)
		} else {
			t.Logf("%s: %d characters", p.name("Description"), n)
		}
	}
}
