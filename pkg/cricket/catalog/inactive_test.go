package catalog_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// TestInactiveLeaguesOutliveAFailedRead: a tick goes on with the list that it knows. A
// process that knows none fails.
func TestInactiveLeaguesOutliveAFailedRead(t *testing.T) {
	t.Parallel()

	for name, rows := range map[string][]any{"one": {map[string]any{"leagueId": "5", "active": false}}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			testkit.PutRows(w.World, tables.Leagues, rows...)

			down := false
			env := w.Env(live.TickFunction())
			next := env.AWS.HTTPClient
			env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
				if down {
					return nil, errors.New("no route to host")
				}

				return next.Do(r)
			})
			open := func() *catalog.Leagues { return catalog.NewLeagues(dynamo.Open(env.AWS, env.Prefix), env.Now) }
			l := open()
			_, err := l.Inactive(w.NewContext())
			testkit.Must(t, err)

			down = true

			w.MoveClock(w.Clock.Now().Add(2 * time.Minute))

			if got, err := l.Inactive(w.NewContext()); err != nil || len(got) != len(rows) || got["5"] != (len(rows) > 0) {
				t.Errorf("a failed read after a good one: %v, %v, want the list of that", got, err)
			}

			if got, err := open().Inactive(w.NewContext()); err == nil {
				t.Errorf("a process without a list gets %v, want an error", got)
			}
		})
	}
}
