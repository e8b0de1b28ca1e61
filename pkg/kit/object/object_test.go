package object_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/s3"
	"matchday/pkg/kit/object"
)

// TestDocument follows a document from its upload to its end.
func TestDocument(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(s3.New("files"))
	t.Cleanup(server.Close)
	cfg := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	b := object.Open(cfg, "files")

	ctx := t.Context()
	if got, err := b.Get(ctx, "a/1.json"); !errors.Is(err, object.ErrAbsent) {
		t.Errorf("an absent document is %s, %v", got, err)
	}

	for _, text := range []string{"old", "new"} {
		if err := b.Put(ctx, "a/1.json", map[string]string{"text": text}); err != nil {
			t.Fatal(err)
		}
	}

	got, err := b.Get(ctx, "a/1.json")
	if err != nil || !strings.Contains(string(got), `"text": "new"`) {
		t.Errorf("got %s, %v", got, err)
	}

	link, err := b.Link(ctx, "a/1.json", "mine.json", time.Hour)
	if err != nil || !strings.Contains(link, "X-Amz-Expires=3600") || !strings.Contains(link, "X-Amz-Signature=") {
		t.Fatalf("the link is %s, %v", link, err)
	}

	res, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	if text, err := io.ReadAll(res.Body); err != nil || string(text) != string(got) {
		t.Errorf("the link gives %s, %v", text, err)
	}

	for range 2 {
		if err := b.Delete(ctx, "a/1.json"); err != nil {
			t.Fatal(err)
		}
	}

	if got, err := b.Get(ctx, "a/1.json"); !errors.Is(err, object.ErrAbsent) {
		t.Errorf("a deleted document is %s, %v", got, err)
	}

	if err := object.Open(cfg, "others").Put(ctx, "a", 1); err == nil || !strings.Contains(err.Error(), "write the object a: ") {
		t.Errorf("a bucket that does not exist: %v", err)
	}

	if _, err := object.Open(cfg, "others").Get(ctx, "a"); err == nil || errors.Is(err, object.ErrAbsent) {
		t.Errorf("a bucket that does not exist: %v", err)
	}
}

// TestBodyIsClosed: a connection is returned after each read.
func TestBodyIsClosed(t *testing.T) {
	t.Parallel()

	for text, valid := range map[string]bool{`{"a":1}`: true, "": false} {
		b := &body{Reader: strings.NewReader(text)}
		if !valid {
			b.Reader = iotest.ErrReader(io.ErrUnexpectedEOF)
		}

		cfg := aws.Config{
			Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
			HTTPClient: smithyhttp.ClientDoFunc(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: b}, nil
			}),
		}

		got, err := object.Open(cfg, "files").Get(t.Context(), "a")
		if string(got) != text || (err == nil) != valid || !b.closed {
			t.Errorf("got %s, %v, closed %v; want %s, success %v, and the body closed", got, err, b.closed, text, valid)
		}
	}
}

type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error { b.closed = true; return nil }

// TestRequests: the bucket is named in the path, a document is indented JSON, and a file is
// as it is, without a checksum of its own, which a plain HTTP emulator refuses.
func TestRequests(t *testing.T) {
	t.Parallel()

	type request struct{ Method, URL, Type, Checksum, Body string }

	var got request

	cfg := aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		HTTPClient: smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			got = request{r.Method, r.URL.Host + r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("X-Amz-Sdk-Checksum-Algorithm"), ""}
			for name := range r.Header {
				if strings.HasPrefix(name, "X-Amz-Checksum-") || name == "X-Amz-Trailer" {
					got.Checksum += name
				}
			}

			if r.Body != nil {
				text, _ := io.ReadAll(r.Body)
				got.Body = string(text)
			}

			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
		}),
	}
	b := object.Open(cfg, "files")

	for want, do := range map[request]func() error{
		{"PUT", "s3.eu-west-1.amazonaws.com/files/a/1.json", "application/json", "", "{\n  \"text\": \"new\"\n}"}: func() error {
			return b.Put(t.Context(), "a/1.json", map[string]string{"text": "new"})
		},
		{"PUT", "s3.eu-west-1.amazonaws.com/files/a/1.png", "image/png", "", "\x89PNG\x00"}: func() error {
			return b.PutFile(t.Context(), "a/1.png", "image/png", []byte("\x89PNG\x00"))
		},
		{"GET", "s3.eu-west-1.amazonaws.com/files/a/1.json", "", "", ""}: func() error {
			_, err := b.Get(t.Context(), "a/1.json")
			return err
		},
		{"DELETE", "s3.eu-west-1.amazonaws.com/files/a/1.json", "", "", ""}: func() error { return b.Delete(t.Context(), "a/1.json") },
	} {
		got = request{}

		if err := do(); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
	}

	link, err := b.Link(t.Context(), "a/1.json", "mine.json", time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}

	q := u.Query()
	if diff := cmp.Diff([]string{"s3.eu-west-1.amazonaws.com/files/a/1.json", `attachment; filename="mine.json"`, "3600"},
		[]string{u.Host + u.Path, q.Get("response-content-disposition"), q.Get("X-Amz-Expires")}); diff != "" {
		t.Errorf("link (-want +got):\n%s", diff)
	}
}

// TestErrorsNameTheObject: each error names the action and the object.
func TestErrorsNameTheObject(t *testing.T) {
	t.Parallel()

	broken := aws.Config{
		Region:      "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient:  smithyhttp.ClientDoFunc(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }),
	}
	b := object.Open(broken, "files")
	unsigned := broken
	unsigned.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, io.ErrUnexpectedEOF
	})

	for start, do := range map[string]func() error{
		"write the object a: ":  func() error { return b.Put(t.Context(), "a", 1) },
		"write the object b: ":  func() error { return b.PutFile(t.Context(), "b", "image/png", nil) },
		"read the object a: ":   func() error { _, err := b.Get(t.Context(), "a"); return err },
		"delete the object a: ": func() error { return b.Delete(t.Context(), "a") },
		"sign a link: ": func() error {
			_, err := object.Open(unsigned, "files").Link(t.Context(), "a", "a", time.Hour)
			return err
		},
	} {
		if err := do(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), start) {
			t.Errorf("got %v, want %q and the cause", err, start)
		}
	}

	if err := b.Put(t.Context(), "a", func() {}); err == nil || !strings.HasPrefix(err.Error(), "write the object a: json: ") {
		t.Errorf("a document that is no JSON: %v", err)
	}
}
