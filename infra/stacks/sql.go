package stacks

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsrds"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

const (
	postgres       = "aurora-postgresql"
	postgresMajor  = "17"
	postgresMinor  = "17.7"
	maxACU         = 4
	minACU         = 0.5 // in production; elsewhere 0, which lets the cluster pause
	pauseAfter     = 5 * time.Minute
	sessionsIdle   = time.Minute // for which a session may idle: shorter than pauseAfter
	backupDays     = 7
	backupProdDays = 30
	sqlName        = "matchday" // of the database in its cluster
)

// database adds an Aurora PostgreSQL cluster: encrypted, reached over TLS only, and
// with IAM in place of passwords, its owner's included.
func (r *room) database(d spec.SQLDatabase) {
	prod := r.Stage.Name == stage.Prod
	name := r.short(d.Name)
	subnets := awsrds.NewCfnDBSubnetGroup(r.stack, text("SqlSubnets-"+d.Name), &awsrds.CfnDBSubnetGroupProps{
		DbSubnetGroupName: &name, DbSubnetGroupDescription: text("Isolated subnets"), SubnetIds: r.net.ids(),
	})
	// A frozen function keeps its sockets, and an open session keeps the cluster from pausing,
	// so the server closes idle sessions.
	parameters := awsrds.NewCfnDBClusterParameterGroup(r.stack, text("SqlParameters-"+d.Name), &awsrds.CfnDBClusterParameterGroupProps{
		DbClusterParameterGroupName: &name, Description: text("TLS only; idle sessions are closed"), Family: text(postgres + postgresMajor),
		Parameters: map[string]string{"rds.force_ssl": "1", "idle_session_timeout": fmt.Sprint(sessionsIdle.Milliseconds())},
	})

	days := float64(backupDays)
	if prod {
		days = backupProdDays
	}

	cluster := awsrds.NewCfnDBCluster(r.stack, text("Sql-"+d.Name), &awsrds.CfnDBClusterProps{
		DbClusterIdentifier:              &name,
		DatabaseName:                     text(sqlName),
		Engine:                           text(postgres),
		EngineVersion:                    text(postgresMinor),
		MasterUsername:                   text(spec.SQLAdmin),
		MasterUserAuthenticationType:     text("iam-db-auth"),
		EnableIamDatabaseAuthentication:  yes(true),
		StorageEncrypted:                 yes(true),
		CopyTagsToSnapshot:               yes(true),
		BackupRetentionPeriod:            &days,
		DeletionProtection:               yes(prod),
		Port:                             number(sqlPort),
		DbSubnetGroupName:                subnets.Ref(),
		DbClusterParameterGroupName:      parameters.Ref(),
		ServerlessV2ScalingConfiguration: capacity(r.Stage),
		VpcSecurityGroupIds:              &[]any{r.reachable("sql-"+d.Name, sqlPort).AttrGroupId()},
	})
	cluster.ApplyRemovalPolicy(snapshot(r.Stage), nil)

	if !prod {
		excuse(cluster, "AwsSolutions-RDS10", "Only production is kept when its stack goes.")
	}

	instance := func(id, suffix string) awsrds.CfnDBInstance {
		return awsrds.NewCfnDBInstance(r.stack, text(id+d.Name), &awsrds.CfnDBInstanceProps{
			DbInstanceIdentifier:    text(name + suffix),
			DbClusterIdentifier:     cluster.Ref(),
			Engine:                  text(postgres),
			DbInstanceClass:         text("db.serverless"),
			PubliclyAccessible:      yes(false),
			AutoMinorVersionUpgrade: yes(true),
		})
	}

	r.instances[d.Name] = instance("SqlInstance-", "-1")
	if r.Stage.Reader {
		instance("SqlReader-", "-2").AddResourceDependency(r.instances[d.Name], text("the first instance is the writer"))
	}

	r.databases[d.Name] = cluster
}

// capacity returns the range in which the cluster scales. In production it never
// pauses, because resuming takes 15 to 30 s.
func capacity(s stage.Stage) *awsrds.CfnDBCluster_ServerlessV2ScalingConfigurationProperty {
	if s.Name == stage.Prod {
		return &awsrds.CfnDBCluster_ServerlessV2ScalingConfigurationProperty{MinCapacity: number(minACU), MaxCapacity: number(maxACU)}
	}

	return &awsrds.CfnDBCluster_ServerlessV2ScalingConfigurationProperty{
		MinCapacity: number(0), MaxCapacity: number(maxACU), SecondsUntilAutoPause: number(pauseAfter.Seconds()),
	}
}

// snapshot returns the removal policy of a database when its stack is deleted.
func snapshot(s stage.Stage) awscdk.RemovalPolicy {
	if s.Name == stage.Prod {
		return awscdk.RemovalPolicy_SNAPSHOT
	}

	return awscdk.RemovalPolicy_DESTROY
}

// sqlURL returns the value of a login's environment variable.
func (r *room) sqlURL(l spec.SQLLogin) *string {
	address := r.databases[l.Database.Name].AttrEndpointAddress()
	if other, ok := r.Stage.RestoredSQL[l.Database.Name]; ok {
		address = &other.Address
	}

	return text(fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=verify-full", l.Role, *address, sqlPort, sqlName))
}

// connectSQL lets a function log in as one role.
func (r *room) connectSQL(l spec.SQLLogin) awsiam.PolicyStatement {
	id := r.databases[l.Database.Name].AttrDbClusterResourceId()
	if other, ok := r.Stage.RestoredSQL[l.Database.Name]; ok {
		id = &other.ResourceID
	}

	return allow([]string{"rds-db:connect"}, r.arn("rds-db", "dbuser:"+*id+"/"+l.Role))
}
