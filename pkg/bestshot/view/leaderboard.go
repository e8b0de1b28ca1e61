package view

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"matchday/pkg/bestshot/score"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
)

// Leaderboard is the answer with a page of a leaderboard, or of the table of a league.
type Leaderboard struct {
	Body struct {
		Data []Entry `json:"data" doc:"Points descending, then nickname, then id; 100 a page."`
		Meta struct {
			_ struct{} `schema:"LeaderboardPaging"`

			Ranking string `json:"ranking" enum:"dense" doc:"How ranks are counted: 1, 1, 2."`
			Next    string `json:"next,omitempty" doc:"The cursor of the next page."`
		} `json:"meta" doc:"About the page."`
	}
}

// Entry is a member in a leaderboard.
type Entry struct {
	_ struct{} `schema:"LeaderboardEntry"`

	Rank     int    `json:"rank" doc:"Dense: members with equal points have one rank, and the next points have the next rank."`
	MemberID string `json:"memberId" format:"uuid" doc:"The id of the member."`
	NickName string `json:"nickName" doc:"The name of the member."`
	Points   int    `json:"points" doc:"The points in the tournament."`
	Movement int    `json:"movement" doc:"How many ranks the member has gained in the current round; negative for lost ones."`
}

// Leaderboard returns the page of a tournament's leaderboard that follows a cursor, the first one
// for "". Errors: ErrNoTournament, bad_cursor behind the last page.
func (v Views) Leaderboard(ctx context.Context, tournamentID, cursor string) (*Leaderboard, error) {
	return v.leaderboard(ctx, LeaderboardKey(tournamentID), cursor, v.loadLeaderboard(tournamentID))
}

// LeagueTable returns a page of the table of a league, as Leaderboard does: the sums of the points
// in its active tournaments. The page may be LeagueLifetime old. Errors: bad_cursor.
func (v Views) LeagueTable(ctx context.Context, leagueID, cursor string) (*Leaderboard, error) {
	return v.leaderboard(ctx, leagueKey(leagueID), cursor, v.loadLeague(leagueID))
}

// RefreshLeaderboard replaces the projection of the leaderboard, at once for all readers.
func (v Views) RefreshLeaderboard(ctx context.Context, tournamentID string) error {
	return v.refresh(ctx, LeaderboardKey(tournamentID), v.loadLeaderboard(tournamentID))
}

// member is a member on a page of the cache. Ranks are counted when the page is read.
type member struct {
	MemberID string `json:"memberId" db:"member_id"`
	NickName string `json:"nickName" db:"nick_name"`
	Points   int    `json:"points" db:"points"`
	Before   int    `json:"before" db:"before"` // the points before the current round; in the cache the rank by them
}

// boardPage is a page of a leaderboard in the cache.
type boardPage struct {
	First   int      `json:"first"` // the rank of the first member
	Members []member `json:"members"`
	Last    bool     `json:"last"` // no page follows
}

// leaderboard returns a page of a leaderboard. A cursor is the number of a page, counted from 0.
func (v Views) leaderboard(ctx context.Context, key, cursor string, load load) (*Leaderboard, error) {
	n, _ := strconv.Atoi(cursor) // the schema has checked it; "" is 0

	text, err := v.page(ctx, key, n, load)
	if err != nil {
		return nil, err
	}

	if text == nil {
		return nil, httpapi.ErrBadCursor
	}

	var p boardPage
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("page %d of %s: %w", n, key, err)
	}

	out := &Leaderboard{}
	out.Body.Data, out.Body.Meta.Ranking = p.entries(), "dense"

	if !p.Last {
		out.Body.Meta.Next = strconv.Itoa(n + 1)
	}

	return out, nil
}

// entries returns the members of a page with their ranks and movements.
func (p boardPage) entries() []Entry {
	points := make([]int, len(p.Members))
	for i, m := range p.Members {
		points[i] = m.Points
	}

	all := make([]Entry, len(p.Members))
	for i, rank := range score.Ranks(p.First, points) {
		m := p.Members[i]
		all[i] = Entry{Rank: rank, MemberID: m.MemberID, NickName: m.NickName, Points: m.Points, Movement: m.Before - rank}
	}

	return all
}

func (v Views) loadLeaderboard(tournamentID string) load {
	return func(ctx context.Context) (projection, error) {
		version, ok, err := pg.Value[int64](ctx, v.DB, sql.GetLeaderboardVersion, tournamentID)
		if err != nil {
			return projection{}, err
		}

		if !ok {
			return projection{}, ErrNoTournament
		}

		all, err := pg.All[member](ctx, v.DB, sql.ListLeaderboard, tournamentID)
		if err != nil {
			return projection{}, err
		}

		return paginate(version, lifetime, all)
	}
}

func (v Views) loadLeague(leagueID string) load {
	return func(ctx context.Context) (projection, error) {
		all, err := pg.All[member](ctx, v.DB, sql.ListLeagueTable, leagueID)
		if err != nil {
			return projection{}, err
		}

		return paginate(v.clock.Now().Unix(), LeagueLifetime, all)
	}
}

// paginate returns the pages of a leaderboard whose members are in order. It replaces the points
// that each member had before the current round by the rank.
func paginate(version int64, lifetime time.Duration, all []member) (projection, error) {
	points, before := make([]int, len(all)), make([]int, len(all))
	for i, m := range all {
		points[i], before[i] = m.Points, m.Before
	}

	now := score.Ranks(1, points)

	slices.SortFunc(before, func(a, b int) int { return b - a })

	ranks := map[int]int{}
	for i, rank := range score.Ranks(1, before) {
		ranks[before[i]] = rank
	}

	// In the first round nobody has moved.
	first := len(before) > 0 && before[0] == 0 && before[len(before)-1] == 0

	for i := range all {
		all[i].Before = ranks[all[i].Before]
		if first {
			all[i].Before = now[i]
		}
	}

	p := projection{version: version, lifetime: lifetime}

	for at := 0; at == 0 || at < len(all); at += PageSize {
		b := boardPage{First: 1, Members: all[at:min(at+PageSize, len(all))], Last: at+PageSize >= len(all)}
		if len(all) > 0 {
			b.First = now[at]
		}

		page, err := json.Marshal(b)
		if err != nil {
			return projection{}, err
		}

		p.pages = append(p.pages, page)
	}

	return p, nil
}
