package signin

import (
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/telemetry"
)

// Visit is embedded in the request of a route that a browser opens: a page links to it, or another site sends the
// browser back to it.
type Visit struct {
	navigates bool
}

// Resolve reads whether the browser asks for a page; huma calls it for every request.
func (v *Visit) Resolve(ctx huma.Context) []error {
	*v = NewVisit(ctx.Header("Accept"))
	return nil
}

// NewVisit returns the Visit of a request with the header Accept.
func NewVisit(accept string) (v Visit) {
	for one := range strings.SplitSeq(accept, ",") {
		kind, _, _ := mime.ParseMediaType(one)
		v.navigates = v.navigates || kind == "text/html"
	}

	return v
}

// Landing returns what a browser gets that opens the route: out, or if a person would see a
// problem document, a redirect to the page of the app, which has the reason and a way on. flow is the
// parameter of the page: flow=failed&reason=CODE. A program that does not ask for HTML gets err, and
// an error without a code is returned. Both are counted as failures by their status. A redirect has none, so
// Landing counts what would be answered 5xx.
func (v *Visit) Landing(ctx context.Context, now time.Time, page, flow string, out *Redirect, err error) (*Redirect, error) {
	reason, ok := errors.AsType[*problem.Error](err)
	if !ok || reason.Code == "" || !v.navigates {
		return out, err
	}

	level := slog.LevelInfo

	switch reason.Kind {
	case problem.Internal, problem.Unavailable, problem.Upstream:
		level = slog.LevelError

		telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(telemetry.Failed, 1)})
	}

	slog.Log(ctx, level, "a browser was sent back without success", "flow", flow, "err", err)

	return NewRedirect(page + "/app?" + url.Values{flow: {"failed"}, "reason": {reason.Code}}.Encode()), nil
}
