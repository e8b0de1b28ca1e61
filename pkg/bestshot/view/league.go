package view

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/bestshot/score"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/redis"
)

// Table says what the table of a league sums: the points in all active and completed tournaments that it
// follows, or in one tournament, or in a round of it.
type Table struct {
	LeagueID     string
	TournamentID string // "" for all
	Round        string // the slug; "" for all
	Live         bool   // whether it is provisional: with the points of the matches in play
	Final        bool   // whether it has the members of the time when the tournament ended
}

// key is the key of the table in the cache.
func (t Table) key() string {
	if t.Live {
		return "league:{" + t.LeagueID + "}:live:" + t.TournamentID + ":" + t.Round
	}

	if t.Final {
		return "league:{" + t.LeagueID + "}:final:" + t.TournamentID
	}

	key := "league:{" + t.LeagueID + "}:score"
	if t.Round != "" {
		return "league:{" + t.LeagueID + "}:round:" + t.TournamentID + ":" + t.Round
	}

	if t.TournamentID != "" {
		key += ":" + t.TournamentID
	}

	return key
}

// LeagueTable returns a page of the table of a league, as Leaderboard does. A cursor is the number of a
// page, counted from 0. The page may be LeagueLifetime old. Errors: bad_cursor, ErrNoRound.
func (v Views) LeagueTable(ctx context.Context, t Table, cursor string) (*Leaderboard, error) {
	if cursor == "" {
		cursor = firstPage
	}

	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return nil, httpapi.ErrBadCursor
	}

	text, err := v.page(ctx, t.key(), cursor, "", v.loadTable(t))
	if err != nil {
		return nil, err
	}

	return boardOf(text, func(boardPage) string { return strconv.Itoa(n + 1) })
}

// LeagueTableAround returns the page of the table of a league that has a member.
func (v Views) LeagueTableAround(ctx context.Context, t Table, memberID string) (*Leaderboard, error) {
	text, err := v.page(ctx, t.key(), bucket(memberID), "", v.loadTable(t))
	if err != nil {
		return nil, err
	}

	var places map[string]int // by the id of the member
	if text != nil {
		if err := json.Unmarshal(text, &places); err != nil {
			return nil, err
		}
	}

	out, err := v.LeagueTable(ctx, t, strconv.Itoa(places[memberID]/PageSize))
	if err != nil {
		return nil, err
	}

	if i := slices.IndexFunc(out.Body.Data, func(e Entry) bool { return e.MemberID == memberID }); i >= 0 {
		out.Body.Meta.Me = &out.Body.Data[i]
	}

	return out, nil
}

// bucket is the name of the page that has the place of a member in the table of a league. A table has
// 256 of them, so that one is small also in the largest league.
func bucket(memberID string) string { return "of:" + strings.ToLower(memberID[:2]) }

// tableRow is a member in the table of a league, as the database has it.
type tableRow struct {
	MemberID string `db:"member_id"`
	NickName string `db:"nick_name"`
	Points   int    `db:"points"`
	Before   int    `db:"before"` // the points before the current round; in a provisional table those that are settled
}

func (v Views) loadTable(t Table) load {
	return func(ctx context.Context) (projection, error) {
		var (
			rows []tableRow
			err  error
		)

		if t.Round != "" {
			var known bool

			_, known, err = pg.Value[int64](ctx, v.DB, sql.GetRoundVersion, t.TournamentID, t.Round)
			if err == nil && !known {
				err = ErrNoRound
			}

			if err != nil {
				return projection{}, err
			}
		}

		switch {
		case t.Final:
			rows, err = pg.All[tableRow](ctx, v.DB, sql.ListLeagueFinal, t.LeagueID, t.TournamentID)
		case t.Live:
			rows, err = pg.All[tableRow](ctx, v.DB, sql.ListLiveLeagueTable, t.LeagueID, t.TournamentID, t.Round)
		case t.Round == "":
			rows, err = pg.All[tableRow](ctx, v.DB, sql.ListLeagueTable, t.LeagueID, t.TournamentID)
		default:
			rows, err = pg.All[tableRow](ctx, v.DB, sql.ListLeagueRound, t.LeagueID, t.TournamentID, t.Round)
		}

		if err != nil {
			return projection{}, err
		}

		pages, err := paginate(rows, t.Live)

		return projection{version: v.clock.Now().Unix(), pages: pages, lifetime: LeagueLifetime}, err
	}
}

// paginate returns the pages of a table whose members are in order, and the places of its members. In a
// provisional table members have moved since the points that are settled.
func paginate(rows []tableRow, live bool) (pages []redis.Page, err error) {
	points, before := make([]score.Total, len(rows)), make([]score.Total, len(rows))
	for i, m := range rows {
		points[i], before[i] = score.Total{Points: m.Points}, score.Total{Points: m.Before}
	}

	now := score.Ranks(1, points)

	slices.SortFunc(before, func(a, b score.Total) int { return b.Points - a.Points })

	ranks := map[int]int{}
	for i, rank := range score.Ranks(1, before) {
		ranks[before[i].Points] = rank
	}

	// In the first round nobody has moved.
	firstRound := len(before) > 0 && before[0].Points == 0 && before[len(before)-1].Points == 0

	add := func(name string, page any) {
		text, failed := json.Marshal(page)
		if failed != nil {
			err = failed
		}

		pages = append(pages, redis.Page{Name: name, Text: text})
	}

	places := map[string]map[string]int{}

	for at := 0; at == 0 || at < len(rows); at += PageSize {
		p := boardPage{First: 1, Members: []member{}, Last: at+PageSize >= len(rows), Provisional: live}
		if len(rows) > 0 {
			p.First = now[at]
		}

		for i := at; i < min(at+PageSize, len(rows)); i++ {
			r := rows[i]
			m := member{MemberID: r.MemberID, NickName: r.NickName, Points: r.Points, Before: ranks[r.Before]}

			if firstRound {
				m.Before = now[i]
			}

			if live {
				m.Gained = r.Points - r.Before
			}

			p.Members = append(p.Members, m)

			if name := bucket(r.MemberID); places[name] == nil {
				places[name] = map[string]int{r.MemberID: i}
			} else {
				places[name][r.MemberID] = i
			}
		}

		add(strconv.Itoa(at/PageSize), p)
	}

	for name, some := range places {
		add(name, some)
	}

	return pages, err
}
