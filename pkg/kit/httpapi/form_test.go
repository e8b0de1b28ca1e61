package httpapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"

	"matchday/pkg/spec"
)

// sent is the form of a page.
type sent struct {
	Body struct {
		Name  string `json:"name,omitempty" maxLength:"8"`
		Mails string `json:"mails,omitempty" enum:"on"`
	} `contentType:"application/x-www-form-urlencoded"`
}

// TestForms: a form is a body like another, in both encodings that browsers have.
func TestForms(t *testing.T) {
	t.Parallel()

	const (
		form  = "application/x-www-form-urlencoded"
		parts = "multipart/form-data; boundary=x"
	)

	fn := putOver
	fn.On = spec.Route{Method: "POST", Path: "/overs/{id}", Auth: spec.Public}
	h := Handler(fn, func(_ context.Context, in *sent) (*sheet, error) {
		return &sheet{fmt.Append(nil, in.Body.Name, "|", in.Body.Mails)}, nil
	})

	for _, c := range []struct{ what, kind, body, want string }{
		{"a form", form, "name=%C3%89va+B&mails=on", "200 Éva B|on"},
		{"with a charset", form + "; charset=utf-8", "name=Eva", "200 Eva|"},
		{"without a type", "", "name=Eva", "200 Eva|"},
		{"without fields", form, "", "200 |"},
		{"in parts", parts, "--x\r\nContent-Disposition: form-data; name=\"mails\"\r\n\r\non\r\n--x--\r\n", "200 |on"},
		{"parts that end early", parts, "--x\r\nContent-Disposition: form-data; name=\"mails\"\r\n\r\no", "400 <p>400"},
		{"parts without a boundary", "multipart/form-data", "--x--", "400 <p>400"},
		{"a field twice", form, "name=a&name=b", "400 <p>400"},
		{"a field that is unknown", form, "nickname=a", "422 <p>422"},
		{"a field that is too long", form, "name=123456789", "422 <p>422"},
		{"no value of the enumeration", form, "mails=off", "422 <p>422"},
		{"no UTF-8", form, "name=%ff", "400 <p>400"},
		{"a bad escape", form, "name=%zz", "400 <p>400"},
		{"JSON", "application/json", `{"name":"Eva"}`, "415 <p>415"},
	} {
		e := request(t, http.MethodPost, "/overs/7", base64.StdEncoding.EncodeToString([]byte(c.body)))
		e.IsBase64Encoded = true
		e.Headers["content-type"] = c.kind

		if c.kind == "" {
			delete(e.Headers, "content-type")
		}

		if out := serve(t, h, e); fmt.Sprint(out.StatusCode, " ", out.Body) != c.want {
			t.Errorf("%s: got %d %q, want %q", c.what, out.StatusCode, out.Body, c.want)
		}
	}
}
