package app

import (
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Client is a client of the SDK that loses no answer.
//
// The SDK closes a request's body as soon as the answer begins. If net/http has not read the end
// of that body by then, the SDK's io.WriterTo returns io.EOF. net/http treats that as a failed
// write, closes the connection, and loses the rest of the answer. The body's io.Reader ends
// correctly.
type Client struct{ aws.HTTPClient }

// Do sends a request.
func (c Client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}

	return c.HTTPClient.Do(r)
}
