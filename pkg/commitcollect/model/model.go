// Package model holds the models whose parts are minted. Administrators write a model and its
// parts, and then activate it: from then on neither changes.
package model

import (
	"context"
	"slices"
	"strings"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
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
	errFrozen     = problem.New(problem.Conflict, "model_frozen", "the model is active: it and its parts do not change any more")
	errIncomplete = problem.New(problem.Conflict, "model_incomplete", "the model lacks parts")
)

// MaxParts is the largest number of parts of a model: with its milestone, all are minted in
// one transaction.
const MaxParts = 12

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
}

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

		parts = append(parts, Part{r.PK, r.SK, r.EntityType, r.PartIndex, r.PartName, r.MeshFile, r.AttachPoint, r.DisplayOrder})
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
	db dynamo.DB
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{signin.Sessions(env, db), db}, nil
}

// Model is a model in an answer.
type Model struct {
	ModelID    string `json:"modelId" doc:"The id of the model." example:"trike-2026"`
	Name       string `json:"name" doc:"The name of the model."`
	Year       int    `json:"year" doc:"The year that the model is of."`
	PartsTotal int    `json:"partsTotal" doc:"The number of its parts."`
	IsActive   bool   `json:"isActive" doc:"Whether milestones can be started with it."`
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
}

func view(m Meta, parts []Part) Model {
	out := Model{m.ModelID, m.Name, m.Year, m.PartsTotal, m.IsActive, nil}
	for _, p := range parts {
		out.Parts = append(out.Parts, View{
			PartIndex: p.PartIndex, PartName: p.PartName, MeshFile: p.MeshFile,
			AttachPoint: p.AttachPoint, DisplayOrder: p.DisplayOrder,
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

// ListModelsFunction returns the models.
func ListModelsFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/list-models", Does: "Returns the models.", IfDown: "Nobody can choose a model.",
		On:     spec.Route{Method: "GET", Path: "/models", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.ListModels},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListModels)
}

// ListModels returns the models by id, those that are not active included.
func (s *Service) ListModels(ctx context.Context, in *ListModels) (*ModelList, error) {
	r := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListModels, item.Models, "MODEL#"), Limit: int32(in.Limit)}
	if in.Cursor != "" {
		r.After = dynamo.Key(tables.ListModels, item.Models, item.Model(in.Cursor))
	}

	rows, last, err := dynamo.Query[Meta](ctx, s.db, tables.ListModels, r)
	if err != nil {
		return nil, err
	}

	out := &ModelList{}

	out.Body.Models = []Model{}
	for _, m := range rows {
		out.Body.Models = append(out.Body.Models, view(m, nil))
	}

	if last != nil {
		out.Body.Next = rows[len(rows)-1].ModelID
	}

	return out, nil
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
		Uses:   []spec.Access{tables.ResolveSession, tables.ReadModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetModel, ErrNotFound)
}

// GetModel returns a model with its parts. It returns ErrNotFound if there is none.
func (s *Service) GetModel(ctx context.Context, in *GetModel) (*Page, error) {
	m, parts, err := Read(ctx, s.db, in.ID)
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

// PutModelFunction writes a model that is not active yet.
func PutModelFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/put-model", Does: "Writes a model that is not active yet.", IfDown: "Administrators cannot prepare models.",
		On:     spec.Route{Method: "PUT", Path: "/admin/models/{modelId}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.SaveModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutModel, errFrozen)
}

// PutModel writes a model that is not active, and its row in the list. A second run writes
// the same. An active model is model_frozen.
func (s *Service) PutModel(ctx context.Context, in *PutModel) (*Page, error) {
	m := Meta{item.Model(in.ID), item.Meta, "Model", in.ID, in.Body.Name, in.Body.Year, in.Body.PartsTotal, false}

	open := dynamo.Absent[Meta]("PK").Or(dynamo.Equal[Meta]("isActive", false))
	if err := dynamo.Transact(ctx, s.db, tables.SaveModel, dynamo.PutWrite(m, open), dynamo.PutWrite(m.listed())); err != nil {
		return nil, dynamo.RefusedAs(err, errFrozen)
	}

	return &Page{view(m, nil)}, nil
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
	}
}

// PutPartFunction writes a part of a model that is not active yet.
func PutPartFunction() app.Function {
	return app.API(spec.Function{
		Name: "commitcollect/put-part", Does: "Writes a part of a model that is not active yet.", IfDown: "Administrators cannot prepare models.",
		On:     spec.Route{Method: "PUT", Path: "/admin/models/{modelId}/parts/{partIndex}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.ReadModel, tables.SaveModel},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutPart, ErrNotFound, errFrozen)
}

// PutPart writes a part of a model that is not active. A second run writes the same.
// Errors: ErrNotFound, model_frozen.
func (s *Service) PutPart(ctx context.Context, in *PutPart) (*Page, error) {
	m, parts, err := Read(ctx, s.db, in.ID)
	if err != nil {
		return nil, err
	}

	if in.N > m.PartsTotal {
		return nil, problem.In("path.partIndex", "the model has %d parts", m.PartsTotal)
	}

	p := Part{m.PK, item.Part(in.N), "Part", in.N, in.Body.PartName, in.Body.MeshFile, in.Body.AttachPoint, in.Body.DisplayOrder}

	open := dynamo.CheckWrite(dynamo.Key(tables.SaveModel, m.PK, item.Meta), dynamo.Equal[Meta]("isActive", false))
	if err := dynamo.Transact(ctx, s.db, tables.SaveModel, dynamo.PutWrite(p), open); err != nil {
		return nil, dynamo.RefusedAs(err, errFrozen)
	}

	parts = append(slices.DeleteFunc(parts, func(o Part) bool { return o.PartIndex == in.N }), p)

	return &Page{view(m, parts)}, nil
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

// ActivateModel lets milestones be started with a model that has all of its parts. A second
// run changes nothing. Errors: ErrNotFound, model_incomplete.
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

	m.IsActive = true
	same := dynamo.Equal[Meta]("partsTotal", m.PartsTotal)

	writes := append([]dynamo.Write{dynamo.PutWrite(m, same), dynamo.PutWrite(m.listed())}, checks...)
	if err := dynamo.Transact(ctx, s.db, tables.SaveModel, writes...); err != nil {
		return nil, dynamo.RefusedAs(err, errIncomplete)
	}

	return &Page{view(m, parts)}, nil
}
