package pickem

import (
	"context"
	"encoding/json"
	"net/http"

	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
)

// View is the season in the visitor's app: the answers of the API.
type View struct {
	Member    string          `json:"member"`    // the visitor's id
	Shows     []Shown         `json:"shows"`     // the latest two, the latest first
	Standings json.RawMessage `json:"standings"` // of the year
	Leagues   []League        `json:"leagues"`   // the visitor's
}

// Shown is a show.
type Shown struct {
	Event       json.RawMessage `json:"event"`                 // with its card and the visitor's picks
	Entries     int             `json:"entries"`               // members who have picked
	Corrections json.RawMessage `json:"corrections,omitempty"` // the log of its results, once it is locked
	Results     json.RawMessage `json:"results,omitempty"`     // once it is scored
}

// League is one of the visitor's leagues.
type League struct {
	League    json.RawMessage `json:"league"`
	Standings json.RawMessage `json:"standings"` // of the year
}

// Look reads the view of the visitor from the API.
func (s *Season) Look(ctx context.Context) (View, error) {
	v := View{Member: Visitor, Shows: []Shown{}, Leagues: []League{}}

	shows, err := s.shows(ctx, Visitor)
	if err != nil {
		return v, err
	}

	for _, e := range shows[:min(2, len(shows))] {
		sh, err := s.look(ctx, e)
		if err != nil {
			return v, err
		}

		v.Shows = append(v.Shows, sh)
	}

	year := s.Clock.Now().UTC().Format("2006")
	if err := s.mine(ctx, "/app/standings/"+year, &v.Standings); err != nil {
		return v, err
	}

	var leagues league.LeagueList
	if err := s.mine(ctx, "/app/leagues", &leagues.Body); err != nil {
		return v, err
	}

	for _, m := range leagues.Body.Leagues {
		var l League
		if err := s.mine(ctx, "/app/leagues/"+m.LeagueID, &l.League); err != nil {
			return v, err
		}

		if err := s.mine(ctx, "/app/leagues/"+m.LeagueID+"/standings/"+year, &l.Standings); err != nil {
			return v, err
		}

		v.Leagues = append(v.Leagues, l)
	}

	return v, nil
}

// look reads a show as the visitor sees it.
func (s *Season) look(ctx context.Context, e event.Event) (sh Shown, err error) {
	if err := s.mine(ctx, "/app/events/"+e.ID, &sh.Event); err != nil {
		return sh, err
	}

	entries, err := s.entries(ctx, e.ID)
	if err != nil {
		return sh, err
	}

	sh.Entries = entries.Count
	if e.State != upcoming {
		if err := s.mine(ctx, "/app/events/"+e.ID+"/corrections", &sh.Corrections); err != nil {
			return sh, err
		}
	}

	if e.State == scored {
		err = s.mine(ctx, "/app/events/"+e.ID+"/results", &sh.Results)
	}

	return sh, err
}

// mine calls the API as the visitor.
func (s *Season) mine(ctx context.Context, path string, out any) error {
	return s.as(ctx, Visitor, http.MethodGet, path, nil, out)
}
