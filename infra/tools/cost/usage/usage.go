// Package usage is what the cost models of the rooms share: the units that AWS
// bills, what follows from the spec, and the form of the report.
package usage

import "matchday/infra/tools/cost/price"

// Usage is what is used in a month, in the units that AWS bills.
type Usage struct {
	LambdaRequests, LambdaGBSeconds   float64
	InitGBSeconds                     float64 // of Lambda, of cold starts
	ExpressRequests, ExpressGBSeconds float64 // of Step Functions
	Schedules                         float64 // invocations by EventBridge Scheduler
	WriteUnits, ReadUnits             float64 // of DynamoDB
	SQSRequests, APIRequests          float64
	LogGB, EgressGB                   float64
	AlarmMetrics, CustomMetrics       float64
	Secrets, Dashboards, Traces       float64
	Users, Mails                      float64
	SQLHours, SQLStorageGB, SQLPages  float64 // of Aurora: ACU hours, and pages read from or written to storage
	CacheGBHours, CacheUnits          float64
	EndpointHours, EndpointGB         float64 // of interface endpoints, for each zone
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		u.LambdaRequests + v.LambdaRequests, u.LambdaGBSeconds + v.LambdaGBSeconds,
		u.InitGBSeconds + v.InitGBSeconds,
		u.ExpressRequests + v.ExpressRequests, u.ExpressGBSeconds + v.ExpressGBSeconds,
		u.Schedules + v.Schedules,
		u.WriteUnits + v.WriteUnits, u.ReadUnits + v.ReadUnits,
		u.SQSRequests + v.SQSRequests, u.APIRequests + v.APIRequests,
		u.LogGB + v.LogGB, u.EgressGB + v.EgressGB,
		u.AlarmMetrics + v.AlarmMetrics, u.CustomMetrics + v.CustomMetrics,
		u.Secrets + v.Secrets, u.Dashboards + v.Dashboards, u.Traces + v.Traces,
		u.Users + v.Users, u.Mails + v.Mails,
		u.SQLHours + v.SQLHours, u.SQLStorageGB + v.SQLStorageGB, u.SQLPages + v.SQLPages,
		u.CacheGBHours + v.CacheGBHours, u.CacheUnits + v.CacheUnits,
		u.EndpointHours + v.EndpointHours, u.EndpointGB + v.EndpointGB,
	}
}

// Dollars returns what the usage costs.
func (u Usage) Dollars(p price.List) float64 {
	return u.LambdaRequests*p.LambdaRequest + (u.LambdaGBSeconds+u.InitGBSeconds)*p.LambdaGBSecond +
		u.ExpressRequests*p.ExpressRequest + u.ExpressGBSeconds*p.ExpressGBSecond +
		u.Schedules*p.Schedule +
		u.WriteUnits*p.WriteUnit + u.ReadUnits*p.ReadUnit +
		u.SQSRequests*p.SQSRequest + u.APIRequests*p.APIRequest +
		u.LogGB*(p.LogGB+p.LogArchiveGB) + p.Egress(u.EgressGB) +
		u.AlarmMetrics*p.AlarmMetric + u.CustomMetrics*p.CustomMetric +
		u.Secrets*p.Secret + u.Dashboards*p.Dashboard + u.Traces*p.Trace +
		p.SignedIn(u.Users) + u.Mails*p.Mail +
		u.SQLHours*p.SQLHour + u.SQLStorageGB*p.SQLStorageGB + u.SQLPages*p.SQLPage +
		u.CacheGBHours*p.CacheGBHour + u.CacheUnits*p.CacheUnit +
		u.EndpointHours*p.EndpointHour + u.EndpointGB*p.EndpointGB
}

// Init returns the GB-seconds of the cold starts of n invocations of a function with so many
// GB, which Lambda bills like work.
func Init(n, memory float64) float64 { return n * ColdStarts * InitSeconds * memory }

// Traced returns how many of n requests in a month X-Ray records by its default rule: the
// first of each second, and a twentieth of the rest.
func Traced(n float64) float64 { return min(n, HoursOfMonth*3600+n/20) }
