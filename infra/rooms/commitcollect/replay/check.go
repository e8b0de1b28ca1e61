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

	for i, m := range a.milestones {
		var now, is progress
		if i == a.checks%len(a.milestones) && r.ask(ctx, a, http.MethodPost, "/milestones/"+m.id+"/recompute", nil, &now, "", "") {
			equal(r, a, fmt.Sprintf("the parts that a recomputation of milestone %d mints", i), now.PartsDelta, 0)

			if !m.paused && !m.completed && !m.over(r.Clock.Now()) {
				equal(r, a, fmt.Sprintf("workouts before the start of milestone %d", i), now.Early, m.early)
			}
		}

		if r.ask(ctx, a, http.MethodGet, "/milestones/"+m.id, nil, &is, "", "") {
			r.checkMilestone(a, fmt.Sprintf("milestone %d (%s)", i, m.goal), m, is)
		}
	}

	r.checkStatus(ctx, a)
	r.checkLatest(ctx, a)
	r.checkReasons(ctx, a, 3)
}

func (g goal) String() string {
	what := "km"
	if g.climb {
		what = "km of climb"
	}

	return fmt.Sprintf("%s %.1f %s", g.sport, float64(g.total)/1000, what)
}

// checkMilestone compares a milestone and its parts.
func (r *run) checkMilestone(a *athlete, what string, m *milestone, is progress) {
	state := "ACTIVE"

	switch {
	case m.completed:
		state = "COMPLETED"
	case m.paused:
		state = "PAUSED"
	case m.over(r.Clock.Now()):
		state = "ENDED"
	}

	equal(r, a, what+", state", is.State, state)
	equal(r, a, what+", parts", is.PartsAwardedCount, len(m.reached))

	if m.completed { // it may have been completed by one workout, or by two at once
		if is.ProgressValue < m.total || is.ProgressValue > m.best {
			a.fail("%s %s: got %d m, want between %d and %d", r.date(), what, is.ProgressValue, m.total, m.best)
		}
	} else {
		equal(r, a, what+", progress", is.ProgressValue, m.best)
		equal(r, a, what+", metres to the next part", is.Remaining, m.threshold(len(m.reached)+1)-m.best)
	}

	if !m.paused && !m.completed && !m.over(r.Clock.Now()) {
		equal(r, a, what+", metres of the workouts", is.RawProgress, m.raw)
	}

	equal(r, a, what+", awards", len(is.Awards), len(m.reached))

	for n, w := range is.Awards {
		if n >= len(m.reached) {
			break
		}

		equal(r, a, what+", part", w.PartIndex, n+1)
		equal(r, a, what+", name", w.PartName, partName(m.model, n+1))

		early := time.Second
		if r.Trial != nil { // the request may have taken effect at its first attempt
			early = replay.Attempts * replay.Wait
		}

		if late := w.AwardedAt.Sub(m.reached[n]); late < -early || late > found {
			a.fail("%s %s: part %d was minted %s after it was earned, want at most %s", r.date(), what, n+1, late, found)
		}

		if w.Value < m.threshold(n+1) || w.Value > m.best {
			a.fail("%s %s: part %d was minted at %d m, want between %d and %d", r.date(), what, n+1, w.Value, m.threshold(n+1), m.best)
		}
	}
}

func (r *run) checkStatus(ctx context.Context, a *athlete) {
	var is struct {
		Connected, Broken bool
		AthleteID         int64
		WorkoutCount      int
		LatestActivityAt  *time.Time
		IsFresh           bool
	}
	if !r.ask(ctx, a, http.MethodGet, "/strava/status", nil, &is, "", "") {
		return
	}

	equal(r, a, "connected", is.Connected && (!is.Broken || r.Trial != nil), a.connected)

	if a.connected {
		equal(r, a, "the athlete's id", is.AthleteID, a.id)
	}

	all := a.latest()
	equal(r, a, "workouts", is.WorkoutCount, len(all))

	if len(all) > 0 && is.LatestActivityAt != nil {
		equal(r, a, "the latest workout", *is.LatestActivityAt, all[0].seen.start.UTC())
		equal(r, a, "fresh", is.IsFresh, r.Clock.Now().Sub(all[0].seen.start) <= 7*day)
	}
}

func (r *run) checkLatest(ctx context.Context, a *athlete) {
	var is struct {
		Workouts []struct {
			ActivityID, SportType string
			Distance, Elevation   int64
			StartedAt             time.Time
		}
	}
	if !r.ask(ctx, a, http.MethodGet, "/activities/recent?limit=30", nil, &is, "", "") {
		return
	}

	var got, want []string
	for _, w := range is.Workouts {
		got = append(got, fmt.Sprint(w.ActivityID, " ", w.SportType, " ", w.Distance, " ", w.Elevation, " ", w.StartedAt.Unix()))
	}

	for _, x := range a.latest()[:min(30, len(a.latest()))] {
		want = append(want, fmt.Sprint(x.id, " ", x.seen.sport, " ", whole(x.seen.metres), " ", whole(x.seen.climb), " ", x.seen.start.Unix()))
	}

	equal(r, a, "the latest workouts", strings.Join(got, "; "), strings.Join(want, "; "))
}

// checkReasons compares why some activities do not count. Those to which something
// happened come first.
func (r *run) checkReasons(ctx context.Context, a *athlete, n int) {
	if len(a.milestones) == 0 {
		a.fail("no milestone was started")
		return
	}

	all := r.shuffled(a)
	odd := func(x *activity) int {
		if x.gone || x.flagged || x.private || x.manual || x.twin || !x.has {
			return 0
		}

		return 1
	}
	slices.SortStableFunc(all, func(x, y *activity) int { return odd(x) - odd(y) })

	half := min(len(all), n)
	for _, x := range append(slices.Clone(all[:half]), all[max(half, len(all)-n):]...) {
		m := a.milestones[int(x.id)%len(a.milestones)]

		path := "/activities/" + id(x.id) + "/eligibility?milestoneId=" + m.id
		if !x.has {
			if !x.gone && !a.hidden(x) { // else the app may have heard of it
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

		v, of := a.judge(m.goal)[x], ""
		if m.paused {
			v.why = append(v.why, "milestone_paused")
		}

		if n := len(is.Reasons); m.completed && n > 0 && is.Reasons[n-1] == "milestone_completed" && x.seen.start.After(m.reached[m.parts-1]) {
			v.why = append(v.why, "milestone_completed")
		}

		if v.of != 0 {
			of = id(v.of)
		}

		equal(r, a, fmt.Sprintf("why activity %d does not count for %s", x.id, m.goal), strings.Join(is.Reasons, " ")+" "+is.DuplicateOf,
			strings.Join(v.why, " ")+" "+of)
		equal(r, a, fmt.Sprintf("what activity %d adds", x.id), is.Value, m.value(x.seen))
	}
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

	for _, m := range a.milestones {
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
