package httpapi

import (
	"context"
	"testing"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"
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

// TestSourceAddress: through a CDN a request comes from the CDN's client. Without one what
// the client says of others is not believed.
func TestSourceAddress(t *testing.T) {
	t.Parallel()

	const key, cdn, client, liar = "3kYx0new", "198.51.100.9", "203.0.113.7", "192.0.2.1"
	for name, c := range map[string]struct {
		keys, forwarded, source, want string
	}{
		"no CDN":                        {"", "", client, client},
		"no CDN, and a lie":             {"", liar, client, client},
		"the CDN":                       {key, client + ", " + cdn, cdn, client},
		"the CDN, which is not listed":  {key, client, cdn, client},
		"the CDN, and a lie":            {key, liar + "," + client + "," + cdn, cdn, client},
		"the CDN, and an empty address": {key, liar + ", " + client + ",," + cdn, cdn, client},
		"no addresses":                  {key, "", cdn, cdn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := request(t, "GET", "/overs/7", "")

			e.RequestContext.HTTP.SourceIP, e.Headers["x-forwarded-for"] = c.source, c.forwarded
			if c.keys != "" {
				e.StageVariables, e.Headers[spec.CDNHeader] = map[string]string{spec.CDNKeys: c.keys}, key
			}

			var got string

			out, err := Lambda(getOver, nil, func(ctx context.Context, in *read) (*over, error) {
				of, _ := core.GetAPIGatewayV2ContextFromContext(ctx)
				got = of.HTTP.SourceIP

				return reading(ctx, in)
			})(t.Context(), e)
			if err != nil || out.StatusCode != 200 || got != c.want {
				t.Errorf("got %s (%d, %v), want %s", got, out.StatusCode, err, c.want)
			}
		})
	}
}
