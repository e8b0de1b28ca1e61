// Package takedown removes what a league shows to everybody and must not: its name, the name of a
// player, or the whole league. An operator does so, and administrators of a league for who is named: see package
// report.
package takedown

import (
	"context"
	"crypto/rand"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// The names that a league and a player get.
const (
	LeagueName = "Renamed league"
	PlayerName = "Renamed player"
)

// Service takes names and leagues down.
type Service struct {
	db    dynamo.DB
	now   func() time.Time
	queue queue.Sender
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{dynamo.Open(env.AWS, env.Prefix), env.Now, queue.Open(env.AWS, env.Queues)}, nil
}

// TakeDown is the request of an operator: a league or a player.
type TakeDown struct {
	League   string `json:"league"`   // its slug or its id
	Delete   bool   `json:"delete"`   // the league, with all that it has, in place of its name
	PlayerID string `json:"playerId"` // whose name is taken down
}

// Taken is what was taken down.
type Taken struct {
	LeagueID string `json:"leagueId"`
	PlayerID string `json:"playerId,omitempty"`
	Name     string `json:"name,omitempty"` // the new one
	Deleted  bool   `json:"deleted,omitempty"`
}

// Function renames a league or a player, or deletes a league.
func Function() app.Function {
	return app.Task(spec.Function{
		Name: "threefc/take-down",
		Does: "Gives a league or a player a neutral name, or deletes a league. An operator invokes it with {\"league\": \"parkside\"}, " +
			"{\"league\": \"parkside\", \"delete\": true} or {\"playerId\": \"01JX…\"}.",
		IfDown: "Names and leagues that nobody may show stay public.",
		On:     spec.Task{},
		Uses: []spec.Access{
			tables.FindSlug, tables.GetLeague, tables.SaveLeague, tables.EndLeague, tables.DropLeague, tables.GetPlayer,
			tables.SavePlayer, tables.TakeOutbox, tables.ListSeasons,
		},
		Sends:  []spec.Queue{game.AggregateQueue},
		Memory: 256, Timeout: 15 * time.Minute,
	}, Open, (*Service).TakeDown)
}

var errWhat = problem.New(problem.Invalid, "nothing_to_take_down",
	"name one league or one player: valid are {\"league\": SLUG or ID}, with \"delete\": true or without, and {\"playerId\": ID}")

// TakeDown gives a league a neutral name and a neutral slug, or a player a neutral name without an
// avatar, or deletes a league with all that it has. Pages show it within five seconds, tables when they
// are computed. Members may choose another name afterwards. A second run repeats it, and finishes a
// deletion by the league's id. Errors: nothing_to_take_down, acl_scope_not_found, player_not_found.
func (s *Service) TakeDown(ctx context.Context, in TakeDown) (out Taken, err error) {
	switch {
	case in.League != "" && in.PlayerID == "" && in.Delete:
		out, err = s.deleteLeague(ctx, in.League)
	case in.League != "" && in.PlayerID == "":
		out, err = s.renameLeague(ctx, in.League)
	case in.League == "" && in.PlayerID != "" && !in.Delete:
		out, err = RenamePlayer(ctx, s.db, s.queue, s.now(), in.PlayerID)
	default:
		err = errWhat
	}

	if err == nil {
		slog.InfoContext(ctx, "taken down", "league", out.LeagueID, "player", out.PlayerID, "deleted", out.Deleted)
	}

	return out, err
}

// find returns the id of a league by its slug or its id.
func (s *Service) find(ctx context.Context, name string) (string, error) {
	if item.IsID(name) {
		return name, nil
	}

	to, err := item.Read[item.Ref](ctx, s.db, tables.FindSlug, item.SlugKey(name), item.Metadata, item.ErrScope)

	return to.V().ID, err
}

func (s *Service) deleteLeague(ctx context.Context, name string) (out Taken, err error) {
	id, err := s.find(ctx, name)
	if err != nil {
		return out, err
	}

	err = dynamo.Retry(ctx, item.Attempts, func() error {
		row, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.db, tables.GetLeague, item.LeagueKey(id), item.Metadata)
		if err != nil || !ok { // its deletion was begun
			return err
		}

		return dynamo.Transact(ctx, s.db, tables.SaveLeague, league.End(row)...)
	})
	if err != nil {
		return out, err
	}

	return Taken{LeagueID: id, Deleted: true}, league.Drop(ctx, s.db, id, "")
}

func (s *Service) renameLeague(ctx context.Context, name string) (out Taken, err error) {
	id, err := s.find(ctx, name)
	if err != nil {
		return out, err
	}

	return Taken{LeagueID: id, Name: LeagueName}, RenameLeague(ctx, s.db, s.now(), id)
}

// slugs are those of newSlug.
var slugs = regexp.MustCompile("^league-[a-z2-7]{10}$")

// newSlug returns a neutral slug.
func newSlug() string { return "league-" + strings.ToLower(rand.Text()[:10]) }

// RenameLeague gives a league, also one that may be restored, a neutral name and a neutral slug, unless it has them.
// Errors: acl_scope_not_found.
func RenameLeague(ctx context.Context, db dynamo.DB, now time.Time, id string) error {
	return league.Edit(ctx, db, now, id, func(l *item.League) ([]dynamo.Write, bool) {
		if l.Name == LeagueName && l.OldSlug == "" && slugs.MatchString(l.Slug) {
			return nil, false
		}

		writes := league.FreeSlugs(*l)
		l.Name, l.Slug, l.OldSlug = LeagueName, newSlug(), ""
		to := item.New(item.SlugKey(l.Slug), item.Metadata, "Slug", item.Ref{ID: id}, now)

		return append(writes, to.Create()), true
	})
}

// RenamePlayer gives a player a neutral name without an avatar, unless the player has them, and requests the tables.
// A second run requests them again, and so does the sweep of the outbox after a crash. Errors: player_not_found.
func RenamePlayer(ctx context.Context, db dynamo.DB, q queue.Sender, now time.Time, id string) (out Taken, err error) {
	var waits item.Row[item.Renamed]

	err = dynamo.Retry(ctx, item.Attempts, func() error {
		row, err := item.PlayerRow.Read(ctx, db, id)
		if err != nil {
			return err
		}

		out = Taken{LeagueID: row.V().LeagueID, PlayerID: id, Name: PlayerName}
		if row.V().Nickname == PlayerName && row.V().Avatar == "" {
			return nil
		}

		row.V().Nickname, row.V().Avatar = PlayerName, ""
		row, saved := row.Save(now)
		waits = game.NewRenamed(row, now)

		return dynamo.Transact(ctx, db, tables.SavePlayer, saved, row.Mirror(item.LeagueKey(row.V().LeagueID), row.PK),
			dynamo.PutWrite(waits))
	})
	if err != nil {
		return out, err
	}

	if waits.PK == "" { // the player has the name already
		return out, game.Recompute(ctx, db, q, out.LeagueID)
	}

	return out, game.Rename(ctx, db, q, waits)
}
