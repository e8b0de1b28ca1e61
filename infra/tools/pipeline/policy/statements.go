// Package policy writes the permissions of a pipeline that deploys a stage: the policies with which
// CloudFormation creates the stage's resources, the boundary of the roles that it creates, and the roles of
// the pipeline. See docs/pipeline.md.
package policy

import (
	"slices"
	"strings"

	"matchday/pkg/spec"
)

// Statement is what CloudFormation needs for resources of some types.
type Statement struct {
	Sid     string
	Types   []string // "AWS::" is left out
	Actions []string
	// Resources are ARNs without "arn:" and the partition, in which ${Stage}, ${Prefix}, ${AWS::Region} and
	// ${AWS::AccountId} are replaced.
	Resources []string
	Condition map[string]any // nil for none
}

// Policy is a managed policy. IAM limits its text to 6,144 characters, so there are several.
type Policy struct {
	Name, Does string
	Statements []Statement
}

// BoundaryName is the name of the boundary of the roles that CloudFormation creates.
const BoundaryName = "matchday-boundary"

// Assets is the bucket of the CDK's bootstrap with the programs and the nested templates.
const Assets = "s3:::cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}/*"

// roles are the roles of the stage's functions, schedules, state machines and gradual deployments.
// CloudFormation names them after the stack.
const roles = "iam::${AWS::AccountId}:role/matchday-${Stage}-*"

// here is the ARN of a resource of the account and region.
func here(service, resource string) string {
	return service + ":${AWS::Region}:${AWS::AccountId}:" + resource
}

// stack is the ARN of what is named after the stage's stacks.
func stack(service, resource string) string { return here(service, resource+"matchday-${Stage}-*") }

// names are what the names of a stage's resources are made of, beside the prefix.
type names struct{ rooms, tables, buckets, stores, machines []string }

func namesOf(rooms []spec.Room) (n names) {
	for _, r := range rooms {
		n.rooms = append(n.rooms, r.Name)
		for _, t := range r.Tables() {
			n.tables = append(n.tables, t.Name)
		}

		for _, b := range r.Buckets() {
			n.buckets = append(n.buckets, b.Name)
		}

		for _, d := range r.Databases() {
			n.stores = append(n.stores, d.Name)
		}

		for _, l := range r.CacheLogins() {
			n.stores = append(n.stores, l.Cache.Name)
		}

		for _, m := range r.Machines {
			n.machines = append(n.machines, m.Name)
		}
	}

	for _, all := range []*[]string{&n.tables, &n.buckets, &n.stores, &n.machines} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}

	return n
}

// each returns an ARN for each name; * stands for the name. See spec.TableIn.
func each(names []string, service, resource string) (all []string) {
	for _, name := range names {
		named := strings.Replace(name, "{stage}", "${Stage}", 1)
		if named == name {
			named = "${Prefix}" + name
		}

		all = append(all, here(service, strings.Replace(resource, "*", named, 1)))
	}

	return all
}

// Policies returns what CloudFormation needs for the stacks of all rooms, with every option of a stage.
func Policies(rooms []spec.Room) []Policy {
	n := namesOf(rooms)

	return []Policy{
		{"roles", "Roles, logs and schedules", n.roles()},
		{"functions", "Functions, APIs and alarms", n.functions()},
		{"data", "Tables, buckets, queues and topics", n.data()},
		{"stores", "Secrets, parameters, databases and caches", n.stored()},
		{"shared", "Users, mail, networks, gradual deployments and CloudFront", n.shared()},
	}
}

func (n names) roles() []Statement {
	bounded := map[string]any{"StringEquals": map[string]any{"iam:PermissionsBoundary": boundaryARN()}}

	return []Statement{
		{
			Sid: "Roles", Types: []string{"IAM::Role", "IAM::Policy"},
			Actions: []string{"iam:DeleteRole", "iam:DeleteRolePolicy", "iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies",
				"iam:ListRolePolicies", "iam:TagRole", "iam:UntagRole", "iam:UpdateAssumeRolePolicy", "iam:UpdateRole", "iam:UpdateRoleDescription"},
			Resources: []string{roles},
		},
		{
			Sid: "RolesWithBoundary", Types: []string{"IAM::Role", "IAM::Policy"},
			Actions:   []string{"iam:CreateRole", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"},
			Resources: []string{roles}, Condition: bounded,
		},
		{
			Sid:       "PassRoles",
			Types:     []string{"Lambda::Function", "Scheduler::Schedule", "StepFunctions::StateMachine", "CodeDeploy::DeploymentGroup"},
			Actions:   []string{"iam:PassRole"},
			Resources: []string{roles},
			Condition: map[string]any{"StringEquals": map[string]any{"iam:PassedToService": []string{
				"codedeploy.amazonaws.com", "lambda.amazonaws.com", "scheduler.amazonaws.com", "states.amazonaws.com",
			}}},
		},
		{
			Sid: "ServiceRoles",
			Types: []string{"ApiGatewayV2::DomainName", "ApiGatewayV2::Stage", "Cognito::UserPool", "ElastiCache::ServerlessCache",
				"RDS::DBCluster"},
			Actions:   []string{"iam:CreateServiceLinkedRole"},
			Resources: []string{"iam::${AWS::AccountId}:role/aws-service-role/*"},
			Condition: map[string]any{"StringEquals": map[string]any{"iam:AWSServiceName": []string{
				"delivery.logs.amazonaws.com", "elasticache.amazonaws.com", "email.cognito-idp.amazonaws.com", "ops.apigateway.amazonaws.com",
				"rds.amazonaws.com",
			}}},
		},
		{
			Sid: "Programs", Types: []string{"Lambda::Function", "CloudFormation::Stack"},
			Actions: []string{"s3:GetObject"}, Resources: []string{Assets},
		},
		{
			Sid: "Nested", Types: []string{"CloudFormation::Stack"},
			Actions: []string{"cloudformation:CreateStack", "cloudformation:DeleteStack", "cloudformation:DescribeStacks",
				"cloudformation:TagResource", "cloudformation:UntagResource", "cloudformation:UpdateStack"},
			Resources: []string{stack("cloudformation", "stack/")},
		},
		{
			Sid: "Logs", Types: []string{"Logs::LogGroup", "Logs::MetricFilter"},
			Actions: []string{"logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:DeleteMetricFilter", "logs:DeleteRetentionPolicy",
				"logs:ListTagsForResource", "logs:PutMetricFilter", "logs:PutRetentionPolicy", "logs:TagResource", "logs:UntagResource"},
			Resources: slices.Concat(each(n.rooms, "logs", "log-group:/aws/lambda/**"), each(n.rooms, "logs", "log-group:/aws/vendedlogs/apis/**"),
				each(n.machines, "logs", "log-group:/aws/vendedlogs/states/**")),
		},
		{
			Sid: "LogDelivery", Types: []string{"ApiGatewayV2::Stage", "StepFunctions::StateMachine", "Logs::LogGroup", "Logs::MetricFilter"},
			Actions: []string{"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeIndexPolicies", "logs:DescribeLogGroups",
				"logs:DescribeMetricFilters", "logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries",
				"logs:PutResourcePolicy", "logs:UpdateLogDelivery"},
			Resources: []string{"*"},
		},
		{
			Sid: "Schedules", Types: []string{"Scheduler::Schedule"},
			Actions:   []string{"scheduler:CreateSchedule", "scheduler:DeleteSchedule", "scheduler:GetSchedule", "scheduler:UpdateSchedule"},
			Resources: each(n.rooms, "scheduler", "schedule/default/*-*"),
		},
		{
			Sid: "Machines", Types: []string{"StepFunctions::StateMachine"},
			Actions: []string{"states:CreateStateMachine", "states:DeleteStateMachine", "states:DescribeStateMachine",
				"states:ListTagsForResource", "states:TagResource", "states:UntagResource", "states:UpdateStateMachine"},
			Resources: each(n.machines, "states", "stateMachine:*"),
		},
	}
}

func (n names) functions() []Statement {
	ofFleet := map[string]any{"ArnLike": map[string]any{"lambda:FunctionArn": resources(each(n.rooms, "lambda", "function:*-*"))}}

	return []Statement{
		{
			Sid: "Functions", Types: []string{"Lambda::Function", "Lambda::Version", "Lambda::Alias", "Lambda::Permission",
				"Lambda::EventInvokeConfig", "CloudFormation::CustomResource"},
			Actions: []string{
				"lambda:AddPermission", "lambda:CreateAlias", "lambda:CreateFunction", "lambda:DeleteAlias", "lambda:DeleteFunction",
				"lambda:DeleteFunctionConcurrency", "lambda:DeleteFunctionEventInvokeConfig", "lambda:GetAlias", "lambda:GetFunction*",
				"lambda:GetPolicy", "lambda:GetProvisionedConcurrencyConfig", "lambda:GetRuntimeManagementConfig", "lambda:InvokeFunction",
				"lambda:ListAliases", "lambda:ListTags", "lambda:ListVersionsByFunction", "lambda:PublishVersion",
				"lambda:PutFunctionConcurrency", "lambda:PutFunctionEventInvokeConfig", "lambda:PutFunctionRecursionConfig",
				"lambda:RemovePermission", "lambda:TagResource", "lambda:UntagResource", "lambda:UpdateAlias", "lambda:UpdateFunctionCode",
				"lambda:UpdateFunctionConfiguration", "lambda:UpdateFunctionEventInvokeConfig",
			},
			Resources: each(n.rooms, "lambda", "function:*-*"),
		},
		{
			Sid: "Sources", Types: []string{"Lambda::EventSourceMapping"},
			Actions:   []string{"lambda:CreateEventSourceMapping", "lambda:DeleteEventSourceMapping", "lambda:UpdateEventSourceMapping"},
			Resources: []string{"*"}, Condition: ofFleet,
		},
		{
			Sid: "SourceReads", Types: []string{"Lambda::EventSourceMapping"},
			Actions:   []string{"lambda:GetEventSourceMapping", "lambda:ListEventSourceMappings", "lambda:ListTags", "lambda:TagResource"},
			Resources: []string{"*"},
		},
		{
			Sid: "Apis", Types: []string{"ApiGatewayV2::Api", "ApiGatewayV2::ApiMapping", "ApiGatewayV2::Authorizer",
				"ApiGatewayV2::DomainName", "ApiGatewayV2::Integration", "ApiGatewayV2::Route", "ApiGatewayV2::Stage"},
			Actions: []string{"apigateway:DELETE", "apigateway:GET", "apigateway:PATCH", "apigateway:POST", "apigateway:PUT"},
			Resources: []string{"apigateway:${AWS::Region}::/apis", "apigateway:${AWS::Region}::/apis/*",
				"apigateway:${AWS::Region}::/domainnames", "apigateway:${AWS::Region}::/domainnames/*", "apigateway:${AWS::Region}::/tags/*"},
		},
		{
			Sid: "Alarms", Types: []string{"CloudWatch::Alarm"},
			Actions: []string{"cloudwatch:DeleteAlarms", "cloudwatch:ListTagsForResource", "cloudwatch:PutMetricAlarm",
				"cloudwatch:TagResource", "cloudwatch:UntagResource"},
			Resources: slices.Concat(each(n.rooms, "cloudwatch", "alarm:*-*"), each(slices.DeleteFunc(slices.Clone(n.stores), n.isRoom),
				"cloudwatch", "alarm:*-*")),
		},
		{
			Sid: "AlarmReads", Types: []string{"CloudWatch::Alarm"}, Actions: []string{"cloudwatch:DescribeAlarms"}, Resources: []string{"*"},
		},
		{
			Sid: "Dashboards", Types: []string{"CloudWatch::Dashboard"},
			Actions:   []string{"cloudwatch:DeleteDashboards", "cloudwatch:GetDashboard", "cloudwatch:PutDashboard"},
			Resources: []string{"cloudwatch::${AWS::AccountId}:dashboard/matchday-${Stage}-*"},
		},
	}
}

func (n names) data() []Statement {
	var buckets []string
	for _, name := range n.buckets {
		buckets = append(buckets, "s3:::${Prefix}"+name+"-${AWS::AccountId}")
	}

	return []Statement{
		{
			Sid: "Tables", Types: []string{"DynamoDB::GlobalTable"},
			Actions: []string{"dynamodb:CreateTable", "dynamodb:CreateTableReplica", "dynamodb:DeleteTable", "dynamodb:DeleteTableReplica",
				"dynamodb:Describe*", "dynamodb:GetResourcePolicy", "dynamodb:ListTagsOfResource", "dynamodb:TagResource", "dynamodb:UntagResource",
				"dynamodb:UpdateContinuousBackups", "dynamodb:UpdateContributorInsights", "dynamodb:UpdateTable", "dynamodb:UpdateTimeToLive"},
			Resources: each(n.tables, "dynamodb", "table/*"),
		},
		{
			Sid: "Indexes", Types: []string{"DynamoDB::GlobalTable"},
			Actions:   []string{"dynamodb:DescribeContributorInsights", "dynamodb:UpdateContributorInsights"},
			Resources: []string{here("dynamodb", "table/*/index/*")},
		},
		{
			Sid: "Buckets", Types: []string{"S3::Bucket", "S3::BucketPolicy"},
			Actions: []string{"s3:CreateBucket", "s3:DeleteBucket", "s3:DeleteBucketPolicy", "s3:GetBucket*", "s3:GetEncryptionConfiguration",
				"s3:GetLifecycleConfiguration", "s3:ListBucket", "s3:PutBucketOwnershipControls", "s3:PutBucketPolicy",
				"s3:PutBucketPublicAccessBlock", "s3:PutBucketTagging", "s3:PutEncryptionConfiguration", "s3:PutLifecycleConfiguration"},
			Resources: buckets,
		},
		{
			Sid: "Queues", Types: []string{"SQS::Queue", "SQS::QueuePolicy"},
			Actions: []string{"sqs:AddPermission", "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl",
				"sqs:ListQueueTags", "sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue"},
			Resources: each(n.rooms, "sqs", "*-*"),
		},
		{
			Sid: "Topics", Types: []string{"SNS::Topic", "SNS::TopicPolicy", "SNS::Subscription"},
			Actions: []string{"sns:CreateTopic", "sns:DeleteTopic", "sns:GetDataProtectionPolicy", "sns:GetSubscriptionAttributes",
				"sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic", "sns:ListTagsForResource", "sns:SetTopicAttributes", "sns:Subscribe",
				"sns:TagResource", "sns:Unsubscribe", "sns:UntagResource"},
			Resources: []string{here("sns", "matchday-${Stage}-alarms-*")},
		},
	}
}

func (n names) stored() []Statement {
	return []Statement{
		{
			Sid: "Secrets", Types: []string{"SecretsManager::Secret"},
			Actions: []string{"secretsmanager:CreateSecret", "secretsmanager:DeleteSecret", "secretsmanager:DescribeSecret",
				"secretsmanager:TagResource", "secretsmanager:UntagResource", "secretsmanager:UpdateSecret"},
			Resources: []string{here("secretsmanager", "secret:${Stage}/*")},
		},
		{
			// The key that CloudFront sends to the APIs: CloudFormation reads it for both.
			Sid: "CdnKey", Types: []string{"CloudFront::Distribution", "ApiGatewayV2::Stage", "SecretsManager::Secret"},
			Actions:   []string{"secretsmanager:GetSecretValue"},
			Resources: []string{here("secretsmanager", "secret:${Stage}/cdn/*")},
		},
		{
			Sid: "Passwords", Types: []string{"SecretsManager::Secret"},
			Actions: []string{"secretsmanager:GetRandomPassword"}, Resources: []string{"*"},
		},
		{
			Sid: "Parameters", Types: []string{"SSM::Parameter"},
			Actions: []string{"ssm:AddTagsToResource", "ssm:DeleteParameter", "ssm:GetParameter", "ssm:GetParameters",
				"ssm:ListTagsForResource", "ssm:PutParameter", "ssm:RemoveTagsFromResource"},
			Resources: []string{here("ssm", "parameter/matchday/${Stage}/*")},
		},
		{
			Sid: "BootstrapVersion", Types: []string{"CloudFormation::Stack"},
			Actions: []string{"ssm:GetParameters"}, Resources: []string{here("ssm", "parameter/cdk-bootstrap/hnb659fds/version")},
		},
		{
			Sid: "Databases", Types: []string{"RDS::DBCluster", "RDS::DBInstance", "RDS::DBSubnetGroup", "RDS::DBClusterParameterGroup"},
			Actions: []string{
				"rds:AddTagsToResource", "rds:CreateDBCluster", "rds:CreateDBClusterParameterGroup", "rds:CreateDBClusterSnapshot",
				"rds:CreateDBInstance", "rds:CreateDBSubnetGroup", "rds:DeleteDBCluster", "rds:DeleteDBClusterParameterGroup",
				"rds:DeleteDBInstance", "rds:DeleteDBSubnetGroup", "rds:ListTagsForResource", "rds:ModifyDBCluster",
				"rds:ModifyDBClusterParameterGroup", "rds:ModifyDBInstance", "rds:ModifyDBSubnetGroup", "rds:RemoveTagsFromResource",
				"rds:ResetDBClusterParameterGroup",
			},
			Resources: slices.Concat(each(n.stores, "rds", "cluster:*"), each(n.stores, "rds", "cluster-pg:*"), each(n.stores, "rds", "db:**"),
				each(n.stores, "rds", "subgrp:*"), []string{here("rds", "cluster-snapshot:*")}),
		},
		{
			Sid: "Caches", Types: []string{"ElastiCache::ServerlessCache", "ElastiCache::User", "ElastiCache::UserGroup"},
			Actions: []string{
				"elasticache:AddTagsToResource", "elasticache:CreateServerlessCache", "elasticache:CreateUser", "elasticache:CreateUserGroup",
				"elasticache:DeleteServerlessCache", "elasticache:DeleteUser", "elasticache:DeleteUserGroup", "elasticache:ListTagsForResource",
				"elasticache:ModifyServerlessCache", "elasticache:ModifyUser", "elasticache:ModifyUserGroup",
				"elasticache:RemoveTagsFromResource",
			},
			Resources: slices.Concat(each(n.stores, "elasticache", "serverlesscache:*"), each(n.stores, "elasticache", "user:**"),
				each(n.stores, "elasticache", "usergroup:*")),
		},
		{
			Sid: "StoreReads", Types: []string{"RDS::DBCluster", "RDS::DBInstance", "RDS::DBSubnetGroup", "RDS::DBClusterParameterGroup",
				"ElastiCache::ServerlessCache", "ElastiCache::User", "ElastiCache::UserGroup"},
			Actions: []string{"elasticache:Describe*", "rds:Describe*"}, Resources: []string{"*"},
		},
	}
}

func (n names) shared() []Statement {
	return []Statement{
		{
			Sid: "Networks", Types: []string{"EC2::VPC", "EC2::Subnet", "EC2::RouteTable", "EC2::SubnetRouteTableAssociation",
				"EC2::SecurityGroup", "EC2::SecurityGroupEgress", "EC2::SecurityGroupIngress", "EC2::VPCEndpoint",
				"ElastiCache::ServerlessCache"},
			Actions: []string{
				"ec2:AssociateRouteTable", "ec2:AuthorizeSecurityGroupEgress", "ec2:AuthorizeSecurityGroupIngress", "ec2:CreateRouteTable",
				"ec2:CreateSecurityGroup", "ec2:CreateSubnet", "ec2:CreateTags", "ec2:CreateVpc", "ec2:CreateVpcEndpoint",
				"ec2:DeleteRouteTable", "ec2:DeleteSecurityGroup", "ec2:DeleteSubnet", "ec2:DeleteTags", "ec2:DeleteVpc",
				"ec2:DeleteVpcEndpoints", "ec2:DisassociateRouteTable", "ec2:ModifySecurityGroupRules", "ec2:ModifySubnetAttribute",
				"ec2:ModifyVpcAttribute", "ec2:ModifyVpcEndpoint", "ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress",
			},
			Resources: []string{here("ec2", "*")},
		},
		{
			Sid: "NetworkReads", Types: []string{"EC2::VPC", "EC2::Subnet", "EC2::RouteTable", "EC2::SubnetRouteTableAssociation",
				"EC2::SecurityGroup", "EC2::SecurityGroupEgress", "EC2::SecurityGroupIngress", "EC2::VPCEndpoint", "Lambda::Function"},
			Actions: []string{"ec2:Describe*", "ec2:GetSecurityGroupsForVpc", "route53:AssociateVPCWithHostedZone"}, Resources: []string{"*"},
		},
		{
			Sid: "Users", Types: []string{"Cognito::UserPool", "Cognito::UserPoolClient", "Cognito::UserPoolDomain", "Cognito::UserPoolGroup"},
			Actions: []string{
				"cognito-idp:AddCustomAttributes", "cognito-idp:CreateGroup", "cognito-idp:CreateUserPoolClient",
				"cognito-idp:CreateUserPoolDomain", "cognito-idp:DeleteGroup", "cognito-idp:DeleteUserPool",
				"cognito-idp:DeleteUserPoolClient", "cognito-idp:DeleteUserPoolDomain", "cognito-idp:DescribeUserPool",
				"cognito-idp:DescribeUserPoolClient", "cognito-idp:GetGroup", "cognito-idp:GetUserPoolMfaConfig",
				"cognito-idp:ListTagsForResource", "cognito-idp:SetUserPoolMfaConfig", "cognito-idp:TagResource", "cognito-idp:UntagResource",
				"cognito-idp:UpdateGroup", "cognito-idp:UpdateUserPool", "cognito-idp:UpdateUserPoolClient",
				"cognito-idp:UpdateUserPoolDomain",
			},
			Resources: []string{here("cognito-idp", "userpool/*")},
		},
		{
			Sid: "NewUsers", Types: []string{"Cognito::UserPool", "Cognito::UserPoolDomain"},
			Actions: []string{"cognito-idp:CreateUserPool", "cognito-idp:DescribeUserPoolDomain"}, Resources: []string{"*"},
		},
		{
			Sid: "Mail", Types: []string{"SES::EmailIdentity"},
			Actions: []string{"ses:CreateEmailIdentity", "ses:DeleteEmailIdentity", "ses:GetEmailIdentity", "ses:ListTagsForResource",
				"ses:PutEmailIdentityConfigurationSetAttributes", "ses:PutEmailIdentityDkimAttributes",
				"ses:PutEmailIdentityDkimSigningAttributes", "ses:PutEmailIdentityFeedbackAttributes", "ses:PutEmailIdentityMailFromAttributes",
				"ses:TagResource", "ses:UntagResource"},
			Resources: []string{here("ses", "identity/*")},
		},
		{
			Sid: "Gradually", Types: []string{"CodeDeploy::Application", "CodeDeploy::DeploymentConfig", "CodeDeploy::DeploymentGroup",
				"Lambda::Alias"},
			Actions: []string{
				"codedeploy:CreateApplication", "codedeploy:CreateDeployment", "codedeploy:CreateDeploymentConfig",
				"codedeploy:CreateDeploymentGroup", "codedeploy:DeleteApplication", "codedeploy:DeleteDeploymentConfig",
				"codedeploy:DeleteDeploymentGroup", "codedeploy:GetApplication", "codedeploy:GetApplicationRevision",
				"codedeploy:GetDeployment", "codedeploy:GetDeploymentConfig", "codedeploy:GetDeploymentGroup", "codedeploy:ListTagsForResource",
				"codedeploy:RegisterApplicationRevision", "codedeploy:StopDeployment", "codedeploy:TagResource", "codedeploy:UntagResource",
				"codedeploy:UpdateApplication", "codedeploy:UpdateDeploymentGroup",
			},
			Resources: slices.Concat(each(n.rooms, "codedeploy", "application:*"), each(n.rooms, "codedeploy", "deploymentgroup:*/*"),
				[]string{here("codedeploy", "deploymentconfig:*")}),
		},
		{
			Sid: "Cdn", Types: []string{"CloudFront::CachePolicy", "CloudFront::Distribution", "CloudFront::OriginRequestPolicy",
				"CloudFront::ResponseHeadersPolicy"},
			Actions: []string{
				"cloudfront:CreateCachePolicy", "cloudfront:CreateDistribution", "cloudfront:CreateOriginRequestPolicy",
				"cloudfront:CreateResponseHeadersPolicy", "cloudfront:DeleteCachePolicy", "cloudfront:DeleteDistribution",
				"cloudfront:DeleteOriginRequestPolicy", "cloudfront:DeleteResponseHeadersPolicy", "cloudfront:GetCachePolicy",
				"cloudfront:GetDistribution", "cloudfront:GetDistributionConfig", "cloudfront:GetOriginRequestPolicy",
				"cloudfront:GetResponseHeadersPolicy", "cloudfront:ListTagsForResource", "cloudfront:TagResource", "cloudfront:UntagResource",
				"cloudfront:UpdateCachePolicy", "cloudfront:UpdateDistribution", "cloudfront:UpdateOriginRequestPolicy",
				"cloudfront:UpdateResponseHeadersPolicy",
			},
			Resources: []string{"*"},
		},
		{
			Sid: "Firewall", Types: []string{"WAFv2::WebACL", "CloudFront::Distribution"},
			Actions: []string{"wafv2:CreateWebACL", "wafv2:DeleteWebACL", "wafv2:GetWebACL", "wafv2:ListTagsForResource", "wafv2:TagResource",
				"wafv2:UntagResource", "wafv2:UpdateWebACL"},
			Resources: []string{stack("wafv2", "global/webacl/"), here("wafv2", "global/managedruleset/*")},
		},
		{
			Sid: "Budgets", Types: []string{"Budgets::Budget"},
			Actions: []string{"budgets:ListTagsForResource", "budgets:ModifyBudget", "budgets:TagResource", "budgets:UntagResource",
				"budgets:ViewBudget"},
			Resources: []string{"budgets::${AWS::AccountId}:budget/matchday-${Stage}-*"},
		},
	}
}

func (n names) isRoom(name string) bool { return slices.Contains(n.rooms, name) }

// Boundary returns what the roles that CloudFormation creates can be allowed at most: what functions,
// schedules, state machines and gradual deployments do with data. It has no action by which a role gets
// other permissions.
func Boundary() []string {
	return []string{
		"cloudwatch:DescribeAlarms",
		"cognito-idp:AdminCreateUser", "cognito-idp:AdminDeleteUser", "cognito-idp:AdminGetUser", "cognito-idp:ListUsers",
		"dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:GetItem",
		"dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem",
		"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces",
		"ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
		"elasticache:Connect",
		"lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:InvokeFunction", "lambda:UpdateAlias",
		"logs:CreateLogDelivery", "logs:CreateLogStream", "logs:DeleteLogDelivery", "logs:DescribeLogGroups",
		"logs:DescribeResourcePolicies", "logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutLogEvents", "logs:PutResourcePolicy",
		"logs:UpdateLogDelivery",
		"rds-db:connect",
		"s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject",
		"secretsmanager:GetSecretValue",
		"ses:SendEmail",
		"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage", "sqs:SendMessage",
		"states:StartExecution",
		"xray:PutTelemetryRecords", "xray:PutTraceSegments",
	}
}

// Reads returns what the pipeline's roles read themselves, beside the roles of the CDK's bootstrap: what
// infra/tools/predeploy, infra/tools/smoke and the Makefile ask the account.
func Reads(rooms []spec.Room) []Statement {
	n := namesOf(rooms)

	var buckets []string
	for _, name := range n.buckets {
		buckets = append(buckets, "s3:::${Prefix}"+name+"-${AWS::AccountId}")
	}

	tables := []string{here("dynamodb", "table/${Prefix}*")}
	for _, arn := range each(n.tables, "dynamodb", "table/**") {
		if !strings.Contains(arn, "/${Prefix}") {
			tables = append(tables, arn)
		}
	}

	return []Statement{
		{
			Sid: "Stacks", Actions: []string{"cloudformation:DescribeStacks", "cloudformation:GetTemplate", "cloudformation:ListStackResources"},
			Resources: []string{stack("cloudformation", "stack/")},
		},
		{Sid: "Tables", Actions: []string{"dynamodb:DescribeTable"}, Resources: tables},
		{Sid: "Buckets", Actions: []string{"s3:ListBucket"}, Resources: buckets},
		{Sid: "Secrets", Actions: []string{"secretsmanager:DescribeSecret"}, Resources: []string{here("secretsmanager", "secret:${Stage}/*")}},
		{Sid: "Mail", Actions: []string{"ses:GetEmailIdentity"}, Resources: []string{here("ses", "identity/*")}},
		{
			Sid: "Account", Resources: []string{"*"},
			Actions: []string{"cloudformation:ListResources", "cognito-idp:ListUserPools", "ec2:DescribeVpcs", "iam:ListRoles",
				"lambda:GetAccountSettings", "servicequotas:GetServiceQuota"},
		},
	}
}
