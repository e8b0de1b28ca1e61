package apigateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/clock"
)

func Example() {
	api, err := apigateway.New(apigateway.Config{
		Clock:  clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free),
		Routes: []apigateway.Route{{Method: "GET", Path: "/matches/{id}", Function: "get-match", Auth: apigateway.Public}},
		Invoke: func(_ context.Context, function string, payload []byte) ([]byte, error) {
			var e events.APIGatewayV2HTTPRequest
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, err
			}

			return json.Marshal(events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: function + " " + e.PathParameters["id"]})
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, path := range []string{"/matches/7", "/teams"} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 get-match 7
	// 404 {"message":"Not Found"}
}
