package main

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
func (u usage) dollars(p prices) float64 {
	return u.lambdaRequests*p.lambdaRequest + u.lambdaGBSeconds*p.lambdaGBSecond +
		u.expressRequests*p.expressRequest + u.expressGBSeconds*p.expressGBSecond +
		u.schedules*p.schedule +
		u.writeUnits*p.writeUnit + u.readUnits*p.readUnit +
		u.sqsRequests*p.sqsRequest + u.apiRequests*p.apiRequest +
		u.logGB*p.logGB + p.egress(u.egressGB) +
		u.alarmMetrics*p.alarmMetric + u.customMetrics*p.customMetric +
		u.secrets*p.secret + u.dashboards*p.dashboard + u.traces*p.trace +
		u.insightRules*p.insightRule + p.signedIn(u.users)
}

// signedIn is what so many users cost in a month in which each signs in.
func (p prices) signedIn(users float64) float64 {
	const first, next = 100e3, 900e3
	return min(users, first)*p.userFirst + min(max(users-first, 0), next)*p.userNext + max(users-first-next, 0)*p.userOut
}

// egress is what so many GB cost that leave AWS.
func (p prices) egress(gb float64) float64 {
	const first, next = 10 * 1024, 40 * 1024
	return min(gb, first)*p.egressFirst + min(max(gb-first, 0), next)*p.egressNext + max(gb-first-next, 0)*p.egressOut
}
