package stacks

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticache"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"matchday/pkg/spec"
)

const (
	valkey      = "valkey"
	valkeyMajor = "8"
	maxCacheGB  = 1
	maxECPUs    = 5000 // a second: 5,000 commands of up to 1 KB
)

// caches adds the room's serverless caches with the users that log in to them by IAM.
// AWS always encrypts them at rest and in transit.
func (r *room) caches() {
	users := map[string][]*string{}

	for _, l := range r.spec.CacheLogins() {
		id := r.user(l)
		user := awselasticache.NewCfnUser(r.stack, text("CacheUser-"+l.Cache.Name+"-"+l.User), &awselasticache.CfnUserProps{
			Engine: text(valkey), UserId: &id, UserName: &id, AccessString: text("on " + l.Access),
			AuthenticationMode: map[string]string{"Type": "iam"},
		})
		users[l.Cache.Name] = append(users[l.Cache.Name], user.Ref())
	}

	for _, l := range r.spec.CacheLogins() {
		if _, done := r.cached[l.Cache.Name]; done {
			continue
		}

		name, ids := r.short(l.Cache.Name), users[l.Cache.Name]
		group := awselasticache.NewCfnUserGroup(r.stack, text("CacheUsers-"+l.Cache.Name), &awselasticache.CfnUserGroupProps{
			Engine: text(valkey), UserGroupId: &name, UserIds: &ids,
		})
		r.cached[l.Cache.Name] = awselasticache.NewCfnServerlessCache(r.stack, text("Cache-"+l.Cache.Name),
			&awselasticache.CfnServerlessCacheProps{
				Engine:              text(valkey),
				MajorEngineVersion:  text(valkeyMajor),
				ServerlessCacheName: &name,
				UserGroupId:         group.Ref(),
				SubnetIds:           r.net.ids(),
				SecurityGroupIds:    &[]any{r.reachable("cache-"+l.Cache.Name, cachePort).AttrGroupId()},
				CacheUsageLimits: &awselasticache.CfnServerlessCache_CacheUsageLimitsProperty{
					DataStorage:   &awselasticache.CfnServerlessCache_DataStorageProperty{Unit: text("GB"), Maximum: number(maxCacheGB)},
					EcpuPerSecond: &awselasticache.CfnServerlessCache_ECPUPerSecondProperty{Maximum: number(maxECPUs)},
				},
			})
	}
}

// user returns the id of a login's user. IAM requires the name to be the same.
func (r *room) user(l spec.CacheLogin) string { return r.short(l.Cache.Name + "-" + l.User) }

// cacheURL returns the value of a login's environment variable.
func (r *room) cacheURL(l spec.CacheLogin) *string {
	return text(fmt.Sprintf("rediss://%s@%s:%d/%s", r.user(l), *r.cached[l.Cache.Name].AttrEndpointAddress(),
		cachePort, r.short(l.Cache.Name)))
}

// connectCache lets a function log in to one cache as one user.
func (r *room) connectCache(l spec.CacheLogin) awsiam.PolicyStatement {
	return allow([]string{"elasticache:Connect"}, r.arn("elasticache", "serverlesscache:"+r.short(l.Cache.Name)),
		r.arn("elasticache", "user:"+r.user(l)))
}
