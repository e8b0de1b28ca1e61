package stacks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	cdn "github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
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
	// maxQueries is CloudFront's limit of query parameters in a cache policy.
	maxQueries = 10
	// keyLength is the number of letters and digits of a key: 256 bits.
	keyLength = 43

	// The managed policies of AWS. Their ids are the same in every account.
	notCached          = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad" // CachingDisabled
	allButHost         = "b689b0a8-53d0-40ab-baf2-68738e2966ac" // AllViewerExceptHostHeader
	cloudFrontFirewall = "CLOUDFRONT"
)

// addEdge adds CloudFront and a firewall in front of the APIs of all rooms: one distribution,
// because the stage's domain can be the alias of only one. A room is at the path of its name, as
// at a custom domain of API Gateway.
//
// Public reads are cached for the lifetime in their Cache-Control, by path and by the query
// parameters that the spec lists for the routes of a cache policy. Other parameters reach neither the cache key nor the API:
// inventing one does not bypass the cache, and the refusal of an unknown one is never cached.
// The key does not contain the page's origin, so a cached answer has the CORS headers for the
// origin of the first request. CloudFront replaces them by those for the current origin. All
// other requests pass through.
//
// CloudFront authenticates itself to the APIs by a key in a header, so that requests to an API's
// own address cannot bypass the firewall.
func addEdge(app constructs.Construct, cfg Config) (awscdk.Stack, error) {
	s := cfg.Stage
	stack := newStack(app, s, "edge", "Matchday: CloudFront and the firewall")
	name := text(s.Stack("edge"))

	queries, policyOf, err := edgeQueries(cfg.Rooms)
	if err != nil {
		return nil, err
	}

	firewall := awswafv2.NewCfnWebACL(stack, text("Firewall"), &awswafv2.CfnWebACLProps{
		Name: name, Scope: text(cloudFrontFirewall),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen(*name),
		Rules: []any{
			&awswafv2.CfnWebACL_RuleProperty{
				Name: text("common"), Priority: number(1), VisibilityConfig: seen("common"),
				OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
					VendorName: text("AWS"), Name: text("AWSManagedRulesCommonRuleSet"),
					// It blocks bodies of more than 8 KB: the APIs refuse what is too long for them.
					RuleActionOverrides: []any{&awswafv2.CfnWebACL_RuleActionOverrideProperty{
						Name: text("SizeRestrictions_BODY"), ActionToUse: &awswafv2.CfnWebACL_RuleActionProperty{Count: map[string]any{}},
					}},
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
	policies := make([]cdn.CfnCachePolicy, len(queries))

	for i, names := range queries {
		id, policy := "Brief", *name
		if i > 0 {
			id, policy = fmt.Sprint(id, i+1), fmt.Sprint(policy, "-", i+1)
		}

		policies[i] = cdn.NewCfnCachePolicy(stack, text(id),
			&cdn.CfnCachePolicyProps{CachePolicyConfig: &cdn.CfnCachePolicy_CachePolicyConfigProperty{
				Name: text(policy), MinTtl: number(0), DefaultTtl: number(edgeSeconds), MaxTtl: number(3600),
				ParametersInCacheKeyAndForwardedToOrigin: &cdn.CfnCachePolicy_ParametersInCacheKeyAndForwardedToOriginProperty{
					EnableAcceptEncodingGzip: yes(true), EnableAcceptEncodingBrotli: yes(true),
					CookiesConfig:      &cdn.CfnCachePolicy_CookiesConfigProperty{CookieBehavior: text("none")},
					HeadersConfig:      &cdn.CfnCachePolicy_HeadersConfigProperty{HeaderBehavior: text("none")},
					QueryStringsConfig: queryStrings(names),
				},
			}})
	}

	// A path of public reads may have other methods, which need the caller's token, and
	// preflights, which need the page's origin.
	headers := cdn.NewCfnOriginRequestPolicy(stack, text("Headers"),
		&cdn.CfnOriginRequestPolicyProps{OriginRequestPolicyConfig: &cdn.CfnOriginRequestPolicy_OriginRequestPolicyConfigProperty{
			Name:               name,
			CookiesConfig:      &cdn.CfnOriginRequestPolicy_CookiesConfigProperty{CookieBehavior: text("none")},
			HeadersConfig:      &cdn.CfnOriginRequestPolicy_HeadersConfigProperty{HeaderBehavior: text("allExcept"), Headers: jsii.Strings("Host")},
			QueryStringsConfig: &cdn.CfnOriginRequestPolicy_QueryStringsConfigProperty{QueryStringBehavior: text("none")},
		}})
	cors := cdn.NewCfnResponseHeadersPolicy(stack, text("Cors"),
		&cdn.CfnResponseHeadersPolicyProps{ResponseHeadersPolicyConfig: &cdn.CfnResponseHeadersPolicy_ResponseHeadersPolicyConfigProperty{
			Name: name, CorsConfig: &cdn.CfnResponseHeadersPolicy_CorsConfigProperty{
				AccessControlAllowCredentials: yes(allowCredentials(s, cfg.Rooms...)),
				OriginOverride:                yes(true),
				AccessControlMaxAgeSec:        number(stage.CORSMaxAge.Seconds()),
				AccessControlAllowOrigins:     &cdn.CfnResponseHeadersPolicy_AccessControlAllowOriginsProperty{Items: jsii.Strings(s.Origins...)},
				AccessControlAllowMethods: &cdn.CfnResponseHeadersPolicy_AccessControlAllowMethodsProperty{
					Items: jsii.Strings(stage.CORSMethods...),
				},
				AccessControlAllowHeaders: &cdn.CfnResponseHeadersPolicy_AccessControlAllowHeadersProperty{
					Items: jsii.Strings(stage.CORSHeaders...),
				},
				AccessControlExposeHeaders: &cdn.CfnResponseHeadersPolicy_AccessControlExposeHeadersProperty{
					Items: jsii.Strings(stage.CORSExposed...),
				},
			},
		}})
	rooms := slices.DeleteFunc(slices.Clone(cfg.Rooms), func(r spec.Room) bool { return len(routes(r)) == 0 })

	var origins, paths, errors []any

	for _, room := range rooms {
		api := awsssm.StringParameter_ValueForStringParameter(stack, text(s.Parameter(stage.APIParameter(room.Name))), nil)
		origins = append(origins, &cdn.CfnDistribution_OriginProperty{
			Id: text(room.Name), DomainName: text(fmt.Sprintf("%s.execute-api.%s.%s", *api, *stack.Region(), *stack.UrlSuffix())),
			CustomOriginConfig: &cdn.CfnDistribution_CustomOriginConfigProperty{
				OriginProtocolPolicy: text("https-only"),
				OriginSslProtocols:   jsii.Strings("TLSv1.2"),
			},
			OriginCustomHeaders: []any{&cdn.CfnDistribution_OriginCustomHeaderProperty{
				HeaderName:  text(spec.CDNHeader),
				HeaderValue: text(secretValues(s.CDNKeys()[0])),
			}},
		})
		behavior := func(pattern string, cached bool) {
			b := &cdn.CfnDistribution_CacheBehaviorProperty{
				PathPattern:           text("/" + room.Name + pattern),
				TargetOriginId:        text(room.Name),
				CachePolicyId:         text(notCached),
				OriginRequestPolicyId: text(allButHost),
				ViewerProtocolPolicy:  text("https-only"),
				Compress:              yes(true),
				AllowedMethods:        methods(),
				CachedMethods:         jsii.Strings("GET", "HEAD"),
			}
			if cached {
				b.CachePolicyId = policies[policyOf[*b.PathPattern]].Ref()
				b.OriginRequestPolicyId, b.ResponseHeadersPolicyId = headers.Ref(), cors.Ref()
			}

			paths = append(paths, b)
		}

		closed, public := behaviors(routes(room))
		for _, pattern := range closed {
			behavior(pattern, false)
		}

		for _, pattern := range public {
			behavior(pattern, true)
		}

		behavior("/*", false)
	}

	for _, status := range []float64{404, 500, 502, 503, 504} {
		errors = append(errors, &cdn.CfnDistribution_CustomErrorResponseProperty{ErrorCode: &status, ErrorCachingMinTtl: number(errorSeconds)})
	}

	config := &cdn.CfnDistribution_DistributionConfigProperty{
		Enabled: yes(true), Comment: name, HttpVersion: text("http2and3"), WebAclId: firewall.AttrArn(), Origins: origins,
		// A path of no room has no content: the first API answers for it.
		DefaultCacheBehavior: &cdn.CfnDistribution_DefaultCacheBehaviorProperty{
			TargetOriginId: text(rooms[0].Name), CachePolicyId: text(notCached), OriginRequestPolicyId: text(allButHost),
			ViewerProtocolPolicy: text("https-only"), Compress: yes(true), AllowedMethods: methods(),
		},
		CacheBehaviors: paths, CustomErrorResponses: errors,
	}
	if s.Domain != "" {
		config.Aliases = jsii.Strings(s.Domain)
		config.ViewerCertificate = &cdn.CfnDistribution_ViewerCertificateProperty{
			AcmCertificateArn: text(s.Certificate), SslSupportMethod: text("sni-only"), MinimumProtocolVersion: text("TLSv1.2_2021"),
		}
	}

	distribution := cdn.NewCfnDistribution(stack, text("Distribution"), &cdn.CfnDistributionProps{DistributionConfig: config})
	excuse(distribution, "AwsSolutions-CFR1", "Sport is followed everywhere.")
	excuse(distribution, "AwsSolutions-CFR3", "What is cached is public, and what is not is in the API's own log.")

	url := "https://" + *distribution.AttrDomainName()
	if s.Domain == "" {
		excuse(distribution, "AwsSolutions-CFR4", "CloudFront's own domain has CloudFront's own certificate, which sets the oldest TLS.")
	} else {
		url = "https://" + s.Domain
		output(stack, "DomainTarget", distribution.AttrDomainName(), "What %s is to be a CNAME of", s.Domain)
	}

	output(stack, "Url", &url, "The APIs: a room's is at its name")

	return stack, nil
}

// addCDNKeys adds the secrets with which CloudFront authenticates itself to the APIs. AWS
// generates their values; templates contain only their names. They are deleted with the stack,
// because they protect no data.
func addCDNKeys(stack awscdk.Stack, s stage.Stage) {
	for _, name := range s.CDNKeys() {
		key := awssecretsmanager.NewCfnSecret(stack, text("Cdn-"+name[strings.LastIndex(name, "/")+1:]), &awssecretsmanager.CfnSecretProps{
			Name: &name,
			GenerateSecretString: &awssecretsmanager.CfnSecret_GenerateSecretStringProperty{
				PasswordLength:     number(keyLength),
				ExcludePunctuation: yes(true),
			},
		})
		key.ApplyRemovalPolicy(awscdk.RemovalPolicy_DESTROY, nil)
		excuse(key, "AwsSolutions-SMG4", "A deployment with the next cdnkey= replaces it, in the APIs first and then in CloudFront.")
	}
}

// secretValues returns the values of secrets, separated by commas, as a reference that
// CloudFormation resolves when it changes the resource. The values appear neither in the
// template nor in the stack's events.
func secretValues(names ...string) string {
	var values []string
	for _, name := range names {
		values = append(values, "{{resolve:secretsmanager:"+name+":SecretString}}")
	}

	return strings.Join(values, ",")
}

// edgeQueries returns the query parameters of each cache policy, at least one policy, and the policy of each
// public path pattern. Routes share a policy as long as it has no more parameters than CloudFront
// allows. It returns an error if the routes of one pattern have more.
func edgeQueries(rooms []spec.Room) (policies [][]string, policyOf map[string]int, err error) {
	policies, policyOf = [][]string{nil}, map[string]int{}

	for _, room := range rooms {
		closed, public := behaviors(routes(room))
		of := map[string][]string{} // by pattern: CloudFront applies the first that matches

		for _, f := range routes(room) {
			on := f.On.(spec.Route)
			patterns := slices.Concat(closed, public)

			if i := slices.IndexFunc(patterns, func(p string) bool { return takesIn(p, segments(on.Path)) }); i >= 0 && on.Auth == spec.Public {
				of[patterns[i]] = append(of[patterns[i]], on.Queries...)
			}
		}

		for _, pattern := range public {
			if n := len(union(of[pattern], nil)); n > maxQueries {
				return nil, nil, fmt.Errorf("the public routes of %s%s have the %d query parameters %s: CloudFront allows %d in a cache policy",
					room.Name, pattern, n, strings.Join(union(of[pattern], nil), ", "), maxQueries)
			}

			i := slices.IndexFunc(policies, func(names []string) bool { return len(union(names, of[pattern])) <= maxQueries })
			if i < 0 {
				policies, i = append(policies, nil), len(policies)
			}

			policies[i], policyOf["/"+room.Name+pattern] = union(policies[i], of[pattern]), i
		}
	}

	return policies, policyOf, nil
}

// union returns the names of both lists, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)

	return slices.Compact(all)
}

// queryStrings returns the query parameters of a cache policy.
func queryStrings(names []string) *cdn.CfnCachePolicy_QueryStringsConfigProperty {
	if len(names) == 0 {
		return &cdn.CfnCachePolicy_QueryStringsConfigProperty{QueryStringBehavior: text("none")}
	}

	return &cdn.CfnCachePolicy_QueryStringsConfigProperty{QueryStringBehavior: text("whitelist"), QueryStrings: jsii.Strings(names...)}
}

// routes returns the functions of a room that have a route.
func routes(room spec.Room) (routed []spec.Function) {
	for _, f := range room.Functions {
		if _, ok := f.On.(spec.Route); ok {
			routed = append(routed, f)
		}
	}

	return routed
}

func seen(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
	return &awswafv2.CfnWebACL_VisibilityConfigProperty{
		CloudWatchMetricsEnabled: yes(true),
		MetricName:               &name,
		SampledRequestsEnabled:   yes(true),
	}
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
