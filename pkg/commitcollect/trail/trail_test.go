package trail

import (
	"context"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"matchday/infra/testkit"
	"matchday/pkg/kit/dynamo"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// silent is a table that does not answer.
type silent struct{}

func (silent) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestWriteOfASilentTableEnds, so that a caller such as the logout answers in time.
func TestWriteOfASilentTableEnds(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ left, want time.Duration }{ // left is 0 for a caller without a deadline
		"a caller with much time":     {5 * time.Second, time.Second},
		"a caller with little time":   {600 * time.Millisecond, 300 * time.Millisecond},
		"a caller without a deadline": {0, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""), HTTPClient: silent{}}

			ctx := t.Context()
			if c.left != 0 {
				var cancel context.CancelFunc

				ctx, cancel = context.WithTimeout(ctx, c.left)
				defer cancel()
			}

			began := time.Now()
			Open(dynamo.Open(cfg, ""), time.Now).Write(ctx, Entry{Event: LogOut, Result: Success, UserID: "ann"}, Entry{Event: LogIn, Result: Success})

			if took := time.Since(began); took != c.want {
				t.Errorf("%s: the write took %s, want %s", name, took, c.want)
			}
		})
	}
}
