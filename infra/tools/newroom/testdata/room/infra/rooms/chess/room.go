// Package chess is what the room chess brings outside pkg: its tab on the console, sample events
// and cost.
package chess

import (
	"embed"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/tools/cost/usage"
	"matchday/infra/tools/events/story"
	"matchday/pkg/chess"
)

// Room plugs chess in.
var Room = rooms.Room{
	Room:  chess.Room(),
	Local: newLocal,
	Cost:  usage.Model{Kept: []byte(`{}`), AtRest: 2},
}

//go:embed panel
var files embed.FS

// newLocal returns chess in one local fleet.
func newLocal() rooms.Local {
	return rooms.Local{
		Fleet: fleet.Room{Room: chess.Room()},
		Panel: console.Panel{Room: chess.Room().Spec.Name, Title: "Chess", Files: console.FilesOf(files)},
		Samples: story.Samples{Prepare: func(put func(table string, row map[string]any) error) error {
			return put("chess-ratings", map[string]any{"userId": "7f6c1f0e-5d0a-4c5e-9b57-0000000a0001", "points": 1500})
		}},
	}
}
