package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonType is the media type of request bodies, unless the tag contentType of the Body names formType:
// then the body is a form of a page. A request without a type is treated as that of its route.
const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
	// multipartType is the other encoding of forms, in which mail providers unsubscribe (RFC 8058, 3.1).
	multipartType = "multipart/form-data"
)

// maxInteger is the greatest integer that all readers of JSON decode exactly (RFC 8259, 6).
const maxInteger = 1<<53 - 1

// strict is the JSON that bodies must be (RFC 7493): names match exactly and occur once, every
// member is known, strings are valid UTF-8, and nothing follows. Unknown members are left out
// where the schema has additionalProperties, for bodies that other services define.
var strict = json.JoinOptions(json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false))

// readBodies returns the middleware that reads and validates the bodies of requests. A request
// is decoded from a document that is encoded again after validation, so that no member is decoded
// that was not validated.
func readBodies(api huma.API, in reflect.Type) func(huma.Context, func(huma.Context)) {
	field, _ := in.FieldByName("Body")

	return func(ctx huma.Context, next func(huma.Context)) {
		described := ctx.Operation().RequestBody
		if described == nil {
			next(ctx)
			return
		}

		kind := bodyType(described)

		body, status, errs := readBody(ctx, described, kind)
		if body != nil {
			body, status, errs = validBody(api.OpenAPI().Components.Schemas, described.Content[kind].Schema, field.Type, body)
		}

		if errs != nil {
			huma.WriteErr(api, ctx, status, "validation failed", errs...)
			return
		}

		r, _ := humago.Unwrap(ctx)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Set("Content-Type", jsonType)
		next(ctx)
	}
}

// bodyType returns the media type of the bodies of an operation: jsonType or formType.
func bodyType(described *huma.RequestBody) string {
	if described.Content[formType] != nil {
		return formType
	}

	return jsonType
}

// readBody returns the bytes of a body of the type kind, nil if there is none: of a form its JSON. It
// returns a status and errors if the body cannot be read, or is missing although it is required.
func readBody(ctx huma.Context, described *huma.RequestBody, kind string) (_ []byte, status int, errs []error) {
	media, boundary := kind, ""
	if given := ctx.Header("Content-Type"); given != "" {
		found, parameters, err := mime.ParseMediaType(given)
		if err != nil || found != kind && (kind != formType || found != multipartType) {
			return nil, http.StatusUnsupportedMediaType, at("header.Content-Type", "expected "+kind)
		}

		media, boundary = found, parameters["boundary"]
	}

	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), MaxBody+1))
	switch {
	case err != nil:
		return nil, http.StatusBadRequest, at("body", "the body cannot be read")
	case len(body) > MaxBody:
		return nil, http.StatusRequestEntityTooLarge, at("body", fmt.Sprintf("expected at most %d bytes", MaxBody))
	case kind == formType:
		return readForm(body, media, boundary)
	case len(body) > 0:
		return body, 0, nil
	case described.Required:
		return nil, http.StatusBadRequest, at("body", "the request must have a body")
	}

	return nil, 0, nil
}

// readForm returns a form as a JSON object of strings. A browser sends a form without fields as an
// empty body.
func readForm(body []byte, media, boundary string) (_ []byte, status int, errs []error) {
	fields, err := url.ParseQuery(string(body))
	if media == multipartType {
		var form *multipart.Form
		if form, err = multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(MaxBody); err == nil {
			defer form.RemoveAll() // it fits in memory
			fields = form.Value
		}
	}

	if err != nil {
		return nil, http.StatusBadRequest, at("body", "expected a form")
	}

	document := map[string]string{}

	for name, values := range fields {
		if len(values) > 1 {
			return nil, http.StatusBadRequest, at("body."+name, "given more than once")
		}

		if !utf8.ValidString(name) || !utf8.ValidString(values[0]) {
			return nil, http.StatusBadRequest, at("body", "expected UTF-8")
		}

		document[name] = values[0]
	}

	text, err := json.Marshal(document)
	if err != nil {
		return nil, http.StatusBadRequest, at("body", "expected a form")
	}

	return text, 0, nil
}

// validBody returns the document that is decoded: integers without fraction and exponent,
// formatted strings as they are stored.
func validBody(all huma.Registry, schema *huma.Schema, t reflect.Type, body []byte) (_ []byte, status int, errs []error) {
	var document any
	if err := json.Unmarshal(body, &document, strict); err != nil {
		return nil, http.StatusBadRequest, unreadable(err)
	}

	c := checker{all: all}

	document = c.value(schema, document, "body")
	if c.errs != nil {
		return nil, http.StatusUnprocessableEntity, c.errs
	}

	var res huma.ValidateResult

	path := huma.NewPathBuffer(nil, 0)
	path.Push("body")
	huma.Validate(all, schema, path, huma.ModeWriteToServer, document, &res)

	if len(res.Errors) > 0 {
		return nil, http.StatusUnprocessableEntity, res.Errors
	}

	body, err := json.Marshal(document)
	if err == nil {
		err = json.Unmarshal(body, reflect.New(t).Interface(), strict)
	}

	if err != nil {
		return nil, http.StatusUnprocessableEntity, unreadable(err)
	}

	return body, 0, nil
}

// unreadable describes an error of package json without naming a Go type.
func unreadable(err error) []error {
	text, where := "expected valid JSON", jsontext.Pointer("")
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(err, jsontext.ErrDuplicateName) {
		text, where = "given more than once", e.JSONPointer
	}

	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		text, where = "this value is not valid", e.JSONPointer
	}

	path := "body"

	for token := range where.Tokens() {
		if strings.Trim(token, "0123456789") == "" {
			path += "[" + token + "]"
		} else {
			path += "." + token
		}
	}

	return at(path, text)
}

// at is one error in a part of the request.
func at(location, message string) []error {
	return []error{&huma.ErrorDetail{Location: location, Message: message}}
}

// checker checks what huma.Validate does not: null where the schema forbids it, integers that
// some readers do not decode exactly, and the formats of this package. It leaves values of a
// wrong type to huma.Validate.
type checker struct {
	all  huma.Registry
	errs []error
}

func (c *checker) fail(path, message string) { c.errs = append(c.errs, at(path, message)...) }

// value returns the value that is decoded.
func (c *checker) value(s *huma.Schema, value any, path string) any {
	for s.Ref != "" {
		s = c.all.SchemaFromRef(s.Ref)
	}

	switch v := value.(type) {
	case nil:
		if !s.Nullable && s.Type != "" {
			c.fail(path, "expected a value, not null")
		}
	case float64:
		if s.Type == huma.TypeInteger && math.Abs(v) > maxInteger {
			c.fail(path, fmt.Sprintf("expected an integer of at most %d", maxInteger))
		}

		if v == 0 {
			return 0.0 // also for -0
		}
	case string:
		text, err := formatted(s, v)
		if err != nil {
			c.fail(path, err.Error())
		}

		return text
	case []any:
		if s.Type != huma.TypeArray {
			return value
		}

		for i, item := range v {
			here := fmt.Sprintf("%s[%d]", path, i)
			if s.UniqueItems && !scalar(item) { // huma.Validate would panic
				c.fail(here, "expected a single value")
			}

			v[i] = c.value(s.Items, item, here)
		}
	case map[string]any:
		for name, member := range v {
			if of, ok := s.Properties[name]; ok {
				v[name] = c.value(of, member, path+"."+name)
			} else if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
				v[name] = c.value(of, member, path+"."+name)
			} else if s.AdditionalProperties == true {
				delete(v, name) // the struct has no field for it
			}
		}
	}

	return value
}

func scalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}

	return true
}

// Decode reads a JSON document that is part of a request, such as a row of a file, as the body of a
// request with the schema of T. The errors say where and what is wrong, from "body" on.
func Decode[T any](document []byte) (v T, errs []error) {
	all, t := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer), reflect.TypeFor[T]()

	body, _, errs := validBody(all, all.Schema(t, true, t.Name()), t, document)
	if len(errs) > 0 {
		return v, errs
	}

	if err := json.Unmarshal(body, &v, strict); err != nil {
		return v, []error{err}
	}

	return v, nil
}
