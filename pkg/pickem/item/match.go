package item

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Match is the item of a match.
type Match struct {
	Row
	ID            string   `dynamodbav:"id"`
	Name          string   `dynamodbav:"name"`
	Championships []string `dynamodbav:"championships,omitempty"`
	Points        int      `dynamodbav:"points"`
	Preshow       bool     `dynamodbav:"preshow"`
	Teams         []Team   `dynamodbav:"teams"`
	Result        *int     `dynamodbav:"result,omitempty"` // the winner's place in Teams, from 0, or void; nil for none yet
	// the event's CardRev when it was last decided who competes, or when it was removed: earlier picks are void
	Since    int `dynamodbav:"since"`
	LastTeam int `dynamodbav:"lastTeam"` // the number in the latest team id: ids are not used again
}

// Team is one side of a match.
type Team struct {
	ID       string   `json:"id,omitempty" dynamodbav:"id" maxLength:"8" example:"t1" doc:"Picks name a team by its id. The server gives it to a new team; send it back to keep the team when its names or its place change."`
	Name     string   `json:"name,omitempty" dynamodbav:"name,omitempty" format:"display-name" minLength:"0" maxLength:"64" doc:"The name of the team. Absent: its members are its name."`
	Champion bool     `json:"champion,omitempty" dynamodbav:"champion,omitempty" doc:"The team defends a title."`
	Members  []string `json:"members" dynamodbav:"members" minItems:"1" maxItems:"30" format:"display-name" maxLength:"64" nullable:"false" doc:"The names of the competitors."`
}

// Team returns the place in Teams of the team with an id, -1 if there is none.
func (m Match) Team(id string) int {
	return slices.IndexFunc(m.Teams, func(t Team) bool { return t.ID == id })
}

// Identify returns teams with the ids that they have in the match. A team keeps the id
// that it has. One without an id gets that of the match's team with the same members, or
// else a new one, and LastTeam becomes its number. Identify returns -1, or the place of a
// team whose id is not one of the match or is used twice.
func (m *Match) Identify(teams []Team) (identified []Team, wrong int) {
	used := map[string]bool{}
	for i, t := range teams {
		if t.ID != "" && (used[t.ID] || m.Team(t.ID) < 0) {
			return nil, i
		}

		used[t.ID] = true
	}

	identified = slices.Clone(teams)
	for i, t := range identified {
		if t.ID != "" {
			continue
		}

		same := slices.IndexFunc(m.Teams, func(o Team) bool { return !used[o.ID] && slices.Equal(o.Members, t.Members) })
		if same >= 0 {
			identified[i].ID = m.Teams[same].ID
		} else {
			m.LastTeam++
			identified[i].ID = fmt.Sprint("t", m.LastTeam)
		}

		used[identified[i].ID] = true
	}

	return identified, -1
}

// Result is the winner's place among the teams, from 0, or "void" for a match
// that brings no points.
type Result int

// MarshalJSON writes a place as a number, and void as a word.
func (r Result) MarshalJSON() ([]byte, error) {
	if r == Void {
		return []byte(`"void"`), nil
	}

	return json.Marshal(int(r))
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (r *Result) UnmarshalJSON(text []byte) error {
	if string(text) == `"void"` {
		*r = Void
		return nil
	}

	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return errors.New(`invalid result: valid are the index of the winning team, from 0, and "void"`)
	}

	*r = Result(n)

	return nil
}

// Schema describes a Result.
func (Result) Schema(huma.Registry) *huma.Schema {
	least := 0.0

	return &huma.Schema{
		Description: `The index of the winning team, from 0, or "void" for a match that brings no points.`,
		OneOf:       []*huma.Schema{{Type: huma.TypeInteger, Minimum: &least}, {Type: huma.TypeString, Enum: []any{"void"}}},
	}
}

// Void is the result of a match that brings no points.
const Void = -1
