package object_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	smithyhttp "github.com/aws/smithy-go/transport/http"

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
	if got, err := b.Get(ctx, "a/1.json"); err == nil {
		t.Errorf("an absent document is %s", got)
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
	if got, err := b.Get(ctx, "a/1.json"); err == nil {
		t.Errorf("a deleted document is %s", got)
	}
	if err := object.Open(cfg, "others").Put(ctx, "a", 1); err == nil || !strings.Contains(err.Error(), "write the object a: ") {
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
