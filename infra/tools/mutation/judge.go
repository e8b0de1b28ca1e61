package mutation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxBody is the largest body that a function reads, in bytes: httpapi.MaxBody.
const maxBody = 64 << 10

// Forbids returns why the operation must refuse a request, nil if the document allows the
// request or does not say.
func (o Operation) Forbids(r Request) error {
	if r.Path != "" || r.Method != o.Method {
		return nil
	}

	for _, p := range o.Params {
		if p.In == "path" && (r.Params[p.Name] == "" || strings.Contains(r.Params[p.Name], "/")) {
			return nil // it is another route
		}
	}

	if err := o.forbidsParams(r); err != nil {
		return err
	}

	return o.forbidsBody(r)
}

// forbidsParams is Forbids for the parameters.
func (o Operation) forbidsParams(r Request) error {
	given, err := url.ParseQuery(r.query())
	if err != nil && !o.AnyQuery {
		return fmt.Errorf("the query cannot be read: %w", err)
	}

	for _, p := range o.Params {
		var values []string

		switch p.In {
		case "path":
			values = []string{r.Params[p.Name]}
		case "query":
			values = given[p.Name]
		case "header":
			if r.Header.Get(p.Name) != "" {
				values = []string{strings.Trim(strings.Join(r.Header.Values(p.Name), ","), " \t")} // as API Gateway joins them
			}
		}

		switch {
		case len(values) > 1:
			return fmt.Errorf("the parameter %s is given %d times", p.Name, len(values))
		case len(values) == 0 && p.Required:
			return fmt.Errorf("the parameter %s is required", p.Name)
		case len(values) == 0 || values[0] == "" && !p.Required:
			continue // an empty value is as good as none
		}

		v, err := p.Schema.valueOf(values[0])
		if err == nil {
			err = p.Schema.Validate(v)
		}

		if err != nil {
			return fmt.Errorf("the parameter %s is not valid: %w", p.Name, err)
		}
	}

	for name := range given {
		known := func(p Param) bool { return p.In == "query" && p.Name == name }
		if !o.AnyQuery && !slices.ContainsFunc(o.Params, known) {
			return fmt.Errorf("there is no parameter %q", name)
		}
	}

	return nil
}

// forbidsBody is Forbids for the body.
func (o Operation) forbidsBody(r Request) error {
	if o.Body == nil {
		return nil
	}

	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))

	isJSON := err == nil && kind == "application/json" && (params["charset"] == "" || params["charset"] == "utf-8")
	if !isJSON || r.Header.Get("Content-Encoding") != "" {
		return nil // whether the body is read at all is the function's choice
	}

	text := r.Text()
	switch {
	case len(text) == 0 && !o.BodyRequired:
		return nil
	case len(text) > maxBody:
		return errors.New("the body is too large")
	}

	if err := Strict(text); err != nil {
		return fmt.Errorf("the body is not JSON, or has a member twice: %w", err)
	}

	value, err := unmarshal(text)
	if err != nil {
		return err
	}

	return o.Body.Validate(o.Body.withoutNulls(value))
}

// Strict returns why text is not one JSON value whose objects have no member twice.
func Strict(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := d.ReadValue(); err != nil {
		return err
	}

	if _, err := d.ReadToken(); err == nil {
		return errors.New("text follows the value")
	}

	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return errors.New("text follows the value")
	}

	return nil
}

func unmarshal(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)

	return v, err
}

// valueOf is the JSON value of a parameter's text, as functions read it.
func (n node) valueOf(text string) (any, error) {
	switch n.kind() {
	case "integer":
		i, err := strconv.ParseInt(text, 10, 64)
		return json.Number(strconv.FormatInt(i, 10)), err
	case "number":
		f, err := strconv.ParseFloat(text, 64)
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), err
	case "boolean":
		return strconv.ParseBool(text)
	case "array":
		all := []any{}

		for part := range strings.SplitSeq(text, ",") {
			v, err := n.items().valueOf(part)
			if err != nil {
				return nil, err
			}

			all = append(all, v)
		}

		return all, nil
	}

	return text, nil
}
