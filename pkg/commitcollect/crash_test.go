package commitcollect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/commitcollect/profile"
	sdk "matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/upload"
	"matchday/pkg/commitcollect/userdata"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// outcome is what a job leaves: the rows, the proofs of deletions, and the messages that it has sent.
type outcome struct {
	Rows     []string            // as JSON, without what is volatile
	Proofs   []string            // the receipts, without repetitions
	Messages map[string][]string // bodies by queue, without repetitions: the receivers are idempotent
}

// volatile are the attributes that differ from world to world, or if a job runs again.
var volatile = []string{"version", "recomputes", "accessToken", "refreshToken"}

// times are the attributes that differ if a job runs later. Of each, an outcome has whether it is as early as the job.
var times = []string{
	"updatedAtUtc", "ingestedAtUtc", "deletedAtUtc", "awardedAtUtc", "lastAwardedAtUtc", "completedAtUtc", "fetchedAtUtc", "createdAtUtc",
	"retiredAtUtc", "resumedAtUtc", "recomputedFromUtc", "countedAtUtc", "dayBeginsUtc", "startedAtUtc", "brokenAtUtc", "wholeAtUtc",
	"countsAnewAtUtc", "countsAtUtc", "suspectAtUtc", "leaseUntil", "dueAt", "ttlEpoch", "ttl", "expiresAt", "seenAt",
}

// blur has the times of a row, of some names, say only whether they are before a job began.
func blur(row stored, began time.Time, names ...string) {
	for _, name := range names {
		at, ok := row[name].(float64)

		switch {
		case !ok || at == 0:
		case at < float64(began.Unix()):
			row[name] = "before"
		default: // also a time in milliseconds, which is of a lease, and later
			row[name] = "since"
		}
	}
}

// outcomeOf returns the outcome of a job that began at a time, without the trail, of which a crash may lose or repeat an
// entry, and without the counts of calls to Strava. also names attributes that are volatile, too.
func outcomeOf(w *commitcollecttest.World, began time.Time, also ...string) outcome {
	w.T.Helper()

	o := outcome{Messages: map[string][]string{}}

	for _, table := range []spec.Table{tables.Main, tables.Sessions, tables.Idempotency} {
		for _, r := range testkit.Rows[stored](w.World, table) {
			if r["PK"] == "STRAVA#BUDGET" || r["SK"] == "STRAVA#CALLS" || r["SK"] == "STRAVA#EVENTS" {
				continue
			}

			for _, name := range slices.Concat(volatile, also) {
				delete(r, name)
			}

			blur(r, began, times...)

			entries, _ := r["entries"].([]any) // of a ledger, with the times at which they were stored
			for _, e := range entries {
				blur(e.(stored), began, "c")
			}

			text, err := json.Marshal(r)
			testkit.Must(w.T, err)

			o.Rows = append(o.Rows, shareIDs.ReplaceAllString(string(text), "$1(share)"))
		}
	}

	for _, r := range proofs(w) {
		o.Proofs = append(o.Proofs, r["correlationId"].(string))
	}

	slices.Sort(o.Proofs)
	o.Proofs = slices.Compact(o.Proofs)

	slices.Sort(o.Rows)

	for _, f := range commitcollect.Room().Functions {
		for _, q := range f.Sends {
			bodies := map[string]bool{}
			for _, m := range w.Queues.Messages(q.Name) {
				if strings.Contains(m.Body, `"again"`) { // a revocation that is tried again, and does nothing if it is not needed
					continue
				}

				bodies[m.Body] = true
			}

			o.Messages[q.Name] = slices.Sorted(maps.Keys(bodies))
		}
	}

	return o
}

// job is a use case that writes, in a world that before has prepared.
type job struct {
	fn     app.Function
	before func(*commitcollecttest.World)
	run    func(*commitcollecttest.World, app.Env) error
}

// prepare prepares a world for the job, and returns when it begins: later than all that is stored.
func (j job) prepare(w *commitcollecttest.World) (began time.Time) {
	w.T.Helper()
	j.before(w)

	began = w.Clock.Now().Add(time.Second)
	w.MoveClock(began)

	return began
}

// ran uploads a run of 25 km on the day before, and stores it.
func ran(w *commitcollecttest.World) int64 {
	w.T.Helper()
	run := w.Upload(77, "Run", noon.Add(-24*time.Hour), 25_000)
	ingest(w, eventOf("create", run, noon))

	return run
}

// goal starts a milestone of 30 km in three parts, and returns its id.
func goal(w *commitcollecttest.World, env app.Env) (string, error) {
	in := &milestone.CreateMilestone{User: user("ann"), Key: idem.Key{IdempotencyKey: "first"}}
	in.Body.ModelID, in.Body.Sport, in.Body.TargetType, in.Body.TotalTarget, in.Body.Start = "trike", tally.Run, tally.Distance,
		30_000, noon.AddDate(0, -1, 0).Unix()

	out, err := testkit.OpenWith(w.World, env, milestone.Open).CreateMilestone(w.NewContext(), in)
	if err != nil {
		return "", err
	}

	return out.Body.MilestoneID, nil
}

// reached prepares a milestone of which a stored workout earns two parts, and returns its
// id.
func reached(w *commitcollecttest.World) string {
	w.T.Helper()
	id, err := goal(w, w.Env(milestone.CreateMilestoneFunction()))
	testkit.Must(w.T, err)
	ran(w)

	return id
}

// shared prepares a milestone with a public picture.
func shared(w *commitcollecttest.World) {
	w.T.Helper()
	reached(w)

	s := testkit.Open(w.World, milestone.PutShareFunction(), milestone.Open)
	_, err := s.PutShare(w.NewContext(), &milestone.PutShare{User: user("ann"), ID: theMilestone(w)})
	testkit.Must(w.T, err)
}

// expiring prepares a stage that keeps workouts for seven days, in which a stored workout is older, and an open milestone
// counts it. The whole history was fetched at noon.
func expiring(w *commitcollecttest.World) {
	w.T.Helper()

	w.Settings[link.RetentionDays] = "7"
	id := reached(w)
	ingest(w, eventOf("create", w.Upload(77, "Run", noon.AddDate(0, 0, -9), 4_000), noon))
	testkit.Must(w.T, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))

	m := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
	delete(m, "countsAnewAtUtc")
	testkit.PutRows(w.World, tables.Main, m)
	change(w, "STRAVA#CONNECTION", stored{"fetchedAtUtc": noon.Unix(), "wholeAtUtc": noon.Unix()})
	dropWaiting(w)
}

// inCarried prepares what expiring does, with the older workout carried forward, and returns its id.
func inCarried(w *commitcollecttest.World) int64 {
	w.T.Helper()
	expiring(w)

	old := w.Strava.Activities(77)[1].ID
	carried(w, tally.Carried{To: noon.AddDate(0, 0, -7).Unix(), Sum: 4000, Counted: 1, LastID: fmt.Sprint(old), SeenAt: noon.Unix()})

	return old
}

// carried has the milestone of ann have carried workouts forward.
func carried(w *commitcollecttest.World, c tally.Carried) {
	w.T.Helper()
	change(w, "MILESTONE#"+theMilestone(w), stored{"carried": c})
}

// change changes attributes of an item of ann.
func change(w *commitcollecttest.World, sk string, attributes stored) {
	w.T.Helper()

	r := testkit.Row[stored](w.World, tables.Main, "USER#ann", sk)
	maps.Copy(r, attributes)
	testkit.PutRows(w.World, tables.Main, r)
}

// expire has the workouts of ann expire.
func expire(w *commitcollecttest.World, env app.Env) error {
	return testkit.OpenWith(w.World, env, milestone.Open).EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann", Expire: true})
}

// evaluate computes the milestones of ann.
func evaluate(w *commitcollecttest.World, env app.Env) error {
	return testkit.OpenWith(w.World, env, milestone.Open).EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann"})
}

// countAnew has the milestones of ann count anew.
func countAnew(w *commitcollecttest.World, env app.Env) error {
	return testkit.OpenWith(w.World, env, milestone.Open).EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann", Anew: true})
}

// countEBikes has rides on e-bikes count for ann.
func countEBikes(w *commitcollecttest.World, env app.Env) error {
	return prefer(w, env, &tally.Choice{EBike: true})
}

// prefer has ann choose miles, and what counts.
func prefer(w *commitcollecttest.World, env app.Env, counts *tally.Choice) error {
	in := &profile.UpdatePreferences{User: user("ann")}
	in.Body.Units, in.Body.Counts = "mi", counts
	_, err := testkit.OpenWith(w.World, env, profile.Open).UpdatePreferences(w.NewContext(), in)

	return err
}

// set gives the milestone of ann a status.
func set(status string) func(*commitcollecttest.World, app.Env) error {
	return func(w *commitcollecttest.World, env app.Env) error {
		in := &milestone.UpdateMilestone{}
		in.Body.Status = status

		return update(w, env, in)
	}
}

// setTotal gives the milestone of ann another total.
func setTotal(w *commitcollecttest.World, env app.Env) error {
	in := &milestone.UpdateMilestone{}
	in.Body.TotalTarget = 40_000

	return update(w, env, in)
}

// update changes the milestone of ann.
func update(w *commitcollecttest.World, env app.Env, in *milestone.UpdateMilestone) error {
	in.User, in.ID = user("ann"), theMilestone(w)
	_, err := testkit.OpenWith(w.World, env, milestone.Open).UpdateMilestone(w.NewContext(), in)

	return err
}

// started prepares a milestone without workouts.
func started(w *commitcollecttest.World) {
	w.T.Helper()
	_, err := goal(w, w.Env(milestone.CreateMilestoneFunction()))
	testkit.Must(w.T, err)
	dropWaiting(w)
}

// theMilestone returns the id of the only milestone.
func theMilestone(w *commitcollecttest.World) string {
	for _, r := range testkit.Rows[stored](w.World, tables.Main) {
		if r["entityType"] == "Milestone" {
			return r["milestoneId"].(string)
		}
	}

	w.T.Fatal("there is no milestone")

	return ""
}

// handling handles an event that before returns.
func handling(before func(*commitcollecttest.World) workout.Event) job {
	var events sync.Map // by world

	return job{workout.IngestEventsFunction(), func(w *commitcollecttest.World) { events.Store(w, before(w)) },
		func(w *commitcollecttest.World, env app.Env) error {
			e, _ := events.Load(w)
			return testkit.OpenWith(w.World, env, workout.OpenIngester).IngestEvent(w.NewContext(), e.(workout.Event))
		}}
}

func nothing(*commitcollecttest.World) {}

// fetching fetches the history of ann from a page on, in a world that before has prepared. One workout is gone at Strava.
func fetching(page int, before func(*commitcollecttest.World)) job {
	return job{workout.BackfillFunction(), func(w *commitcollecttest.World) {
		w.Strava.Delete(ran(w))
		w.Upload(77, "Run", noon.Add(-2*time.Hour), 1000)
		w.Upload(77, "Run", noon.AddDate(0, -2, 0), 1000)
		before(w)
	}, func(w *commitcollecttest.World, env app.Env) error {
		return testkit.OpenWith(w.World, env, workout.OpenIngester).Backfill(w.NewContext(), link.Backfill{
			UserID: "ann", Whole: true, Page: page, After: noon.AddDate(0, -3, 0).Unix(), Began: noon.Add(time.Second).Unix(), // as the job
			Wait: sdk.Wait{Since: noon.Unix()},
		})
	}}
}

// aModel writes a model of one part that is not active.
func aModel(w *commitcollecttest.World, env app.Env) error {
	in := &model.PutModel{ID: "kite"}
	in.Body.Name, in.Body.Year, in.Body.PartsTotal = "Kite", 2026, 1
	_, err := testkit.OpenWith(w.World, env, model.Open).PutModel(w.NewContext(), in)

	return err
}

func aPart(w *commitcollecttest.World, env app.Env) error {
	in := &model.PutPart{ID: "kite", N: 1}
	in.Body.PartName, in.Body.MeshFile, in.Body.AttachPoint, in.Body.DisplayOrder = "Tail", "a.glb", "a", 1
	_, err := testkit.OpenWith(w.World, env, model.Open).PutPart(w.NewContext(), in)

	return err
}

func subscribe(w *commitcollecttest.World, env app.Env) error {
	_, err := testkit.OpenWith(w.World, env, workout.OpenSubscriptions).CreateSubscription(w.NewContext(), &workout.CreateSubscription{})
	return err
}

var ofAnn = push.Registration(strings.Repeat("a1", 32))

func register(w *commitcollecttest.World, env app.Env) error {
	in := &device.RegisterDevice{User: user("ann")}
	in.Body.DeviceToken = ofAnn
	_, err := testkit.OpenWith(w.World, env, notice.OpenDevices).RegisterDevice(w.NewContext(), in)

	return err
}

// leaving prepares workouts of the athlete of ann, and returns the message that is sent before another one is connected.
func leaving(w *commitcollecttest.World) link.Purge {
	w.T.Helper()
	seedWorkouts(w, "ann", 40)
	ran(w)

	token := connection(w, "ann")["refreshToken"].(string)

	return link.Purge{UserID: "ann", Fetch: true, Token: token, AthleteID: 77, Since: noon.Unix()}
}

// purging handles a purge that before returns.
func purging(before func(*commitcollecttest.World) link.Purge) job {
	var purges sync.Map // by world

	return job{workout.PurgeWorkoutsFunction(), func(w *commitcollecttest.World) { purges.Store(w, before(w)) },
		func(w *commitcollecttest.World, env app.Env) error {
			m, _ := purges.Load(w)
			return testkit.OpenWith(w.World, env, workout.OpenPurger).PurgeWorkouts(w.NewContext(), m.(link.Purge))
		}}
}

// settles handles a message that workouts of ann are settled at a time.
func settles(at time.Time) job {
	return job{milestone.SettleMilestonesFunction(), nothing, func(w *commitcollecttest.World, env app.Env) error {
		return testkit.OpenWith(w.World, env, milestone.Open).SettleMilestones(w.NewContext(),
			milestone.Settling{UserID: "ann", DueAt: at.Unix()})
	}}
}

// putWorkouts uploads workouts of a phone, more than one transaction writes.
func putWorkouts(w *commitcollecttest.World, env app.Env) error {
	in := &upload.PutWorkouts{User: user("ann")}
	for n := range 31 {
		in.Body.Workouts = append(in.Body.Workouts, upload.Workout{
			ID:        fmt.Sprint("run-", n),
			App:       "HEALTHKIT",
			Sport:     "Run",
			StartedAt: noon.Add(-time.Duration(n+1) * time.Hour).Unix(),
			Distance:  1000,
			Elapsed:   300,
			Moving:    300,
			Revision:  1,
		})
	}

	_, err := testkit.OpenWith(w.World, env, upload.Open).PutWorkouts(w.NewContext(), in)

	return err
}

// jobs are the use cases that write.
var jobs = map[string]job{
	"a workout is stored": handling(func(w *commitcollecttest.World) workout.Event {
		return eventOf("create", w.Upload(77, "Run", noon.Add(-time.Hour), 25_000), noon)
	}),
	"a workout moves to another month": handling(func(w *commitcollecttest.World) workout.Event {
		run := ran(w)
		w.Strava.Edit(run, nil, func(a *strava.Activity) { a.StartDate = noon.AddDate(0, -2, 0) })

		return eventOf("update", run, noon.Add(time.Minute))
	}),
	"a workout is deleted": handling(func(w *commitcollecttest.World) workout.Event {
		return eventOf("delete", ran(w), noon.Add(time.Minute))
	}),
	"an activity is not found yet": handling(func(*commitcollecttest.World) workout.Event { return eventOf("create", 5, noon) }),
	"an access is revoked": handling(func(w *commitcollecttest.World) workout.Event {
		ran(w)
		w.Strava.Revoke(77)

		e := eventOf("update", 77, noon.Add(time.Minute))
		e.ObjectType, e.Updates = "athlete", map[string]string{"authorized": "false"}

		return e
	}),
	"the history is fetched":                      fetching(1, nothing),
	"the history is fetched on from a later page": fetching(2, nothing), // by a message of before
	"a fetch of the history waits after a page": fetching(1, func(w *commitcollecttest.World) {
		w.Outage = func(out http.ResponseWriter, r *http.Request) bool {
			down := r.URL.Query().Get("page") == "2"
			if down {
				out.WriteHeader(http.StatusServiceUnavailable)
			}

			return down
		}
	}),
	"users are synced in the night": {workout.ReconcileFunction(), func(w *commitcollecttest.World) {
		testkit.PutRows(w.World, tables.Main, stored{"PK": "STRAVA#CONNECTED#3", "SK": "USER#bob", "userId": "bob"},
			stored{"PK": "STRAVA#CONNECTED#4", "SK": "USER#cat", "userId": "cat", "brokenAtUtc": 1})
		w.Settings[link.RetentionDays] = "7"
		w.MoveClock(w.Clock.Now().Truncate(24 * time.Hour).Add(27 * time.Hour))
	}, func(w *commitcollecttest.World, env app.Env) error {
		return testkit.OpenWith(w.World, env, workout.OpenReconciler).Reconcile(w.NewContext())
	}},
	"workouts are purged": {workout.PurgeWorkoutsFunction(), func(w *commitcollecttest.World) {
		seedWorkouts(w, "ann", 60)
		testkit.Must(w.T, w.DeleteRow(tables.Main, "USER#ann", "STRAVA#CONNECTION"))
	}, func(w *commitcollecttest.World, env app.Env) error {
		return testkit.OpenWith(w.World, env, workout.OpenPurger).PurgeWorkouts(w.NewContext(), link.Purge{UserID: "ann"})
	}},
	"workouts of another athlete are purged": purging(func(w *commitcollecttest.World) link.Purge {
		m := leaving(w)
		change(w, "STRAVA#CONNECTION", stored{"athleteId": 99})
		testkit.Must(w.T, w.DeleteRow(tables.Main, "STRAVA#ATHLETE#77", "OWNER"))

		return m
	}),
	"workouts of another athlete are purged, by a message of before": purging(func(w *commitcollecttest.World) link.Purge {
		leaving(w)
		change(w, "STRAVA#CONNECTION", stored{"athleteId": 99})

		return link.Purge{UserID: "ann", Fetch: true}
	}),
	"another athlete was refused": purging(leaving),
	"workouts are carried forward": {milestone.EvaluateMilestonesFunction(), expiring, func(w *commitcollecttest.World, env app.Env) error {
		err := expire(w, env)

		m := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w))
		if err == nil && (m.Carried == nil || m.Carried.Sum != 4000) {
			err = fmt.Errorf("%+v is carried", m.Carried)
		}

		return err
	}},
	"an outage was longer than the days": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		expiring(w)
		change(w, "STRAVA#CONNECTION", stored{"fetchedAtUtc": 0, "wholeAtUtc": 0})
	}, expire},
	"workouts expire whose history is not known": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		expiring(w)
		change(w, "STRAVA#CONNECTION", stored{"wholeAtUtc": noon.AddDate(0, 0, -9).Unix()})
		change(w, "MILESTONE#"+theMilestone(w), stored{"countsAnewAtUtc": noon.AddDate(0, 0, -8).Unix()})
	}, expire},
	"a milestone is held": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		reached(w)
		change(w, "STRAVA#CONNECTION", stored{"connectedAtUtc": noon.AddDate(0, -1, 0).Unix()})
		change(w, "MILESTONE#"+theMilestone(w), stored{
			"createdAtUtc": noon.AddDate(0, -1, 0).Unix(), "periodEndDay": noon.AddDate(0, 0, -10).Format(time.DateOnly),
		})
	}, evaluate},
	"milestones count anew": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) { inCarried(w) }, countAnew},
	"milestones count anew in a stage that keeps all": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		inCarried(w)
		delete(w.Settings, link.RetentionDays)
	}, countAnew},
	"a workout that is carried moves": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		old := inCarried(w)
		w.MoveClock(noon.Add(time.Minute))
		w.Strava.Edit(old, nil, func(a *strava.Activity) { a.StartDate = noon.Add(-2 * time.Hour) })
		ingest(w, eventOf("update", old, noon.Add(time.Minute)))
	}, evaluate},
	"workouts that are carried are deleted": {workout.PurgeWorkoutsFunction(), func(w *commitcollecttest.World) {
		expiring(w)
		seedWorkouts(w, "ann", 40)
		carried(w, tally.Carried{To: noon.Add(-4 * time.Hour).Unix()})
	}, func(w *commitcollecttest.World, env app.Env) error {
		return testkit.OpenWith(w.World, env, workout.OpenPurger).PurgeWorkouts(w.NewContext(),
			link.Purge{UserID: "ann", Before: noon.Add(-4 * time.Hour).Unix(), Stored: noon.AddDate(0, 0, -7).Unix()})
	}},
	"an access ends at Strava": {workout.PurgeWorkoutsFunction(), func(w *commitcollecttest.World) {
		silence(w)
		testkit.Must(w.T, w.DeleteRow(tables.Main, "STRAVA#ATHLETE#77", "OWNER"))
	}, func(w *commitcollecttest.World, env app.Env) error {
		c := connection(w, "ann")
		return testkit.OpenWith(w.World, env, workout.OpenPurger).PurgeWorkouts(w.NewContext(),
			link.Purge{UserID: "ann", Token: c["refreshToken"].(string), AthleteID: 77, Since: noon.Unix()})
	}},
	"a broken connection ends": {workout.PurgeWorkoutsFunction(), func(w *commitcollecttest.World) {
		ran(w)
		c := connection(w, "ann")
		c["status"] = link.Broken
		testkit.PutRows(w.World, tables.Main, c)
	}, func(w *commitcollecttest.World, env app.Env) error {
		return testkit.OpenWith(w.World, env, workout.OpenPurger).PurgeWorkouts(w.NewContext(), link.Purge{UserID: "ann", Broken: true})
	}},
	"a connection breaks": handling(func(w *commitcollecttest.World) workout.Event {
		run := w.Upload(77, "Run", noon.Add(-time.Hour), 1000)
		w.Strava.Revoke(77)

		return eventOf("create", run, noon)
	}),
	"an event waits for Strava":   failing(http.StatusServiceUnavailable, `{}`, noon),
	"an event is given up":        failing(http.StatusServiceUnavailable, `{}`, noon.AddDate(0, 0, -2)),
	"the application is inactive": failing(http.StatusForbidden, inactiveBody, noon),
	"a backfill is given up":      givenUp,
	"a milestone starts": {milestone.CreateMilestoneFunction(), nothing, func(w *commitcollecttest.World, env app.Env) error {
		_, err := goal(w, env)
		return err
	}},
	"a milestone of an earlier year starts": {milestone.CreateMilestoneFunction(), nothing,
		func(w *commitcollecttest.World, env app.Env) error {
			return earlier(w, testkit.OpenWith(w.World, env, milestone.Open))
		}},
	"parts are minted": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) { reached(w) }, evaluate},
	"parts are minted on request": {milestone.RecomputeMilestoneFunction(), func(w *commitcollecttest.World) { reached(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, milestone.Open).RecomputeMilestone(w.NewContext(),
				&milestone.RecomputeMilestone{User: user("ann"), ID: theMilestone(w)})
			return err
		}},
	"a milestone is abandoned": {milestone.UpdateMilestoneFunction(), func(w *commitcollecttest.World) { reached(w) }, set("ABANDONED")},
	"a goal changes":           {milestone.UpdateMilestoneFunction(), started, setTotal},
	"a goal changes whose workouts are carried": {milestone.UpdateMilestoneFunction(), func(w *commitcollecttest.World) {
		started(w)
		w.Settings[link.RetentionDays] = "7"
		carried(w, tally.Carried{To: noon.AddDate(0, 0, -7).Unix(), Sum: 4000, Counted: 1})
	}, setTotal},
	"workouts settle later": settles(noon.Add(time.Hour)),
	"workouts have settled": settles(noon),
	"workouts are uploaded": {upload.PutWorkoutsFunction(), nothing, putWorkouts},
	"an upload is removed": {upload.DeleteWorkoutFunction(), func(w *commitcollecttest.World) {
		testkit.Must(w.T, putWorkouts(w, w.Env(upload.PutWorkoutsFunction())))
	}, func(w *commitcollecttest.World, env app.Env) error {
		in := &upload.DeleteWorkout{User: user("ann"), ID: "run-0"}
		_, err := testkit.OpenWith(w.World, env, upload.Open).DeleteWorkout(w.NewContext(), in)

		return err
	}},
	"a milestone is paused": {milestone.UpdateMilestoneFunction(), func(w *commitcollecttest.World) { reached(w) }, set("PAUSED")},
	"a milestone goes on": {milestone.UpdateMilestoneFunction(), func(w *commitcollecttest.World) {
		reached(w)
		testkit.Must(w.T, set("PAUSED")(w, w.Env(milestone.UpdateMilestoneFunction())))
	}, set("ACTIVE")},
	"preferences change": {profile.UpdatePreferencesFunction(), nothing, countEBikes},
	"preferences have changed": {milestone.EvaluateMilestonesFunction(), func(w *commitcollecttest.World) {
		inCarried(w)
		testkit.Must(w.T, countEBikes(w, w.Env(profile.UpdatePreferencesFunction())))
	}, evaluate},
	"Strava is disconnected": {link.DisconnectStravaFunction(), func(w *commitcollecttest.World) { ran(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, link.Open).DisconnectStrava(w.NewContext(), &link.DisconnectStrava{User: user("ann")})
			return err
		}},
	"the deletion of an account is requested": {userdata.DeleteAccountFunction(), nothing, func(w *commitcollecttest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, userdata.OpenDeleter).DeleteAccount(w.NewContext(), &userdata.DeleteAccount{User: user("ann")})
		return err
	}},
	"a user is exported": {userdata.ExportUserFunction(), func(w *commitcollecttest.World) { ran(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			return testkit.OpenWith(w.World, env, userdata.Open).ExportUser(w.NewContext(), account.Request{Job: "J", UserID: "ann"})
		}},
	"a user takes the own export": {userdata.GetExportFunction(), func(w *commitcollecttest.World) { ran(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			out, err := testkit.OpenWith(w.World, env, userdata.Open).GetExport(w.NewContext(), &userdata.GetExport{User: user("ann")})
			if err == nil && out.Body.URL == "" {
				err = errors.New("it is being made")
			}

			return err
		}},
	"a model is written": {model.PutModelFunction(), nothing, aModel},
	"a part is written": {model.PutPartFunction(),
		func(w *commitcollecttest.World) { testkit.Must(w.T, aModel(w, w.Env(model.PutModelFunction()))) }, aPart},
	"a milestone is deleted": {milestone.DeleteMilestoneFunction(), func(w *commitcollecttest.World) {
		reached(w)
		testkit.Must(w.T, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
	}, func(w *commitcollecttest.World, env app.Env) error {
		in := &milestone.DeleteMilestone{User: user("ann")}
		for _, id := range listedOf(w) { // it stays in the list
			in.ID = id
		}

		_, err := testkit.OpenWith(w.World, env, milestone.Open).DeleteMilestone(w.NewContext(), in)

		return err
	}},
	"a picture is shared": {milestone.PutShareFunction(), func(w *commitcollecttest.World) { reached(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, milestone.Open).
				PutShare(w.NewContext(), &milestone.PutShare{User: user("ann"), ID: theMilestone(w)})
			return err
		}},
	"a picture is ended": {milestone.EndShareFunction(), func(w *commitcollecttest.World) { shared(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, milestone.Open).
				EndShare(w.NewContext(), &milestone.EndShare{User: user("ann"), ID: theMilestone(w)})
			return err
		}},
	"a milestone with a picture is deleted": {milestone.DeleteMilestoneFunction(), func(w *commitcollecttest.World) { shared(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			in := &milestone.DeleteMilestone{User: user("ann")}
			for _, id := range listedOf(w) {
				in.ID = id
			}

			_, err := testkit.OpenWith(w.World, env, milestone.Open).DeleteMilestone(w.NewContext(), in)

			return err
		}},
	"a model is activated": {model.ActivateModelFunction(), func(w *commitcollecttest.World) {
		testkit.Must(w.T, aModel(w, w.Env(model.PutModelFunction())))
		testkit.Must(w.T, aPart(w, w.Env(model.PutPartFunction())))
	}, func(w *commitcollecttest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, model.Open).ActivateModel(w.NewContext(), &model.ActivateModel{ID: "kite"})
		return err
	}},
	"a model is retired": {model.RetireModelFunction(), nothing, func(w *commitcollecttest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, model.Open).RetireModel(w.NewContext(), &model.RetireModel{ID: "trike"})
		return err
	}},
	"the subscription is created": {workout.CreateSubscriptionFunction(), nothing, subscribe},
	"the subscription is deleted": {workout.DeleteSubscriptionFunction(), func(w *commitcollecttest.World) {
		testkit.Must(w.T, subscribe(w, w.Env(workout.CreateSubscriptionFunction())))
	}, func(w *commitcollecttest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, workout.OpenSubscriptions).DeleteSubscription(w.NewContext(), &workout.DeleteSubscription{})
		return err
	}},
	"an event is replayed": {workout.ReplayEventFunction(), func(w *commitcollecttest.World) { ran(w) },
		func(w *commitcollecttest.World, env app.Env) error {
			key := testkit.Rows[stored](w.World, tables.Idempotency)[0]["IdempotencyKey"].(string)
			_, err := testkit.OpenWith(w.World, env, workout.Open).ReplayEvent(w.NewContext(), &workout.ReplayEvent{Key: key})

			return err
		}},
	"a phone is registered": {notice.RegisterDeviceFunction(), nothing, register},
	"a phone is forgotten": {notice.DeleteDeviceFunction(), func(w *commitcollecttest.World) {
		testkit.Must(w.T, register(w, w.Env(notice.RegisterDeviceFunction())))
	}, func(w *commitcollecttest.World, env app.Env) error {
		in := &device.DeleteDevice{User: user("ann"), DeviceID: ofAnn.ID()}

		_, err := testkit.OpenWith(w.World, env, notice.OpenDevices).DeleteDevice(w.NewContext(), in)
		if errors.Is(err, device.ErrNoDevice) { // a second run
			return nil
		}

		return err
	}},
}

// again lets the time pass after which SQS delivers a message again.
func again(w *commitcollecttest.World) {
	w.MoveClock(w.Clock.Now().Add(workout.IngestEventsFunction().VisibilityTimeout()))
}

// readers are the jobs of which most calls are reads: TestFailedCallsAreReported is enough.
var readers = []string{"users are synced in the night", "parts are minted on request"}

// TestFailedCallsAreReported: a job repeats until no call fails, and leaves what one does of
// which none has failed.
func TestFailedCallsAreReported(t *testing.T) {
	t.Parallel()

	for _, name := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			j := jobs[name]
			whole, w := small(t), small(t)
			began := j.prepare(whole)
			testkit.Must(t, j.run(whole, whole.Env(j.fn)))
			j.prepare(w)
			dynamotest.CheckFailures(t, &w.IO, func() error { return j.run(w, w.Env(j.fn)) }, "TransactWriteItems *CommitCollectAudit")
			w.Logs.TakeWarnings()
			same(t, "the outcome", outcomeOf(w, began), outcomeOf(whole, began))
		})
	}
}

// TestCrashes: a use case that crashes at any of its calls, and then runs again, leaves the
// same as one that does not crash. A call that fails is reported, unless what it is for may
// be lost: an entry of the trail, and the end of the access at Strava, which may be down.
// A message whose call to Strava fails waits.
func TestCrashes(t *testing.T) {
	t.Parallel()

	for name, j := range jobs {
		if slices.Contains(readers, name) {
			continue
		}

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w := small(t)
				began := j.prepare(w)

				spared := []string{"TransactWriteItems *CommitCollectAudit", "/oauth/revoke"}

				waits := slices.Contains([]string{workout.IngestEventsFunction().Name, workout.BackfillFunction().Name}, j.fn.Name)
				if waits {
					spared = append(spared, callsOfStrava...)
				}

				repeat := p.Ended(j.run(w, w.CrashingEnv(j.fn, p)), spared...)
				if waits && slices.ContainsFunc(callsOfStrava, func(c string) bool { return isMatch(c, p.Spared()) }) {
					dropWaiting(w) // the message was sent again: it is that of the second run

					repeat = true
				}

				if repeat {
					again(w)

					if err := j.run(w, w.Env(j.fn)); err != nil {
						t.Errorf("the second run returned %v", err)
					}
				}

				w.Logs.TakeWarnings()

				if j.fn.Name == workout.IngestEventsFunction().Name { // the user of an event that has failed is to be fetched
					return outcomeOf(w, began, "suspectAtUtc")
				}

				return outcomeOf(w, began)
			})
		})
	}
}

// TestSecondRunChangesNothing: a job that runs again, long after a complete run, leaves the
// same rows and sends the same messages.
func TestSecondRunChangesNothing(t *testing.T) {
	t.Parallel()

	for name, j := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			began := j.prepare(w)
			testkit.Must(t, j.run(w, w.Env(j.fn)))
			first := outcomeOf(w, began)
			again(w)
			testkit.Must(t, j.run(w, w.Env(j.fn)))
			same(t, "the outcome", outcomeOf(w, began), first)
		})
	}
}
