// Package asset names the badges of teams and the logos of tournaments, and serves them to everybody.
//
// The name of an image is the hash of its bytes. An address has the same image for ever, so that
// caches never have a stale copy. An image that the provider has replaced is not deleted, because
// clients may still have its address.
package asset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// formats are the accepted formats. SVG is not accepted, because it may contain a script.
var formats = []struct{ media, extension string }{
	{"image/png", ".png"},
	{"image/jpeg", ".jpg"},
	{"image/webp", ".webp"},
}

// Name returns the name of an image, and its media type by its first bytes. It returns an error with
// the media type if the format is not accepted.
func Name(image []byte) (name, media string, err error) {
	media = http.DetectContentType(image)
	for _, f := range formats {
		if f.media == media {
			sum := sha256.Sum256(image)
			return hex.EncodeToString(sum[:]) + f.extension, media, nil
		}
	}

	return "", "", fmt.Errorf("%s is no PNG, JPEG or WebP", media)
}

const path = "/api/v2/assets/"

// Path returns the path of an image below the address of the API, nil if there is no image.
func Path(name *string) *string {
	if name == nil {
		return nil
	}

	return new(path + *name)
}

// Assets is the service of images.
type Assets struct{ files object.Bucket }

// Open opens the service of images.
func Open(_ context.Context, env app.Env) (*Assets, error) {
	return &Assets{object.Open(env.AWS, env.Setting(tables.Assets.On("").Env()))}, nil
}

// GetAsset is the request for an image.
type GetAsset struct {
	Name string `path:"name" maxLength:"69" pattern:"^[0-9a-f]{64}[.](png|jpg|webp)$" doc:"The name of the image: the SHA-256 of its bytes, and its format." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.png"`
}

// Image is the answer with an image.
type Image struct {
	ContentType string `header:"Content-Type" doc:"The type of the image."`
	httpapi.Cached
	Sniffing string `header:"X-Content-Type-Options" doc:"That the answer is of no other type."`
	Body     []byte `contentType:"image/*"`
}

var errNoAsset = problem.New(problem.NotFound, "asset_not_found", "there is no such image")

// GetAssetFunction returns a badge of a team or a logo of a tournament.
func GetAssetFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/get-asset",
		Does:   "Returns a badge of a team or a logo of a tournament.",
		IfDown: "Members see no badges.",
		On:     spec.Route{Method: "GET", Path: path + "{name}", Auth: spec.Public},
		// Without ListBucket S3 answers 403, not 404, for an image that does not exist.
		Objects: []spec.ObjectAccess{tables.Assets.On("", spec.GetObject, spec.ListBucket)},
		Memory:  128, Timeout: 5 * time.Second,
	}, Open, (*Assets).GetAsset, errNoAsset)
}

// GetAsset returns an image. Caches may keep the answer for ever. Errors: asset_not_found.
func (s *Assets) GetAsset(ctx context.Context, in *GetAsset) (*Image, error) {
	image, err := s.files.Get(ctx, in.Name)
	if errors.Is(err, object.ErrAbsent) {
		return nil, errNoAsset
	}

	if err != nil {
		return nil, err
	}

	out := &Image{
		Cached:   httpapi.Cached{CacheControl: "public, max-age=31536000, immutable"},
		Sniffing: "nosniff",
		Body:     image,
	}

	for _, f := range formats {
		if strings.HasSuffix(in.Name, f.extension) {
			out.ContentType = f.media
		}
	}

	return out, nil
}
