package football_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/football"
	"matchday/infra/sim/openfootball"
)

func Example() {
	season, err := openfootball.Parse([]byte(`{"name": "League 2026/27", "matches": [
		{"round": "Matchday 1", "date": "2026-08-14", "time": "20:00", "team1": "Ayr", "team2": "Ely", "score": {"ht": [0, 1], "ft": [2, 1]}}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}

	s := football.New(clock.New(time.Date(2026, 8, 14, 12, 0, 0, 0, time.UTC), clock.Free), 1)

	err = s.Add(football.Tournament{ID: 17, SeasonID: 61, Season: season, Faults: map[int][]football.Kind{0: {football.Corrected}}})
	if err != nil {
		fmt.Println(err)
		return
	}

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/unique-tournament/17/season/61/rounds", nil))
	fmt.Println(w.Body)

	for _, e := range s.Finals(17, 61) {
		before, _ := s.At(e.ID, e.Changed.Add(-time.Second))
		fmt.Println(before.Type, before.Score == e.Score, e.Type, e.Score)
	}
	// Output:
	// {"currentRound":{"round":1},"rounds":[{"round":1}]}
	// finished false finished [2 1]
}
