package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/judge/calls"
	"matchday/pkg/spec"
)

// TestMigration: CloudFormation learns whether a migration has succeeded, under one id, so
// that it never replaces the resource. A deletion migrates nothing.
func TestMigration(t *testing.T) {
	t.Parallel()

	broken := errors.New(`failed to run SQL migration "` + strings.Repeat("é", 3000) + `": there is no column 7`)
	for name, c := range map[string]struct {
		request cfn.RequestType
		fails   error
		runs    int
		status  cfn.StatusType
		reason  string // that the reason ends with
	}{
		"created":  {cfn.RequestCreate, nil, 1, cfn.StatusSuccess, ""},
		"changed":  {cfn.RequestUpdate, nil, 1, cfn.StatusSuccess, ""},
		"deleted":  {cfn.RequestDelete, broken, 0, cfn.StatusSuccess, ""},
		"it fails": {cfn.RequestUpdate, broken, 1, cfn.StatusFailed, "there is no column 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var answer []byte

			s3 := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPut || r.Header.Get("Content-Type") != "" {
					t.Errorf("the answer is sent by %s as %q", r.Method, r.Header.Get("Content-Type"))
				}

				answer, _ = io.ReadAll(r.Body)
			}))
			t.Cleanup(s3.Close)

			runs := 0

			h, err := handler(t.Context(), settings(nil), opened, migration(spec.Function{Name: "lab/migrate"}, func(Env, context.Context) error {
				runs++
				return c.fails
			}))
			if err != nil {
				t.Fatal(err)
			}

			event, err := json.Marshal(cfn.Event{
				RequestType:       c.request,
				RequestID:         "r1",
				StackID:           "s1",
				LogicalResourceID: "Schema",
				ResponseURL:       s3.URL + "/?signature=x",
			})
			if err != nil {
				t.Fatal(err)
			}

			if _, err := h.Invoke(t.Context(), event); err != nil {
				t.Fatal(err)
			}

			var got cfn.Response
			if err := json.Unmarshal(answer, &got); err != nil {
				t.Fatalf("%s: %v", answer, err)
			}

			if len(answer) > 4096 || !strings.HasSuffix(got.Reason, c.reason) || (c.reason == "") != (got.Reason == "") {
				t.Errorf("the answer has %d bytes, and the reason ends with %q", len(answer), got.Reason[max(0, len(got.Reason)-40):])
			}

			recordAnswer(t, answer)

			got.Reason = ""

			want := cfn.Response{Status: c.status, RequestID: "r1", StackID: "s1", LogicalResourceID: "Schema", PhysicalResourceID: "lab/migrate"}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(cfn.Response{})); diff != "" || runs != c.runs {
				t.Errorf("it migrates %d times, want %d; the answer differs (-want +got):\n%s", runs, c.runs, diff)
			}
		})
	}
}

// recordAnswer records an answer of a custom resource for the judge.
func recordAnswer(t *testing.T, answer []byte) {
	t.Helper()

	var sent struct {
		Status, Reason, PhysicalResourceId, StackId, RequestId, LogicalResourceId string

		NoEcho bool
		Data   map[string]string
	}

	d := json.NewDecoder(bytes.NewReader(answer))
	d.DisallowUnknownFields()

	if err := d.Decode(&sent); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}

	calls.Record("CloudFormation custom resource", "Answer", &sent)
}

// TestMigrationWithoutAnAnswer: what cannot be answered fails, so that Lambda repeats it. The
// error has no URL, which is signed.
func TestMigrationWithoutAnAnswer(t *testing.T) {
	t.Parallel()

	refuses := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refuses.Close)

	away := httptest.NewServer(nil)
	away.Close()

	for _, s := range []*httptest.Server{refuses, away} {
		h, err := handler(t.Context(), settings(nil), opened,
			migration(spec.Function{Name: "lab/migrate"}, func(Env, context.Context) error { return nil }))
		if err != nil {
			t.Fatal(err)
		}

		event, err := json.Marshal(cfn.Event{RequestType: cfn.RequestCreate, ResponseURL: s.URL + "/?signature=s3cr3t"})
		if err != nil {
			t.Fatal(err)
		}

		if _, err := h.Invoke(t.Context(), event); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("got %v", err)
		}
	}
}

// TestMigrationByHand: an operator gets the answer, or the error.
func TestMigrationByHand(t *testing.T) {
	t.Parallel()

	for want, fails := range map[string]error{"": nil, "there is no column 7": errors.New("there is no column 7")} {
		h, err := handler(t.Context(), settings(nil), opened,
			migration(spec.Function{Name: "lab/migrate"}, func(Env, context.Context) error { return fails }))
		if err != nil {
			t.Fatal(err)
		}

		out, err := h.Invoke(t.Context(), []byte(`{"RequestType":"Update"}`))
		if got := fmt.Sprint(err); fails != nil && got != want ||
			fails == nil && (err != nil || !strings.Contains(string(out), `"Status":"SUCCESS"`)) {
			t.Errorf("got %s, %v", out, err)
		}
	}
}
