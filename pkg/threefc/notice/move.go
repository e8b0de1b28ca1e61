package notice

import (
	"context"
	"fmt"
	"slices"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/mail"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/tables"
)

// moved requests a mail to each user who is in for what has moved: who has answered in to the session, and who is
// on the roster of a game. A move that was not made, or after which there was another, has none.
func (s *Notifier) moved(ctx context.Context, m game.Move) error {
	session := m.SessionID

	var ids []string

	if m.GameID != "" {
		g, ok, err := dynamo.Get[item.Row[item.Game]](ctx, s.db, tables.GetGame, item.GameKey(m.GameID), item.Metadata)
		if err != nil || !ok || !isLatest(g, m) {
			return err
		}

		seats, err := item.List[item.Seat](ctx, s.db, tables.ListRoster, g.PK, item.Rosters)
		if err != nil {
			return err
		}

		session = g.V().SessionID
		for _, seat := range item.Values(seats) {
			ids = append(ids, seat.PlayerID)
		}
	} else {
		x, ok, err := dynamo.Get[item.Row[item.Session]](ctx, s.db, tables.GetSession, item.SessionKey(session), item.Metadata)
		if err != nil || !ok || x.V().Moved.Count != m.Count {
			return err
		}
	}

	rows, err := item.List[row](ctx, s.db, tables.ListAvailability, item.SessionKey(session), answers)
	if err != nil {
		return err
	}

	for _, a := range item.Values(rows) {
		ids = append(ids, a.PlayerID)
	}

	all, err := item.ReadPlayers(ctx, s.db, tables.ListAvailability, ids)
	if err != nil {
		return err
	}

	statuses := answersOf(rows, all)
	// The row of a player who was merged away has the claim, too: the users of both are asked.
	in := slices.DeleteFunc(item.Values(rows), func(a row) bool { return statuses[item.Resolve(a.PlayerID, all).ID] != "in" })

	var players []item.Player

	for _, a := range in {
		players = append(players, all[a.PlayerID])
	}

	for _, id := range ids[:len(ids)-len(rows)] { // on the roster
		if statuses[item.Resolve(id, all).ID] != "out" {
			players = append(players, all[id], item.Resolve(id, all))
		}
	}

	return s.ask(ctx, players, nil, Mail{Move: m})
}

// isLatest reports whether a game that has not begun was moved as a notice has it, and not again since.
func isLatest(g item.Row[item.Game], m game.Move) bool {
	return g.V().Moved.Count == m.Count && g.Status == item.Scheduled
}

// composeMove is compose for a move.
func (s *Mailer) composeMove(ctx context.Context, in Mail) (m mail.Message, err error) {
	if in.Move.GameID == "" {
		x, ok, err := dynamo.Get[item.Row[item.Session]](ctx, s.db, tables.GetSession, item.SessionKey(in.Move.SessionID), item.Metadata)
		if err != nil || !ok || x.V().Moved.Count != in.Move.Count || x.V().Moved.From == x.V().Date {
			return m, err
		}

		l, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.db, tables.GetLeague, item.LeagueKey(x.V().LeagueID), item.Metadata)
		if err != nil || !ok {
			return m, err
		}

		mine, _, err := player.AllClaimed(ctx, s.db, in.UserID, x.V().LeagueID)
		if err != nil || len(mine) == 0 { // the claims have ended since
			return m, err
		}

		return s.ending(in.UserID, "3FC: your session has moved", fmt.Sprintf("The session of %s, in %s, is on %s now.\n\n%s",
			x.V().Moved.From, league.Named(l.V().Name), x.V().Date, s.question(l.V().Name, *x.V(), mine))), nil
	}

	g, ok, err := dynamo.Get[item.Row[item.Game]](ctx, s.db, tables.GetGame, item.GameKey(in.Move.GameID), item.Metadata)
	if err != nil || !ok || !isLatest(g, in.Move) {
		return m, err
	}

	from, postponed := g.V().Moved.From, g.V().State == item.Postponed
	if postponed && from == "" || !postponed && from == g.V().StartTs { // it is as it was
		return m, nil
	}

	x, _, err := dynamo.Get[item.Row[item.Season]](ctx, s.db, tables.GetSeason, item.SeasonKey(g.V().SeasonID), item.Metadata)
	if err != nil {
		return m, err
	}

	l, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.db, tables.GetLeague, item.LeagueKey(g.V().LeagueID), item.Metadata)
	if err != nil || !ok {
		return m, err
	}

	was, is := "that was postponed", "starts on "+clock(g.V().StartTs, *x.V())+" now"
	if from != "" {
		was = "of " + clock(from, *x.V())
	}

	if postponed {
		is = "is postponed: there is no new time yet"
	}

	page, err := s.toGame(ctx, in.UserID, *l.V(), x.V().Slug, g.V().Slug)

	return s.ending(in.UserID, "3FC: your game has moved", fmt.Sprintf("Your game %s, in %s, %s.\n%s", was, league.Named(l.V().Name), is,
		page)), err
}

// clock returns a start as people write it where a season is played.
func clock(startTs string, x item.Season) string {
	in, err := time.LoadLocation(x.TimeZone)
	if err != nil {
		in = time.UTC
	}

	return item.Parse(startTs).In(in).Format("2 January 2006, 15:04 MST")
}
