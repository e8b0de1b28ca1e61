package item

import (
	"encoding/json"
	"errors"
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
	Since         int      `dynamodbav:"since"`            // the event's CardRev when its teams last changed: earlier picks are void
}

// Team is one side of a match.
type Team struct {
	Name     string   `json:"name,omitempty" dynamodbav:"name,omitempty" maxLength:"64"`
	Champion bool     `json:"champion,omitempty" dynamodbav:"champion,omitempty" doc:"The team defends a title."`
	Members  []string `json:"members" dynamodbav:"members" minItems:"1" maxItems:"30" minLength:"1" maxLength:"64" pattern:"^\\S(.*\\S)?$" nullable:"false"`
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
