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
	egressFirst, egressNext, egressOut float64 // a GB to the internet: of the first 10 TB, of the next 40 TB, of the rest
}

const (
	listedOn = "2026-11-20"
	region   = "us-east-1"
	// Whoever needs to be sure looks each up: none was read off AWS's own pages.
	listedBy = "as others quote AWS; each with its source in infra/cost/prices.go"
)

// listed are the list prices of the region. Functions are for arm64. Free tiers
// are left out, and so are discounts for volume but for data that leaves AWS.
func listed() prices {
	const million = 1e6
	return prices{
		lambdaRequest: 0.20 / million, lambdaGBSecond: 0.0000133334, // cloudchipr.com/blog/aws-lambda-pricing
		expressRequest: 1.00 / million, expressGBSecond: 0.00001667, // a copy of aws.amazon.com/step-functions/pricing
		schedule:  1.00 / million,                             // cloudburn.io, March 2026
		writeUnit: 0.625 / million, readUnit: 0.125 / million, // since November 2024: airbyte.com, bytebase.com
		sqsRequest: 0.40 / million, // cloudburn.io/blog/amazon-sqs-pricing, March 2026
		apiRequest: 1.00 / million, // of an HTTP API, the first 300 million: AWS's agent toolkit, August 2026
		logGB:      0.50 + 0.03,

		// Unchanged for years, and known by heart, as is what logs cost.
		alarmMetric: 0.10, customMetric: 0.30, secret: 0.40, dashboard: 3.00,
		trace:       5.00 / million,
		egressFirst: 0.09, egressNext: 0.085, egressOut: 0.07,
	}
}
