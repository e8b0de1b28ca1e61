// Package price lists what AWS charges.
package price

import (
	"maps"
	"slices"
)

// List is what AWS charges for one unit of each, in dollars. Sources has a source for
// each field.
type List struct {
	LambdaRequest, LambdaGBSecond      float64
	ExpressRequest, ExpressGBSecond    float64 // of Step Functions, the first 1,000 GB-hours
	Schedule                           float64 // one invocation by EventBridge Scheduler
	WriteUnit, ReadUnit                float64 // of DynamoDB on demand
	SQSRequest, APIRequest             float64
	LogGB, LogArchiveGB                float64 // ingested, and kept for a month
	AlarmMetric, CustomMetric, Secret  float64 // for a month, as
	Dashboard                          float64
	Trace                              float64 // of X-Ray, recorded
	Mail                               float64 // of SES, to one recipient
	SQLHour                            float64 // an ACU of Aurora Serverless v2 for an hour
	SQLStorageGB, SQLPage              float64 // of Aurora: a GB for a month, a page read from or written to storage
	CacheGBHour, CacheUnit             float64 // of ElastiCache Serverless for Valkey: an ECPU
	EndpointHour, EndpointGB           float64 // of an interface endpoint: in one zone
	WebACL, WebRule, WebRequest        float64 // of WAF: an ACL and a rule for a month, a request
	EgressFirst, EgressNext, EgressOut float64 // a GB to the internet: of the first 10 TB, of the next 40 TB, of the rest
	// of Cognito's plan Lite, active in a month: of the first 100,000, of the next 900,000, of the rest
	UserFirst, UserNext, UserOut float64
}

// Which prices these are.
const (
	ListedOn = "2026-11-20"
	Region   = "us-east-1"
)

// Listed are the list prices of the region. Functions are for arm64. Free tiers are left
// out, and so are discounts for volume but for users and for data that leaves AWS.
func Listed() List {
	const million = 1e6

	return List{
		LambdaRequest: 0.20 / million, LambdaGBSecond: 0.0000133334,
		ExpressRequest: 1.00 / million, ExpressGBSecond: 0.00001667,
		Schedule:  1.00 / million,
		WriteUnit: 0.625 / million, ReadUnit: 0.125 / million,
		SQSRequest: 0.40 / million, APIRequest: 1.00 / million,
		LogGB: 0.50, LogArchiveGB: 0.03, AlarmMetric: 0.10, CustomMetric: 0.30, Dashboard: 3.00,
		Trace:   5.00 / million,
		Mail:    0.10 / 1e3,
		SQLHour: 0.12, SQLStorageGB: 0.10, SQLPage: 0.20 / million,
		CacheGBHour: 0.084, CacheUnit: 0.0023 / million,
		EndpointHour: 0.01, EndpointGB: 0.01,
		WebACL: 5.00, WebRule: 1.00, WebRequest: 0.60 / million,
		Secret:      0.40,
		EgressFirst: 0.09, EgressNext: 0.085, EgressOut: 0.07,
		UserFirst: 0.0055, UserNext: 0.0046, UserOut: 0.00325,
	}
}

// Source is where a price was read. Date is that of the page or, if the page has none, the
// day on which it was read. Without a URL the price is known by heart: look it up before
// you rely on it.
type Source struct{ URL, Date string }

// Sources has the source of each field of List. Most quote AWS's pages, whose prices a
// script puts in.
func Sources() map[string]Source {
	var (
		lambda   = Source{"https://cloudchipr.com/blog/aws-lambda-pricing", ListedOn}
		express  = Source{"https://aws.amazon.com/step-functions/pricing/", ListedOn}
		dynamo   = Source{"https://airbyte.com/data-engineering-resources/dynamodb-pricing", "2025-07-21"} // since November 2024
		watch    = Source{"https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/", "2026-06-13"}
		metrics  = Source{"https://signoz.io/guides/cloudwatch-pricing", "2026-02-15"}
		aurora   = Source{"https://c3x.dev/blog/aws-aurora-serverless-v2-cost/", "2026-11-23"}
		cache    = Source{"https://www.usage.ai/blogs/aws/database-savings-plans/elasticache/serverless-pricing/", "2026-06-10"}
		waf      = Source{"https://c3x.dev/blog/aws-waf-cost-explained/", ListedOn}
		egress   = Source{"https://leanopstech.com/blog/aws-data-transfer-pricing-2026/", "2026-04-27"}
		byHeart  = Source{"", ListedOn}
		cloudSQS = Source{"https://cloudburn.io/blog/amazon-sqs-pricing", "2026-03-01"}
	)

	return map[string]Source{
		"LambdaRequest":   lambda,
		"LambdaGBSecond":  lambda,
		"ExpressRequest":  express,
		"ExpressGBSecond": express,
		"Schedule":        {"https://cloudburn.io/blog/amazon-eventbridge-pricing", "2026-03-13"},
		"WriteUnit":       dynamo,
		"ReadUnit":        dynamo,
		"SQSRequest":      cloudSQS,
		"APIRequest":      {"https://aws.amazon.com/api-gateway/pricing/", "2026-08-01"}, // as AWS's toolkit for agents quotes it
		"LogGB":           watch,
		"LogArchiveGB":    byHeart,
		"Dashboard":       watch,
		"CustomMetric":    metrics,
		"AlarmMetric":     {"https://c3x.dev/resources/aws/aws_cloudwatch_metric_alarm", "2026-11-22"},
		"Trace":           {"https://aws.amazon.com/xray/pricing/", ListedOn},
		"Mail":            {"https://www.acecloudinterviews.com/tutorials/aws/ses/", "2026-11-23"},
		"SQLHour":         aurora,
		"SQLStorageGB":    {"https://awsnegotiations.com/blog/aurora-serverless-v2-pricing.html", "2026-05-01"},
		"SQLPage":         {"https://aws.amazon.com/rds/aurora/pricing/", ListedOn}, // as AWS's toolkit for agents quotes it
		"CacheGBHour":     cache,
		"CacheUnit":       cache,
		"EndpointHour":    {"https://cloudcostkit.com/calculators/aws-vpc-interface-endpoint-cost-calculator", "2026-01-29"},
		"EndpointGB":      {"https://aws.amazon.com/privatelink/pricing/", ListedOn},
		"WebACL":          waf,
		"WebRule":         waf,
		"WebRequest":      waf,
		"Secret":          {"https://hivebook.wiki/wiki/aws-secrets-manager-rotated-secrets-dynamic-db-credentials-kms", "2026-11-22"},
		"EgressFirst":     egress,
		"EgressNext":      egress,
		"EgressOut":       egress,
		"UserFirst":       byHeart,
		"UserNext":        byHeart,
		"UserOut":         byHeart, // of the plans of November 2024
	}
}

// ByHeart returns the prices that no page was found for.
func ByHeart() (names []string) {
	sources := Sources()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if sources[name].URL == "" {
			names = append(names, name)
		}
	}

	return names
}

// SignedIn is what so many users cost in a month in which each signs in.
func (p List) SignedIn(users float64) float64 {
	const first, next = 100e3, 900e3
	return min(users, first)*p.UserFirst + min(max(users-first, 0), next)*p.UserNext + max(users-first-next, 0)*p.UserOut
}

// Egress is what so many GB cost that leave AWS.
func (p List) Egress(gb float64) float64 {
	const first, next = 10 * 1024, 40 * 1024
	return min(gb, first)*p.EgressFirst + min(max(gb-first, 0), next)*p.EgressNext + max(gb-first-next, 0)*p.EgressOut
}
