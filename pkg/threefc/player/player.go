// Package player keeps the players of leagues, the claims of users to be a player, and the codes by
// which players enter the pool of a game.
//
// Anybody with a code may join. A player that nobody has claimed may be claimed by the members of
// the league, and by a user with a code of one of its games: public pages show ids of players, so an
// id is no right. Administrators correct mistakes: they delete players who never played, and end
// claims, after which only members of the league may claim the player. Scorekeepers revoke codes.
//
// A guardian claims a player in the player's place, a parent for example, and may claim several of a league: the
// mails of the player go to the guardian.
//
// A player belongs to a league. Two players who are the same person are merged: the one leads to
// the other, which then has the goals of both. Nothing of a game is rewritten, so that a merge can
// be undone.
package player

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Errors about players.
var (
	errUsed = problem.New(problem.Conflict, "player_in_use",
		"the player was in a team of a game, or another is merged into it: rename it, or merge it into another")
	errClaimed = problem.New(problem.Conflict, "already_claimed", "somebody else has claimed this player: ask an administrator of the league")
	errMerge   = problem.New(problem.Unprocessable, "bad_merge",
		"a player can be merged into another of the same league that is not merged itself").In("body.intoPlayerId")
	errCode = problem.New(problem.NotFound, "invalid_or_expired_code",
		"this code is unknown, or older than a day: ask for a new one; members of a private league sign in first")
	errAvatar = problem.New(problem.Unprocessable, "bad_avatar", "an avatar is one emoji").In("body.avatar")
	errName   = problem.New(problem.Unprocessable, "nickname_needed", "a nickname is needed").In("body.nickname")
)

// Service is the service of players.
type Service struct {
	signin.Base
	queue queue.Sender
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env), queue.Open(env.AWS, env.Queues)}, nil
}

// Player is a player as the members of the league see it.
type Player struct {
	PlayerID   string `json:"playerId" doc:"The id of the player."`
	LeagueID   string `json:"leagueId" doc:"The id of the league."`
	Nickname   string `json:"nickname" doc:"The name that everybody sees."`
	Avatar     string `json:"avatar,omitempty" doc:"An emoji that everybody sees." example:"🦊"`
	Claimed    bool   `json:"claimed" doc:"Whether a user has claimed the player."`
	Mine       bool   `json:"mine" doc:"The caller is this user."`
	MergedInto string `json:"mergedInto,omitempty" doc:"The player who has the goals of this one, because both are the same person."`

	Display item.Display `json:"display" enum:"name,initials,hidden" doc:"How everybody sees the name. Members of the league see the name."`

	Relation string `json:"relation,omitempty" enum:"self,guardian" doc:"Who has claimed the player: the player, or a guardian. Absent for a player whom nobody has claimed."`
}

// relationOf returns who has claimed a player.
func relationOf(p item.Player) string {
	switch {
	case p.ClaimedBy == "":
		return ""
	case p.Guardian:
		return guardian
	}

	return "self"
}

// guardian is the relation of a user who has claimed the player for somebody else, a child for example.
const guardian = "guardian"

func shown(p item.Player, userID string) Player {
	return Player{
		p.ID, p.LeagueID, p.Nickname, p.Avatar, p.ClaimedBy != "", p.ClaimedBy == userID, p.MergedInto, p.Display.Shown(),
		relationOf(p),
	}
}

// PlayerPage is the answer with a player.
type PlayerPage struct {
	Status int
	ETag   string `header:"ETag"`
	Body   Player
}

func page(status int, row item.Row[item.Player], userID string) *PlayerPage {
	return &PlayerPage{status, httpapi.ETag(row.Rev), shown(*row.V(), userID)}
}

// CreatePlayer is the request for a new player.
type CreatePlayer struct {
	auth.User
	idem.Key
	Body struct {
		LeagueID string  `json:"leagueId" minLength:"1" maxLength:"26" doc:"The id of the league." example:"01JX0000000000000000000000"`
		Nickname string  `json:"nickname" format:"display-name" doc:"The name that everybody sees. Two players may have the same." example:"Foxy"`
		Avatar   *string `json:"avatar,omitempty" maxLength:"16" doc:"One emoji." example:"🦊"`
	}
}

// CreatePlayerFunction creates a player of a league.
func CreatePlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/create-player",
		Does:   "Creates a player of a league.",
		IfDown: "No player can be added.",
		On:     spec.Route{Method: "POST", Path: "/v1/players", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetLeague, tables.CreatePlayer), Limits: []spec.Limit{MaxPlayers},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).CreatePlayer, errAvatar, idem.ErrConflict, item.ErrAccess, item.ErrScorekeeper, item.ErrScope)
}

// CreatePlayer creates a player of a league. Errors: bad_avatar, too_many_players.
func (s *Service) CreatePlayer(ctx context.Context, in *CreatePlayer) (*PlayerPage, error) {
	avatar := ""
	if in.Body.Avatar != nil {
		if avatar = *in.Body.Avatar; !emoji(avatar) {
			return nil, errAvatar
		}
	}

	return idem.Once(ctx, s.Answers, CreatePlayerFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[PlayerPage]) (*PlayerPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*PlayerPage, error) {
				parent, _, err := item.LeagueRow.ReadAs(ctx, s.DB, in.Body.LeagueID, in.UserID, item.Scorekeeper)
				if err != nil {
					return nil, err
				}

				row, writes, err := add(parent, item.Player{Nickname: in.Body.Nickname, Avatar: avatar}, s.Now())
				if err != nil {
					return nil, err
				}

				out := page(http.StatusCreated, row, in.UserID)

				return out, commit(ctx, tables.CreatePlayer, out, writes...)
			})
		})
}

// add returns a new player of a league, and the writes.
func add(parent item.Row[item.League], p item.Player, now time.Time) (row item.Row[item.Player], writes []dynamo.Write, err error) {
	if parent.V().Players++; parent.V().Players > MaxPlayers.Max {
		return row, nil, problem.Beyond(MaxPlayers)
	}

	p.ID, p.LeagueID = code.NewID(now), parent.V().ID
	row = item.New(item.PlayerKey(p.ID), item.Profile, "Player", p, now)
	_, counted := parent.Save(now)

	return row, []dynamo.Write{row.Create(), row.Mirror(parent.PK, row.PK), counted}, nil
}

// ListPlayers is the request for the players of a league.
type ListPlayers struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Cursor   string `query:"cursor" maxLength:"26" doc:"The next of the page before."`
	Limit    int    `query:"limit" minimum:"1" maximum:"200" default:"100"`
}

// PlayerList is the answer with players.
type PlayerList struct {
	Body struct {
		Players []Player `json:"players" doc:"In order of their creation, with those that are merged."`
		Next    string   `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListPlayersFunction returns the players of a league.
func ListPlayersFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-players",
		Does:   "Returns the players of a league.",
		IfDown: "Scorekeepers cannot choose players.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/players", Auth: spec.Session},
		Uses:   league.Reads(tables.ListPlayers),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListPlayers, item.ErrAccess)
}

// ListPlayers returns a page of the players of a league.
func (s *Service) ListPlayers(ctx context.Context, in *ListPlayers) (*PlayerList, error) {
	if _, err := item.Check(ctx, s.DB, in.LeagueID, in.UserID, item.Viewer); err != nil {
		return nil, err
	}

	pk := item.LeagueKey(in.LeagueID)

	r := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListPlayers, pk, item.Players), Limit: int32(in.Limit)}
	if in.Cursor != "" {
		r.After = item.Key(pk, item.PlayerKey(in.Cursor))
	}

	rows, last, err := dynamo.Query[item.Row[item.Player]](ctx, s.DB, tables.ListPlayers, r)
	if err != nil {
		return nil, err
	}

	out := &PlayerList{}

	out.Body.Players = make([]Player, len(rows))
	for i, p := range item.Values(rows) {
		out.Body.Players[i] = shown(p, in.UserID)
	}

	if last != nil {
		out.Body.Next = rows[len(rows)-1].V().ID
	}

	return out, nil
}

// GetPlayer is the request for a player.
type GetPlayer struct {
	auth.User
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player."`
}

// GetPlayerFunction returns a player.
func GetPlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-player",
		Does:   "Returns a player.",
		IfDown: "The app does not show a player.",
		On:     spec.Route{Method: "GET", Path: "/v1/players/{playerId}", Auth: spec.Session},
		Uses:   league.Reads(tables.GetPlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetPlayer, item.ErrAccess, item.ErrNoPlayer)
}

// GetPlayer returns a player.
func (s *Service) GetPlayer(ctx context.Context, in *GetPlayer) (*PlayerPage, error) {
	row, _, err := item.PlayerRow.ReadAs(ctx, s.DB, in.PlayerID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	return page(http.StatusOK, row, in.UserID), nil
}

// save returns the player as written, and the writes of both copies.
func save(row item.Row[item.Player], now time.Time) (item.Row[item.Player], []dynamo.Write) {
	row, saved := row.Save(now)
	return row, []dynamo.Write{saved, row.Mirror(item.LeagueKey(row.V().LeagueID), row.PK)}
}

// UpdatePlayer is the request to change a player.
type UpdatePlayer struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player. Of one who is merged into another, the other is changed."`
	Body     struct {
		Nickname string  `json:"nickname,omitempty" format:"display-name" doc:"The new name." example:"Foxy"`
		Avatar   *string `json:"avatar,omitempty" maxLength:"16" doc:"One emoji, or empty for none." example:"🦊"`

		Display item.Display `json:"display,omitempty" enum:"name,initials,hidden" doc:"How everybody sees the name. Scorekeepers may not choose it." example:"initials"`
	}
}

// UpdatePlayerFunction changes the nickname or the avatar of a player, or how everybody sees them.
func UpdatePlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:    "threefc/update-player",
		Does:    "Changes the nickname or the avatar of a player, or how everybody sees the name.",
		IfDown:  "Players can be neither renamed nor hidden.",
		On:      spec.Route{Method: "PATCH", Path: "/v1/players/{playerId}", Auth: spec.Session},
		Uses:    league.Writes(tables.GetPlayer, tables.SavePlayer, tables.TakeOutbox, tables.ListSeasons),
		Sends:   []spec.Queue{game.AggregateQueue},
		Limits:  []spec.Limit{MaxRenames},
		Memory:  256,
		Timeout: 10 * time.Second,
	}, Open, (*Service).UpdatePlayer, errAvatar, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScorekeeper,
		item.ErrNoPlayer)
}

// UpdatePlayer changes the nickname or the avatar of a player, or how everybody sees the name. Scorekeepers may
// do that, but for the last, and the user who has claimed the player. Of a player who is merged into another the
// other is changed, whose name everybody sees: who has claimed the one alone may do that unless somebody else has
// claimed the other, and If-Match is about the one. The tables are requested at once, and have the change once they
// are computed. A second run changes nothing, and requests the tables if the first has not. Errors:
// bad_avatar, stale, too_many_renames.
func (s *Service) UpdatePlayer(ctx context.Context, in *UpdatePlayer) (*PlayerPage, error) {
	if avatar := in.Body.Avatar; avatar != nil && *avatar != "" && !emoji(*avatar) {
		return nil, errAvatar
	}

	out, err := idem.Once(ctx, s.Answers, UpdatePlayerFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[PlayerPage]) (*PlayerPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*PlayerPage, error) {
				named, err := item.PlayerRow.Read(ctx, s.DB, in.PlayerID)
				if err != nil {
					return nil, err
				}

				row, err := item.ReadCounting(ctx, s.DB, named)
				if err != nil {
					return nil, err
				}

				changes := &row.V().Renames
				if cmp.Or(row.V().ClaimedBy, named.V().ClaimedBy) != in.UserID {
					role, err := item.Check(ctx, s.DB, row.V().LeagueID, in.UserID, item.Scorekeeper)
					if err != nil {
						return nil, item.Conceal(ctx, s.DB, row.V().LeagueID, err, item.ErrNoPlayer)
					}

					changes = &row.V().Edits
					if role == item.Admin {
						changes = &row.V().AdminEdits
					} else if in.Body.Display != "" {
						return nil, item.ErrAdmin
					}
				}

				if err := in.IfMatch.Check(named.Rev); err != nil {
					return nil, err
				}

				was := *row.V()

				row.V().Nickname = cmp.Or(in.Body.Nickname, was.Nickname)
				if in.Body.Avatar != nil {
					row.V().Avatar = *in.Body.Avatar
				}

				if in.Body.Display != was.Display.Shown() {
					row.V().Display = cmp.Or(in.Body.Display, was.Display)
				}

				if *row.V() == was {
					return page(http.StatusOK, row, in.UserID), nil
				}

				now := s.Now()
				if *changes, err = changes.Take(MaxRenames, now); err != nil {
					return nil, err
				}

				row.V().Stale = false
				row, writes := save(row, now)
				out := page(http.StatusOK, row, in.UserID)

				return out, commit(ctx, tables.SavePlayer, out, append(writes, dynamo.PutWrite(game.NewRenamed(row, now)))...)
			})
		})
	if err == nil {
		err = s.recompute(ctx, out.Body.PlayerID)
	}

	return out, err
}

// recompute requests the tables that contain a player, if the player is in the outbox. If it fails, or the process dies
// before it, a second run or the sweep of the outbox requests them.
func (s *Service) recompute(ctx context.Context, playerID string) error {
	waits, ok, err := dynamo.Get[item.Row[item.Renamed]](ctx, s.DB, tables.TakeOutbox, item.OutboxKey, item.PlayerKey(playerID))
	if err != nil {
		return err
	}

	if ok {
		return game.Rename(ctx, s.DB, s.queue, waits)
	}

	return s.recomputeStale(ctx, playerID)
}

// recomputeStale requests the tables that contain a player whom an earlier release has marked, and removes the mark. It
// does nothing for others.
func (s *Service) recomputeStale(ctx context.Context, playerID string) error {
	row, ok, err := dynamo.Get[item.Row[item.Player]](ctx, s.DB, tables.GetPlayer, item.PlayerKey(playerID), item.Profile)
	if err != nil || !ok || !row.V().Stale { // or it was deleted since
		return err
	}

	return outbox.Deliver(func() error {
		return game.Recompute(ctx, s.DB, s.queue, row.V().LeagueID)
	}, func() error {
		// The answer has the revision of the change.
		row.V().Stale = false
		return dynamo.Transact(ctx, s.DB, tables.SavePlayer, row.Keep(), row.Mirror(item.LeagueKey(row.V().LeagueID), row.PK))
	})
}

// DeletePlayer is the request to delete a player.
type DeletePlayer struct {
	auth.User
	httpapi.IfMatch
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player."`
}

// DeletePlayerFunction deletes a player who was never in a team of a game.
func DeletePlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-player",
		Does:   "Deletes a player who was never in a team of a game.",
		IfDown: "Players who joined by mistake, or to annoy, cannot be removed.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/players/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.GetLeague, tables.DropPlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeletePlayer, errUsed, item.ErrAccess, item.ErrAdmin, item.ErrNoPlayer, item.ErrScope)
}

// DeletePlayer deletes a player who was never in a team of a game, with its claim. Its places in
// pools go with the games. A second run finds no player. Errors: player_not_found,
// player_in_use, stale.
func (s *Service) DeletePlayer(ctx context.Context, in *DeletePlayer) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		row, _, err := item.PlayerRow.ReadAs(ctx, s.DB, in.PlayerID, in.UserID, item.Admin)
		if err != nil {
			return nil, err
		}

		if err := in.IfMatch.Check(row.Rev); err != nil {
			return nil, err
		}

		p := row.V()
		if p.Used {
			return nil, errUsed
		}

		parent, err := item.LeagueRow.Read(ctx, s.DB, p.LeagueID)
		if err != nil {
			return nil, err
		}

		parent.V().Players--
		_, counted := parent.Save(s.Now())

		writes := []dynamo.Write{row.Drop(), dynamo.DeleteWrite(item.Key(parent.PK, row.PK)), counted}
		if p.ClaimedBy != "" {
			writes = append(writes, dynamo.DeleteWrite(item.Key(item.UserKey(p.ClaimedBy), row.PK)))
		}

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.DropPlayer, writes...)
	})
}

// MergePlayer is the request to merge a player into another.
type MergePlayer struct {
	auth.User
	idem.Key
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player who disappears."`
	Body     struct {
		Into string `json:"intoPlayerId,omitempty" maxLength:"26" doc:"The id of the player who stays; absent to undo the merge." example:"01JX0000000000000000000001"`
	}
}

// MergePlayerFunction merges two players who are the same person.
func MergePlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:    "threefc/merge-player",
		Does:    "Makes two players one, who are the same person.",
		IfDown:  "Players cannot be merged.",
		On:      spec.Route{Method: "POST", Path: "/v1/players/{playerId}/merge", Auth: spec.Session},
		Uses:    league.Writes(tables.GetPlayer, tables.SavePlayer, tables.TakeOutbox, tables.ListSeasons),
		Sends:   []spec.Queue{game.AggregateQueue},
		Limits:  []spec.Limit{MaxMerges},
		Memory:  256,
		Timeout: 10 * time.Second,
	}, Open, (*Service).MergePlayer, errMerge, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrNoPlayer)
}

// MergePlayer makes two players one in all tables, or undoes that. A second run changes nothing,
// and requests the tables if the first has not. Errors: player_not_found, bad_merge,
// too_many_merges.
func (s *Service) MergePlayer(ctx context.Context, in *MergePlayer) (*PlayerPage, error) {
	out, err := idem.Once(ctx, s.Answers, MergePlayerFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[PlayerPage]) (*PlayerPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*PlayerPage, error) {
				row, _, err := item.PlayerRow.ReadAs(ctx, s.DB, in.PlayerID, in.UserID, item.Admin)
				if err != nil {
					return nil, err
				}

				if row.V().MergedInto == in.Body.Into {
					return page(http.StatusOK, row, in.UserID), nil
				}

				var same []dynamo.Write

				if in.Body.Into != "" {
					into, err := item.PlayerRow.Read(ctx, s.DB, in.Body.Into)
					if err != nil {
						return nil, err
					}

					if to := into.V(); to.LeagueID != row.V().LeagueID {
						return nil, cmp.Or(item.CheckStranger(ctx, s.DB, to.LeagueID, in.UserID, item.ErrNoPlayer), error(errMerge))
					}

					if to := into.V(); to.ID == in.PlayerID || to.MergedInto != "" {
						return nil, errMerge
					}

					into.V().Used = true
					_, same = save(into, s.Now()) // nobody merges or deletes it meanwhile
				}

				now := s.Now()
				if row.V().Merges, err = row.V().Merges.Take(MaxMerges, now); err != nil {
					return nil, err
				}

				row.V().MergedInto, row.V().Stale = in.Body.Into, false
				row, writes := save(row, now)
				out := page(http.StatusOK, row, in.UserID)
				writes = append(writes, dynamo.PutWrite(game.NewRenamed(row, now)))

				return out, commit(ctx, tables.SavePlayer, out, append(writes, same...)...)
			})
		})
	if err == nil {
		err = s.recompute(ctx, in.PlayerID)
	}

	return out, err
}

// ClaimPlayer is the request to claim a player.
type ClaimPlayer struct {
	auth.User
	idem.Key
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player."`
	Body     *struct {
		Code string `json:"code,omitempty" maxLength:"32" doc:"A code to join a game of the league. Members of the league need none. Case, hyphens and spaces are ignored." example:"7Q2MZ0KD"`

		Relation string `json:"relation,omitempty" enum:"self,guardian" doc:"Who the caller is: by default the player. A guardian may claim several players of a league, gets their mails, and answers for each." example:"guardian"`
	}
}

// ClaimPlayerFunction claims a player for the caller.
func ClaimPlayerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/claim-player",
		Does:   "Claims a player for the caller.",
		IfDown: "Players cannot be claimed.",
		On:     spec.Route{Method: "POST", Path: "/v1/players/{playerId}/claim", Auth: spec.Session},
		Uses: league.Writes(tables.GetPlayer, tables.SavePlayer, tables.MyPlayers, tables.CountClaims, tables.CountWrongClaim,
			tables.FindCode, tables.CountGuess, tables.GetGame),
		Limits: []spec.Limit{MaxClaims, MaxWrongClaims, MaxGuesses},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ClaimPlayer, errClaimed, errCode, idem.ErrConflict, item.ErrAccess, item.ErrNoPlayer)
}

// ClaimPlayer claims a player for the caller, who is a member of the league or has a code of one of
// its games. The first caller gets the player. After an administrator has ended a claim, only a
// member of the league can claim the player. A second run changes nothing. Errors:
// player_not_found, league_access_required, invalid_or_expired_code, too_many_wrong_claims,
// too_many_codes, already_claimed, too_many_claims.
func (s *Service) ClaimPlayer(ctx context.Context, in *ClaimPlayer) (*PlayerPage, error) {
	return idem.Once(ctx, s.Answers, ClaimPlayerFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[PlayerPage]) (*PlayerPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*PlayerPage, error) {
				row, err := s.claimable(ctx, in)
				if err != nil {
					return nil, err
				}

				switch row.V().ClaimedBy {
				case in.UserID:
					return page(http.StatusOK, row, in.UserID), nil
				case "":
				default:
					return nil, errClaimed
				}

				*row.V() = claimedBy(*row.V(), in.UserID)
				row.V().Guardian = in.Body != nil && in.Body.Relation == guardian
				row, writes := save(row, s.Now())

				claimed, err := s.claim(ctx, row)
				if err != nil {
					return nil, err
				}

				out := page(http.StatusOK, row, in.UserID)

				return out, commit(ctx, tables.SavePlayer, out, append(writes, claimed...)...)
			})
		})
}

// claimable reads a player whom the caller has a right to claim. A request without that right is
// counted for the user. Once MaxWrongClaims are counted, a right one is refused, too. Concurrent
// requests may try some more.
func (s *Service) claimable(ctx context.Context, in *ClaimPlayer) (row item.Row[item.Player], err error) {
	wrong := item.Counter{PK: item.UserKey(in.UserID), SK: item.WrongClaims, Type: "WrongClaims", Limit: MaxWrongClaims}

	counted, err := wrong.Take(ctx, s.DB, tables.CountWrongClaim, s.Now())
	if err != nil {
		return row, err
	}

	row, err = item.PlayerRow.Read(ctx, s.DB, in.PlayerID)
	if err == nil && row.V().ClaimedBy != in.UserID {
		err = s.mayClaim(ctx, in, *row.V())
	}

	if kind := problem.Of(err); kind == problem.Denied || kind == problem.NotFound {
		err = cmp.Or(dynamo.Transact(ctx, s.DB, tables.CountWrongClaim, counted), err)
	}

	return row, err
}

// mayClaim returns an error unless the caller is a member of the player's league, or has a code of
// one of its games and no administrator has ended a claim of the player.
func (s *Service) mayClaim(ctx context.Context, in *ClaimPlayer, p item.Player) error {
	_, err := item.Check(ctx, s.DB, p.LeagueID, in.UserID, item.Viewer)
	err = item.Conceal(ctx, s.DB, p.LeagueID, err, item.ErrNoPlayer)

	if problem.Of(err) != problem.Denied || p.Guarded || in.Body == nil || in.Body.Code == "" {
		return err
	}

	found, err := s.find(ctx, in.Body.Code)
	if err != nil {
		return err
	}

	g, err := s.coded(ctx, found)
	if err == nil && g.V().LeagueID != p.LeagueID {
		err = errCode
	}

	return err
}

// DropClaim is the request to end a claim.
type DropClaim struct {
	auth.User
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player."`
}

// DropClaimFunction ends the claim of a player.
func DropClaimFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/drop-claim",
		Does:   "Gives a player free whom a user has claimed.",
		IfDown: "A wrong claim cannot be ended.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/players/{playerId}/claim", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.SavePlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DropClaim, item.ErrAccess, item.ErrAdmin, item.ErrNoPlayer)
}

// DropClaim ends the claim of a player: the caller's own, or a wrong one by an administrator of the
// league. Afterwards only members of the league may claim the player whose claim an administrator
// has ended. The user's answers to sessions do not count any more. A player whom nobody has claimed
// stays so: a second run changes nothing. The user's claim of a player that does not exist ends,
// too. Errors: player_not_found, admin_required, stale.
func (s *Service) DropClaim(ctx context.Context, in *DropClaim) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		row, err := item.PlayerRow.Read(ctx, s.DB, in.PlayerID)
		if errors.Is(err, item.ErrNoPlayer) { // a claim that was made while the league was deleted counts no more
			_, dropped := dynamo.Delete(ctx, s.DB, tables.SavePlayer, item.Key(item.UserKey(in.UserID), item.PlayerKey(in.PlayerID)))
			err = cmp.Or(dropped, err)
		}

		if err != nil {
			return nil, err
		}

		user := row.V().ClaimedBy
		if user != in.UserID {
			if err := item.CheckStranger(ctx, s.DB, row.V().LeagueID, in.UserID, item.ErrNoPlayer); err != nil {
				return nil, err
			}
		}

		switch user {
		case "": // by a run before
			return httpapi.NewRemoved(), nil
		case in.UserID:
		default:
			if _, err := item.Check(ctx, s.DB, row.V().LeagueID, in.UserID, item.Admin); err != nil {
				return nil, err
			}

			row.V().Guarded = true
		}

		row.V().ClaimedBy, row.V().Guardian = "", false
		row, writes := save(row, s.Now())

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.SavePlayer,
			append(writes, dynamo.DeleteWrite(item.Key(item.UserKey(user), row.PK)))...)
	})
}

// claimedBy returns a player whom a user has claimed.
func claimedBy(p item.Player, userID string) item.Player {
	p.Guardian = false

	if p.ClaimedBy = userID; userID != "" {
		p.Claims++
	}

	return p
}

// claim returns the writes of one more player whom a user has claimed. It counts the claims each
// time, so that no counter must be corrected when one ends. Errors: too_many_claims.
func (s *Service) claim(ctx context.Context, row item.Row[item.Player]) ([]dynamo.Write, error) {
	p, now := row.V(), s.Now()
	user := item.UserKey(p.ClaimedBy)

	counted, err := item.Serialize(ctx, s.DB, tables.CountClaims, p.ClaimedBy, now)
	if err != nil {
		return nil, err
	}

	mine, err := item.List[item.Claim](ctx, s.DB, tables.MyPlayers, user, item.Players)
	if err != nil {
		return nil, err
	}

	if len(mine) >= MaxClaims.Max {
		return nil, problem.Beyond(MaxClaims)
	}

	return []dynamo.Write{dynamo.PutWrite(item.New(user, row.PK, "Claim", item.Claim{PlayerID: p.ID, LeagueID: p.LeagueID}, now)),
		counted}, nil
}

// CreateCode is the request for a code to join a game.
type CreateCode struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// CodePage is the answer with a code.
type CodePage struct {
	Status int
	Body   struct {
		Code      string    `json:"code" doc:"The code, of 8 characters." example:"7Q2MZ0KD"`
		URL       string    `json:"url" doc:"The page that joins, for a QR code."`
		ExpiresAt time.Time `json:"expiresAt" doc:"When the code ends."`
	}
}

// codeLifetime is how long a code is valid.
const codeLifetime = 24 * time.Hour

// CreateCodeFunction makes a code by which players join a game.
func CreateCodeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/create-join-code",
		Does:   "Makes a code by which players join a game.",
		IfDown: "Players cannot join a game by themselves.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/join-code", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetGame, tables.PutCode),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).CreateCode, idem.ErrConflict, item.ErrAccess, item.ErrScorekeeper, item.ErrScope)
}

// CreateCode returns a new code for a game; earlier codes stay valid.
func (s *Service) CreateCode(ctx context.Context, in *CreateCode) (*CodePage, error) {
	return idem.Once(ctx, s.Answers, CreateCodeFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[CodePage]) (*CodePage, error) {
			g, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Scorekeeper)
			if err != nil {
				return nil, err
			}

			now := s.Now()
			join := code.New()
			row := item.New(item.JoinKey(join), item.Metadata, "JoinCode", item.Join{Code: join, GameID: in.GameID, Series: g.V().Series}, now)
			row.TTL = now.Add(codeLifetime).Unix()
			out := &CodePage{Status: http.StatusCreated}
			out.Body.Code, out.Body.URL, out.Body.ExpiresAt = join, s.link(join), time.Unix(row.TTL, 0).UTC()

			return out, commit(ctx, tables.PutCode, out, row.Create())
		})
}

// RevokeCodes is the request to end the codes of a game.
type RevokeCodes struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// RevokeCodesFunction ends all codes by which players join a game.
func RevokeCodesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/revoke-join-codes",
		Does:   "Ends all codes by which players join a game.",
		IfDown: "A code that is in wrong hands stays valid for its day.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/join-code", Auth: spec.Session},
		Uses:   league.Writes(tables.GetGame, tables.RevokeCodes),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).RevokeCodes, item.ErrAccess, item.ErrScorekeeper, item.ErrScope)
}

// RevokeCodes ends all codes of a game. Players who have joined stay. A second run ends those that
// were made since.
func (s *Service) RevokeCodes(ctx context.Context, in *RevokeCodes) (*httpapi.Removed, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		g, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Scorekeeper)
		if err != nil {
			return nil, err
		}

		g.V().Series++
		_, saved := g.Save(s.Now())

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.RevokeCodes, saved)
	})
}

// link returns the page that joins the game of a code.
func (s *Service) link(code string) string { return s.Links.To("join", code) }

// find reads a valid code, as a person types it. A wrong one is counted for the address of the
// caller, who may be anybody. Once MaxGuesses wrong ones are counted, a right one is refused, too.
// Concurrent requests may try some more. Errors: invalid_or_expired_code, too_many_codes.
func (s *Service) find(ctx context.Context, typed string) (item.Join, error) {
	wrong := wrongCode(ctx)

	row, err := dynamo.RetryValue(ctx, item.Attempts, func() (*item.Row[item.Join], error) {
		counted, err := wrong.Take(ctx, s.DB, tables.CountGuess, s.Now())
		if err != nil {
			return nil, err
		}

		row, ok, err := dynamo.Get[item.Row[item.Join]](ctx, s.DB, tables.FindCode, item.JoinKey(code.Read(typed)), item.Metadata)
		if err != nil || ok && s.Now().Unix() < row.TTL {
			return &row, err
		}

		if err := dynamo.Transact(ctx, s.DB, tables.CountGuess, counted); err != nil {
			return nil, err
		}

		return nil, errCode
	})
	if err != nil {
		return item.Join{}, err
	}

	return *row.V(), nil
}

// wrongCode counts the wrong codes of the caller.
func wrongCode(ctx context.Context) item.Counter {
	return item.Counter{PK: item.GuessKey(signin.CallerOf(ctx)), SK: item.Metadata, Type: "WrongCodes", Limit: MaxGuesses}
}

// admit answers a stranger who has a code of a league that is for members as find answers to a wrong code, and
// counts it as one. userID is "" for a caller who is not signed in.
func (s *Service) admit(ctx context.Context, found item.Join, userID string) error {
	g, ok, err := dynamo.Get[item.Row[item.Game]](ctx, s.DB, tables.GetGame, item.GameKey(found.GameID), item.Metadata)
	if err != nil || !ok { // coded refuses the code
		return err
	}

	leagueID := g.V().LeagueID

	l, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.DB, tables.GetLeague, item.LeagueKey(leagueID), item.Metadata)
	if err != nil || !ok || !l.V().ForMembers() {
		return err
	}

	if userID != "" {
		if _, err := item.Check(ctx, s.DB, leagueID, userID, item.Viewer); !errors.Is(err, item.ErrAccess) {
			return err
		}
	}

	if err := dynamo.Retry(ctx, item.Attempts, func() error {
		counted, err := wrongCode(ctx).Take(ctx, s.DB, tables.CountGuess, s.Now())
		if err != nil {
			return err
		}

		return dynamo.Transact(ctx, s.DB, tables.CountGuess, counted)
	}); err != nil {
		return err
	}

	return errCode
}

// coded reads the game of a code. It returns invalid_or_expired_code if the game does not exist, or
// the code was revoked.
func (s *Service) coded(ctx context.Context, found item.Join) (item.Row[item.Game], error) {
	g, err := item.Read[item.Game](ctx, s.DB, tables.GetGame, item.GameKey(found.GameID), item.Metadata, errCode)
	if err == nil && g.V().Series != found.Series {
		err = errCode
	}

	return g, err
}

// Join is the request to play in the game of a code.
type Join struct {
	session.Browser
	idem.Key
	Code string `path:"code" maxLength:"32" doc:"The code. Case, hyphens and spaces are ignored."`
	Body struct {
		Nickname string `json:"nickname,omitempty" format:"display-name" doc:"The name that everybody sees. A caller who is signed in and has a player in the league needs none." example:"Foxy"`
		Avatar   string `json:"avatar,omitempty" maxLength:"16" doc:"One emoji, of a new player." example:"🦊"`
	}
}

// Joined is the answer with the player who has joined.
type Joined struct {
	Status int
	Body   struct {
		PlayerID string `json:"playerId" doc:"The id of the player."`
		Nickname string `json:"nickname" doc:"The name of the player."`
		GameID   string `json:"gameId" doc:"The id of the game."`
	}
}

// JoinFunction adds a caller who has a code to the pool of a game.
func JoinFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/join-game",
		Does:   "Puts who has a code into the pool of a game.",
		IfDown: "Players cannot join a game by themselves.",
		On:     spec.Route{Method: "POST", Path: "/v1/join/{code}", Auth: spec.Browser, Answers: []int{http.StatusCreated}},
		Uses: []spec.Access{tables.ResolveSession, tables.FindAnswer, tables.FindCode, tables.CountGuess, tables.GetGame, tables.GetLeague,
			tables.GetGrant, tables.MyPlayers, tables.CountClaims, tables.CountJoins, tables.JoinPool, account.CheckDeleted},
		Limits:  []spec.Limit{game.MaxPlayers, MaxPlayers, MaxJoins, MaxCallerJoins, MaxGuesses, MaxClaims},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).Join, errCode, errName, errAvatar, account.ErrDeleted, idem.ErrConflict, session.ErrInvalid, game.ErrFinished)
}

// Join adds a player to the pool of a game, from which the scorekeeper makes the teams. Codes of a league that is
// for members are for members. A caller
// who is signed in joins as the player that the user has claimed in the league, or as a new one
// that is claimed at once: a second run changes nothing. Any other caller joins as a new player,
// each time another, but for requests with the same Idempotency-Key. A user with too many claims is
// refused, because without a claim a repeated request would add another player. Errors:
// invalid_or_expired_code, too_many_codes, nickname_needed, bad_avatar, game_finished, too_many_players,
// too_many_joins, too_many_joins_of_caller, too_many_claims, idempotency_conflict.
func (s *Service) Join(ctx context.Context, in *Join) (*Joined, error) {
	if in.Body.Avatar != "" && !emoji(in.Body.Avatar) {
		return nil, errAvatar
	}

	found, err := s.find(ctx, in.Code)
	if err != nil {
		return nil, err
	}

	userID, err := s.Who(ctx, in.Browser)
	if err != nil {
		return nil, err
	}

	if err := s.admit(ctx, found, userID); err != nil {
		return nil, err
	}

	if userID != "" {
		ctx = account.Require(ctx, userID)
	}

	// The answers to callers without a user are those of the game.
	return idem.Once(ctx, s.Answers, JoinFunction().Name, cmp.Or(userID, found.GameID), in,
		func(ctx context.Context, commit idem.Commit[Joined]) (*Joined, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*Joined, error) { return s.join(ctx, found, userID, in, commit) })
		})
}

func (s *Service) join(ctx context.Context, found item.Join, userID string, in *Join, commit idem.Commit[Joined]) (*Joined, error) {
	g, err := s.coded(ctx, found)
	if err != nil {
		return nil, err
	}

	if item.Ended(g.Status) {
		return nil, game.ErrFinished
	}
	// The write of the league is conditional on its revision, so that of two concurrent requests the
	// second counts the first.
	parent, err := item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(g.V().LeagueID), item.Metadata, errCode)
	if err != nil {
		return nil, err
	}

	pool, err := item.List[item.Pooled](ctx, s.DB, tables.JoinPool, g.PK, item.Pool)
	if err != nil {
		return nil, err
	}

	now := s.Now()

	var (
		row    item.Row[item.Player]
		writes []dynamo.Write
		mine   item.Player
	)
	if userID != "" {
		if _, mine, err = Claimed(ctx, s.DB, userID, g.V().LeagueID); err != nil {
			return nil, err
		}
	}

	if mine.ID != "" {
		row.Data.Value = mine
		_, counted := parent.Save(now)
		writes = append(writes, counted)
	} else {
		if in.Body.Nickname == "" {
			return nil, errName
		}

		both := sha256.Sum256([]byte(parent.V().ID + "\n" + signin.CallerOf(ctx)))
		by := item.Counter{PK: item.JoinsKey(hex.EncodeToString(both[:])), SK: item.Metadata, Type: "Joins", Limit: MaxCallerJoins}

		counted, err := by.Take(ctx, s.DB, tables.CountJoins, now)
		if err != nil {
			return nil, err
		}

		if parent.V().Joins, err = parent.V().Joins.Take(MaxJoins, now); err != nil {
			return nil, err
		}

		if row, writes, err = add(parent, claimedBy(item.Player{Nickname: in.Body.Nickname, Avatar: in.Body.Avatar}, userID), now); err != nil {
			return nil, err
		}

		writes = append(writes, counted)

		if userID != "" {
			claimed, err := s.claim(ctx, row)
			if err != nil {
				return nil, err
			}

			writes = append(writes, claimed...)
		}
	}

	out := &Joined{Status: http.StatusCreated}

	out.Body.PlayerID, out.Body.Nickname, out.Body.GameID = row.V().ID, row.V().Nickname, g.V().ID
	if slices.ContainsFunc(pool, func(r item.Row[item.Pooled]) bool { return r.V().PlayerID == row.V().ID }) {
		return out, nil
	}

	if len(pool) >= game.MaxPlayers.Max { // unless some were deleted
		var ids []string
		for _, r := range item.Values(pool) {
			ids = append(ids, r.PlayerID)
		}

		players, err := item.ReadPlayers(ctx, s.DB, tables.JoinPool, ids)
		if err != nil {
			return nil, err
		}

		gone := slices.DeleteFunc(pool, func(r item.Row[item.Pooled]) bool { return players[r.V().PlayerID].ID != "" })
		if len(gone) == 0 {
			return nil, problem.Beyond(game.MaxPlayers)
		}

		for _, r := range gone {
			writes = append(writes, dynamo.DeleteWrite(item.Key(r.PK, r.SK)))
		}
	}

	there := dynamo.CheckWrite(item.Key(g.PK, g.SK), dynamo.Exists[item.Row[item.Game]]("pk"))
	writes = append(writes, there, item.New(g.PK, item.PoolKey(row.V().ID), "Pool", item.Pooled{PlayerID: row.V().ID}, now).Create())

	return out, commit(ctx, tables.JoinPool, out, writes...)
}

// Claimed returns the player of a league whom a user has claimed, the first of several, those who are not the user's
// own last, and the player who counts for it: the one into whom it is merged, or itself. Both have no id if there is
// none.
func Claimed(ctx context.Context, db dynamo.DB, userID, leagueID string) (claimed, counts item.Player, err error) {
	mine, all, err := AllClaimed(ctx, db, userID, leagueID)
	if len(mine) == 0 { // or none could be read
		return claimed, counts, err
	}

	return mine[0], item.Resolve(mine[0].ID, all), err
}

// AllClaimed returns the players of a league whom a user has claimed, those who are not the user's own last, and all by
// id, with those into whom they are merged.
func AllClaimed(ctx context.Context, db dynamo.DB, userID, leagueID string) (mine []item.Player, all map[string]item.Player, err error) {
	rows, err := item.List[item.Claim](ctx, db, tables.MyPlayers, item.UserKey(userID), item.Players)

	var ids []string

	for _, c := range item.Values(rows) {
		if c.LeagueID == leagueID {
			ids = append(ids, c.PlayerID)
		}
	}

	if ids == nil {
		return nil, nil, err
	}

	if all, err = item.ReadPlayers(ctx, db, tables.MyPlayers, ids); err != nil {
		return nil, nil, err
	}

	for _, others := range []bool{false, true} {
		for _, id := range ids {
			if p, ok := all[id]; ok && p.Guardian == others {
				mine = append(mine, p)
			}
		}
	}

	return mine, all, nil
}

// ListPool is the request for the pool of a game.
type ListPool struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// PoolList is the answer with the pool of a game.
type PoolList struct {
	Body struct {
		Players []Player `json:"players" doc:"In order of their ids."`
	}
}

// ListPoolFunction returns who has joined a game.
func ListPoolFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-pool",
		Does:   "Returns who has joined a game.",
		IfDown: "Scorekeepers do not see who has joined.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/pool", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame, tables.ListPool),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListPool, item.ErrAccess, item.ErrScope)
}

// ListPool returns the players who have joined a game.
func (s *Service) ListPool(ctx context.Context, in *ListPool) (*PoolList, error) {
	g, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	rows, err := item.List[item.Pooled](ctx, s.DB, tables.ListPool, g.PK, item.Pool)
	if err != nil {
		return nil, err
	}

	var keys []dynamo.Item
	for _, p := range item.Values(rows) {
		keys = append(keys, item.Key(item.PlayerKey(p.PlayerID), item.Profile))
	}

	players, err := dynamo.GetAll[item.Row[item.Player]](ctx, s.DB, tables.ListPool, keys)
	if err != nil {
		return nil, err
	}

	out := &PoolList{}

	out.Body.Players = make([]Player, len(players))
	for i, p := range item.Values(players) {
		out.Body.Players[i] = shown(p, in.UserID)
	}

	slices.SortFunc(out.Body.Players, func(a, b Player) int { return cmp.Compare(a.PlayerID, b.PlayerID) })

	return out, nil
}
