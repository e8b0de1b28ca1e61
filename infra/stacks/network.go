package stacks

import (
	"fmt"
	"slices"
	"strings"

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

// network is a VPC without a way in or out: two isolated subnets in two zones, and
// an interface endpoint of SQS. Its security groups name each other.
type network struct {
	vpc       awsec2.CfnVPC
	subnets   []*string // ids
	functions awsec2.CfnSecurityGroup
}

// network adds the room's VPC, if a function needs one. The error describes in one
// sentence what to change.
func (r *room) network() error {
	var inside []spec.Function
	for _, f := range r.spec.Functions {
		if f.InVPC() {
			inside = append(inside, f)
		}
		if f.InVPC() && len(f.Uses)+len(f.Users)+len(f.Secrets)+len(f.Objects)+len(f.Mail) > 0 {
			return fmt.Errorf("%s uses a database or a cache, so it runs in the VPC, from which it reaches no table, bucket, secret, account or mail: divide it by a queue", f.Name)
		}
	}
	if len(inside) == 0 {
		return nil
	}
	n := &network{vpc: awsec2.NewCfnVPC(r.stack, text("Vpc"), &awsec2.CfnVPCProps{
		CidrBlock: text("10.0.0.0/16"), EnableDnsSupport: yes(true), EnableDnsHostnames: yes(true), Tags: r.nameTag("vpc"),
	})}
	excuse(n.vpc, "AwsSolutions-VPC7", "No packet enters or leaves it, so flow logs would record the rules of its security groups.")
	for i := range 2 {
		n.subnets = append(n.subnets, awsec2.NewCfnSubnet(r.stack, text(fmt.Sprintf("Subnet-%d", i+1)), &awsec2.CfnSubnetProps{
			VpcId: n.vpc.Ref(), CidrBlock: text(fmt.Sprintf("10.0.%d.0/20", 16*i)), MapPublicIpOnLaunch: yes(false), Tags: r.nameTag(fmt.Sprintf("isolated-%d", i+1)),
			AvailabilityZone: awscdk.Fn_Select(number(float64(i)), awscdk.Fn_GetAzs(nil)),
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
	return nil
}

// ids are the ids of the subnets, as most constructs take them.
func (n *network) ids() *[]any {
	var ids []any
	for _, id := range n.subnets {
		ids = append(ids, id)
	}
	return &ids
}

// sends reports whether a function sends messages: also one that rejects those of
// its own queue, to the dead letters.
func sends(f spec.Function) bool {
	_, consumer := f.On.(spec.Queue)
	return consumer || len(f.Sends) > 0
}

// nameTag is the tag with the name that AWS's console shows.
func (r *room) nameTag(what string) *[]*awscdk.CfnTag {
	return &[]*awscdk.CfnTag{{Key: text("Name"), Value: text(r.Stage.Stack(r.spec.Name) + "-" + what)}}
}

// securityGroup lets nothing in and, instead of everything, nothing out.
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
	awsec2.NewCfnSecurityGroupIngress(r.stack, text("Ingress-"+name), &awsec2.CfnSecurityGroupIngressProps{
		GroupId: group.AttrGroupId(), SourceSecurityGroupId: r.net.functions.AttrGroupId(), IpProtocol: text("tcp"), FromPort: &port, ToPort: &port,
	})
	awsec2.NewCfnSecurityGroupEgress(r.stack, text("Egress-"+name), &awsec2.CfnSecurityGroupEgressProps{
		GroupId: r.net.functions.AttrGroupId(), DestinationSecurityGroupId: group.AttrGroupId(), IpProtocol: text("tcp"), FromPort: &port, ToPort: &port,
	})
	return group
}

// inside puts a function into the VPC, if its spec requires it.
func (r *room) inside(f spec.Function, fn awslambda.Function) {
	if !f.InVPC() {
		return
	}
	fn.Node().DefaultChild().(awslambda.CfnFunction).SetVpcConfig(&awslambda.CfnFunction_VpcConfigProperty{
		SubnetIds: &r.net.subnets, SecurityGroupIds: &[]*string{r.net.functions.AttrGroupId()},
	})
}

// interfaces lets Lambda make the network interfaces of a function, in the name of
// the function's role, and keeps the function's own code from it, as AWS advises.
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
