// Package shelf shows the public pictures of milestones. A picture has the name of the model and the
// parts that are minted: no sport, target, day, progress or user. Its owner gives out the link, and ends
// it: see milestone.PutShare and milestone.EndShare. A link ends with its milestone, and with the account;
// that of a milestone that is paused, completed, abandoned or has ended stays.
package shelf

import (
	"context"
	"errors"
	"slices"
	"time"

	"matchday/pkg/commitcollect/drawing"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// fiveMinutes is how long caches may keep a picture: after the end of its link, too.
var fiveMinutes = httpapi.Cached{CacheControl: "public, max-age=300"}

// Service is the service of public pictures.
type Service struct{ db dynamo.DB }

// Open opens the service. Its reads may be a second old.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{dynamo.Open(env.AWS, env.Prefix).Eventual()}, nil
}

// ShowPicture is the request for a public picture.
type ShowPicture struct {
	ID string `path:"shareId" maxLength:"64" doc:"The id in the link." example:"4TXB6WPQJ7GQ2HHGU5A3M2KQZR"`
}

// Picture is the answer with a picture. Search engines are asked to leave it out.
type Picture struct {
	httpapi.Cached
	Robots string `header:"X-Robots-Tag"`
	Body   []byte `contentType:"image/png"`
}

// ShowPictureFunction returns a public picture of a milestone.
func ShowPictureFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/show-picture",
		Does:   "Returns the public picture of a milestone: the model and its minted parts.",
		IfDown: "Links to pictures of models show nothing.",
		On:     spec.Route{Method: "GET", Path: "/shelf/{shareId}/picture.png", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.GetShare, tables.GetMilestone, tables.ReadModel},
		Memory: 512, Timeout: 5 * time.Second, // it draws
	}, Open, (*Service).ShowPicture, milestone.ErrNoShare)
}

// ShowPicture returns the picture of a link as PNG of 1,200 by 630 pixels. It makes three reads, of at
// most 13 items of a milestone and 13 of a model, whoever asks; a link that does not exist costs one.
// Nobody can guess a link, so no wrong ones are counted: the rate of the API bounds who tries. Errors:
// picture_not_found, the same for a link that never was, has ended, or is of a deleted account.
func (s *Service) ShowPicture(ctx context.Context, in *ShowPicture) (*Picture, error) {
	modelID, minted, err := milestone.Shared(ctx, s.db, in.ID)
	if err != nil {
		return nil, err
	}

	m, parts, err := model.Read(ctx, s.db, modelID)
	if errors.Is(err, model.ErrNotFound) {
		err = milestone.ErrNoShare
	}

	if err != nil {
		return nil, err
	}

	text, err := picture(m.Name, drawings(parts, minted)...)

	return &Picture{fiveMinutes, "noindex", text}, err
}

// drawings returns what is drawn of a model of which some parts are minted. If no part of the model has
// a drawing, discs stand for the parts.
func drawings(parts []model.Part, minted []int) (all [][]drawing.Stroke) {
	drawn := slices.ContainsFunc(parts, func(p model.Part) bool { return len(p.Drawing) > 0 })

	for _, p := range parts {
		switch {
		case !slices.Contains(minted, p.PartIndex):
		case drawn:
			all = append(all, p.Drawing)
		default:
			all = append(all, bead(p.PartIndex))
		}
	}

	return all
}
