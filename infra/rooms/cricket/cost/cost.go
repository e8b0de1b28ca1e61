// Package cost is the cost model of the cricket room: what a month costs for so
// many live matches, hours and people.
package cost

import (
	"fmt"
	"strconv"
	"strings"

	"matchday/infra/tools/cost/price"
	"matchday/infra/tools/cost/usage"
	"matchday/pkg/cricket"
)

// Model is the room's part of the cost model.
var Model = usage.Model{Kept: kept, AtRest: 7.70, Report: report}

func report(in usage.Input) (usage.Report, error) {
	c, err := parse(in.Counters)
	if err != nil {
		return usage.Report{}, err
	}

	m, p := model{c, cricket.Room().Spec}, in.Prices
	rows := [][]string{
		{"matches", "hours", "people", "fixed", "users", "loop", "API", "alerts", "topics", "channels", "tokens", "TOTAL by",
			"TOTAL by", "the seed's", "in place"},
		{"live", "live", "", "", "", "", "", "", "", "", "", "channels", "tokens", "reads, writes", "of"},
	}

	for _, s := range scenarios() {
		base := in.Fixed.Plus(m.users(s)).Plus(m.loop(s)).Plus(m.api(s)).Plus(m.alerts(s)).Plus(m.topics(s))
		tokens := m.tokens(s)

		row := []string{strconv.Itoa(s.matches), usage.Grouped(s.hours), usage.Grouped(s.people)}
		for _, u := range []usage.Usage{
			in.Fixed, m.users(s), m.loop(s), m.api(s), m.alerts(s), m.topics(s), m.channels(s), tokens,
			base.Plus(m.channels(s)), base.Plus(tokens),
			m.seed(s), m.store(s).Plus(usage.Usage{ReadUnits: tokens.ReadUnits}),
		} {
			row = append(row, usage.Dollars(u.Dollars(p)))
		}

		rows = append(rows, row)
	}

	return usage.Report{Rows: rows, Notes: notes(c.Items.Subscription, usage.Dollars(m.alerts(season()).Dollars(p)))}, nil
}

// season is the matches of a league with a million subscribers.
func season() scenario { return scenario{1, seasonMatches * hoursOfMatch, 1e6} }

// scenarios are the rows of the table.
func scenarios() (all []scenario) {
	people := []float64{1e3, 1e5, 1e6}
	for _, n := range people {
		all = append(all, scenario{0, 0, n})
	}

	for _, hours := range []float64{120, usage.HoursOfMonth} {
		for _, matches := range []int{1, 10} {
			for _, n := range people {
				all = append(all, scenario{matches, hours, n})
			}
		}
	}

	return all
}

// notes explains the columns and lists the assumptions. subscription is the size of
// an item in bytes, season the price of the alerts of a season.
func notes(subscription float64, season string) string {
	return fmt.Sprintf(`fixed      of all rooms, the schedules, idle state machines, polling of queues, alarms, metrics, secrets and the
           dashboard
users      each of the people signs in, by Cognito's plan Lite: the first 10,000, a free tier, are not free here. Each registers
           the phone whenever the app is opened, and follows %g matches a month, with an activity, and unfollows them
loop       ticks and the waiting state machine, what they write, their logs, and the room's custom metrics, each in
           every hour in which a match is live: a tick is %g s at 512 MB, and
           a match changes %g times an hour
API        each of the people opens the app %g times a month, for %d requests of %g ms that read %g units and answer
           %g KB. CloudFront is not in it
alerts     %g events an hour and match, to each of the people: %g read units, and a push
league     one of %d matches in a season with a million subscribers costs $%s for the alerts. A match has no row of a
           subscriber: an alert reads those of its teams and its league, in the order of their ids
topics     one message for each perspective and change, for all Android phones of a stage that has them
channels   one broadcast for each of %d perspectives and change, whoever listens: to all people if all have iOS 18
tokens     one push to each of the people and change: %d a second in a function of 512 MB, %g KB each on the wire, for
           which AWS charges most
TOTAL      fixed + users + loop + API + alerts + topics, and either channels or tokens, a little less together: data that leaves
           AWS is cheaper the more it is
the seed's what DynamoDB would cost if every subscription (of %g B) were read in every tick, and each pattern of 2.5 s
           were made for each match. In place of: what DynamoDB and SQS cost here, the reads of the activities' tokens included
hours      %g are live all month; 120 are four hours a day. With several matches the people are divided among them
cold       %g %% of invocations start cold, and jobs that run every 5 minutes or less often always: %g s more, billed like work. Of requests
           and messages X-Ray records the first in each second and a twentieth of the rest
left out   storage (0.25 a GB), backups, taxes, the Apple and SportMonks contracts
Item sizes are measured; DynamoDB counts by them. infra/tools/cost/price has the source and date of each price. Known by heart: %s.
`, followsOfMonth, tickSeconds, changesOfHour, opens, requestsOpen, 1000*usage.RequestSeconds, requestReads,
		float64(answerBytes)/usage.Kilobyte,
		alertsOfHour, alertReads, seasonMatches, season, perspectives, pushesOfSecond, usage.PushBytes/usage.Kilobyte, subscription,
		usage.HoursOfMonth, 100*usage.ColdStarts, usage.InitSeconds, strings.Join(price.ByHeart(), ", "))
}
