package app_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"matchday/pkg/kit/app"
)

// TestAnswerBeforeTheRequestEnds: an answer that begins before net/http has finished the
// request is read to its end, by the first attempt.
func TestAnswerBeforeTheRequestEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()

		ended := make(chan struct{})
		go func() {
			defer close(ended)

			r, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				t.Error(err)
				return
			}

			io.Copy(io.Discard, r.Body)
			io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"+`{"TableNames"`)
			time.Sleep(time.Second)
			io.WriteString(far, `:["a"]}`)
		}()

		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return slow{near}, nil }}
		defer func() { transport.CloseIdleConnections(); <-ended }()

		out, err := dynamodb.NewFromConfig(aws.Config{
			BaseEndpoint: aws.String("http://dynamodb"), Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
			HTTPClient: app.Client{HTTPClient: &http.Client{Transport: transport}}, RetryMaxAttempts: 1,
		}).ListTables(t.Context(), &dynamodb.ListTablesInput{})
		if err != nil || len(out.TableNames) != 1 {
			t.Errorf("got %v, %v, want one table", out, err)
		}
	})
}

// slow is a connection whose writes take 100 ms more than their receiver needs to answer.
type slow struct{ net.Conn }

func (s slow) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)

	time.Sleep(100 * time.Millisecond)

	return n, err
}
