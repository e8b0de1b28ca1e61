package httpapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/spec"
)

// TestNotThroughCDN: if the API's stage has keys, only a request with one of them is
// served. Others are refused before anything else of them is read.
func TestNotThroughCDN(t *testing.T) {
	t.Parallel()
	const now, before = "3kYx0new", "9hTq2old"
	type answer struct {
		Status     int
		Type, Text string
	}
	served := answer{Status: 200}
	refused := answer{403, problemType + "not_through_cdn", "the API is not served at this address"}
	for name, c := range map[string]struct {
		keys   string // of the stage, "" for no variable
		header map[string]string
		want   answer
	}{
		"no CDN":                   {"", nil, served},
		"no CDN, and a key":        {"", map[string]string{spec.CDNHeader: now}, served},
		"the key":                  {now, map[string]string{spec.CDNHeader: now}, served},
		"the new of two keys":      {now + "," + before, map[string]string{spec.CDNHeader: now}, served},
		"the old of two keys":      {now + "," + before, map[string]string{spec.CDNHeader: before}, served},
		"both keys":                {now + "," + before, map[string]string{spec.CDNHeader: now + "," + before}, refused},
		"no header":                {now, nil, refused},
		"an empty header":          {now, map[string]string{spec.CDNHeader: ""}, refused},
		"an empty header and key":  {now + ",", map[string]string{spec.CDNHeader: ""}, refused},
		"another key":              {now, map[string]string{spec.CDNHeader: before}, refused},
		"the beginning of the key": {now, map[string]string{spec.CDNHeader: now[:4]}, refused},
		"more than the key":        {now, map[string]string{spec.CDNHeader: now + "x"}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := "/overs/7"
			if c.want == refused {
				target = "/nowhere?x=1"
			}
			e := request(t, "GET", target, "")
			for k, v := range c.header {
				e.Headers[k] = v
			}
			if c.keys != "" {
				e.StageVariables = map[string]string{spec.CDNKeys: c.keys}
			}
			out, err := Lambda(getOver, nil, reading)(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			got := answer{Status: out.StatusCode}
			if out.StatusCode >= 300 {
				p := problemIn(t, out)
				got.Type, got.Text = p.Type, p.Detail
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}
