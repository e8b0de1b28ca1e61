package commitcollect_test

import (
	"fmt"
	"net/http"
	"strings"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/tables"
)

// stored is an item of a table.
type stored = map[string]any

// connection returns the stored connection of a user.
func connection(w *commitcollecttest.World, user string) stored {
	return testkit.Row[stored](w.World, tables.Main, "USER#"+user, "STRAVA#CONNECTION")
}

// entriesOf counts the entries of a user's trail by event and result.
func entriesOf(w *commitcollecttest.World, user string) map[string]int {
	n := map[string]int{}

	for _, r := range testkit.Rows[stored](w.World, tables.Audit) {
		if r["PK"] == "USER#"+user {
			n[fmt.Sprint(r["eventType"], " ", r["result"])]++
		}
	}

	return n
}

// progress returns the numbers of a milestone that workouts change.
func progress(m commitcollecttest.Milestone) [3]int64 {
	return [3]int64{m.ProgressValue, m.RawProgress, int64(m.PartsAwardedCount)}
}

// fail has Strava answer every call of a path with a status, until the test sets Outage
// again. It returns the number of such calls.
func fail(w *commitcollecttest.World, path string, status int, contentType, body string, headers ...string) *int {
	n := new(int)
	w.Outage = func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}

		*n++

		out.Header().Set("Content-Type", contentType)

		for i := 0; i < len(headers); i += 2 {
			out.Header().Set(headers[i], headers[i+1])
		}

		out.WriteHeader(status)
		fmt.Fprint(out, body)

		return true
	}

	return n
}

const (
	jsonType = "application/json"
	htmlType = "text/html"
)
