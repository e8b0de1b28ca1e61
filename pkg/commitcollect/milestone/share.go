package milestone

import (
	"context"
	"crypto/rand"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// ErrNoShare reports a link to a picture that does not exist, or has ended.
var ErrNoShare = problem.New(problem.NotFound, "picture_not_found", "there is no such picture")

// shareRow leads from the id in a link to the milestone. The link is valid while the milestone names it.
type shareRow struct {
	PK          string `dynamodbav:"PK"`
	SK          string `dynamodbav:"SK"`
	EntityType  string `dynamodbav:"entityType"`
	UserID      string `dynamodbav:"userId"`
	MilestoneID string `dynamodbav:"milestoneId"`
}

// PutShare is the request for a public picture of a milestone of the caller.
type PutShare struct {
	auth.User
	ID string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// SharePage is the answer with a public picture.
type SharePage struct {
	Body struct {
		_ struct{} `schema:"SharePageBody"`

		PictureURL string `json:"pictureUrl" doc:"Shows the picture to anybody, until it is ended."`
	}
}

// PutShareFunction gives a milestone of the caller a public picture.
func PutShareFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/put-share",
		Does:   "Gives a milestone of the caller a public picture.",
		IfDown: "Nobody can share a picture of a model.",
		On:     spec.Route{Method: "PUT", Path: "/milestones/{milestoneId}/share", Auth: spec.Session},
		Uses:   signin.Caller(tables.ReadMilestone, tables.PutShare),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutShare, errNotFound)
}

// PutShare gives a milestone a public picture, whatever its state, and returns its address, whose id
// has 130 random bits. A second run returns the same address. Errors: milestone_not_found,
// milestone_version_conflict.
func (s *Service) PutShare(ctx context.Context, in *PutShare) (*SharePage, error) {
	return dynamo.RetryValue(ctx, attempts, func() (*SharePage, error) {
		r, err := s.read(ctx, in.UserID, in.ID)
		if err != nil {
			return nil, err
		}

		if was := r; r.ShareID == "" {
			r.ShareID = rand.Text()
			err = dynamo.Transact(ctx, s.db, tables.PutShare,
				dynamo.PutWrite(shareRow{item.Shelf(r.ShareID), item.Meta, "Share", r.UserID, r.MilestoneID}, dynamo.Absent[shareRow]("PK")),
				dynamo.UpdateWrite(dynamo.Key(tables.PutShare, r.PK, r.SK), dynamo.Set(r, "shareId"), dynamo.Unchanged(was, "milestoneId", "shareId")),
			)
		}

		out := &SharePage{}
		out.Body.PictureURL = s.pictureURL(r)

		return out, err
	})
}

// EndShare is the request to end the public picture of a milestone of the caller.
type EndShare struct {
	auth.User
	ID string `path:"milestoneId" pattern:"^[0-9A-HJKMNP-TV-Z]{26}$" doc:"The id of the milestone."`
}

// EndShareFunction ends the public picture of a milestone of the caller.
func EndShareFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/end-share",
		Does:   "Ends the public picture of a milestone of the caller.",
		IfDown: "Public pictures cannot be ended.",
		On:     spec.Route{Method: "DELETE", Path: "/milestones/{milestoneId}/share", Auth: spec.Session},
		Uses:   signin.Caller(tables.ReadMilestone, tables.EndShare),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).EndShare, errNotFound)
}

// EndShare ends the public picture of a milestone: its address leads nowhere, for ever. A second run
// finds none, and succeeds. Errors: milestone_not_found, milestone_version_conflict.
func (s *Service) EndShare(ctx context.Context, in *EndShare) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, attempts, func() (*httpapi.Removed, error) {
		r, err := s.read(ctx, in.UserID, in.ID)
		if err != nil {
			return nil, err
		}

		if r.ShareID != "" {
			err = dynamo.Transact(ctx, s.db, tables.EndShare,
				dynamo.DeleteWrite(dynamo.Key(tables.EndShare, item.Shelf(r.ShareID), item.Meta)),
				dynamo.UpdateWrite(dynamo.Key(tables.EndShare, r.PK, r.SK), dynamo.Remove[Row]("shareId"), dynamo.Unchanged(r, "shareId")),
			)
		}

		return httpapi.NewRemoved(), err
	})
}

// shown returns the milestone in an answer of a time, with its public picture.
func (s *Service) shown(r Row, now time.Time) Milestone {
	out := r.view(now)
	out.PictureURL = s.pictureURL(r)

	return out
}

// pictureURL returns the address of the public picture, "" if there is none.
func (s *Service) pictureURL(r Row) string {
	if r.ShareID == "" {
		return ""
	}

	return s.api + "/shelf/" + r.ShareID + "/picture.png"
}

// Shared returns the id of the model and the indexes of the minted parts of the milestone to which a
// link leads. Errors: ErrNoShare, also for a milestone that has been deleted or has another link.
func Shared(ctx context.Context, db dynamo.DB, shareID string) (modelID string, parts []int, err error) {
	at, ok, err := dynamo.Get[shareRow](ctx, db, tables.GetShare, item.Shelf(shareID), item.Meta)
	if err == nil && !ok {
		err = ErrNoShare
	}

	if err != nil {
		return "", nil, err
	}

	type row struct { // of the milestone, and then of each award
		EntityType string `dynamodbav:"entityType"`
		ModelID    string `dynamodbav:"modelId"`
		ShareID    string `dynamodbav:"shareId"`
		PartIndex  int    `dynamodbav:"partIndex"`
	}

	rows, err := dynamo.QueryAll[row](ctx, db, tables.GetMilestone, dynamo.Range{
		Key: dynamo.KeyBeginsWith(tables.GetMilestone, item.User(at.UserID), item.Milestone(at.MilestoneID)),
	})
	if err != nil {
		return "", nil, err
	}

	if len(rows) == 0 || rows[0].EntityType != "Milestone" || rows[0].ShareID != shareID {
		return "", nil, ErrNoShare
	}

	for _, r := range rows[1:] {
		parts = append(parts, r.PartIndex)
	}

	return rows[0].ModelID, parts, nil
}
