package replay

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"matchday/infra/local/fleet"
)

// model is a model as it must be.
type model struct {
	id        string
	parts     int
	state     string // "" before it is written
	corrected time.Time
}

// The model that lives through the year: written with too many parts, activated, corrected, retired.
const (
	sloop      = "sloop"
	sloopDraft = 9
)

// newModels returns the models that the athletes collect.
func newModels() map[string]*model {
	all := map[string]*model{}
	for id, parts := range map[string]int{"trike": 12, "kite": 5, sloop: 7} {
		all[id] = &model{id: id, parts: parts}
	}

	return all
}

// active returns the ids of the models with which milestones can be started.
func (r *run) active() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.models)), func(id string) bool { return r.models[id].state != active })
}

// prepare writes the models that are there from the beginning, and subscribes to the webhooks.
func (r *run) prepare(ctx context.Context) {
	for _, id := range []string{"kite", "trike"} {
		m := r.models[id]
		r.putModel(ctx, m, m.parts, "")

		for n := 1; n <= m.parts; n++ {
			if n == m.parts {
				r.change(ctx, m, "activate", "model_incomplete")
			}

			r.putPart(ctx, m, n)
		}

		r.change(ctx, m, "activate", "")
		m.state = active
	}

	r.call(ctx, fleet.Administrator, http.MethodPost, "/admin/strava/subscription", nil, nil, "")
}

func (r *run) putModel(ctx context.Context, m *model, parts int, refusal string) {
	r.call(ctx, fleet.Administrator, http.MethodPut, "/admin/models/"+m.id,
		map[string]any{"name": "The " + m.id, "year": 2026, "partsTotal": parts}, nil, refusal)
}

func (r *run) putPart(ctx context.Context, m *model, n int) {
	r.call(ctx, fleet.Administrator, http.MethodPut, fmt.Sprintf("/admin/models/%s/parts/%d", m.id, n), map[string]any{
		"partName": m.partName(n), "meshFile": fmt.Sprintf("%s/%02d.glb", m.id, n), "attachPoint": "frame", "displayOrder": n,
	}, nil, "")
}

// change activates or retires a model.
func (r *run) change(ctx context.Context, m *model, how, refusal string) {
	r.call(ctx, fleet.Administrator, http.MethodPost, "/admin/models/"+m.id+"/"+how, nil, nil, refusal)
}

// partName is the name of a part that is minted now.
func (m *model) partName(n int) string {
	if m.corrected.IsZero() {
		return fmt.Sprintf("Part %d of the %s", n, m.id)
	}

	return fmt.Sprintf("Part %d of the corrected %s", n, m.id)
}

// checkName compares the name of a part: it is that of the model when the part was minted.
func (r *run) checkName(a *athlete, what, id string, w award) {
	m := *r.models[id]

	near := 10 * time.Minute // the correction of all parts takes a while, above all with faults
	switch since := w.AwardedAt.Sub(m.corrected); {
	case !m.corrected.IsZero() && since.Abs() < near:
		return
	case since < 0:
		m.corrected = time.Time{}
	}

	equal(r, a, what+", name", w.PartName, m.partName(w.PartIndex))
}

// lifeOfModel plans what administrators do with a model.
func (r *run) lifeOfModel() (all []step) {
	m := r.models[sloop]
	for _, s := range []struct {
		percent int
		do      func(context.Context, *model)
	}{{12, r.draftModel}, {20, r.activateModel}, {50, r.correctModel}, {75, r.retireModel}} {
		at := start.Add(r.end.Sub(start) * time.Duration(s.percent) / 100).Truncate(day).Add(13 * time.Hour)
		all = append(all, step{at, func(ctx context.Context) { s.do(ctx, m); r.checkModels(ctx) }})
	}

	return all
}

// draftModel writes a draft, and makes it shorter. Nobody can see it or start a milestone with it.
func (r *run) draftModel(ctx context.Context, m *model) {
	r.putModel(ctx, m, sloopDraft, "")

	for n := range sloopDraft {
		r.putPart(ctx, m, n+1)
	}

	r.putModel(ctx, m, m.parts, "")
	r.change(ctx, m, "retire", "model_is_draft")
	m.state = "DRAFT"
	r.tryModel(ctx, m)
}

func (r *run) activateModel(ctx context.Context, m *model) {
	r.change(ctx, m, "activate", "")
	m.state = active
	r.putModel(ctx, m, m.parts+1, "model_frozen")
}

// correctModel gives the parts other names. Parts that were minted keep theirs.
func (r *run) correctModel(ctx context.Context, m *model) {
	m.corrected = r.Clock.Now()
	r.putModel(ctx, m, m.parts, "")

	for n := range m.parts {
		r.putPart(ctx, m, n+1)
	}
}

// retireModel ends the start of milestones. Those that have begun go on.
func (r *run) retireModel(ctx context.Context, m *model) {
	r.change(ctx, m, "retire", "")
	r.change(ctx, m, "retire", "")
	m.state = "RETIRED"
	r.tryModel(ctx, m)
}

// tryModel has athletes try to start a milestone with a model that is not active.
func (r *run) tryModel(ctx context.Context, m *model) {
	for _, a := range r.present() {
		r.ask(ctx, a, http.MethodPost, "/milestones", map[string]any{
			"modelId": m.id, "sport": "RUN", "targetType": distance, "totalTarget": 1000, "periodStartDay": "2026-06-01",
		}, nil, "model_not_active", "")
	}
}

// present returns the athletes who have a milestone and their account.
func (r *run) present() []*athlete {
	return slices.DeleteFunc(slices.Clone(r.athletes), func(a *athlete) bool { return a.gone || len(a.milestones) == 0 })
}

// checkModels compares the models that administrators and athletes see: athletes those that are active, and
// retired ones that they collect.
func (r *run) checkModels(ctx context.Context) {
	type list struct {
		Models []struct {
			ModelID, Status string
			PartsTotal      int
		}
	}

	text := func(l list) (text string) {
		for _, m := range l.Models {
			text += fmt.Sprint(m.ModelID, " ", m.Status, " ", m.PartsTotal, "; ")
		}

		return text
	}
	want := func(sees func(*model) bool) (text string) {
		for _, id := range slices.Sorted(maps.Keys(r.models)) {
			if m := r.models[id]; sees(m) {
				text += fmt.Sprint(m.id, " ", m.state, " ", m.parts, "; ")
			}
		}

		return text
	}

	var is list
	r.call(ctx, fleet.Administrator, http.MethodGet, "/admin/models", nil, &is, "")

	if got, want := text(is), want(func(m *model) bool { return m.state != "" }); got != want {
		r.Fail(fmt.Sprintf("%s the models: got %s want %s", r.date(), got, want))
	}

	for _, a := range r.present() {
		sees := func(m *model) bool {
			return m.state == active || m.state == "RETIRED" && slices.ContainsFunc(a.milestones, func(o *milestone) bool { return o.model == m.id })
		}

		refusal := ""
		if !sees(r.models[sloop]) {
			refusal = "model_not_found"
		}

		var is list
		if r.ask(ctx, a, http.MethodGet, "/models", nil, &is, "", "") {
			equal(r, a, "the models", text(is), want(sees))
		}

		r.ask(ctx, a, http.MethodGet, "/models/"+sloop, nil, nil, refusal, "")
	}
}
