package main

// prices are what AWS charges for one unit of each, in dollars.
type prices struct {
	lambdaRequest, lambdaGBSecond      float64
	expressRequest, expressGBSecond    float64 // of Step Functions, the first 1,000 GB-hours
	schedule                           float64 // one invocation by EventBridge Scheduler
	writeUnit, readUnit                float64 // of DynamoDB on demand
	sqsRequest, apiRequest             float64
	logGB                              float64 // ingested, and archived for a month
	alarmMetric, customMetric, secret  float64 // for a month, as
	dashboard                          float64
	trace                              float64 // of X-Ray, recorded
	insightRule                        float64 // of Contributor Insights, for a month
	egressFirst, egressNext, egressOut float64 // a GB to the internet: of the first 10 TB, of the next 40 TB, of the rest
	userFirst, userNext, userOut       float64 // of Cognito's plan Lite, active in a month: of the first 100,000, of the next 900,000, of the rest
}

const (
	listedOn = "2026-11-20"
	region   = "us-east-1"
	// Whoever needs to be sure looks each up: none was read off AWS's own pages.
	listedBy = "as others quote AWS, or known by heart: infra/cost/prices.go says which"
)

// listed are the list prices of the region, each with who quotes it, or that it is
// known by heart. Functions are for arm64. Free tiers are left out, and so are
// discounts for volume but for users and for data that leaves AWS.
func listed() prices {
	const million = 1e6
	return prices{
		lambdaRequest: 0.20 / million, lambdaGBSecond: 0.0000133334, // cloudchipr.com/blog/aws-lambda-pricing
		expressRequest: 1.00 / million, expressGBSecond: 0.00001667, // a copy of aws.amazon.com/step-functions/pricing
		schedule:  1.00 / million,                             // cloudburn.io, March 2026
		writeUnit: 0.625 / million, readUnit: 0.125 / million, // since November 2024: airbyte.com, bytebase.com
		sqsRequest: 0.40 / million, // cloudburn.io/blog/amazon-sqs-pricing, March 2026
		apiRequest: 1.00 / million, // of an HTTP API, the first 300 million: AWS's agent toolkit, August 2026
		// usage.ai, of rules for all keys: that those for throttled keys cost the same
		// is a guess. What they notice is $0.03 a million, and is left out.
		insightRule: 0.50,

		// By heart, and unchanged for years.
		logGB:       0.50 + 0.03,
		alarmMetric: 0.10, customMetric: 0.30, secret: 0.40, dashboard: 3.00,
		trace:       5.00 / million,
		egressFirst: 0.09, egressNext: 0.085, egressOut: 0.07,
		// By heart, of the plans of November 2024, and least sure of all. Each account
		// has 10,000 free.
		userFirst: 0.0055, userNext: 0.0046, userOut: 0.00325,
	}
}
