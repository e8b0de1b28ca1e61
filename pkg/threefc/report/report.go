// Package report takes what anybody reports of a public page, and the requests of who is named to remove the name.
//
// Administrators of the league decide on requests to remove a name; one that has waited for seven days is in the
// list of the operators, too. Operators are the administrators of the room: users of the administrators' pool in
// the group threefc-admin, as in the other rooms. They list what is reported, hide leagues and decide on requests.
package report

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/takedown"
	"matchday/pkg/threefc/web"
)

// Limits of reports and of requests to remove a name, which count together.
var (
	MaxReports = spec.Limit{Name: "reports of a league by a caller", Max: 10, Per: 24 * time.Hour, Code: "too_many_reports"}
	// MaxLeagueReports bounds what a crowd can store.
	MaxLeagueReports = spec.Limit{Name: "reports of a league", Max: 200, Per: 24 * time.Hour, Code: "too_many_reports_of_league"}
)

const (
	keepReport  = 90 * 24 * time.Hour
	keepDecided = 30 * 24 * time.Hour // a request that is decided is not made again meanwhile
	// answerTime is how long administrators of a league have to decide before operators do.
	answerTime = 7 * 24 * time.Hour
)

// Service is the service of reports.
type Service struct {
	signin.Base
	queue queue.Sender
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env), queue.Open(env.AWS, env.Queues)}, nil
}

// find reads a league by its slug or its id. Errors: web.ErrNotFound.
func (s *Service) find(ctx context.Context, name string) (row item.Row[item.League], err error) {
	id, err := s.idOf(ctx, name)
	if err != nil {
		return row, err
	}

	return item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(id), item.Metadata, web.ErrNotFound)
}

// idOf returns the id of a league by its slug or its id. Errors: web.ErrNotFound.
func (s *Service) idOf(ctx context.Context, name string) (string, error) {
	if item.IsID(name) {
		return name, nil
	}

	to, err := item.Read[item.Ref](ctx, s.DB, tables.FindSlug, item.SlugKey(name), item.Metadata, web.ErrNotFound)

	return to.V().ID, err
}

// look reads a league, also one that was deleted and may be restored. Errors: web.ErrNotFound.
func (s *Service) look(ctx context.Context, id string) (item.League, error) {
	row, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.DB, tables.GetLeague, item.LeagueKey(id), item.Metadata)
	if err != nil || ok {
		return *row.V(), err
	}

	ending, ok, err := league.Ending(ctx, s.DB, id)
	if err == nil && !ok {
		err = web.ErrNotFound
	}

	return ending.V().League, err
}

// counted returns the writes that count a report of a league for the caller and for the league.
func (s *Service) counted(ctx context.Context, leagueID string) (writes []dynamo.Write, err error) {
	sum := sha256.Sum256([]byte(leagueID + "\n" + signin.CallerOf(ctx)))

	for _, c := range []item.Counter{
		{PK: item.ReporterKey(hex.EncodeToString(sum[:])), SK: item.Metadata, Type: "Reporter", Limit: MaxReports},
		{PK: item.LeagueKey(leagueID), SK: item.Reported, Type: "Reported", Limit: MaxLeagueReports},
	} {
		w, err := c.Take(ctx, s.DB, tables.CountReports, s.Now())
		if err != nil {
			return nil, err
		}

		writes = append(writes, w)
	}

	return writes, nil
}

// report stores a report. A second run stores another. Errors: too_many_reports, too_many_reports_of_league.
func (s *Service) report(ctx context.Context, r item.Report) error {
	return dynamo.Retry(ctx, item.Attempts, func() error {
		writes, err := s.counted(ctx, r.LeagueID)
		if err != nil {
			return err
		}

		now := s.Now()
		r.ID = code.NewID(now)
		row := item.New(item.ReportsKey, item.Reports+r.ID, "Report", r, now)
		row.TTL = now.Add(keepReport).Unix()

		return dynamo.Transact(ctx, s.DB, tables.SaveReport, append(writes, row.Create())...)
	})
}

// maxSame bounds the players of one name for whom a request is stored.
const maxSame = 5

// ask stores a request to remove a name that everybody sees in a league, for each player who has it. known is false
// if there is none. A request that is there, or was decided a short time ago, stays as it is. Errors:
// too_many_reports, too_many_reports_of_league.
func (s *Service) ask(ctx context.Context, leagueID, name, reason string) (known bool, err error) {
	return known, dynamo.Retry(ctx, item.Attempts, func() error {
		writes, err := s.counted(ctx, leagueID)
		if err != nil {
			return err
		}

		rows, err := item.List[item.Player](ctx, s.DB, tables.ListPlayers, item.LeagueKey(leagueID), item.Players)
		if err != nil {
			return err
		}

		all := map[string]item.Player{}
		for _, p := range item.Values(rows) {
			all[p.ID] = p
		}

		known = false
		names, same := item.PublicNames(all), 0

		for _, r := range rows { // in the order of their ids
			p := names[r.V().ID]
			if p.Nickname == item.Nobody || !strings.EqualFold(p.Nickname, strings.TrimSpace(name)) || same == maxSame {
				continue
			}

			same++
			known = true

			more, err := s.asked(ctx, item.Removal{LeagueID: leagueID, PlayerID: p.ID, Reason: reason})
			if err != nil {
				return err
			}

			writes = append(writes, more...)
		}

		return dynamo.Transact(ctx, s.DB, tables.SaveRemoval, writes...)
	})
}

// asked returns the writes of a request to remove a name, none if there is one.
func (s *Service) asked(ctx context.Context, r item.Removal) ([]dynamo.Write, error) {
	now := s.Now()

	was, found, err := dynamo.Get[item.Row[item.Removal]](ctx, s.DB, tables.SaveRemoval, item.LeagueKey(r.LeagueID), item.Removals+r.PlayerID)
	if err != nil || found && (was.TTL == 0 || now.Unix() < was.TTL) {
		return nil, err
	}

	r.State, r.At = item.RemovalOpen, item.Format(now)
	row := item.New(item.LeagueKey(r.LeagueID), item.Removals+r.PlayerID, "Removal", r, now)
	saved := row.Create()

	if found {
		row.Rev = was.Rev
		row, saved = row.Save(now)
	}

	return []dynamo.Write{saved, row.Mirror(item.RemovalsKey, r.OpenKey())}, nil
}

// open reads the requests of a league that are not decided, the oldest first.
func (s *Service) open(ctx context.Context, leagueID string) (all []item.Removal, err error) {
	rows, err := item.List[item.Removal](ctx, s.DB, tables.ListRemovals, item.LeagueKey(leagueID), item.Removals)

	for _, r := range item.Values(rows) {
		if r.State == item.RemovalOpen {
			all = append(all, r)
		}
	}

	return all, err
}

// decide ends a request to remove the name of a player of a league: it replaces the name, as a takedown does, or
// leaves it. by is the user who decides. A request that is not there, or is decided, stays as it is: a second run
// repeats the replacement only if the first has not ended the request. A player who was deleted has no name.
func (s *Service) decide(ctx context.Context, leagueID, playerID, state, by string) error {
	return dynamo.Retry(ctx, item.Attempts, func() error {
		row, found, err := dynamo.Get[item.Row[item.Removal]](ctx, s.DB, tables.SaveRemoval, item.LeagueKey(leagueID), item.Removals+playerID)
		if err != nil || !found || row.V().State != item.RemovalOpen {
			return err
		}

		if state == item.RemovalAccepted {
			if _, err := takedown.RenamePlayer(ctx, s.DB, s.queue, s.Now(), playerID); err != nil && !errors.Is(err, item.ErrNoPlayer) {
				return err
			}
		}

		drop := dynamo.DeleteWrite(item.Key(item.RemovalsKey, row.V().OpenKey()))
		row.V().State, row.V().Reason, row.V().By = state, "", by
		row.TTL = s.Now().Add(keepDecided).Unix()
		_, saved := row.Save(s.Now())

		return dynamo.Transact(ctx, s.DB, tables.SaveRemoval, saved, drop)
	})
}
