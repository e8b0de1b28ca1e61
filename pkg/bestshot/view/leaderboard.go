package view

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"matchday/pkg/bestshot/score"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/redis"
)

// Leaderboard is the answer with a page of a leaderboard, or of the table of a league.
type Leaderboard struct {
	Body LeaderboardPage
}

// LeaderboardPage is a page of a leaderboard, or of the table of a league.
type LeaderboardPage struct {
	_ struct{} `schema:"LeaderboardBody"`

	Data []Entry `json:"data" doc:"Points descending, then nickname, then id; 100 a page, or at most 51 around the caller."`
	Meta struct {
		_ struct{} `schema:"LeaderboardPaging"`

		Ranking     string   `json:"ranking" enum:"dense" doc:"How ranks are counted: 1, 1, 2."`
		Next        string   `json:"next,omitempty" doc:"The cursor of the next page."`
		Updating    *float64 `json:"updating,omitempty" minimum:"0" maximum:"1" doc:"Points are coming in: the share of the guesses that have theirs. Absent while all points are in, and on pages of before."`
		Provisional bool     `json:"provisional,omitempty" doc:"Whether points of matches in play are in it: they are no result, and may be lost again. movement is then how many ranks they have moved the member."`
		Me          *Entry   `json:"me,omitempty" doc:"The caller, on the page around the caller; absent for a caller who is not in it."`
	} `json:"meta" doc:"About the page."`
}

// Entry is a member in a leaderboard.
type Entry struct {
	_ struct{} `schema:"LeaderboardEntry"`

	Rank     int    `json:"rank" doc:"Dense: members with equal points have one rank, and the next points have the next rank. Of members with equal points the rank also shows the tie-breakers, if the tournament has them."`
	MemberID string `json:"memberId" format:"uuid" doc:"The id of the member."`
	NickName string `json:"nickName" doc:"The name of the member."`
	Points   int    `json:"points" doc:"The points in the tournament."`
	Movement int    `json:"movement" doc:"How many ranks the member has gained in the current round; negative for lost ones."`

	Provisional *int `json:"provisionalPoints,omitempty" doc:"Of the points, those of the matches in play; only in a provisional table."`
}

// around is how many members above the caller, and below, the page around the caller has.
const around = 25

// Paging is the part of a request that chooses a page of a leaderboard.
type Paging struct {
	Cursor string `query:"cursor" maxLength:"300" pattern:"^-?[0-9]+(_[0-9a-f-]{36}_[0-9A-Za-z_-]*)?$" example:"-300000000_58de2f1b-1374-4c92-bd53-23a81943de4b_QW5h" doc:"The next of the page before."`
	Around string `query:"around" enum:"me" doc:"me: the page around the caller, and without a cursor."`
}

// Leaderboard returns the page of a tournament's leaderboard that follows a cursor, the first one
// for "". Its cost does not depend on the number of members: it reads the rows of one page. Errors:
// ErrNoTournament, bad_cursor.
func (v Views) Leaderboard(ctx context.Context, tournamentID, cursor string) (*Leaderboard, error) {
	name, mark := firstPage, ""
	after := first

	if cursor != "" {
		var ok bool
		if after, ok = parsePlace(cursor); !ok {
			return nil, httpapi.ErrBadCursor
		}

		name = after.String() // another form of the cursor has no page of its own
		mark = markOf(name)
	}

	text, err := v.page(ctx, LeaderboardKey(tournamentID), name, mark, v.loadLeaderboard(tournamentID, name, after, PageSize))
	if err != nil {
		return nil, err
	}

	return boardOf(text, boardPage.end)
}

// LeaderboardAround returns the page of a tournament's leaderboard around a member, an empty page if the
// member is not in it. It reads the database. Errors: ErrNoTournament.
func (v Views) LeaderboardAround(ctx context.Context, tournamentID, memberID string) (*Leaderboard, error) {
	me, ok, err := PlaceOf(ctx, v.DB, tournamentID, memberID)
	if err != nil {
		return nil, err
	}

	if !ok {
		state, err := v.leaderboardState(ctx, tournamentID)
		out := &Leaderboard{}
		out.Body.Data, out.Body.Meta.Ranking, out.Body.Meta.Updating = []Entry{}, "dense", state.Updating

		return out, err
	}

	after := first

	above, found, err := pg.One[spot](ctx, v.DB, sql.FindAbove, tournamentID, me.place().key, me.NickName, me.MemberID, around+1)
	if err != nil {
		return nil, err
	}

	if found {
		after = above.place()
	}

	p, err := v.loadLeaderboard(tournamentID, firstPage, after, 2*around+1)(ctx)
	if err != nil {
		return nil, err
	}

	out, err := boardOf(p.page(firstPage), boardPage.end)
	if err == nil {
		e := me.entry(me.Rank)
		out.Body.Meta.Me = &e
	}

	return out, err
}

// Place is the place of a member in a leaderboard.
type Place struct {
	row
	Members int `db:"members"` // of the leaderboard
}

// Entry returns the member as the leaderboard shows it.
func (p Place) Entry() Entry { return p.entry(p.Rank) }

// PlaceOf returns the place of a member in the leaderboard of a tournament. ok is false if the member
// is not in it.
func PlaceOf(ctx context.Context, s pg.Session, tournamentID, memberID string) (p Place, ok bool, err error) {
	return pg.One[Place](ctx, s, sql.GetPlace, tournamentID, memberID)
}

// RefreshLeaderboard writes the first page of the leaderboard. All other pages that are older vanish.
func (v Views) RefreshLeaderboard(ctx context.Context, tournamentID string) error {
	return v.refresh(ctx, LeaderboardKey(tournamentID), v.loadLeaderboard(tournamentID, firstPage, first, PageSize))
}

// place is a place in a leaderboard: that of a member, or one that no member has.
type place struct {
	key      int64 // the score times -1
	nickName string
	memberID string
}

// first is before all members.
var first = place{math.MinInt64, "", "00000000-0000-0000-0000-000000000000"}

// String returns the place as a cursor.
func (p place) String() string {
	return fmt.Sprintf("%d_%s_%s", p.key, p.memberID, base64.RawURLEncoding.EncodeToString([]byte(p.nickName)))
}

// parsePlace reads a cursor whose form the schema has checked.
func parsePlace(cursor string) (p place, ok bool) {
	parts := strings.SplitN(cursor, "_", 3)
	if len(parts) != 3 {
		return p, false
	}

	key, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return p, false
	}

	name, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !utf8.Valid(name) || strings.ContainsRune(string(name), 0) || !IsID(parts[1]) {
		return p, false
	}

	return place{key, string(name), parts[1]}, true
}

// IsID reports whether a text is the id of a row.
func IsID(text string) bool {
	var u pgtype.UUID // Scan accepts any separators
	return u.Scan(text) == nil && strings.EqualFold(u.String(), text)
}

// spot is where a member is in the order of a leaderboard.
type spot struct {
	MemberID string `db:"member_id"`
	NickName string `db:"nick_name"`
	Points   int    `db:"points"`
	Tie      int    `db:"tie"`
}

// row is a member in a leaderboard, as the database has it.
type row struct {
	spot
	Rank       int `db:"rank"`
	RankBefore int `db:"rank_before"`
}

// tiesPerPoint is more than any sum of tie-breakers: see the SQL function score.
const tiesPerPoint = 100_000_000

func (s spot) place() place {
	return place{-ScoreOf(score.Total{Points: s.Points, Tie: s.Tie}), s.NickName, s.MemberID}
}

// ScoreOf returns what a leaderboard is sorted by, as the SQL function score computes it.
func ScoreOf(t score.Total) int64 { return int64(t.Points)*tiesPerPoint + int64(t.Tie) }

func (r row) entry(rank int) Entry {
	return Entry{Rank: rank, MemberID: r.MemberID, NickName: r.NickName, Points: r.Points, Movement: r.RankBefore - rank}
}

// member is a member on a page of the cache. Ranks are counted when the page is read.
type member struct {
	MemberID string `json:"memberId"`
	NickName string `json:"nickName"`
	Points   int    `json:"points"`
	Tie      int    `json:"tie,omitempty"`
	Before   int    `json:"before"`           // the rank before the current round
	Gained   int    `json:"gained,omitempty"` // of the points, those of matches in play
}

// boardPage is a page of a leaderboard in the cache.
type boardPage struct {
	First    int      `json:"first"` // the rank of the first member
	Members  []member `json:"members"`
	Last     bool     `json:"last"` // no page follows
	Updating *float64 `json:"updating,omitempty"`

	Provisional bool `json:"provisional,omitempty"`
}

// end is the place of the last member, as a cursor.
func (p boardPage) end() string {
	m := p.Members[len(p.Members)-1]
	return spot{m.MemberID, m.NickName, m.Points, m.Tie}.place().String()
}

// boardOf returns a page of the cache as the API answers it, with the cursor of the next one. Errors:
// bad_cursor if there is no page.
func boardOf(text []byte, next func(boardPage) string) (*Leaderboard, error) {
	if text == nil {
		return nil, httpapi.ErrBadCursor
	}

	var p boardPage
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("a page of a leaderboard: %w", err)
	}

	out := &Leaderboard{}
	out.Body.Data, out.Body.Meta.Ranking = p.entries(), "dense"
	out.Body.Meta.Updating, out.Body.Meta.Provisional = p.Updating, p.Provisional

	if !p.Last {
		out.Body.Meta.Next = next(p)
	}

	return out, nil
}

// entries returns the members of a page with their ranks and movements.
func (p boardPage) entries() []Entry {
	scores := make([]score.Total, len(p.Members))
	for i, m := range p.Members {
		scores[i] = score.Total{Points: m.Points, Tie: m.Tie}
	}

	all := make([]Entry, len(p.Members))
	for i, rank := range score.Ranks(p.First, scores) {
		m := p.Members[i]
		all[i] = row{spot: spot{m.MemberID, m.NickName, m.Points, m.Tie}, RankBefore: m.Before}.entry(rank)

		if p.Provisional {
			all[i].Provisional = &m.Gained
		}
	}

	return all
}

// leaderboardState is the state of a leaderboard.
type leaderboardState struct {
	Version  int64    `db:"version"`
	Updating *float64 `db:"updating"` // the share of the guesses that have their points; nil if all have
}

// leaderboardState returns the state of a leaderboard. Errors: ErrNoTournament.
func (v Views) leaderboardState(ctx context.Context, tournamentID string) (leaderboardState, error) {
	state, ok, err := pg.One[leaderboardState](ctx, v.DB, sql.GetLeaderboardState, tournamentID)
	if err == nil && !ok {
		err = ErrNoTournament
	}

	return state, err
}

// loadLeaderboard reads a page with a name: at most n members after a place, with the mark of the next page.
func (v Views) loadLeaderboard(tournamentID, name string, after place, n int) load {
	return func(ctx context.Context) (projection, error) {
		// The version is read first. If the leaderboard changes in between, the next version replaces
		// the page.
		state, err := v.leaderboardState(ctx, tournamentID)
		if err != nil {
			return projection{}, err
		}

		rows, err := pg.All[row](ctx, v.DB, sql.ListLeaderboard, tournamentID, after.key, after.nickName, after.memberID, n+1)
		if err != nil {
			return projection{}, err
		}

		p := boardPage{First: 1, Members: []member{}, Last: len(rows) <= n, Updating: state.Updating}

		if !p.Last {
			rows = rows[:n]
		}

		if len(rows) > 0 {
			p.First = rows[0].Rank
		} else if after != first {
			return projection{version: state.Version, lifetime: lifetime}, nil // behind the last page
		}

		for _, r := range rows {
			p.Members = append(p.Members, member{MemberID: r.MemberID, NickName: r.NickName, Points: r.Points, Tie: r.Tie, Before: r.RankBefore})
		}

		text, err := json.Marshal(p)
		if err != nil {
			return projection{}, err
		}

		pages := []redis.Page{{Name: name, Text: text}}
		if !p.Last {
			pages = append(pages, redis.Page{Name: markOf(p.end()), Text: []byte("1")})
		}

		return projection{version: state.Version, pages: pages, lifetime: lifetime, mixed: state.Updating != nil}, nil
	}
}

// markOf returns the name of the mark that a page begins after a place: a page of the cache that the page
// before comes with.
func markOf(place string) string { return "mark:" + place }
