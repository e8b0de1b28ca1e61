package item

import (
	"context"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/spec"
)

// Player is a player of a league.
type Player struct {
	ID         string       `json:"playerId"`
	LeagueID   string       `json:"leagueId"`
	Nickname   string       `json:"nickname"`
	Avatar     string       `json:"avatar,omitempty"`
	ClaimedBy  string       `json:"claimedByUserId,omitempty"`
	Claims     int          `json:"claimCount,omitempty"` // so far: answers under an earlier claim do not count for the next
	MergedInto string       `json:"mergedInto,omitempty"`
	Used       bool         `json:"used,omitempty"`      // was in a team, or another was merged into it: it cannot be deleted
	Guarded    bool         `json:"guarded,omitempty"`   // an administrator has ended a claim: only members may claim it
	Stale      bool         `json:"stale,omitempty"`     // set by earlier releases, as Renamed
	Renames    limit.Window `json:"renames,omitzero"`    // by who has claimed it
	Edits      limit.Window `json:"edits,omitzero"`      // by scorekeepers
	AdminEdits limit.Window `json:"adminEdits,omitzero"` // by administrators
	Merges     limit.Window `json:"merges,omitzero"`
	Display    Display      `json:"display,omitempty"`  // "" is FullName
	Guardian   bool         `json:"guardian,omitempty"` // who has claimed the player is a guardian, not the player
}

// Resolve returns the player who counts for a player: the one into whom it is merged, or itself. A
// player without a row has an id only.
func Resolve(id string, players map[string]Player) Player {
	for range len(players) {
		p, ok := players[id]
		if !ok || p.MergedInto == "" {
			break
		}

		id = p.MergedInto
	}

	p := players[id]
	p.ID = id

	return p
}

// CountingNames returns players with the names and avatars of the players who count for them.
func CountingNames(players map[string]Player) map[string]Player {
	all := map[string]Player{}

	for id, p := range players {
		counts := Resolve(id, players)
		p.Nickname, p.Avatar = counts.Nickname, counts.Avatar
		all[id] = p
	}

	return all
}

// ReadCounting reads the player who counts for a player. Errors: ErrNoPlayer.
func ReadCounting(ctx context.Context, db dynamo.DB, p Row[Player]) (Row[Player], error) {
	for p.V().MergedInto != "" {
		var err error
		if p, err = PlayerRow.Read(ctx, db, p.V().MergedInto); err != nil {
			return p, err
		}
	}

	return p, nil
}

// ReadPlayers reads players, and those into whom they are merged, by id. It leaves out players that
// do not exist.
func ReadPlayers(ctx context.Context, db dynamo.DB, a spec.Access, ids []string) (map[string]Player, error) {
	all, asked := map[string]Player{}, map[string]bool{}

	for len(ids) > 0 {
		var keys []dynamo.Item

		for _, id := range ids {
			if !asked[id] {
				asked[id] = true
				keys = append(keys, Key(PlayerKey(id), Profile))
			}
		}

		rows, err := dynamo.GetAll[Row[Player]](ctx, db, a, keys)
		if err != nil {
			return nil, err
		}

		ids = nil

		for _, p := range Values(rows) {
			all[p.ID] = p
			if p.MergedInto != "" && !asked[p.MergedInto] {
				ids = append(ids, p.MergedInto)
			}
		}
	}

	return all, nil
}

// Claim is a player whom a user has claimed, under the user.
type Claim struct {
	PlayerID string `json:"playerId"`
	LeagueID string `json:"leagueId"`
}
