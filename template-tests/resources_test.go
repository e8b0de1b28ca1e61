package templatetests

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// TestNetwork: a room whose functions use a database or a cache has a VPC with two
// isolated subnets in two zones. TestKinds sees to it that there is no gateway to the Internet
// and no route of our own. A security group names another one, or the addresses of DynamoDB
// or S3, which functions reach for what they are granted, and CloudFormation's bucket for
// the result of a migration. There is one endpoint of SQS, in both subnets, one of each of
// these two services that a function reaches, and no other.
func TestNetwork(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		inside, targets := false, []string{}
		for _, f := range tmpl.Room.Functions {
			inside = inside || f.InVPC()
		}
		subnets, endpoints := tmpl.of("AWS::EC2::Subnet"), tmpl.of("AWS::EC2::VPCEndpoint")
		if !inside {
			if len(tmpl.of("AWS::EC2::VPC"))+len(subnets)+len(endpoints)+len(tmpl.of("AWS::EC2::SecurityGroup")) > 0 {
				t.Error("there is a network that no function needs")
			}
			return
		}
		for _, v := range tmpl.of("AWS::EC2::VPC") {
			// The private names of an endpoint need both.
			tmpl.compare(t, "DNS in the VPC", []any{v.at("EnableDnsSupport"), v.at("EnableDnsHostnames")}, []any{true, true})
		}
		var zones []string
		for _, s := range subnets {
			zones = append(zones, fmt.Sprint(s.at("AvailabilityZone")))
			tmpl.compare(t, "the VPC of a subnet", s.at("VpcId"), vpc)
			if s.at("MapPublicIpOnLaunch") != false {
				t.Errorf("a subnet gives out public addresses: %v", s.Properties)
			}
		}
		if slices.Sort(zones); len(slices.Compact(zones)) != 2 {
			t.Errorf("the zones are %q", zones)
		}
		if want := tmpl.Stage.Zones; want != nil && !slices.Equal(zones, want) {
			t.Errorf("the zones are %q, want %q", zones, want)
		}
		for _, g := range tmpl.of("AWS::EC2::SecurityGroup") {
			tmpl.compare(t, "the rules inside a security group", g.at("SecurityGroupEgress"), []any{map[string]any{
				"IpProtocol": "icmp", "FromPort": 252, "ToPort": 86, "CidrIp": "255.255.255.255/32", "Description": "No traffic",
			}})
			if g.at("SecurityGroupIngress") != nil {
				t.Errorf("a security group lets in %v", g.at("SecurityGroupIngress"))
			}
		}
		functions := "SecurityGroup The functions of " + tmpl.Room.Name
		for _, d := range tmpl.Room.Databases() {
			targets = append(targets, "sql-"+d.Name+" 5432")
		}
		for _, c := range tmpl.of("AWS::ElastiCache::ServerlessCache") {
			targets = append(targets, "cache-"+strings.TrimPrefix(c.name("ServerlessCacheName"), tmpl.Stage.Prefix())+" 6379")
		}
		targets = append(targets, "sqs 443")
		var in, out, want []string
		for _, r := range tmpl.of("AWS::EC2::SecurityGroupIngress") {
			in = append(in, tmpl.rule(r, r.at("SourceSecurityGroupId"), r.at("GroupId")))
		}
		for _, r := range tmpl.of("AWS::EC2::SecurityGroupEgress") {
			out = append(out, tmpl.rule(r, r.at("GroupId"), r.at("DestinationSecurityGroupId")))
		}
		for _, to := range targets {
			name, port, _ := strings.Cut(to, " ")
			want = append(want, fmt.Sprintf("%s to SecurityGroup What functions of %s reach: %s, tcp %s-%s", functions,
				tmpl.Room.Name, name, port, port))
		}
		same(t, "what is let in", in, want)
		gateways := map[string]string{"dynamodb": "pl-02cd2c6b", "s3": "pl-63a5400a"}
		reached := map[string][]string{}
		for _, f := range tmpl.Room.Functions {
			if !f.InVPC() {
				continue
			}
			for _, line := range tmpl.rights(tmpl.function(f)) {
				if service, _, _ := strings.Cut(line, ":"); gateways[service] != "" && !slices.Contains(reached[service], line) {
					reached[service] = append(reached[service], line)
				}
			}
			if _, ok := f.On.(spec.Migration); ok {
				reached["s3"] = append(reached["s3"], "s3:PutObject s3:::cloudformation-custom-resource-response-useast1/*")
			}
		}
		for service, list := range gateways {
			if len(reached[service]) > 0 {
				want = append(want, functions+" to <nil>, tcp 443-443, and "+list)
			}
		}
		same(t, "what is let out", out, want)
		expected := map[string]any{"sqs": map[string]any{
			"VpcId": vpc, "VpcEndpointType": "Interface", "ServiceName": "com.amazonaws.us-east-1.sqs", "PrivateDnsEnabled": true,
			"SubnetIds": isolated, "SecurityGroupIds": []any{"SecurityGroup What functions of " + tmpl.Room.Name + " reach: sqs"},
		}}
		for service := range reached {
			expected[service] = map[string]any{
				"VpcId": vpc, "VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-east-1." + service, "RouteTableIds": []any{"RouteTable"},
			}
		}
		found, through := map[string]any{}, map[string][]string{}
		for _, e := range endpoints {
			service := strings.TrimPrefix(tmpl.plain(e.at("ServiceName")), "com.amazonaws.us-east-1.")
			if found[service] != nil {
				t.Errorf("there is a second endpoint of %s: %v", service, e.Properties)
			}
			properties := maps.Clone(e.Properties)
			found[service] = properties
			if gateways[service] == "" {
				continue
			}
			delete(properties, "PolicyDocument") // compared below
			for _, s := range tmpl.statements(e.at("PolicyDocument")) {
				for _, a := range s.Actions {
					for _, r := range s.Resources {
						through[service] = append(through[service], a+" "+short(r))
					}
				}
				account := map[string]string{"aws:PrincipalAccount": "123456789012"}
				if strings.Contains(strings.Join(s.Resources, " "), "cloudformation") {
					account = map[string]string{} // CloudFormation has signed the request
				}
				if s.Effect != "Allow" || !maps.Equal(s.Conditions, account) || len(s.Other) > 0 {
					t.Errorf("the endpoint of %s says %+v", service, s)
				}
			}
		}
		tmpl.compare(t, "endpoints", found, expected)
		for service := range gateways {
			same(t, "what the endpoint of "+service+" lets through", through[service], reached[service])
		}
		routed, both := []any{}, []any{}
		for _, a := range tmpl.of("AWS::EC2::SubnetRouteTableAssociation") {
			routed = append(routed, a.at("SubnetId"))
			tmpl.compare(t, "the route table of a subnet", a.at("RouteTableId"), "RouteTable")
		}
		if len(reached) > 0 {
			both = isolated
		}
		tmpl.compare(t, "subnets with the route table", routed, both)
		if n := len(tmpl.of("AWS::EC2::RouteTable")); n != min(1, len(reached)) {
			t.Errorf("there are %d route tables, want %d", n, min(1, len(reached)))
		}
	})
}

// The VPC and the subnets of a room, as label names them.
const vpc = "VPC 10.0.0.0/16"

var isolated = []any{"Subnet 10.0.0.0/20", "Subnet 10.0.16.0/20"}

// rule is a rule between two security groups, and whatever else it allows.
func (t template) rule(r resource, from, to any) string {
	text := fmt.Sprintf("%s to %s, %v %v-%v", t.plain(from), t.plain(to), r.at("IpProtocol"), r.at("FromPort"), r.at("ToPort"))
	for _, key := range []string{"CidrIp", "CidrIpv6", "SourcePrefixListId", "DestinationPrefixListId"} {
		if v := r.at(key); v != nil {
			text += fmt.Sprintf(", and %v", v)
		}
	}
	return text
}

// TestDatabases: databases are encrypted, private, reached over TLS by IAM alone,
// and pause outside production.
func TestDatabases(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		clusters := tmpl.of("AWS::RDS::DBCluster")
		instances := len(clusters)
		if tmpl.Stage.Reader {
			instances *= 2
		}
		if len(clusters) != len(tmpl.Room.Databases()) || len(tmpl.of("AWS::RDS::DBInstance")) != instances {
			t.Fatalf("there are %d databases with %d instances, want %d with %d", len(clusters), len(tmpl.of("AWS::RDS::DBInstance")),
				len(tmpl.Room.Databases()), instances)
		}
		groups, wantGroups := []any{}, []any{}
		for _, g := range tmpl.of("AWS::RDS::DBSubnetGroup") {
			groups = append(groups, g.Properties)
		}
		for i, d := range tmpl.Room.Databases() {
			name := tmpl.Stage.Prefix() + d.Name
			wantGroups = append(wantGroups, map[string]any{
				"DBSubnetGroupName":        name,
				"DBSubnetGroupDescription": "Isolated subnets",
				"SubnetIds":                isolated,
			})
			prod, days, scaling := tmpl.Stage.Name == stage.Prod, 7, map[string]any{"MinCapacity": 0, "MaxCapacity": 4, "SecondsUntilAutoPause": 300}
			if prod {
				days, scaling = 30, map[string]any{"MinCapacity": 0.5, "MaxCapacity": 4}
			}
			tmpl.compare(t, d.Name, clusters[i].Properties, map[string]any{
				"DBClusterIdentifier": name, "DatabaseName": "matchday", "Engine": "aurora-postgresql", "EngineVersion": "17.7", "Port": 5432,
				"MasterUsername": "matchday", "MasterUserAuthenticationType": "iam-db-auth", "EnableIAMDatabaseAuthentication": true,
				"StorageEncrypted": true, "CopyTagsToSnapshot": true, "BackupRetentionPeriod": days, "DeletionProtection": prod,
				"DBSubnetGroupName": "DBSubnetGroup " + name, "DBClusterParameterGroupName": "DBClusterParameterGroup",
				"ServerlessV2ScalingConfiguration": scaling,
				"VpcSecurityGroupIds":              []any{"SecurityGroup What functions of " + tmpl.Room.Name + " reach: sql-" + d.Name},
			})
		}
		tmpl.compare(t, "the subnets of databases", groups, wantGroups)
		for _, p := range tmpl.of("AWS::RDS::DBClusterParameterGroup") {
			if p.at("Parameters", "rds.force_ssl") != "1" || p.at("Parameters", "idle_session_timeout") != "60000" {
				t.Errorf("the parameters are %v", p.Properties)
			}
		}
		for _, i := range tmpl.of("AWS::RDS::DBInstance") {
			if i.at("PubliclyAccessible") != false || i.at("DBInstanceClass") != "db.serverless" {
				t.Errorf("an instance is %v", i.Properties)
			}
		}
	})
}

// TestMigrations: a deployment with another migration runs the latest code of the function that
// migrates, when the database and all ways to it are there, and before it changes another
// function of the database.
func TestMigrations(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		all := tmpl.of("AWS::CloudFormation::CustomResource")
		if len(all) != len(tmpl.Room.Databases()) {
			t.Fatalf("there are %d, want %d", len(all), len(tmpl.Room.Databases()))
		}
		ids := map[string]string{} // by resource
		for id, r := range tmpl.Resources {
			if r.Type == "AWS::CloudFormation::CustomResource" || r.Type == "AWS::Lambda::Function" {
				ids[tmpl.label(r)] = id
			}
		}
		for _, f := range tmpl.Room.Functions {
			waits := slices.Contains(tmpl.spelled(tmpl.function(f).DependsOn), ids["CustomResource"])
			if _, ok := f.On.(spec.Migration); !ok {
				if waits != (len(f.SQL) > 0) {
					t.Errorf("%s waits for a migration: %v", f.Name, waits)
				}
				continue
			}
			tmpl.compare(t, f.Name, all[0].Properties, map[string]any{
				"ServiceToken":   "Function " + tmpl.Stage.Function(f),
				"ServiceTimeout": f.Timeout.Seconds() + 60,
				"Version":        newest(t, f.On.(spec.Migration).Of),
			})
			var kinds []string
			for _, id := range tmpl.spelled(all[0].DependsOn) {
				kinds = append(kinds, strings.TrimPrefix(tmpl.Resources[id].Type, "AWS::"))
			}
			slices.Sort(kinds)
			for _, kind := range []string{"RDS::DBInstance", "EC2::SecurityGroupEgress", "EC2::SecurityGroupIngress",
				"EC2::SubnetRouteTableAssociation", "EC2::VPCEndpoint"} {
				if !slices.Contains(kinds, kind) {
					t.Errorf("%s does not wait for a %s, but for %q", f.Name, kind, kinds)
				}
			}
		}
	})
}

// newest returns the version of the newest migration of a database.
func newest(t *testing.T, d spec.SQLDatabase) string {
	t.Helper()
	files, err := fs.ReadDir(d.Migrations, ".") // in order
	if err != nil {
		t.Fatal(err)
	}
	return files[len(files)-1].Name()[:5]
}

// maxConnections is how many connections Aurora accepts by the most units to which a cluster
// scales: Aurora User Guide, "Maximum connections for Aurora Serverless v2". It keeps some of
// them for AWS and for an owner who looks after it.
var maxConnections = map[float64]int{1: 189, 4: 823}

const keptConnections = 15

// TestConnections: whatever the load, the functions of a room do not use up the connections of
// its database. Each has a limit of instances: its own, or that of its queue. A migration has
// a second connection, which holds the lock.
func TestConnections(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if tmpl.Room.Name == "lab" {
			return // it has no such limits
		}
		for i, d := range tmpl.Room.Databases() {
			instances := 0
			for _, f := range tmpl.Room.Functions {
				if !slices.ContainsFunc(f.SQL, func(l spec.SQLLogin) bool { return l.Database.Name == d.Name }) {
					continue
				}
				n, _ := tmpl.function(f).at("ReservedConcurrentExecutions").(float64)
				for _, s := range tmpl.of("AWS::Lambda::EventSourceMapping") {
					if most, ok := s.at("ScalingConfig", "MaximumConcurrency").(float64); ok && n == 0 &&
						tmpl.plain(s.at("FunctionName")) == tmpl.callable(f) {
						n = most
					}
				}
				if n == 0 {
					t.Errorf("%s has no limit of instances", f.Name)
				}
				instances += int(n)
			}
			most, _ := tmpl.of("AWS::RDS::DBCluster")[i].at("ServerlessV2ScalingConfiguration", "MaxCapacity").(float64)
			used, free := instances*pg.MaxConns+1, maxConnections[most]-keptConnections
			t.Logf("%s: %d instances of %d connections, and 1, are %d of %d", d.Name, instances, pg.MaxConns, used, free)
			if used > free {
				t.Errorf("%s: %d connections, more than %d", d.Name, used, free)
			}
		}
	})
}

// TestProviderIsReached: what calls the Internet does not run in the VPC, which has no way there.
func TestProviderIsReached(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		for _, s := range tmpl.Room.Settings {
			for _, f := range tmpl.Room.Functions {
				if s.Like == "^https?://[^ ]+$" && s.Of(f) && !slices.Contains(s.Checks, f.Name) && tmpl.function(f).at("VpcConfig") != nil {
					t.Errorf("%s calls %s from the VPC", f.Name, s.Name)
				}
			}
		}
	})
}

// TestCaches: caches have users that IAM lets in, each with the commands of its
// login, and no default user: the users of a cache are those of its logins. AWS encrypts them
// always.
func TestCaches(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		var got, want []string
		for _, u := range tmpl.of("AWS::ElastiCache::User") {
			got = append(got, fmt.Sprintf("%v %v %v %v", u.at("UserId"), u.at("UserName"), u.at("AuthenticationMode"), u.at("AccessString")))
		}
		users := map[string][]any{} // by cache
		for _, l := range tmpl.Room.CacheLogins() {
			id := tmpl.Stage.Prefix() + l.Cache.Name + "-" + l.User
			want = append(want, fmt.Sprintf("%s %s map[Type:iam] on %s", id, id, l.Access))
			users[l.Cache.Name] = append(users[l.Cache.Name], "User "+id)
		}
		same(t, "users", got, want)
		groups, caches, wantGroups, wantCaches := []any{}, []any{}, []any{}, []any{}
		for _, g := range tmpl.of("AWS::ElastiCache::UserGroup") {
			groups = append(groups, g.Properties)
		}
		for _, c := range tmpl.of("AWS::ElastiCache::ServerlessCache") {
			caches = append(caches, c.Properties)
		}
		for _, cache := range slices.Sorted(maps.Keys(users)) {
			name := tmpl.Stage.Prefix() + cache
			wantGroups = append(wantGroups, map[string]any{"Engine": "valkey", "UserGroupId": name, "UserIds": users[cache]})
			wantCaches = append(wantCaches, map[string]any{
				"Engine": "valkey", "MajorEngineVersion": "8", "ServerlessCacheName": name, "UserGroupId": "UserGroup " + name,
				"SubnetIds": isolated, "SecurityGroupIds": []any{"SecurityGroup What functions of " + tmpl.Room.Name + " reach: cache-" + cache},
				"CacheUsageLimits": map[string]any{
					"DataStorage":   map[string]any{"Unit": "GB", "Maximum": 1},
					"ECPUPerSecond": map[string]any{"Maximum": 5000},
				},
			})
		}
		tmpl.compare(t, "groups of users", groups, wantGroups)
		tmpl.compare(t, "caches", caches, wantCaches)
	})
}

// TestBuckets: buckets are private and encrypted, refuse what does not come over
// TLS, and remove what has expired.
func TestBuckets(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		buckets := tmpl.of("AWS::S3::Bucket")
		if len(buckets) != len(tmpl.buckets()) || len(tmpl.of("AWS::S3::BucketPolicy")) != len(buckets) {
			t.Fatalf("there are %d buckets, want %d", len(buckets), len(tmpl.buckets()))
		}
		for i, b := range tmpl.buckets() {
			got, rule := buckets[i], map[string]any{"Status": "Enabled", "AbortIncompleteMultipartUpload": map[string]any{"DaysAfterInitiation": 1}}
			if b.Expires > 0 {
				rule["ExpirationInDays"] = b.Expires.Hours() / 24
			}
			tmpl.compare(t, b.Name, got.Properties, map[string]any{
				"BucketName": tmpl.plain(got.at("BucketName")),
				"BucketEncryption": map[string]any{
					"ServerSideEncryptionConfiguration": []any{map[string]any{"ServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "AES256"}}},
				},
				"LifecycleConfiguration": map[string]any{"Rules": []any{rule}},
				"OwnershipControls":      map[string]any{"Rules": []any{map[string]any{"ObjectOwnership": "BucketOwnerEnforced"}}},
				"PublicAccessBlockConfiguration": map[string]any{
					"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true,
				},
			})
			if name := tmpl.plain(got.at("BucketName")); name != tmpl.Stage.Prefix()+b.Name+"-123456789012" {
				t.Errorf("a bucket is called %s", name)
			}
		}
		for _, p := range tmpl.of("AWS::S3::BucketPolicy") {
			for _, s := range tmpl.statements(p.at("PolicyDocument")) {
				if s.Effect != "Deny" || s.Conditions["aws:SecureTransport"] != "false" {
					t.Errorf("a bucket's policy says %v", s)
				}
			}
		}
	})
}

// TestResourceGrantsFollowTheSpec: of databases, caches, buckets, mail and network
// interfaces a role holds what its function's spec says, and nothing else.
func TestResourceGrantsFollowTheSpec(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		prefix := tmpl.Stage.Prefix()
		for _, f := range tmpl.Room.Functions {
			var want []string
			for _, l := range f.SQL {
				cluster := "DBCluster " + prefix + l.Database.Name
				if other, ok := tmpl.Stage.RestoredSQL[l.Database.Name]; ok {
					cluster = other.ResourceID
				}
				want = append(want, "rds-db:connect rds-db:dbuser:"+cluster+"/"+l.Role)
			}
			for _, l := range f.Caches {
				want = append(want, "elasticache:Connect elasticache:serverlesscache:"+prefix+l.Cache.Name,
					"elasticache:Connect elasticache:user:"+prefix+l.Cache.Name+"-"+l.User)
			}
			for _, a := range f.Objects {
				bucket := " s3:::" + prefix + a.Bucket.Name + "-123456789012"
				for _, op := range a.Ops {
					switch {
					case op != "ListBucket":
						want = append(want, "s3:"+string(op)+bucket+"/"+a.Prefix+"*")
					case a.Prefix != "":
						want = append(want, "s3:ListBucket"+bucket+" if StringLike s3:prefix is "+a.Prefix+"*")
					default:
						want = append(want, "s3:ListBucket"+bucket)
					}
				}
			}
			for _, m := range f.Mail {
				if address := tmpl.Stage.Settings[m.Setting]; address != "" {
					want = append(want, "ses:SendEmail ses:identity/* if ses:FromAddress is "+address)
				}
			}
			if f.InVPC() {
				for _, a := range interfaces {
					want = append(want, a+" *", "deny "+a+" * if ArnEquals lambda:SourceFunctionArn is lambda:function:"+tmpl.Stage.Function(f))
				}
			}
			got := slices.DeleteFunc(tmpl.rights(tmpl.function(f)), func(line string) bool {
				service, _, _ := strings.Cut(strings.TrimPrefix(line, "deny "), ":")
				return !slices.Contains([]string{"rds-db", "rds", "elasticache", "s3", "ses", "ec2"}, service)
			})
			same(t, f.Name, got, want)
		}
	})
}

// TestIdentity: a stage verifies the domain of its setting in SES with DKIM, and says which
// records its DNS needs. Without the setting it verifies none.
func TestIdentity(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		all := tmpl.of("AWS::SES::EmailIdentity")
		if tmpl.Room.Name != "" || tmpl.Stage.Identity == "" {
			if len(all) > 0 {
				t.Errorf("it verifies %v", all)
			}
			return
		}
		if len(all) != 1 {
			t.Fatalf("it verifies %d domains, want 1", len(all))
		}
		for _, r := range all {
			tmpl.compare(t, "the identity", r.Properties, map[string]any{
				"EmailIdentity": tmpl.Stage.Identity, "DkimSigningAttributes": map[string]any{"NextSigningKeyLength": "RSA_2048_BIT"},
			})
		}
		for i := range 3 {
			for _, part := range []string{"Name", "Value"} {
				if name := fmt.Sprint("Dkim", part, i+1); !strings.Contains(tmpl.text, `"`+name+`"`) {
					t.Errorf("there is no output %s", name)
				}
			}
		}
	})
}
