package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"matchday/pkg/spec"
)

// object is a part of the template. encoding/json sorts its keys.
type object = map[string]any

func ref(name string) object       { return object{"Ref": name} }
func sub(text string) object       { return object{"Fn::Sub": text} }
func equal(a any, b string) object { return object{"Fn::Equals": []any{a, b}} }

// resources returns ARNs as a template has them.
func resources(arns []string) (all []any) {
	for _, arn := range arns {
		if arn == "*" {
			all = append(all, arn)
		} else {
			all = append(all, sub("arn:${AWS::Partition}:"+arn))
		}
	}

	return all
}

// boundaryARN is that of the boundary, which the stack of another stage may have.
func boundaryARN() object {
	return sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/" + BoundaryName)
}

func document(statements []Statement) object {
	var all []any

	for _, s := range statements {
		one := object{"Sid": s.Sid, "Effect": "Allow", "Action": s.Actions, "Resource": resources(s.Resources)}
		if s.Condition != nil {
			one["Condition"] = s.Condition
		}

		all = append(all, one)
	}

	return object{"Version": "2012-10-17", "Statement": all}
}

// The two environments of the repository in which the pipeline runs, as parameters of the template.
const (
	planEnvironment   = "PlanEnvironment"
	deployEnvironment = "DeployEnvironment"
)

// role returns a role of the pipeline. A job of the repository's branch may assume it, in one of the two
// environments. may are the roles of the CDK's bootstrap that it may assume.
func role(name, environment string, reads []Statement, may ...string) object {
	var assumed []string
	for _, m := range may {
		assumed = append(assumed, "iam::${AWS::AccountId}:role/cdk-hnb659fds-"+m+"-role-${AWS::AccountId}-${AWS::Region}")
	}

	cdk := Statement{Sid: "Bootstrap", Actions: []string{"sts:AssumeRole"}, Resources: assumed}

	return object{"Type": "AWS::IAM::Role", "Properties": object{
		"RoleName":           sub("pipeline-${Stage}-" + name),
		"MaxSessionDuration": 7200,
		"AssumeRolePolicyDocument": object{"Version": "2012-10-17", "Statement": []any{object{
			"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
			"Principal": object{"Federated": sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:oidc-provider/token.actions.githubusercontent.com")},
			"Condition": object{"StringEquals": object{
				"token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
				"token.actions.githubusercontent.com:sub": sub(
					"repo:${Repository}:environment:${" + environment + "}:ref:refs/heads/${Branch}"),
			}},
		}}},
		"Policies": []any{object{"PolicyName": "pipeline", "PolicyDocument": document(slices.Concat([]Statement{cdk}, reads))}},
	}}
}

// Template returns the CloudFormation template of a pipeline of the rooms.
func Template(rooms []spec.Room) ([]byte, error) {
	parameter := func(does, pattern, unset string) object {
		p := object{"Type": "String", "Description": does, "AllowedPattern": pattern}
		if unset != "-" {
			p["Default"] = unset
		}

		return p
	}

	all := object{
		"Provider": object{"Type": "AWS::IAM::OIDCProvider", "Condition": "First", "Properties": object{
			"Url": "https://token.actions.githubusercontent.com", "ClientIdList": []string{"sts.amazonaws.com"},
		}},
		"RolesBoundary": object{"Type": "AWS::IAM::ManagedPolicy", "Condition": "First", "Properties": object{
			"ManagedPolicyName": BoundaryName, "Description": "The most that a role of a Matchday stage can be allowed",
			"PolicyDocument": document([]Statement{{Sid: "Most", Actions: Boundary(), Resources: []string{"*"}}}),
		}},
		"Plan":   role("plan", planEnvironment, Reads(rooms), "lookup"),
		"Deploy": role("deploy", deployEnvironment, Reads(rooms), "deploy", "file-publishing", "lookup"),
	}

	var arns []any

	for _, p := range Policies(rooms) {
		id := "Policy" + p.Name
		types := object{}

		for _, s := range p.Statements {
			types[s.Sid] = s.Types
		}

		properties := object{
			"ManagedPolicyName": sub("pipeline-${Stage}-" + p.Name), "Description": p.Does, "PolicyDocument": document(p.Statements),
		}
		all[id] = object{"Type": "AWS::IAM::ManagedPolicy", "Metadata": object{"Types": types}, "Properties": properties}
		arns = append(arns, ref(id))
	}

	prod, unprefixed := equal(ref("Stage"), "prod"), equal(ref("Prefix"), "")
	template := object{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "Matchday: the roles of a pipeline that deploys a stage from GitHub. `make pipeline` writes this file",
		"Parameters": object{
			"Repository":      parameter("The repository on GitHub: owner/name", `[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+`, "-"),
			"Branch":          parameter("The branch that deploys", `[A-Za-z0-9_./-]+`, "main"),
			planEnvironment:   parameter("The environment of the jobs that only read", `[A-Za-z0-9_-]+`, "plan"),
			deployEnvironment: parameter("The environment of the job that deploys, which a person approves", `[A-Za-z0-9_-]+`, "production"),
			"Stage":           parameter("The stage", `[a-z][a-z0-9]{1,11}`, "prod"),
			"Prefix":          parameter("What names of the stage begin with: nothing for prod, dev- for dev", `([a-z][a-z0-9]{1,11}-)?`, ""),
			"Account": object{"Type": "String", "Default": "new", "AllowedValues": []string{"new", "ready"}, "Description": "ready if the " +
				"account has the identity provider of GitHub and the policy " + BoundaryName + ", from another stage's stack"},
		},
		"Rules": object{"PrefixOfStage": object{"Assertions": []any{object{
			"AssertDescription": "Prefix is empty for prod, and the name of the stage with a hyphen for any other stage",
			"Assert": object{"Fn::Or": []any{
				object{"Fn::And": []any{prod, unprefixed}},
				object{"Fn::Not": []any{object{"Fn::Or": []any{prod, unprefixed}}}},
			}},
		}}}},
		"Conditions": object{"First": equal(ref("Account"), "new")},
		"Resources":  all,
		"Outputs": object{
			"Policies": object{
				"Description": "For make bootstrap POLICIES=…: what CloudFormation may do",
				"Value":       object{"Fn::Join": []any{",", arns}},
			},
			"PlanRole": object{
				"Description": "For the variable PLAN_ROLE of the repository",
				"Value":       object{"Fn::GetAtt": []string{"Plan", "Arn"}},
			},
			"DeployRole": object{
				"Description": "For the variable DEPLOY_ROLE of the repository",
				"Value":       object{"Fn::GetAtt": []string{"Deploy", "Arn"}},
			},
		},
	}

	var out bytes.Buffer

	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")

	if err := encoder.Encode(template); err != nil {
		return nil, fmt.Errorf("encode the template: %w", err)
	}

	// CloudFormation takes 51,200 bytes from a file on this machine.
	return short.ReplaceAll(out.Bytes(), []byte("{$1}")), nil
}

// short matches an object with one text.
var short = regexp.MustCompile(`\{\s+("[A-Za-z:]+": "[^"]*")\s+\}`)
