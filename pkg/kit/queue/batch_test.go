package queue_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/dynamodb"
	"matchday/pkg/kit/queue"
)

// TestRefusedInABatch: SQS may take a batch and refuse some of its messages. Nothing is sent
// after such a batch, and the error has the code.
func TestRefusedInABatch(t *testing.T) {
	t.Parallel()

	var batches []int

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Entries []struct{ ID string } }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}

		batches = append(batches, len(in.Entries))

		refused := ""
		if len(batches) == 2 {
			refused = `{"Id":"3","Code":"InternalError","SenderFault":false}`
		}

		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprintf(w, `{"Successful":[],"Failed":[%s]}`, refused)
	}))
	t.Cleanup(server.Close)
	s := queue.Open(dynamodb.Config(server.URL), server.URL+"/")

	err := queue.SendAll(t.Context(), s, goals, make([]goal, 35))
	if want := "send to goals: 1 of 10 messages are refused: InternalError"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	if diff := cmp.Diff([]int{10, 10}, batches); diff != "" {
		t.Errorf("messages in the batches (-want +got):\n%s", diff)
	}
}
