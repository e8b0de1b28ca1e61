package accounts

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

const (
	// settle is how long a room waits before it deletes a user's rows: until what the
	// user's last requests have written is in the indexes.
	settle = time.Minute
	// keepTombstone is how long a tombstone outlives the account. Access tokens are valid
	// for 15 minutes.
	keepTombstone = 48 * time.Hour

	freshExport = 24 * time.Hour // for which no other is made
	// keepEarlier is how many jobs of exports are known by the next one: one a day, until
	// their files have expired. S3 deletes a file up to two days after that.
	keepEarlier = 10
	linkValid   = time.Hour

	overdue = 10 * time.Minute // after which resume-jobs sends requests again
	behind  = time.Hour        // after which a job is counted in jobsBehind
)

// Jobs deletes and exports accounts.
type Jobs struct {
	Service

	keepers []string // the rooms that keep data of users
}

// OpenJobs opens the service of deletions and exports. It returns an error if the environment
// does not name the keepers.
func OpenJobs(ctx context.Context, env app.Env) (*Jobs, error) {
	s, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}

	keepers, err := account.ParseKeepers(env.Setting(spec.EnvKeepers))

	return &Jobs{*s, keepers}, err
}

// DeleteAccount is the request to delete the caller's account.
type DeleteAccount struct{ auth.User }

// DeleteAccountFunction deletes the caller's account. It may send requests to the keepers.
func DeleteAccountFunction(keepers ...string) app.Function {
	return app.API(spec.Function{
		Name:   "accounts/delete-account",
		Does:   "Deletes the caller's account, with all that is kept of the user in all rooms.",
		IfDown: "Users cannot delete their accounts.",
		On:     spec.Route{Method: "DELETE", Path: "/account", Auth: spec.User, Answers: []int{202}},
		Uses:   []spec.Access{startJob, readAccount, account.Bury}, Sends: requestQueues(keepers, account.Forget), Keepers: true,
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenJobs, (*Jobs).DeleteAccount)
}

// DeleteAccount marks the caller as deleted in all rooms at once, and requests that every room
// deletes its rows of the caller. A second run continues the same job.
func (s *Jobs) DeleteAccount(ctx context.Context, in *DeleteAccount) (*Page, error) {
	at, err := s.delete(ctx, in.UserID)
	if err != nil {
		return nil, err
	}

	out := &Page{Status: http.StatusAccepted}
	out.Body.UserID, out.Body.DeletedAt = in.UserID, &at

	return out, nil
}

// DeleteUserFunction deletes the account of a user who has asked for it in a room with sessions.
// It may send requests to the keepers.
func DeleteUserFunction(keepers ...string) app.Function {
	return app.Queue(spec.Function{
		Name:   "accounts/delete-user",
		Does:   "Deletes the account of a user who has asked for it in a room with sessions.",
		IfDown: "A deletion that was requested in such a room does not begin.",
		On:     account.DeleteQueue,
		Uses:   []spec.Access{startJob, readAccount, account.Bury}, Sends: requestQueues(keepers, account.Forget), Keepers: true,
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenJobs, (*Jobs).DeleteUser)
}

// DeleteUser is DeleteAccount for a user of a room with sessions. A second run continues
// the same job.
func (s *Jobs) DeleteUser(ctx context.Context, m account.Deletion) error {
	_, err := s.delete(ctx, m.UserID)
	return err
}

// delete starts or continues the deletion of a user, and returns when it was started.
func (s *Jobs) delete(ctx context.Context, userID string) (at time.Time, err error) {
	job := s.newJob(userID, account.Forget)

	err = dynamo.Put(ctx, s.db, startJob, job, dynamo.Absent[item]("userId"))
	if err := dynamo.IgnoreRefused(err); err != nil {
		return at, err
	}

	if err := account.PutTombstone(ctx, s.db, userID, parse(job.StartedAt)); err != nil {
		return at, err
	}

	items, err := dynamo.QueryAll[item](ctx, s.db, readAccount, ofUser(userID))
	if err != nil {
		return at, err
	}

	if i := slices.IndexFunc(items, func(i item) bool { return i.Item == job.Item }); i >= 0 { // else the job has just ended
		job = items[i]
		if err := s.request(ctx, job, s.missing(job, items)); err != nil {
			return at, err
		}
	}

	return parse(job.StartedAt), nil
}

func (s *Jobs) newJob(userID string, k account.Kind) item {
	return item{UserID: userID, Item: string(k), Job: rand.Text(), Open: isOpen, StartedAt: format(s.clock.Now())}
}

// missing returns the keepers that have not done their part of a job. Another room, which was
// asked before the fleet was deployed without it, is not waited for.
func (s *Jobs) missing(job item, items []item) (left []string) {
	for _, room := range s.keepers {
		if !slices.ContainsFunc(items, func(i item) bool { return i.Item == job.Item+"#"+room && i.Job == job.Job }) {
			left = append(left, room)
		}
	}

	return left
}

// request sends a request to the rooms for their parts of a job.
func (s *Jobs) request(ctx context.Context, job item, rooms []string) error {
	delay := time.Duration(0)
	if job.Item == string(account.Forget) {
		delay = settle
	}

	for _, room := range rooms {
		if err := s.queue.Send(ctx, account.Queue(room, account.Kind(job.Item)),
			account.Request{Job: job.Job, UserID: job.UserID}, delay); err != nil {
			return err
		}
	}

	return nil
}

// GetExport is the request for all data of the caller.
type GetExport struct{ auth.User }

// ExportPage is the answer with an export.
type ExportPage struct {
	Status     int
	RetryAfter string `header:"Retry-After"`
	Body       struct {
		StartedAt time.Time `json:"startedAt" doc:"When the export was requested."`
		URL       string    `json:"url,omitempty" doc:"Downloads the document for an hour, without a token. Absent while it is made: ask again."`
	}
}

// GetExportFunction exports the caller's data. It may send requests to the keepers.
func GetExportFunction(keepers ...string) app.Function {
	return app.API(spec.Function{
		Name:   "accounts/get-export",
		Does:   "Returns a link to all that is kept of the caller in all rooms, or begins to collect it.",
		IfDown: "Users cannot export their data.",
		On:     spec.Route{Method: "GET", Path: "/account/export", Auth: spec.User, Answers: []int{200, 202}},
		Uses:   []spec.Access{startJob, readAccount, account.CheckDeleted}, Sends: requestQueues(keepers, account.Export),
		Keepers: true,
		Objects: []spec.ObjectAccess{account.Exports.On("exports/", spec.GetObject)},
		Memory:  256, Timeout: 10 * time.Second,
	}, OpenJobs, (*Jobs).GetExport)
}

// GetExport returns a link to the caller's export if there is one of the last day.
// Otherwise it starts one and answers 202.
func (s *Jobs) GetExport(ctx context.Context, in *GetExport) (*ExportPage, error) {
	items, err := dynamo.QueryAll[item](ctx, s.db, readAccount, ofUser(in.UserID))
	if err != nil {
		return nil, err
	}

	out := &ExportPage{Status: http.StatusOK}

	var last item
	if i := slices.IndexFunc(items, func(i item) bool { return i.Item == string(account.Export) }); i >= 0 {
		last = items[i]
	}

	out.Body.StartedAt = parse(last.StartedAt)
	if last.EndedAt != "" && s.clock.Now().Before(out.Body.StartedAt.Add(freshExport)) {
		out.Body.URL, err = s.files.Link(ctx, exportKey(last), "matchday.json", linkValid)
		return out, err
	}

	if last.Job == "" || last.EndedAt != "" {
		next := s.newJob(in.UserID, account.Export)
		if last.Job != "" {
			next.Earlier = append(last.Earlier, last.Job)
			next.Earlier = next.Earlier[max(0, len(next.Earlier)-keepEarlier):]
		}

		next.TTL = s.clock.Now().Add(keepEarlier * freshExport).Unix()

		err := dynamo.Put(ctx, s.db, startJob, next, dynamo.Unchanged(last, "job"))
		if dynamo.IgnoreRefused(err) != nil { // refused: another request has started one
			return nil, err
		}

		if err == nil {
			last = next
			if err := s.request(ctx, last, s.keepers); err != nil {
				return nil, err
			}
		}

		out.Body.StartedAt = parse(next.StartedAt)
	}

	out.Status, out.RetryAfter = http.StatusAccepted, "10"

	return out, nil
}

// exportKey returns the key of the document of an export.
func exportKey(job item) string { return "exports/" + job.UserID + "/" + job.Job + ".json" }

// FinishJobFunction ends a deletion or an export.
func FinishJobFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "accounts/finish-job",
		Does:   "Records that a room has deleted or exported a user's data, and ends the job when all have.",
		IfDown: "Deletions and exports do not end.",
		On:     account.DoneQueue,
		Uses:   append([]spec.Access{recordPart}, finishes...), Users: []spec.UserOp{spec.AdminDeleteUser, spec.AdminGetUser}, Objects: files,
		Keepers: true,
		Memory:  512, Timeout: 30 * time.Second,
	}, OpenJobs, (*Jobs).FinishJob)
}

// FinishJob records that a room has done its part of a job, and ends the job when all have. It
// ignores messages of jobs that have ended. If the user was deleted meanwhile, it deletes the
// room's part of the export.
func (s *Jobs) FinishJob(ctx context.Context, m account.Done) error {
	job, _, err := s.job(ctx, m.UserID, string(m.Kind))
	if err == nil && job.Job == "" && m.Kind == account.Export {
		return s.files.Delete(ctx, account.PartKey(m.Room, m.Job))
	}

	if err != nil || job.Job != m.Job || job.Open == "" {
		return err
	}

	part := item{UserID: m.UserID, Item: job.Item + "#" + m.Room, Job: job.Job, TTL: job.TTL}

	same := dynamo.CheckWrite(dynamo.Key(recordPart, job.UserID, job.Item), dynamo.Equal[item]("job", job.Job))
	if err := dynamo.Transact(ctx, s.db, recordPart, same, dynamo.PutWrite(part)); err != nil {
		return dynamo.IgnoreRefused(err)
	}

	job, items, err := s.job(ctx, m.UserID, job.Item)
	if err != nil || job.Job != m.Job {
		return err
	}

	return s.end(ctx, job, items)
}

// job reads a job, the zero item if there is none, with all items of the user.
func (s *Jobs) job(ctx context.Context, userID, kind string) (job item, items []item, err error) {
	items, err = dynamo.QueryAll[item](ctx, s.db, readJob, dynamo.Range{Key: dynamo.KeyIs(readJob, userID), Consistent: true})
	if i := slices.IndexFunc(items, func(i item) bool { return i.Item == kind }); i >= 0 {
		job = items[i]
	}

	return job, items, err
}

// end ends a job if all rooms have done their part.
func (s *Jobs) end(ctx context.Context, job item, items []item) error {
	switch {
	case job.Open == "" || len(s.missing(job, items)) > 0:
		return nil
	case job.Item == string(account.Export):
		return s.endExport(ctx, job, items)
	}

	return s.endForget(ctx, job, items)
}

// endExport makes the document of an export, unless the user is being deleted. A deletion
// ends a minute after its start at the earliest (see settle), and finds the document of an
// invocation that has not seen it.
func (s *Jobs) endExport(ctx context.Context, job item, items []item) error {
	if slices.ContainsFunc(items, func(i item) bool { return i.Item == string(account.Forget) }) {
		return nil
	}

	document := map[string]any{"userId": job.UserID, "exportedAt": format(s.clock.Now())}

	var own []map[string]string

	for _, i := range items {
		values := map[string]string{"item": i.Item, "name": i.Name, "createdAt": i.CreatedAt, "startedAt": i.StartedAt}
		maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
		own = append(own, values)
	}

	document[roomName] = own

	if user, ok, err := s.pool.Get(ctx, job.UserID); err != nil {
		return err
	} else if ok {
		document["email"] = user.Email
	}

	for _, room := range s.keepers {
		part, err := s.files.Get(ctx, account.PartKey(room, job.Job))
		if err != nil {
			return err
		}

		document[room] = json.RawMessage(part)
	}

	if err := s.files.Put(ctx, exportKey(job), document); err != nil {
		return err
	}

	job.EndedAt = format(s.clock.Now())
	ended := dynamo.Set(job, "endedAt").Remove("open")

	err := dynamo.Update(ctx, s.db, endJob, dynamo.Key(endJob, job.UserID, job.Item), ended, dynamo.Equal[item]("job", job.Job))
	if dynamo.IsRefused(err) { // the user was deleted meanwhile
		return s.files.Delete(ctx, exportKey(job))
	}

	return err
}

// endForget deletes all exports and the profile of a user, the account, and the job.
func (s *Jobs) endForget(ctx context.Context, job item, items []item) error {
	var (
		first []dynamo.Item
		last  []dynamo.Write // the job with its parts, of which nobody would know without it
	)

	for _, i := range items {
		if strings.HasPrefix(i.Item, job.Item) {
			last = append(last, dynamo.DeleteWrite(dynamo.Key(dropJob, i.UserID, i.Item)))
			continue
		}

		first = append(first, dynamo.Key(dropItems, i.UserID, i.Item))

		if i.Item != string(account.Export) {
			continue
		}

		for _, id := range append(i.Earlier, i.Job) {
			if err := s.deleteFiles(ctx, item{UserID: i.UserID, Job: id}, s.exporters(items)); err != nil {
				return err
			}
		}
	}

	if err := dynamo.DeleteAll(ctx, s.db, dropItems, first); err != nil {
		return err
	}

	if err := s.pool.Remove(ctx, job.UserID); err != nil {
		return err
	}

	tombstone := account.Tombstone{TTL: s.clock.Now().Add(keepTombstone).Unix()}
	if err := dynamo.Update(ctx, s.db, expire, dynamo.Key(expire, job.UserID), dynamo.Set(tombstone, "ttl")); err != nil {
		return err
	}

	return dynamo.Transact(ctx, s.db, dropJob, last...)
}

// exporters returns the rooms that may have handed out data of the user of the items: the
// keepers, and rooms that have confirmed an export before the fleet was deployed without them.
func (s *Jobs) exporters(items []item) []string {
	all := slices.Clone(s.keepers)

	for _, i := range items {
		if room, ok := strings.CutPrefix(i.Item, string(account.Export)+"#"); ok && !slices.Contains(all, room) {
			all = append(all, room)
		}
	}

	return all
}

// deleteFiles deletes the document of an export, and what rooms have handed out for it.
func (s *Jobs) deleteFiles(ctx context.Context, job item, rooms []string) error {
	for _, room := range rooms {
		if err := s.files.Delete(ctx, account.PartKey(room, job.Job)); err != nil {
			return err
		}
	}

	return s.files.Delete(ctx, exportKey(job))
}

// ResumeJobsFunction resumes deletions and exports. It may send requests to the keepers.
func ResumeJobsFunction(keepers ...string) app.Function {
	return app.Job(spec.Function{
		Name:   "accounts/resume-jobs",
		Does:   "Sends the requests of deletions and exports again that were not done in time.",
		IfDown: "A deletion or an export that was interrupted does not end.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses:   append([]spec.Access{openJobs}, finishes...), Users: []spec.UserOp{spec.AdminDeleteUser, spec.AdminGetUser}, Objects: files,
		Sends: requestQueues(keepers, account.Forget, account.Export), Keepers: true, Emits: []spec.Metric{jobsBehind},
		Memory: 512, Timeout: time.Minute,
	}, OpenJobs, (*Jobs).ResumeJobs)
}

// ResumeJobs sends the requests of overdue jobs again, and ends jobs whose parts are all
// done. It counts the jobs that are behind.
func (s *Jobs) ResumeJobs(ctx context.Context) error {
	now := s.clock.Now()

	open, err := dynamo.QueryAll[item](ctx, s.db, openJobs, dynamo.Range{Key: dynamo.KeyAtMost(openJobs, isOpen, format(now.Add(-overdue)))})
	if err != nil {
		return err
	}

	late := 0

	var failed []error

	for _, job := range open {
		if parse(job.StartedAt).Before(now.Add(-behind)) {
			late++
		}

		if err := s.resume(ctx, job); err != nil {
			slog.ErrorContext(ctx, "a job cannot be resumed", "job", job.Job, "kind", job.Item, "err", err)
			failed = append(failed, fmt.Errorf("%s %s: %w", job.Item, job.Job, err))
		}
	}

	if late > 0 { // a metric is billed for each hour in which it is emitted
		telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(jobsBehind, late)})
	}

	return errors.Join(failed...)
}

func (s *Jobs) resume(ctx context.Context, open item) error {
	job, items, err := s.job(ctx, open.UserID, open.Item)
	if err != nil || job.Job != open.Job || job.Open == "" {
		return err
	}

	if job.Item == string(account.Forget) {
		tombstone := account.Tombstone{DeletedAt: job.StartedAt}

		err := dynamo.Update(ctx, s.db, expire, dynamo.Key(expire, job.UserID), dynamo.SetIfAbsent(tombstone, "deletedAt"))
		if err != nil {
			return err
		}
	}

	if err := s.request(ctx, job, s.missing(job, items)); err != nil {
		return err
	}

	return s.end(ctx, job, items)
}
