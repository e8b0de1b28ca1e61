// Command cost prints what the fleet costs in a month: from the calls that
// `make bench` counts, the spec, and AWS's list prices. `make cost` starts it.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"matchday/infra/tools/cost/price"
	"matchday/pkg/cricket"
	"matchday/pkg/fleet"
)

func main() {
	if err := command(os.Stdout, filepath.Join(".local", "bench.json"), filepath.Join("infra", "tools", "cost", "counters.json")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(out io.Writer, bench, kept string) error {
	c, from, err := read(bench, kept)
	if err != nil {
		return err
	}
	m := model{c, cricket.Room}
	var fixed usage
	for _, room := range fleet.Rooms() {
		own, err := m.fixed(room, planReads)
		if err != nil {
			return err
		}
		fixed = fixed.plus(own)
	}
	p := price.Listed()
	rows := [][]string{
		{"matches", "hours", "people", "fixed", "users", "loop", "API", "alerts", "channels", "tokens", "TOTAL by", "TOTAL by", "the seed's", "in place"},
		{"live", "live", "", "", "", "", "", "", "", "", "channels", "tokens", "reads, writes", "of"},
	}
	for _, s := range scenarios() {
		base := fixed.plus(m.users(s)).plus(m.loop(s)).plus(m.api(s)).plus(m.alerts(s))
		byToken := m.tokens(s)
		rows = append(rows, []string{
			strconv.Itoa(s.matches), grouped(s.hours), grouped(s.subscribers),
			dollars(fixed.dollars(p)), dollars(m.users(s).dollars(p)), dollars(m.loop(s).dollars(p)), dollars(m.api(s).dollars(p)), dollars(m.alerts(s).dollars(p)),
			dollars(m.channels(s).dollars(p)), dollars(byToken.dollars(p)),
			dollars(base.plus(m.channels(s)).dollars(p)), dollars(base.plus(byToken).dollars(p)),
			dollars(m.seed(s).dollars(p)), dollars(m.store(s).plus(usage{readUnits: byToken.readUnits}).dollars(p)),
		})
	}
	fmt.Fprintf(out, "Dollars a month, %s, arm64, list prices of %s without free tiers.\nCalls: %s.\n\n", price.Region, price.ListedOn, from)
	write(out, rows)
	fmt.Fprint(out, "\n", notes(c.Items.Subscription), "\nThe pick'em room.\n\n")
	if rows, err = pickemRows(c, p); err != nil {
		return err
	}
	write(out, rows)
	_, err = fmt.Fprint(out, "\n", pickemNotes())
	return err
}

// scenarios are the rows of the table.
func scenarios() (all []scenario) {
	people := []float64{1e3, 1e5, 1e6}
	for _, n := range people {
		all = append(all, scenario{0, 0, n})
	}
	for _, hours := range []float64{120, hoursOfMonth} {
		for _, matches := range []int{1, 10} {
			for _, n := range people {
				all = append(all, scenario{matches, hours, n})
			}
		}
	}
	return all
}

// notes are the assumptions.
func notes(subscription float64) string {
	return fmt.Sprintf(`fixed      of all rooms, the schedules, idle state machines, polling of queues, alarms, metrics, secrets, dashboards, and the
           rules by which Contributor Insights looks for throttled keys
users      each of the people signs in, by Cognito's plan Lite. The first 10,000, a free tier, are not free here
loop       ticks and the waiting state machine, what they write, and their logs: a tick is %g s at 512 MB, and a match changes %g times an hour
API        each of the people opens the app %g times a month, for %d requests of %g ms that read %g units and answer %g KB. CloudFront is not in it
alerts     %g events an hour and match, to each of the people: %g read units, and a push
channels   one broadcast for each of %d perspectives and change, whoever listens: to all people if all have iOS 18
tokens     one push to each of the people and change: %d a second in a function of 512 MB, %g KB each on the wire, for which AWS charges most
TOTAL      fixed + users + loop + API + alerts, and either channels or tokens, a little less together: data that leaves AWS is cheaper the more it is
the seed's what DynamoDB would cost if every subscription (of %g B) were read in every tick, and each pattern of 2.5 s were made for each match.
           In place of: what DynamoDB and SQS cost here, the reads of the activities' tokens included
hours      %g are live all month; 120 are four hours a day. With several matches the people are divided among them
left out   storage (0.25 a GB), backups, taxes, X-Ray beyond the state machine's, the Apple and SportMonks contracts
Item sizes are measured; DynamoDB counts by them. Prices are %s.
`, tickSeconds, changesOfHour, opens, requestsOpen, 1000*requestSecond, requestReads, float64(answerBytes)/kilobyte,
		alertsOfHour, alertReads, perspectives, pushesOfSecond, pushBytes/kilobyte, subscription, hoursOfMonth, price.ListedBy)
}

// write prints rows in columns, to the right.
func write(out io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, c := range r {
			fmt.Fprintf(&b, "%*s  ", width[i], c)
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
}

// dollars is an amount as a person reads it: cents below 100.
func dollars(d float64) string {
	if d >= 99.995 {
		return grouped(d)
	}
	return strconv.FormatFloat(d, 'f', 2, 64)
}

// grouped is a whole number with commas.
func grouped(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
