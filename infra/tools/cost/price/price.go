// Package price lists what AWS charges.
package price

// List is what AWS charges for one unit of each, in dollars.
type List struct {
	LambdaRequest, LambdaGBSecond      float64
	ExpressRequest, ExpressGBSecond    float64 // of Step Functions, the first 1,000 GB-hours
	Schedule                           float64 // one invocation by EventBridge Scheduler
	WriteUnit, ReadUnit                float64 // of DynamoDB on demand
	SQSRequest, APIRequest             float64
	LogGB                              float64 // ingested, and archived for a month
	AlarmMetric, CustomMetric, Secret  float64 // for a month, as
	Dashboard                          float64
	Trace                              float64 // of X-Ray, recorded
	WebACL, WebRule, WebRequest        float64 // of WAF: an ACL and a rule for a month, a request
	EgressFirst, EgressNext, EgressOut float64 // a GB to the internet: of the first 10 TB, of the next 40 TB, of the rest
	UserFirst, UserNext, UserOut       float64 // of Cognito's plan Lite, active in a month: of the first 100,000, of the next 900,000, of the rest
}

// Which prices these are.
const (
	ListedOn = "2026-11-20"
	Region   = "us-east-1"
	// Whoever needs to be sure looks each up: hardly any was read off AWS's own pages.
	ListedBy = "as others quote AWS, or known by heart: infra/tools/cost/price says which"
)

// Listed are the list prices of the region, each with who quotes it, or that it is
// known by heart. Functions are for arm64. Free tiers are left out, and so are
// discounts for volume but for users and for data that leaves AWS.
func Listed() List {
	const million = 1e6
	return List{
		LambdaRequest: 0.20 / million, LambdaGBSecond: 0.0000133334, // cloudchipr.com/blog/aws-lambda-pricing
		ExpressRequest: 1.00 / million, ExpressGBSecond: 0.00001667, // a copy of aws.amazon.com/step-functions/pricing
		Schedule:  1.00 / million,                             // cloudburn.io, March 2026
		WriteUnit: 0.625 / million, ReadUnit: 0.125 / million, // since November 2024: airbyte.com, bytebase.com
		SQSRequest: 0.40 / million, // cloudburn.io/blog/amazon-sqs-pricing, March 2026
		APIRequest: 1.00 / million, // of an HTTP API, the first 300 million: AWS's agent toolkit, August 2026

		LogGB: 0.50 + 0.03, Dashboard: 3.00, // factualminds.com, on CloudWatch, June 2026; archive by heart
		Trace:  5.00 / million,                                  // the examples of aws.amazon.com/xray/pricing, a copy without a date
		WebACL: 5.00, WebRule: 1.00, WebRequest: 0.60 / million, // awsnegotiations.com, 2026; c3x.dev

		// By heart, and unchanged for years.
		AlarmMetric: 0.10, CustomMetric: 0.30, Secret: 0.40,
		EgressFirst: 0.09, EgressNext: 0.085, EgressOut: 0.07,
		// By heart, of the plans of November 2024, and least sure of all. Each account
		// has 10,000 free.
		UserFirst: 0.0055, UserNext: 0.0046, UserOut: 0.00325,
	}
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
