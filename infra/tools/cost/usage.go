package main

import "matchday/infra/tools/cost/price"

// usage is what is used in a month, in the units that AWS bills.
type usage struct {
	lambdaRequests, lambdaGBSeconds   float64
	expressRequests, expressGBSeconds float64
	schedules                         float64
	writeUnits, readUnits             float64
	sqsRequests, apiRequests          float64
	logGB, egressGB                   float64
	alarmMetrics, customMetrics       float64
	secrets, dashboards, traces       float64
	insightRules, users               float64
}

func (u usage) plus(v usage) usage {
	return usage{
		u.lambdaRequests + v.lambdaRequests, u.lambdaGBSeconds + v.lambdaGBSeconds,
		u.expressRequests + v.expressRequests, u.expressGBSeconds + v.expressGBSeconds,
		u.schedules + v.schedules,
		u.writeUnits + v.writeUnits, u.readUnits + v.readUnits,
		u.sqsRequests + v.sqsRequests, u.apiRequests + v.apiRequests,
		u.logGB + v.logGB, u.egressGB + v.egressGB,
		u.alarmMetrics + v.alarmMetrics, u.customMetrics + v.customMetrics,
		u.secrets + v.secrets, u.dashboards + v.dashboards, u.traces + v.traces,
		u.insightRules + v.insightRules, u.users + v.users,
	}
}

// dollars is what the usage costs.
func (u usage) dollars(p price.List) float64 {
	return u.lambdaRequests*p.LambdaRequest + u.lambdaGBSeconds*p.LambdaGBSecond +
		u.expressRequests*p.ExpressRequest + u.expressGBSeconds*p.ExpressGBSecond +
		u.schedules*p.Schedule +
		u.writeUnits*p.WriteUnit + u.readUnits*p.ReadUnit +
		u.sqsRequests*p.SQSRequest + u.apiRequests*p.APIRequest +
		u.logGB*p.LogGB + p.Egress(u.egressGB) +
		u.alarmMetrics*p.AlarmMetric + u.customMetrics*p.CustomMetric +
		u.secrets*p.Secret + u.dashboards*p.Dashboard + u.traces*p.Trace +
		u.insightRules*p.InsightRule + p.SignedIn(u.users)
}
