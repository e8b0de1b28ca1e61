// Package model holds the models whose parts are minted. Administrators write a draft and its parts,
// and then activate it: from then on the number of parts does not change, and the rest can be
// corrected. Parts that were minted stay as they were. A retired model is for the milestones that
// have begun with it: they mint its parts, and nobody starts another one. It can be activated again.
package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/commitcollect/drawing"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Errors of the package.
var (
	ErrNotFound   = problem.New(problem.NotFound, "model_not_found", "there is no such model")
	errFrozen     = problem.New(problem.Conflict, "model_frozen", "the model is or was active: the number of its parts does not change")
	errDraft      = problem.New(problem.Conflict, "model_is_draft", "the model is a draft, which no milestone uses")
	errBusy       = problem.New(problem.Conflict, "model_busy", "the model changes at this moment: try again")
	errIncomplete = problem.New(problem.Conflict, "model_incomplete", "the model lacks parts")
)

// MaxParts is the largest number of parts of a model: with its milestone, all are minted in
// one transaction.
const MaxParts = 12

// States of a model.
const (
	Draft   = "DRAFT"
	Active  = "ACTIVE"
	Retired = "RETIRED"
)

// Meta is the description of a model. The list of models has the same rows.
type Meta struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	EntityType string `dynamodbav:"entityType"`
	ModelID    string `dynamodbav:"modelId"`
	Name       string `dynamodbav:"name"`
	Year       int    `dynamodbav:"year"`
	PartsTotal int    `dynamodbav:"partsTotal"`
	IsActive   bool   `dynamodbav:"isActive"`
	RetiredAt  int64  `dynamodbav:"retiredAtUtc,omitempty"` // epoch s; 0 if it is a draft or active
}

// state returns the model's state.
func (m Meta) state() string {
	switch {
	case m.IsActive:
		return Active
	case m.RetiredAt != 0:
		return Retired
	}

	return Draft
}

// unchanged holds for the model as it was read, or if there is none as there was none.
func (m Meta) unchanged() expression.ConditionBuilder {
	if m.PK == "" {
		return dynamo.Absent[Meta]("PK")
	}

	return dynamo.Unchanged(m, "isActive", "retiredAtUtc", "partsTotal")
}

// save returns the writes of a model in place of the one that was read, and of its row in the list.
func (m Meta) save(was Meta) []dynamo.Write {
	return []dynamo.Write{dynamo.PutWrite(m, was.unchanged()), dynamo.PutWrite(m.listed())}
}

// attempts bounds the changes of a model while concurrent requests overtake them.
var attempts = dynamo.Attempts{Max: 3, Err: errBusy}

// Part is a part of a model.
type Part struct {
	PK           string `dynamodbav:"PK"`
	SK           string `dynamodbav:"SK"`
	EntityType   string `dynamodbav:"entityType"`
	PartIndex    int    `dynamodbav:"partIndex"`
	PartName     string `dynamodbav:"partName"`
	MeshFile     string `dynamodbav:"meshFile"`
	AttachPoint  string `dynamodbav:"attachPoint"`
	DisplayOrder int    `dynamodbav:"displayOrder"`

	Drawing []drawing.Stroke `dynamodbav:"drawing,omitempty"`
}

// Read returns a model with its parts in the order of their indexes. It returns ErrNotFound if
// there is none.
func Read(ctx context.Context, db dynamo.DB, modelID string) (m Meta, parts []Part, err error) {
	type row struct {
		Meta
		PartIndex    int    `dynamodbav:"partIndex"`
		PartName     string `dynamodbav:"partName"`
		MeshFile     string `dynamodbav:"meshFile"`
		AttachPoint  string `dynamodbav:"attachPoint"`
		DisplayOrder int    `dynamodbav:"displayOrder"`

		Drawing []drawing.Stroke `dynamodbav:"drawing"`
	}

	rows, err := dynamo.QueryAll[row](ctx, db, tables.ReadModel, dynamo.Range{Key: dynamo.KeyIs(tables.ReadModel, item.Model(modelID))})
	if err != nil {
		return m, nil, err
	}

	for _, r := range rows {
		if r.SK == item.Meta {
			m = r.Meta
			continue
		}

		parts = append(parts, Part{r.PK, r.SK, r.EntityType, r.PartIndex, r.PartName, r.MeshFile, r.AttachPoint, r.DisplayOrder, r.Drawing})
	}

	if m.PK == "" {
		return m, nil, ErrNotFound
	}

	return m, parts, nil
}

// Get returns the description of a model. It returns ErrNotFound if there is none.
func Get(ctx context.Context, db dynamo.DB, modelID string) (Meta, error) {
	m, ok, err := dynamo.Get[Meta](ctx, db, tables.GetModel, item.Model(modelID), item.Meta)
	if err == nil && !ok {
		err = ErrNotFound
	}

	return m, err
}

// Service is the service of models.
type Service struct {
	session.Sessions
	db  dynamo.DB
	now func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{signin.Sessions(env, db), db, env.Now}, nil
}

// Model is a model in an answer.
type Model struct {
	ModelID    string `json:"modelId" doc:"The id of the model." example:"trike-2026"`
	Name       string `json:"name" doc:"The name of the model."`
	Year       int    `json:"year" doc:"The year that the model is of."`
	PartsTotal int    `json:"partsTotal" doc:"The number of its parts."`
	IsActive   bool   `json:"isActive" doc:"Whether milestones can be started with it."`
	Status     string `json:"status" enum:"DRAFT,ACTIVE,RETIRED" doc:"Milestones of a retired model go on."`
	Parts      []View `json:"parts,omitempty" doc:"The parts in their order. Absent in lists."`
}

// View is a part in an answer.
type View struct {
	_ struct{} `schema:"ModelPart"`

	PartIndex    int    `json:"partIndex" doc:"From 1."`
	PartName     string `json:"partName" doc:"The name of the part."`
	MeshFile     string `json:"meshFile" doc:"The file with its shape."`
	AttachPoint  string `json:"attachPoint" doc:"Where it is attached to the model."`
	DisplayOrder int    `json:"displayOrder" doc:"Its place in lists."`

	Drawing []drawing.Stroke `json:"drawing,omitempty" doc:"What it looks like. Absent: a disc stands for it."`
}

func view(m Meta, parts []Part) Model {
	out := Model{ModelID: m.ModelID, Name: m.Name, Year: m.Year, PartsTotal: m.PartsTotal, IsActive: m.IsActive, Status: m.state()}
	for _, p := range parts {
		out.Parts = append(out.Parts, View{
			PartIndex: p.PartIndex, PartName: p.PartName, MeshFile: p.MeshFile,
			AttachPoint: p.AttachPoint, DisplayOrder: p.DisplayOrder, Drawing: p.Drawing,
		})
	}

	slices.SortStableFunc(out.Parts, func(a, b View) int { return a.DisplayOrder - b.DisplayOrder })

	return out
}

// ListModels is the request for all models.
type ListModels struct {
	auth.User
	Cursor string `query:"cursor" maxLength:"64" doc:"The next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// ModelList is the answer with models.
type ModelList struct {
	Body struct {
		Models []Model `json:"models" doc:"The models by id, without their parts."`
		Next   string  `json:"next,omitempty"`
	}
}

// ListModelsFunction returns the models that the caller can collect, or does.
func ListModelsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-models",
		Does:   "Returns the active models, and retired ones that the caller collects.",
		IfDown: "Nobody can choose a model.",
		On:     spec.Route{Method: "GET", Path: "/models", Auth: spec.Session},
		Uses:   signin.Caller(tables.ListModels, tables.ListMilestones),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListModels)
}

// ListModels returns models by id: the active ones, and the retired ones of the caller's milestones. A
// page can be shorter than its limit, and is the last one only without next.
func (s *Service) ListModels(ctx context.Context, in *ListModels) (*ModelList, error) {
	rows, next, err := s.list(ctx, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	if rows, err = s.visible(ctx, in.UserID, rows); err != nil {
		return nil, err
	}

	return newList(rows, next), nil
}

// list returns a page of all models after one, and the id to continue with, "" at the end.
func (s *Service) list(ctx context.Context, cursor string, limit int) (rows []Meta, next string, err error) {
	r := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListModels, item.Models, "MODEL#"), Limit: int32(limit)}
	if cursor != "" {
		r.After = dynamo.Key(tables.ListModels, item.Models, item.Model(cursor))
	}

	rows, last, err := dynamo.Query[Meta](ctx, s.db, tables.ListModels, r)
	if err == nil && last != nil {
		next = rows[len(rows)-1].ModelID
	}

	return rows, next, err
}

func newList(rows []Meta, next string) *ModelList {
	out := &ModelList{}
	out.Body.Next = next

	out.Body.Models = []Model{}
	for _, m := range rows {
		out.Body.Models = append(out.Body.Models, view(m, nil))
	}

	return out
}

// visible returns the models that a user may see. It reads the user's milestones only for a retired one.
func (s *Service) visible(ctx context.Context, userID string, all []Meta) ([]Meta, error) {
	used := map[string]bool{}

	if slices.ContainsFunc(all, func(m Meta) bool { return m.state() == Retired }) {
		rows, err := dynamo.QueryAll[struct {
			ModelID string `dynamodbav:"modelId"`
		}](ctx, s.db, tables.ListMilestones, workout.MilestonesOf(userID))
		if err != nil {
			return nil, err
		}

		for _, r := range rows {
			used[r.ModelID] = true
		}
	}

	return slices.DeleteFunc(all, func(m Meta) bool { return m.state() == Draft || m.state() == Retired && !used[m.ModelID] }), nil
}

// ListAllModels is the request of an administrator for all models.
type ListAllModels struct {
	auth.Admin
	Cursor string `query:"cursor" maxLength:"64" doc:"The next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// ListAllModelsFunction returns all models to administrators.
func ListAllModelsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-all-models",
		Does:   "Returns all models to administrators, drafts and retired ones included.",
		IfDown: "Administrators do not see drafts.",
		On:     spec.Route{Method: "GET", Path: "/admin/models", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ListModels},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAllModels)
}

// ListAllModels returns a page of all models by id.
func (s *Service) ListAllModels(ctx context.Context, in *ListAllModels) (*ModelList, error) {
	rows, next, err := s.list(ctx, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	return newList(rows, next), nil
}

// GetModel is the request for a model.
type GetModel struct {
	auth.User
	ID string `path:"modelId" maxLength:"64" doc:"The id of the model."`
}

// Page is the answer with a model.
type Page struct {
	Body Model
}

// GetModelFunction returns a model with its parts.
func GetModelFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/get-model", Does: "Returns a model with its parts.", IfDown: "Models do not open.",
		On:     spec.Route{Method: "GET", Path: "/models/{modelId}", Auth: spec.Session},
		Uses:   signin.Caller(tables.ReadModel, tables.ListMilestones),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetModel, ErrNotFound)
}

// GetModel returns a model with its parts. It returns ErrNotFound if there is none, for a draft, and
// for a retired one that the caller does not collect.
func (s *Service) GetModel(ctx context.Context, in *GetModel) (*Page, error) {
	m, parts, err := Read(ctx, s.db, in.ID)
	if err != nil {
		return nil, err
	}

	seen, err := s.visible(ctx, in.UserID, []Meta{m})
	if err == nil && len(seen) == 0 {
		err = ErrNotFound
	}

	if err != nil {
		return nil, err
	}

	return &Page{view(m, parts)}, nil
}

// PutModel is the request to write a model.
type PutModel struct {
	auth.Admin
	ID   string `path:"modelId" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" maxLength:"64" doc:"The id of the model: words in lower case, joined by hyphens."`
	Body struct {
		Name       string `json:"name" format:"display-name" doc:"The name of the model." example:"Trike"`
		Year       int    `json:"year" minimum:"2000" maximum:"2100" doc:"The year that the model is of." example:"2026"`
		PartsTotal int    `json:"partsTotal" minimum:"1" maximum:"12" doc:"The number of its parts." example:"12"`
	}
}

// PutModelFunction writes a draft, or corrects a model.
func PutModelFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/put-model",
		Does:   "Writes a draft of a model, or corrects the name and the year of a model.",
		IfDown: "Administrators cannot prepare or correct models.",
		On:     spec.Route{Method: "PUT", Path: "/admin/models/{modelId}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.GetModel, tables.SaveModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutModel, errBusy, errFrozen)
}

// PutModel writes a draft, or corrects a model, and its row in the list. Parts of a draft beyond
// partsTotal are deleted. A second run writes the same. Errors: model_frozen for another number of
// parts of a model that is or was active, model_busy.
func (s *Service) PutModel(ctx context.Context, in *PutModel) (*Page, error) {
	return dynamo.RetryValue(ctx, attempts, func() (*Page, error) {
		was, err := Get(ctx, s.db, in.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}

		if was.state() != Draft && was.PartsTotal != in.Body.PartsTotal {
			return nil, errFrozen
		}

		m := Meta{
			PK:         item.Model(in.ID),
			SK:         item.Meta,
			EntityType: "Model",
			ModelID:    in.ID,
			Name:       in.Body.Name,
			Year:       in.Body.Year,
			PartsTotal: in.Body.PartsTotal,
			IsActive:   was.IsActive,
			RetiredAt:  was.RetiredAt,
		}

		writes := m.save(was)

		for n := m.PartsTotal + 1; n <= was.PartsTotal; n++ {
			writes = append(writes, dynamo.DeleteWrite(dynamo.Key(tables.SaveModel, m.PK, item.Part(n))))
		}

		return &Page{view(m, nil)}, dynamo.Transact(ctx, s.db, tables.SaveModel, writes...)
	})
}

// listed returns the row of the model in the list.
func (m Meta) listed() Meta {
	m.PK, m.SK = item.Models, m.PK
	return m
}

// PutPart is the request to write a part.
type PutPart struct {
	auth.Admin
	ID   string `path:"modelId" maxLength:"64" doc:"The id of the model."`
	N    int    `path:"partIndex" minimum:"1" maximum:"12" doc:"The index of the part, from 1."`
	Body struct {
		PartName     string `json:"partName" format:"display-name" doc:"The name of the part." example:"Front wheel"`
		MeshFile     string `json:"meshFile" pattern:"^[A-Za-z0-9._/-]{1,128}$" doc:"The file with its shape." example:"trike/wheel-front.glb"`
		AttachPoint  string `json:"attachPoint" pattern:"^[A-Za-z0-9_.-]{1,64}$" doc:"Where it is attached to the model." example:"fork"`
		DisplayOrder int    `json:"displayOrder" minimum:"1" maximum:"99" doc:"Its place in lists." example:"1"`

		Drawing []drawing.Stroke `json:"drawing,omitempty" maxItems:"6" nullable:"false" doc:"What it looks like, in the order in which it is drawn. Absent: as it was. Empty: nothing."`
	}
}

// PutPartFunction writes or corrects a part of a model.
func PutPartFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/put-part", Does: "Writes or corrects a part of a model.", IfDown: "Administrators cannot prepare or correct models.",
		On:     spec.Route{Method: "PUT", Path: "/admin/models/{modelId}/parts/{partIndex}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ReadModel, tables.SaveModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutPart, ErrNotFound, errBusy)
}

// PutPart writes a part of a model. Parts that were minted before stay as they were. A second run
// writes the same. Errors: ErrNotFound, model_busy, and the path of a stroke that cannot be drawn.
func (s *Service) PutPart(ctx context.Context, in *PutPart) (*Page, error) {
	for i, stroke := range in.Body.Drawing {
		if _, err := stroke.Lines(); err != nil {
			return nil, problem.In(fmt.Sprintf("body.drawing[%d].path", i), "%v", err)
		}
	}

	return dynamo.RetryValue(ctx, attempts, func() (*Page, error) {
		m, parts, err := Read(ctx, s.db, in.ID)
		if err != nil {
			return nil, err
		}

		if in.N > m.PartsTotal {
			return nil, problem.In("path.partIndex", "the model has %d parts", m.PartsTotal)
		}

		p := Part{
			PK:           m.PK,
			SK:           item.Part(in.N),
			EntityType:   "Part",
			PartIndex:    in.N,
			PartName:     in.Body.PartName,
			MeshFile:     in.Body.MeshFile,
			AttachPoint:  in.Body.AttachPoint,
			DisplayOrder: in.Body.DisplayOrder,
			Drawing:      in.Body.Drawing,
		}
		if i := slices.IndexFunc(parts, func(o Part) bool { return o.PartIndex == in.N }); i >= 0 && p.Drawing == nil {
			p.Drawing = parts[i].Drawing // of a client that does not know drawings
		}

		parts = append(slices.DeleteFunc(parts, func(o Part) bool { return o.PartIndex == in.N }), p)

		// A draft that becomes shorter deletes its parts.
		same := dynamo.CheckWrite(dynamo.Key(tables.SaveModel, m.PK, item.Meta), dynamo.Equal[Meta]("partsTotal", m.PartsTotal))

		return &Page{view(m, parts)}, dynamo.Transact(ctx, s.db, tables.SaveModel, dynamo.PutWrite(p), same)
	})
}

// ActivateModel is the request to activate a model.
type ActivateModel struct {
	auth.Admin
	ID string `path:"modelId" maxLength:"64" doc:"The id of the model."`
}

// ActivateModelFunction lets milestones be started with a model.
func ActivateModelFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/activate-model", Does: "Lets milestones be started with a model.", IfDown: "Administrators cannot publish models.",
		On:     spec.Route{Method: "POST", Path: "/admin/models/{modelId}/activate", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ReadModel, tables.SaveModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ActivateModel, ErrNotFound, errIncomplete)
}

// ActivateModel lets milestones be started with a model that has all of its parts, a retired one
// included. A second run changes nothing. Errors: ErrNotFound, model_incomplete.
func (s *Service) ActivateModel(ctx context.Context, in *ActivateModel) (*Page, error) {
	m, parts, err := Read(ctx, s.db, in.ID)
	if err != nil {
		return nil, err
	}

	if m.IsActive {
		return &Page{view(m, parts)}, nil
	}

	var (
		missing []string
		checks  []dynamo.Write
	)

	for n := 1; n <= m.PartsTotal; n++ {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.PartIndex == n }) {
			missing = append(missing, item.Part(n))
		}

		checks = append(checks, dynamo.CheckWrite(dynamo.Key(tables.SaveModel, m.PK, item.Part(n)), dynamo.Exists[Part]("PK")))
	}

	if missing != nil {
		e := *errIncomplete
		e.Text += ": " + strings.Join(missing, ", ")

		return nil, &e
	}

	was := m
	m.IsActive, m.RetiredAt = true, 0

	writes := append(m.save(was), checks...)
	if err := dynamo.Transact(ctx, s.db, tables.SaveModel, writes...); err != nil {
		return nil, dynamo.RefusedAs(err, errIncomplete)
	}

	return &Page{view(m, parts)}, nil
}

// RetireModel is the request to retire a model.
type RetireModel struct {
	auth.Admin
	ID string `path:"modelId" maxLength:"64" doc:"The id of the model."`
}

// RetireModelFunction ends the start of milestones with a model.
func RetireModelFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/retire-model",
		Does:   "Ends the start of milestones with a model. Those that have begun go on.",
		IfDown: "Administrators cannot retire models.",
		On:     spec.Route{Method: "POST", Path: "/admin/models/{modelId}/retire", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ReadModel, tables.SaveModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).RetireModel, ErrNotFound, errBusy, errDraft)
}

// RetireModel retires an active model. A second run changes nothing. Errors: ErrNotFound,
// model_is_draft, model_busy.
func (s *Service) RetireModel(ctx context.Context, in *RetireModel) (*Page, error) {
	return dynamo.RetryValue(ctx, attempts, func() (*Page, error) {
		m, parts, err := Read(ctx, s.db, in.ID)
		switch {
		case err != nil:
			return nil, err
		case m.state() == Draft:
			return nil, errDraft
		case m.state() == Retired:
			return &Page{view(m, parts)}, nil
		}

		was := m
		m.IsActive, m.RetiredAt = false, s.now().Unix()

		return &Page{view(m, parts)}, dynamo.Transact(ctx, s.db, tables.SaveModel, m.save(was)...)
	})
}
