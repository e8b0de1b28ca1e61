package httpapi

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Refuser is the answer of a route that people open in a browser: its refusals are pages, too.
// Refusal returns the page for a status of at least 400, and its headers. detail is the text of the
// problem, "" if the request has not reached the use case.
type Refuser interface {
	Refusal(status int, detail string) (header http.Header, page []byte)
}

// mediaOf returns the Content-Type of an answer that is not JSON: the tag contentType of its
// Body, a []byte. It is "" for JSON.
func mediaOf(out reflect.Type) string {
	field, _ := out.FieldByName("Body")
	return field.Tag.Get("contentType")
}

// typed sets the Content-Type of an answer that is not JSON. A refusal sets its own.
func typed(media string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if media != "" {
			ctx.SetHeader("Content-Type", media)
		}

		next(ctx)
	}
}

// describeMedia describes an answer that is not JSON, and the refusals of a Refuser.
func describeMedia(op *huma.Operation, u useCase) {
	kind, _, err := mime.ParseMediaType(mediaOf(u.out))
	if err != nil {
		return
	}

	schema := huma.TypeString
	if strings.HasSuffix(kind, "+json") {
		schema = huma.TypeObject
	}

	for status, r := range op.Responses {
		switch {
		case r.Content != nil && status[0] < '4', status == strconv.Itoa(op.DefaultStatus):
			r.Content = map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: schema}}}
		case status[0] >= '4' && u.refuser() != nil:
			delete(r.Content, "application/problem+json")
			r.Content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		}
	}
}

// render replaces a problem document by the page of r.
func (a *answer) render(r Refuser) {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") {
		return
	}

	var problem struct {
		Detail string
		Type   string
	}
	// What huma refuses has the detail "validation failed", or says which header is wrong: no text for people.
	if err := json.Unmarshal(a.body.Bytes(), &problem); err != nil || problem.Type == problemType+codeOf(a.status) {
		problem.Detail = ""
	}

	header, page := r.Refusal(a.status, problem.Detail)
	maps.Copy(a.header, header)
	a.body.Reset()
	a.body.Write(page)
}
