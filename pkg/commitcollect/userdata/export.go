package userdata

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Times of exports.
const (
	freshExport = 24 * time.Hour   // for which no other is made
	makeExport  = 25 * time.Second // the longest that one may take to be made
	linkValid   = time.Hour
)

// exports is where the documents of users are. A user has one, which the next replaces, so that a
// deletion of the account finds it.
var exports = account.Exports.On("rooms/"+room+"/", spec.PutObject, spec.GetObject)

func exportKey(userID string) string { return exports.Prefix + userID + ".json" }

// exportRow is the latest export of a user.
type exportRow struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	EntityType string `dynamodbav:"entityType"`
	StartedAt  int64  `dynamodbav:"startedAtUtc"` // epoch s
	Done       bool   `dynamodbav:"done"`
}

// GetExport is the request for all that the room keeps of the caller.
type GetExport struct{ auth.User }

// ExportPage is the answer with an export.
type ExportPage struct {
	Status     int
	RetryAfter string `header:"Retry-After"`
	Body       struct {
		StartedAt time.Time `json:"startedAt" doc:"When the document was made. A new one is made after a day."`
		URL       string    `json:"url,omitempty" doc:"Downloads the document for an hour, without a session. Absent while it is made: ask again."`
	}
}

// GetExportFunction returns a link to all that the room keeps of the caller.
func GetExportFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/get-export",
		Does:    "Returns a link to all that is kept of the caller in this room.",
		IfDown:  "Users cannot export their data here.",
		On:      spec.Route{Method: "GET", Path: "/account/export", Auth: spec.Session, Answers: []int{200, 202}},
		Uses:    signin.Caller(tables.Export, tables.ReadUser, tables.Phones.List, tables.ReadTrail),
		Objects: []spec.ObjectAccess{exports},
		Memory:  1024, Timeout: makeExport + 2*time.Second,
	}, Open, (*Service).GetExport, account.ErrDeleted)
}

// GetExport returns a link to the caller's export if there is one of the last day. Otherwise it makes
// one, which takes seconds; a request in the meantime gets 202. So a user has one made a day, and if that
// fails one at a time. What the other rooms keep of a user is in the export of the accounts room.
func (s *Service) GetExport(ctx context.Context, in *GetExport) (*ExportPage, error) {
	a, pk := tables.Export, item.User(in.UserID)

	last, _, err := dynamo.Get[exportRow](ctx, s.db, a, pk, item.Export)
	if err != nil {
		return nil, err
	}

	now := s.Now()
	age := now.Sub(time.Unix(last.StartedAt, 0))

	switch {
	case last.Done && age < freshExport:
		return s.exported(ctx, in.UserID, last)
	case !last.Done && age < makeExport:
		return making(last), nil
	}

	next := exportRow{pk, item.Export, "Export", now.Unix(), false}
	if claimed, err := dynamo.Applied(dynamo.Put(ctx, s.db, a, next, last.unchanged())); err != nil || !claimed {
		return making(next), err
	}

	ctx, cancel := context.WithTimeout(ctx, makeExport) // afterwards another request makes it
	defer cancel()

	document, err := s.document(ctx, in.UserID)
	if err != nil {
		return nil, err
	}

	if err := s.files.Put(ctx, exportKey(in.UserID), document); err != nil {
		return nil, err
	}

	next.Done = true
	if err := dynamo.Update(ctx, s.db, a, dynamo.Key(a, pk, item.Export), dynamo.Set(next, "done"),
		dynamo.Unchanged(next, "startedAtUtc")); dynamo.IgnoreRefused(err) != nil {
		return nil, err
	}

	return s.exported(ctx, in.UserID, next)
}

// unchanged holds if the row is as it was read, or if there was none, and is none.
func (r exportRow) unchanged() expression.ConditionBuilder {
	if r.PK == "" {
		return dynamo.Absent[exportRow]("PK")
	}

	return dynamo.Unchanged(r, "startedAtUtc", "done")
}

// exported is the answer with an export.
func (s *Service) exported(ctx context.Context, userID string, r exportRow) (out *ExportPage, err error) {
	out = &ExportPage{Status: http.StatusOK}
	out.Body.StartedAt = time.Unix(r.StartedAt, 0).UTC()
	out.Body.URL, err = s.files.Link(ctx, exportKey(userID), room+".json", linkValid)

	return out, err
}

// making is the answer while an export is made.
func making(r exportRow) *ExportPage {
	out := &ExportPage{Status: http.StatusAccepted, RetryAfter: "10"}
	out.Body.StartedAt = time.Unix(r.StartedAt, 0).UTC()

	return out
}
