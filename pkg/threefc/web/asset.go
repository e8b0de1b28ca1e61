package web

import (
	"context"
	"embed"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// ErrNotFound reports that a link leads nowhere.
var ErrNotFound = problem.New(problem.NotFound, "not_found", "there is nothing here")

var (
	//go:embed app.webmanifest
	manifest []byte
	//go:embed icon.svg icon.png
	icons embed.FS
)

var iconTypes = map[string]string{"icon.svg": "image/svg+xml", "icon.png": "image/png"}

// aDay is how long a file may be cached.
var aDay = httpapi.Cached{CacheControl: "public, max-age=86400"}

// Assets is the service of the files that pages name.
type Assets struct{}

// OpenAssets opens the service.
func OpenAssets(context.Context, app.Env) (*Assets, error) { return &Assets{}, nil }

// ShowIcon is the request for an icon.
type ShowIcon struct {
	File string `path:"file" maxLength:"32" doc:"icon.svg, or icon.png of 512 pixels." example:"icon.svg"`
}

// Icon is the answer with an icon.
type Icon struct {
	httpapi.Cached
	Type string `header:"Content-Type"`
	Body []byte `contentType:"image/*"`
}

// ShowIconFunction returns the icon of the pages.
func ShowIconFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-icon",
		Does:   "Returns the icon of the pages.",
		IfDown: "Pages have no icon.",
		On:     spec.Route{Method: "GET", Path: "/icons/{file}", Auth: spec.Public, OthersCall: true},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenAssets, (*Assets).ShowIcon, ErrNotFound)
}

// ShowIcon returns an icon. Errors: ErrNotFound.
func (*Assets) ShowIcon(_ context.Context, in *ShowIcon) (*Icon, error) {
	kind := iconTypes[in.File]
	if kind == "" {
		return nil, ErrNotFound
	}

	text, err := icons.ReadFile(in.File)

	return &Icon{aDay, kind, text}, err
}

// ShowManifest is the request for the manifest.
type ShowManifest struct{}

// Manifest is the answer with the manifest.
type Manifest struct {
	httpapi.Cached
	Body []byte `contentType:"application/manifest+json"`
}

// ShowManifestFunction returns the manifest of the pages.
func ShowManifestFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-manifest",
		Does:   "Returns the manifest of the pages, by which a phone installs them.",
		IfDown: "Pages cannot be installed on a phone.",
		On:     spec.Route{Method: "GET", Path: "/app.webmanifest", Auth: spec.Public, OthersCall: true},
		Memory: 128, Timeout: 5 * time.Second,
	}, OpenAssets, (*Assets).ShowManifest)
}

// ShowManifest returns the manifest.
func (*Assets) ShowManifest(context.Context, *ShowManifest) (*Manifest, error) {
	return &Manifest{aDay, manifest}, nil
}
