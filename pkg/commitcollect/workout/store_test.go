package workout

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// TestLedgersAreReadOnce: in whatever order the workouts come, a transaction has those of few
// months: each ledger costs a read and a write.
func TestLedgersAreReadOnce(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{tables.Main, account.Deleted})

	var reads atomic.Int64

	cfg.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			reads.Add(1)
		}

		return http.DefaultClient.Do(r)
	})
	june := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

	var changes []change

	for n := range 2 * perTransaction {
		a := &strava.Activity{ID: int64(n + 1), SportType: "Run", StartDate: june.AddDate(0, -(n % 2), n/2), Distance: 1000}
		a.Athlete.ID = 77
		changes = append(changes, change{id: fmt.Sprint(a.ID), athlete: 77, activity: a, aspect: "create", eventTime: june.Unix(), listed: true})
	}

	if err := store(t.Context(), dynamo.Open(cfg, prefix), "ann", changes, june.AddDate(0, 2, 0)); err != nil {
		t.Fatal(err)
	}

	if n := reads.Load(); n != 2 {
		t.Errorf("%d ledgers are read for workouts of two months, want 2", n)
	}
}
