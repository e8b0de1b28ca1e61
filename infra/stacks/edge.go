package stacks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	api "github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	cdn "github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"matchday/pkg/spec"
)

const (
	// edgeSeconds is how long an answer without its own lifetime is cached: at most the
	// time between two polls.
	edgeSeconds = 2
	// errorSeconds is how long an error is cached. CloudFront's default is ten seconds.
	errorSeconds = 1
	// edgeRate is the maximum of requests from one address in five minutes: enough for
	// many users behind one address, too few for a scraper.
	edgeRate = 10_000

	// The managed policies of AWS. Their ids are the same in every account.
	notCached          = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad" // CachingDisabled
	allButHost         = "b689b0a8-53d0-40ab-baf2-68738e2966ac" // AllViewerExceptHostHeader
	cloudFrontFirewall = "CLOUDFRONT"
)

// edge puts CloudFront and a firewall in front of the API. Public reads are cached by
// path and query for the lifetime in their Cache-Control; all other requests pass
// through. The API's own address remains reachable, within its throttles.
func (r *room) edge(rest api.CfnApi, routed []spec.Function) {
	firewall := awswafv2.NewCfnWebACL(r.stack, text("Firewall"), &awswafv2.CfnWebACLProps{
		Name: text(r.Stage.API(r.spec.Name)), Scope: text(cloudFrontFirewall),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen(r.Stage.API(r.spec.Name)),
		Rules: []any{
			&awswafv2.CfnWebACL_RuleProperty{
				Name: text("common"), Priority: number(1), VisibilityConfig: seen("common"),
				OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
					VendorName: text("AWS"), Name: text("AWSManagedRulesCommonRuleSet"),
				}},
			},
			&awswafv2.CfnWebACL_RuleProperty{
				Name: text("rate"), Priority: number(2), VisibilityConfig: seen("rate"),
				Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
					AggregateKeyType: text("IP"), Limit: number(edgeRate),
				}},
			},
		},
	})
	brief := cdn.NewCfnCachePolicy(r.stack, text("Brief"), &cdn.CfnCachePolicyProps{CachePolicyConfig: &cdn.CfnCachePolicy_CachePolicyConfigProperty{
		Name: text(r.Stage.API(r.spec.Name)), MinTtl: number(0), DefaultTtl: number(edgeSeconds), MaxTtl: number(3600),
		ParametersInCacheKeyAndForwardedToOrigin: &cdn.CfnCachePolicy_ParametersInCacheKeyAndForwardedToOriginProperty{
			EnableAcceptEncodingGzip: yes(true), EnableAcceptEncodingBrotli: yes(true),
			CookiesConfig:      &cdn.CfnCachePolicy_CookiesConfigProperty{CookieBehavior: text("none")},
			HeadersConfig:      &cdn.CfnCachePolicy_HeadersConfigProperty{HeaderBehavior: text("whitelist"), Headers: jsii.Strings("Origin")},
			QueryStringsConfig: &cdn.CfnCachePolicy_QueryStringsConfigProperty{QueryStringBehavior: text("all")},
		},
	}})
	var paths []any
	behavior := func(pattern string, policy *string) {
		paths = append(paths, &cdn.CfnDistribution_CacheBehaviorProperty{
			PathPattern: &pattern, TargetOriginId: text("api"), CachePolicyId: policy, OriginRequestPolicyId: text(allButHost),
			ViewerProtocolPolicy: text("https-only"), Compress: yes(true),
			AllowedMethods: methods(), CachedMethods: jsii.Strings("GET", "HEAD"),
		})
	}
	closed, public := behaviors(routed)
	for _, pattern := range closed {
		behavior(pattern, text(notCached))
	}
	for _, pattern := range public {
		behavior(pattern, brief.Ref())
	}
	var errors []any
	for _, status := range []float64{404, 500, 502, 503, 504} {
		errors = append(errors, &cdn.CfnDistribution_CustomErrorResponseProperty{ErrorCode: &status, ErrorCachingMinTtl: number(errorSeconds)})
	}
	distribution := cdn.NewCfnDistribution(r.stack, text("Distribution"), &cdn.CfnDistributionProps{
		DistributionConfig: &cdn.CfnDistribution_DistributionConfigProperty{
			Enabled: yes(true), Comment: text(r.Stage.API(r.spec.Name)), HttpVersion: text("http2and3"), WebAclId: firewall.AttrArn(),
			Origins: []any{&cdn.CfnDistribution_OriginProperty{
				Id: text("api"), DomainName: text(fmt.Sprintf("%s.execute-api.%s.%s", *rest.Ref(), *r.stack.Region(), *r.stack.UrlSuffix())),
				CustomOriginConfig: &cdn.CfnDistribution_CustomOriginConfigProperty{OriginProtocolPolicy: text("https-only"), OriginSslProtocols: jsii.Strings("TLSv1.2")},
			}},
			DefaultCacheBehavior: &cdn.CfnDistribution_DefaultCacheBehaviorProperty{
				TargetOriginId: text("api"), CachePolicyId: text(notCached), OriginRequestPolicyId: text(allButHost),
				ViewerProtocolPolicy: text("https-only"), Compress: yes(true), AllowedMethods: methods(),
			},
			CacheBehaviors: paths, CustomErrorResponses: errors,
		},
	})
	excuse(distribution, "AwsSolutions-CFR1", "Sport is followed everywhere.")
	excuse(distribution, "AwsSolutions-CFR3", "What is cached is public, and what is not is in the API's own log.")
	excuse(distribution, "AwsSolutions-CFR4", "CloudFront's own domain has CloudFront's own certificate, which sets the oldest TLS.")
	output(r.stack, "EdgeUrl", text("https://"+*distribution.AttrDomainName()), "The API of %s, cached", r.spec.Name)
}

func seen(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
	return &awswafv2.CfnWebACL_VisibilityConfigProperty{CloudWatchMetricsEnabled: yes(true), MetricName: &name, SampledRequestsEnabled: yes(true)}
}

func methods() *[]*string {
	return jsii.Strings("GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE")
}

// behaviors returns the path patterns of public reads, which are cached. Before them
// come the patterns of other reads that a public pattern would match, because its star
// also matches slashes. The first pattern that matches a path applies.
func behaviors(routed []spec.Function) (closed, public []string) {
	var other []string
	for _, f := range routed {
		on := f.On.(spec.Route)
		switch pattern := segments(on.Path); {
		case on.Method != "GET":
		case on.Auth != spec.Public:
			other = append(other, pattern)
		default:
			public = append(public, pattern)
		}
	}
	for _, path := range other {
		if slices.ContainsFunc(public, func(pattern string) bool { return takesIn(pattern, path) }) {
			closed = append(closed, path)
		}
	}
	return closed, public
}

// takesIn reports whether a pattern matches every path that another one matches.
func takesIn(pattern, other string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(other)
}
