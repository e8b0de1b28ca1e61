package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/local/replay"
)

// found is how long it may take until the app knows of an event that was lost: two nights.
const found = rest

// progress is a milestone as the API shows it.
type progress struct {
	MilestoneID       string
	State             string
	Status            string
	Source            string
	ModelID           string
	Sports            []string
	TargetType        string
	TotalTarget       int64
	ProgressValue     int64
	RawProgress       int64
	PartsAwardedCount int
	Remaining         int64 `json:"remainingToNextPart"`
	Early             int   `json:"excludedBeforeStartCount"`
	PartsDelta        int
	Awards            []award
}

type award struct {
	PartIndex int
	PartName  string
	AwardedAt time.Time
	Value     int64 `json:"progressValueAtAward"`
}

// States of a milestone.
const (
	active    = "ACTIVE"
	paused    = "PAUSED"
	abandoned = "ABANDONED"
	ended     = "ENDED"
)

// equal records a difference.
func equal[T comparable](r *run, a *athlete, what string, got, want T) {
	r.compared++
	if got != want {
		a.fail("%s %s: got %v, want %v", r.date(), what, got, want)
	}
}

// check compares what an athlete sees with the oracle. The app must know everything.
func (r *run) check(ctx context.Context, a *athlete) {
	if a.gone || len(a.milestones) == 0 {
		return
	}

	a.checks++
	r.registerPhone(ctx, a)

	if r.cfg.Retention > 0 {
		r.checkKept(ctx, a)
	}

	for i, m := range a.milestones {
		var now, is progress
		if i == a.checks%len(a.milestones) && r.ask(ctx, a, http.MethodPost, "/milestones/"+m.id+"/recompute", nil, &now, "", "") {
			equal(r, a, fmt.Sprintf("the parts that a recomputation of milestone %d mints", i), now.PartsDelta, 0)

			if m.state(r.Clock.Now()) == active && r.cfg.Retention == 0 {
				equal(r, a, fmt.Sprintf("workouts before the start of milestone %d", i), now.Early, m.early)
			}

			if m.completed && m.source == atStrava && r.cfg.Retention > 0 && a.connected { // it reads what is not kept
				raw, _ := a.listed().sum(m.goal, anything)
				m.best = max(m.best, raw)
			}
		}

		if r.ask(ctx, a, http.MethodGet, "/milestones/"+m.id, nil, &is, "", "") {
			known := len(a.problems)
			r.checkMilestone(a, fmt.Sprintf("milestone %d (%s)", i, m.goal), m, is)

			if len(a.problems) > known { // it names the workouts that differ
				r.checkVerdicts(ctx, a, m)
			}
		}
	}

	r.checkList(ctx, a)
	r.checkStatus(ctx, a)

	for _, source := range []string{atStrava, onPhone} {
		r.checkLatest(ctx, a, source)
		r.checkReasons(ctx, a, source, 3)
	}

	r.checkVerdicts(ctx, a, a.milestones[a.checks%len(a.milestones)])
}

func (g goal) String() string {
	return fmt.Sprintf("%s %d %s", strings.Join(g.sports, "+"), g.total, g.target)
}

// checkList compares the order of the list: the open ones first, and of these the newest first.
func (r *run) checkList(ctx context.Context, a *athlete) {
	var is struct{ Milestones []progress }
	if !r.ask(ctx, a, http.MethodGet, "/milestones", nil, &is, "", "") {
		return
	}

	now := r.Clock.Now()

	var got, want []string
	for _, m := range is.Milestones {
		got = append(got, m.MilestoneID+" "+m.State)
	}

	for _, open := range []bool{true, false} {
		for _, m := range slices.Backward(a.milestones) {
			if m.open(now) == open {
				want = append(want, m.id+" "+m.state(now))
			}
		}
	}

	equal(r, a, "the milestones", strings.Join(got, ", "), strings.Join(want, ", "))
}

// checkMilestone compares a milestone and its parts.
func (r *run) checkMilestone(a *athlete, what string, m *milestone, is progress) {
	state := m.state(r.Clock.Now())
	equal(r, a, what+", state", is.State, state)

	if state == abandoned || state == ended { // as clients know it that were released before these states
		state = paused
	}

	equal(r, a, what+", status", is.Status, state)
	equal(r, a, what+", model and goal", fmt.Sprint(is.ModelID, is.Source, is.Sports, is.TargetType, is.TotalTarget),
		fmt.Sprint(m.model, m.source, m.sports, m.target, m.total))
	equal(r, a, what+", parts", is.PartsAwardedCount, len(m.reached))

	if m.completed { // it may have been completed by one workout, or by two at once
		if is.ProgressValue < m.total || is.ProgressValue > m.best {
			a.fail("%s %s: got %d, want between %d and %d", r.date(), what, is.ProgressValue, m.total, m.best)
		}
	} else {
		equal(r, a, what+", progress", is.ProgressValue, m.best)
		equal(r, a, what+", rest of the next part", is.Remaining, m.threshold(len(m.reached)+1)-m.best)
	}

	if is.State == active {
		equal(r, a, what+", sum of the workouts", is.RawProgress, m.raw)
	}

	equal(r, a, what+", awards", len(is.Awards), len(m.reached))

	for n, w := range is.Awards {
		if n >= len(m.reached) {
			break
		}

		equal(r, a, what+", part", w.PartIndex, n+1)
		r.checkName(a, what, m.model, w)

		early := time.Second
		if r.Trial != nil { // the request may have taken effect at its first attempt
			early = replay.Attempts * replay.Wait
		}

		first, last := m.reached[n].Add(-early), r.deadline(m.reached[n])
		if m.fresh[n] {
			first = first.Add(r.cfg.Settling)
		}

		if at := w.AwardedAt; at.Before(first) || at.After(last) {
			a.fail("%s %s: part %d was minted at %s, want from %s to %s", r.date(), what, n+1, at, first, last)
		}

		if w.Value < m.threshold(n+1) || w.Value > m.best {
			a.fail("%s %s: part %d was minted at %d, want between %d and %d", r.date(), what, n+1, w.Value, m.threshold(n+1), m.best)
		}
	}
}

func (r *run) checkStatus(ctx context.Context, a *athlete) {
	var is struct {
		Connected, Broken bool
		Unavailable       bool
		AthleteID         int64
		WorkoutCount      int
		LatestActivityAt  *time.Time
		IsFresh           bool
	}
	if !r.ask(ctx, a, http.MethodGet, "/strava/status", nil, &is, "", "") {
		return
	}

	equal(r, a, "unavailable", is.Unavailable, false)
	equal(r, a, "connected", is.Connected && (!is.Broken || r.Trial != nil), a.connected)

	if a.connected {
		equal(r, a, "the athlete's id", is.AthleteID, a.id)
	}

	if r.cfg.Retention > 0 { // it counts those that are kept
		return
	}

	all := a.latest(atStrava)
	equal(r, a, "workouts", is.WorkoutCount, len(all))

	if len(all) > 0 && is.LatestActivityAt != nil {
		equal(r, a, "the latest workout", *is.LatestActivityAt, all[0].seen.start.UTC())
		equal(r, a, "fresh", is.IsFresh, r.Clock.Now().Sub(all[0].seen.start) <= 7*day)
	}
}

func (r *run) checkLatest(ctx context.Context, a *athlete, source string) {
	if source == onPhone && !a.pocket || source == atStrava && r.cfg.Retention > 0 {
		return
	}

	var is struct {
		Workouts []struct {
			ActivityID, SportType string
			Distance, Elevation   int64
			StartedAt             time.Time
		}
	}
	if !r.ask(ctx, a, http.MethodGet, "/activities/recent?limit=30&source="+source, nil, &is, "", "") {
		return
	}

	var got, want []string
	for _, w := range is.Workouts {
		got = append(got, fmt.Sprint(w.ActivityID, " ", w.SportType, " ", w.Distance, " ", w.Elevation, " ", w.StartedAt.Unix()))
	}

	for _, x := range a.latest(source)[:min(30, len(a.latest(source)))] {
		want = append(want, fmt.Sprint(x.ref(), " ", x.seen.sport, " ", whole(x.seen.metres), " ", whole(x.seen.climb), " ", x.seen.start.Unix()))
	}

	equal(r, a, "the latest workouts of "+source, strings.Join(got, "; "), strings.Join(want, "; "))
}

// checkReasons compares why some activities do not count. Those to which something
// happened come first.
func (r *run) checkReasons(ctx context.Context, a *athlete, source string, n int) {
	milestones := slices.DeleteFunc(slices.Clone(a.milestones), func(m *milestone) bool { return m.source != source })
	if len(milestones) == 0 || source == atStrava && r.cfg.Retention > 0 {
		return
	}

	all := r.shuffled(a, source)
	odd := func(x *activity) int {
		if x.gone || x.flagged || x.private || x.manual || x.twin || !x.has {
			return 0
		}

		return 1
	}
	slices.SortStableFunc(all, func(x, y *activity) int { return odd(x) - odd(y) })

	half := min(len(all), n)
	for _, x := range append(slices.Clone(all[:half]), all[max(half, len(all)-n):]...) {
		m := milestones[int(x.id)%len(milestones)]

		path := "/activities/" + x.ref() + "/eligibility?milestoneId=" + m.id
		if !x.has {
			if source == atStrava && !x.gone && !a.hidden(x) { // else the app may have heard of it
				r.ask(ctx, a, http.MethodGet, path, nil, nil, "activity_not_found", "")
			}

			continue
		}

		var is struct {
			Counts      bool
			Value       int64
			Reasons     []string
			DuplicateOf string
		}
		if !r.ask(ctx, a, http.MethodGet, path, nil, &is, "", "") {
			continue
		}

		late := func(x *activity) bool { return m.state(r.Clock.Now()) == ended && r.late(a, m, x, 0) }
		in := func(y *activity) bool { return y != x && late(y) }
		v := a.without(in).judge(m.goal)[x]

		if says := slices.Contains(is.Reasons, isEnded); late(x) || says && m.state(r.Clock.Now()) == ended && r.late(a, m, x, found) {
			v = verdict{why: append(m.against(x.seen, a.hidden(x), a.counts), isEnded)}
		}

		equal(r, a, fmt.Sprintf("why activity %s does not count for %s", x.ref(), m.goal), strings.Join(is.Reasons, " ")+" "+is.DuplicateOf,
			v.text(m, x, is.Reasons))
		equal(r, a, fmt.Sprintf("what activity %s adds", x.ref()), is.Value, m.value(x.seen))
	}
}

// isEnded is why an activity does not count that the app has since after the end.
const isEnded = "milestone_ended"

// text is why an activity does not count for a milestone, and the id of the one that counts instead. A workout
// after the completion is known by the answer: the milestone may have been completed by the one before.
func (v verdict) text(m *milestone, x *activity, reasons []string) string {
	why := slices.Clone(v.why)

	switch n := len(reasons); {
	case m.completed:
		if n > 0 && reasons[n-1] == "milestone_completed" && x.seen.start.After(m.reached[m.parts-1]) {
			why = append(why, "milestone_completed")
		}
	case m.abandoned:
		why = append(why, "milestone_abandoned")
	case m.paused:
		why = append(why, "milestone_paused")
	}

	return strings.Join(why, " ") + " " + v.of
}

// checkVerdicts compares what counted for a milestone and why the rest did not, page by page. The answer may
// list workouts that began in the milestone's last month, but after its last day was over everywhere. Where
// workouts are kept for some days only, it lists what Strava has now, unless Strava could not be asked.
func (r *run) checkVerdicts(ctx context.Context, a *athlete, m *milestone) {
	const size = 40

	var got, want []string

	all := a
	if m.source == atStrava && r.cfg.Retention > 0 {
		if all = a.listed(); !a.connected {
			return
		}
	}

	judged := all.judge(m.goal)
	last, err := time.Parse(time.DateOnly, m.end)
	after := func(at time.Time) bool { return err == nil && !at.Before(last.Add(36*time.Hour)) }

	byID := map[string]*activity{}
	for x := range judged {
		if byID[x.ref()] = x; !x.seen.start.Before(m.start) && !after(x.seen.start) {
			want = append(want, x.ref())
		}
	}

	type listed struct {
		ActivityID  string
		StartedAt   time.Time
		Value       int64
		Reasons     []string
		DuplicateOf string
	}

	var (
		lines []listed
		raw   int64
		late  = map[string]bool{}
	)

	for cursor := "-"; cursor != ""; {
		path := fmt.Sprintf("/milestones/%s/workouts?limit=%d", m.id, size)
		if cursor != "-" {
			path += "&cursor=" + cursor
		}

		var is struct {
			RawProgress int64
			ListedFrom  *time.Time
			Next        string
			Workouts    []listed
		}
		if !r.ask(ctx, a, http.MethodGet, path, nil, &is, "", "") {
			return
		}

		if is.ListedFrom != nil {
			return
		}

		for _, w := range is.Workouts {
			late[w.ActivityID] = slices.Contains(w.Reasons, isEnded)
		}

		lines, raw, cursor = append(lines, is.Workouts...), is.RawProgress, is.Next
	}

	left := all.without(func(x *activity) bool { return late[x.ref()] })
	judged = left.judge(m.goal)

	sum, _ := left.sum(m.goal, anything)
	equal(r, a, "what the workouts of "+m.String()+" add up to", raw, sum)

	for _, w := range lines {
		if after(w.StartedAt) || slices.ContainsFunc(a.bogus, func(x *activity) bool { return x.ref() == w.ActivityID }) {
			continue
		}

		x := byID[w.ActivityID]
		if got = append(got, w.ActivityID); x == nil {
			continue // a difference of the ids
		}

		v, is := judged[x], m.state(r.Clock.Now()) == ended
		if is && (late[w.ActivityID] && r.late(a, m, x, found) || all == a && r.late(a, m, x, 0)) {
			v = verdict{why: append(m.against(x.seen, a.hidden(x), a.counts), isEnded)}
		}

		equal(r, a, fmt.Sprintf("the verdict of activity %s, changed %s, for %s", w.ActivityID, x.last.Format("2006-01-02 15:04"), m.goal),
			fmt.Sprint(w.Value, strings.Join(w.Reasons, " ")+" "+w.DuplicateOf), fmt.Sprint(m.value(x.seen), v.text(m, x, w.Reasons)))
	}

	slices.SortFunc(want, func(x, y string) int {
		return cmp.Or(byID[y].seen.start.Compare(byID[x].seen.start), cmp.Compare(byID[y].id, byID[x].id))
	})
	equal(r, a, "the workouts of "+m.String(), strings.Join(got, " "), strings.Join(want, " "))
}

// checkPhone checks that each part has one notification, which may be one of several parts.
func (r *run) checkPhone(a *athlete) {
	if a.phone == "" {
		return
	}

	phone, _ := r.Fleet.Phones.Device(a.phone)

	shown := map[string]int{} // by milestone and part

	for _, alert := range phone.Alerts {
		var about struct {
			MilestoneID               string
			PartIndex, FirstPartIndex int
			Reconnect                 bool
		}
		if err := json.Unmarshal(alert.Payload, &about); err != nil {
			a.fail("the notification %s: %v", alert.Payload, err)
		}

		if about.Reconnect {
			if r.Trial == nil {
				a.fail("%s a connection was broken", alert.First)
			}

			continue
		}

		for n := cmp.Or(about.FirstPartIndex, about.PartIndex); n <= about.PartIndex; n++ {
			shown[fmt.Sprintf("%s#%02d", about.MilestoneID, n)]++
		}

		if alert.Times > 1 && r.Trial == nil {
			a.fail("the notification of %s came %d times", alert.Collapse, alert.Times)
		}
	}

	want := 0

	for _, m := range append(slices.Clone(a.milestones), a.deleted...) {
		for n := range m.reached {
			want++

			equal(r, a, fmt.Sprintf("notifications of part %d", n+1), shown[fmt.Sprintf("%s#%02d", m.id, n+1)], 1)
		}
	}

	equal(r, a, "parts with a notification", len(shown), want)
}

// checkForgotten checks that nothing is left of an athlete who has deleted the account.
func (r *run) checkForgotten(ctx context.Context, a *athlete) {
	if !a.gone {
		return
	}

	r.ask(ctx, a, http.MethodGet, "/session", nil, nil, "missing_session", "")
	equal(r, a, "access at Strava", r.strava.Connected(a.id), false)

	for _, table := range []string{"CommitCollect", "CommitCollectAudit"} {
		out, err := r.Fleet.DB.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String(r.Fleet.Table(table)), KeyConditionExpression: aws.String("PK = :user"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":user": &types.AttributeValueMemberS{Value: "USER#" + a.user}},
		})
		if err != nil {
			a.fail("%s: %v", table, err)
			continue
		}

		equal(r, a, "rows of a deleted user in "+table, len(out.Items), 0)
	}
}
