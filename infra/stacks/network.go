package stacks

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"

	"matchday/pkg/spec"
)

const (
	sqlPort   = 5432
	cachePort = 6379
	httpsPort = 443
)

// network is a VPC without a connection to the Internet: two isolated subnets in two zones, an
// interface endpoint of SQS, and gateway endpoints of DynamoDB and S3, which cost nothing. Its
// security groups allow each other and the addresses of the two gateways.
type network struct {
	vpc       awsec2.CfnVPC
	subnets   []*string // ids
	functions awsec2.CfnSecurityGroup
	routes    awsec2.CfnRouteTable // nil until there is a gateway
	ways      []awscdk.CfnResource // what a function needs before it can reach anything
}

// network adds the room's VPC, if a function needs one. The error describes in one
// sentence what to change.
func (r *room) network() error {
	var inside []spec.Function

	for _, f := range r.spec.Functions {
		if f.InVPC() {
			inside = append(inside, f)
		}

		if f.InVPC() && len(f.Users)+len(f.Secrets)+len(f.Mail) > 0 {
			return fmt.Errorf("%s uses a database or a cache, so it runs in the VPC, from which it reaches no secret, account or mail: divide it "+
				"by a queue", f.Name)
		}
	}

	if len(inside) == 0 {
		return nil
	}

	n := &network{vpc: awsec2.NewCfnVPC(r.stack, text("Vpc"), &awsec2.CfnVPCProps{
		CidrBlock: text("10.0.0.0/16"), EnableDnsSupport: yes(true), EnableDnsHostnames: yes(true), Tags: r.nameTag("vpc"),
	})}
	excuse(n.vpc, "AwsSolutions-VPC7", "Packets leave it only for SQS, S3 and DynamoDB, so flow logs would record the rules of its "+
		"security groups.")

	for i := range 2 {
		n.subnets = append(n.subnets, awsec2.NewCfnSubnet(r.stack, text(fmt.Sprintf("Subnet-%d", i+1)), &awsec2.CfnSubnetProps{
			VpcId:               n.vpc.Ref(),
			CidrBlock:           text(fmt.Sprintf("10.0.%d.0/20", 16*i)),
			MapPublicIpOnLaunch: yes(false),
			Tags:                r.nameTag(fmt.Sprintf("isolated-%d", i+1)),
			AvailabilityZone:    r.zone(i),
		}).Ref())
	}

	r.net = n

	n.functions = r.securityGroup("functions", "The functions of "+r.spec.Name)
	if slices.ContainsFunc(inside, sends) {
		endpoint := r.reachable("sqs", httpsPort)
		awsec2.NewCfnVPCEndpoint(r.stack, text("Endpoint-sqs"), &awsec2.CfnVPCEndpointProps{
			VpcId: n.vpc.Ref(), VpcEndpointType: text("Interface"), ServiceName: text("com.amazonaws." + *r.stack.Region() + ".sqs"),
			PrivateDnsEnabled: yes(true), SubnetIds: n.ids(), SecurityGroupIds: &[]any{endpoint.AttrGroupId()},
		})
	}

	var tables, objects []awsiam.PolicyStatement
	for _, f := range inside {
		tables = append(tables, r.tables(f)...)
		for _, a := range f.Objects {
			objects = append(objects, r.objects(a)...)
		}
	}

	for _, s := range slices.Concat(tables, objects) {
		s.AddAnyPrincipal()
		s.AddCondition(text("StringEquals"), map[string]*string{"aws:PrincipalAccount": r.stack.Account()})
	}

	if slices.ContainsFunc(inside, migrates) {
		answer := allow([]string{"s3:PutObject"}, text(fmt.Sprintf("arn:%s:s3:::%s/*", *r.stack.Partition(), *r.answers())))
		answer.AddAnyPrincipal() // CloudFormation signs the URL
		objects = append(objects, answer)
	}

	r.gateway("dynamodb", r.Stage.PrefixLists.DynamoDB, tables)
	r.gateway("s3", r.Stage.PrefixLists.S3, objects)

	return nil
}

// gateway adds the gateway endpoint of a service, with which the subnets can do what the
// statements allow. list is the prefix list with the addresses of the service.
func (r *room) gateway(service, list string, allowed []awsiam.PolicyStatement) {
	if len(allowed) == 0 {
		return
	}

	n := r.net
	if n.routes == nil {
		n.routes = awsec2.NewCfnRouteTable(r.stack, text("RouteTable"),
			&awsec2.CfnRouteTableProps{VpcId: n.vpc.Ref(), Tags: r.nameTag("isolated")})
		for i, subnet := range n.subnets {
			n.ways = append(n.ways, awsec2.NewCfnSubnetRouteTableAssociation(r.stack, text(fmt.Sprintf("RouteTable-%d", i+1)),
				&awsec2.CfnSubnetRouteTableAssociationProps{
					RouteTableId: n.routes.Ref(), SubnetId: subnet,
				}))
		}
	}

	n.ways = append(n.ways, awsec2.NewCfnVPCEndpoint(r.stack, text("Endpoint-"+service), &awsec2.CfnVPCEndpointProps{
		VpcId: n.vpc.Ref(), VpcEndpointType: text("Gateway"), ServiceName: text("com.amazonaws." + *r.stack.Region() + "." + service),
		RouteTableIds:  &[]any{n.routes.Ref()},
		PolicyDocument: awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &allowed, Minimize: yes(true)}),
	}), awsec2.NewCfnSecurityGroupEgress(r.stack, text("Egress-"+service), &awsec2.CfnSecurityGroupEgressProps{
		GroupId:                 n.functions.AttrGroupId(),
		DestinationPrefixListId: &list,
		IpProtocol:              text("tcp"),
		FromPort:                number(httpsPort),
		ToPort:                  number(httpsPort),
	}))
}

// answers is the bucket to which a custom resource of the region answers: CloudFormation User
// Guide, "Setting up VPC endpoints".
func (r *room) answers() *string {
	parts := awscdk.Fn_Split(text("-"), r.stack.Region(), nil)
	return text("cloudformation-custom-resource-response-" + *awscdk.Fn_Join(text(""), parts))
}

// zone returns the name of an availability zone of the stage, by default of the region's first.
func (r *room) zone(i int) *string {
	if len(r.Stage.Zones) > i {
		return text(r.Stage.Zones[i])
	}

	return awscdk.Fn_Select(number(float64(i)), awscdk.Fn_GetAzs(nil))
}

func migrates(f spec.Function) bool { _, ok := f.On.(spec.Migration); return ok }

// migrations runs migrations in each deployment that has new ones: after the database and its
// connections exist, and before the functions that use it are changed. If they fail, the
// deployment is rolled back, but the migrations stay. The functions of the previous deployment
// must therefore work with the new schema.
func (r *room) migrations() error {
	for _, f := range r.spec.Functions {
		on, ok := f.On.(spec.Migration)
		if !ok {
			continue
		}

		version, err := newest(on.Of)
		if err != nil {
			return err
		}

		done := awscdk.NewCfnCustomResource(r.stack, text("Schema-"+on.Of.Name), &awscdk.CfnCustomResourceProps{
			ServiceToken: r.functions[f.Name].FunctionArn(), ServiceTimeout: number((f.Timeout + time.Minute).Seconds()),
		})
		done.AddPropertyOverride(text("Version"), version)
		done.AddResourceDependency(r.instances[on.Of.Name], text("it migrates the database"))

		for _, way := range r.net.ways {
			done.AddResourceDependency(way, text("it reaches the database and answers"))
		}

		for _, other := range r.spec.Functions {
			if other.Name != f.Name && slices.ContainsFunc(other.SQL, func(l spec.SQLLogin) bool { return l.Database.Name == on.Of.Name }) {
				r.code[other.Name].AddResourceDependency(done, text("it expects the schema"))
			}
		}
	}

	return nil
}

// newest returns the version of a database's newest migration.
func newest(d spec.SQLDatabase) (string, error) {
	files, err := fs.Glob(d.Migrations, "*.sql")
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("the database %s has no migrations", d.Name)
	}

	version, _, _ := strings.Cut(slices.Max(files), "_")

	return version, nil
}

// ids are the ids of the subnets, as most constructs take them.
func (n *network) ids() *[]any {
	var ids []any
	for _, id := range n.subnets {
		ids = append(ids, id)
	}

	return &ids
}

// sends reports whether a function sends messages. A function that rejects messages of its own
// queue sends dead letters.
func sends(f spec.Function) bool {
	_, consumer := f.On.(spec.Queue)
	return consumer || len(f.Sends) > 0
}

// nameTag is the tag with the name that AWS's console shows.
func (r *room) nameTag(what string) *[]*awscdk.CfnTag {
	return &[]*awscdk.CfnTag{{Key: text("Name"), Value: text(r.Stage.Stack(r.spec.Name) + "-" + what)}}
}

// securityGroup adds a security group that allows no traffic in, and none out.
func (r *room) securityGroup(name, description string) awsec2.CfnSecurityGroup {
	return awsec2.NewCfnSecurityGroup(r.stack, text("Group-"+name), &awsec2.CfnSecurityGroupProps{
		VpcId: r.net.vpc.Ref(), GroupDescription: &description, Tags: r.nameTag(name),
		// CloudFormation allows all traffic out of a group without a rule. This rule
		// matches no packet: the address is that of no host, the type no ICMP type.
		SecurityGroupEgress: []any{&awsec2.CfnSecurityGroup_EgressProperty{
			IpProtocol: text("icmp"), FromPort: number(252), ToPort: number(86), CidrIp: text("255.255.255.255/32"), Description: text("No traffic"),
		}},
	})
}

// reachable returns a security group that only the functions can reach, on one port.
func (r *room) reachable(name string, port float64) awsec2.CfnSecurityGroup {
	group := r.securityGroup(name, "What functions of "+r.spec.Name+" reach: "+name)
	in := awsec2.NewCfnSecurityGroupIngress(r.stack, text("Ingress-"+name), &awsec2.CfnSecurityGroupIngressProps{
		GroupId:               group.AttrGroupId(),
		SourceSecurityGroupId: r.net.functions.AttrGroupId(),
		IpProtocol:            text("tcp"),
		FromPort:              &port,
		ToPort:                &port,
	})
	out := awsec2.NewCfnSecurityGroupEgress(r.stack, text("Egress-"+name), &awsec2.CfnSecurityGroupEgressProps{
		GroupId:                    r.net.functions.AttrGroupId(),
		DestinationSecurityGroupId: group.AttrGroupId(),
		IpProtocol:                 text("tcp"),
		FromPort:                   &port,
		ToPort:                     &port,
	})
	r.net.ways = append(r.net.ways, in, out)

	return group
}

// inside puts a function into the VPC, if its spec requires it.
func (r *room) inside(f spec.Function, fn awslambda.Function) {
	code := fn.Node().DefaultChild().(awslambda.CfnFunction)

	r.code[f.Name] = code
	if !f.InVPC() {
		return
	}

	code.SetVpcConfig(&awslambda.CfnFunction_VpcConfigProperty{
		SubnetIds: &r.net.subnets, SecurityGroupIds: &[]*string{r.net.functions.AttrGroupId()},
	})
}

// interfaces lets Lambda create the network interfaces of a function with the function's role,
// and denies that to the function's own code, as AWS advises.
func (r *room) interfaces(f spec.Function) []awsiam.PolicyStatement {
	actions := []string{
		"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DeleteNetworkInterface",
		"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
	}
	deny := allow(actions, text("*"))
	deny.SetEffect(awsiam.Effect_DENY)
	deny.AddCondition(text("ArnEquals"), map[string]*string{
		"lambda:SourceFunctionArn": r.arn("lambda", "function:"+r.Stage.Function(f)),
	})

	return []awsiam.PolicyStatement{allow(actions, text("*")), deny}
}

// short returns a name of lower-case letters, digits and single hyphens, as some AWS
// services require.
func (r *room) short(name string) string { return strings.ToLower(r.Stage.Prefix() + name) }
