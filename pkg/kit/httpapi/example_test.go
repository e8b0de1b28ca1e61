package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

type GetPlayer struct {
	ID string `path:"id" pattern:"^[0-9]+$"`
}

type PlayerPage struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Name string `json:"name"`
	}
}

var errNoPlayer = problem.New(problem.NotFound, "player_not_found", "no such player")

func getPlayer(_ context.Context, in *GetPlayer) (*PlayerPage, error) {
	if in.ID != "7" {
		return nil, errNoPlayer
	}

	out := &PlayerPage{CacheControl: "public, max-age=60"}
	out.Body.Name = "Dhoni"

	return out, nil
}

func ExampleHandler() {
	fn := spec.Function{
		Name: "cricket/get-player", Does: "Returns a player.",
		On: spec.Route{Method: "GET", Path: "/players/{id}", Auth: spec.Public},
	}
	h := httpapi.Handler(fn, getPlayer)

	for _, path := range []string{"/players/7", "/players/8"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
		fmt.Print(w.Body)
	}
	// Output:
	// 200 application/json
	// {"name":"Dhoni"}
	// 404 application/problem+json
	// {"type":"urn:problem-type:matchday:player_not_found","title":"Not Found","status":404,"detail":"no such player"}
}

func ExamplePage() {
	teams := []string{"AUS", "ENG", "IND"}
	id := func(team string) string { return team }
	page, next, err := httpapi.Page(teams, id, "", 2)
	fmt.Println(page, next, err)
	page, next, err = httpapi.Page(teams, id, next, 2)
	fmt.Printf("%v %q %v\n", page, next, err)
	_, _, err = httpapi.Page(teams, id, "XYZ", 2)
	fmt.Println(err)
	// Output:
	// [AUS ENG] ENG <nil>
	// [IND] "" <nil>
	// this page is no longer there: begin again
}
