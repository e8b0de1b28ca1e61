// Package view is what members read of a tournament: the matches of a round, the standings
// and the leaderboard; and the table of a league.
//
// Each is a projection in the cache, under one key:
//
//	key                                   kept for  version
//	tournament:{id}:round:{slug}:matches  6 h       of the round's matches in the database
//	tournament:{id}:standings             6 h       of the standings in the database
//	tournament:{id}:leaderboard           6 h       of the scoreboard in the database
//	league:{id}:score                     30 s      the second in which it was read
//
// The braces make the id the hash tag of a cluster's slot. Every change in the database that a
// projection of a tournament shows raises its version. The table of a league is not invalidated:
// it may be 30 s old.
//
// A reader that finds no projection reads the database and writes the projection. One reader does
// so at a time. The others wait for it for 300 ms, and then read the database themselves. A
// reader whose cache does not answer reads the database.
package view

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/redis"
)

//go:embed view.sql
var file string

// sql are the statements of view.sql.
var sql = pg.MustParse[struct {
	GetRoundVersion, ListMatches, GetStandingsVersion, ListStandings, GetLeaderboardVersion, ListLeaderboard,
	ListLeagueTable string
}](file)

// The keys of the projections.
func MatchesKey(tournamentID, round string) string {
	return "tournament:{" + tournamentID + "}:round:" + round + ":matches"
}
func StandingsKey(tournamentID string) string { return "tournament:{" + tournamentID + "}:standings" }
func LeaderboardKey(tournamentID string) string {
	return "tournament:{" + tournamentID + "}:leaderboard"
}

const (
	// PageSize is how many members a page of a leaderboard has.
	PageSize = 100
	// lives is how long a projection of a tournament is kept. A full cache evicts only keys that
	// expire.
	lives = 6 * time.Hour
	// A reader that waits for another's projection looks again after pause, and reads the
	// database itself after patience.
	pause    = 20 * time.Millisecond
	patience = 300 * time.Millisecond
	claim    = 2 * time.Second
)

// ErrNoRound and ErrNoTournament report what does not exist.
var (
	ErrNoTournament = problem.New(problem.NotFound, "tournament_not_found", "there is no such tournament")
	ErrNoRound      = problem.New(problem.NotFound, "round_not_found", "the tournament has no such round")
)

// Views reads and refreshes the projections.
type Views struct {
	DB    pg.DB
	Cache redis.Cache
	clock app.Clock
}

// New returns the views of a database and a cache.
func New(db pg.DB, cache redis.Cache, clock app.Clock) Views { return Views{db, cache, clock} }

// Open opens a database and the cache.
func Open(ctx context.Context, env app.Env) (Views, error) {
	db, err := pg.Open(ctx, env, tables.Reader)
	if err != nil {
		return Views{}, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return New(db, cache, env.Clock), err
}

// projection is what the database holds of a projection.
type projection struct {
	version int64
	pages   [][]byte
	lives   time.Duration
}

// load reads a projection from the database. Its error is that of what does not exist.
type load func(ctx context.Context) (projection, error)

// page returns a page of a projection, nil behind the last one.
func (v Views) page(ctx context.Context, key string, n int, load load) ([]byte, error) {
	page, found, mine, err := v.cached(ctx, key, n)
	if found {
		return page, nil
	}

	if mine {
		defer v.Cache.Release(ctx, claimOf(key)) // best effort: a claim ends by itself
	}

	p, missing := load(ctx)
	if missing != nil {
		return nil, missing
	}

	if err == nil {
		_, err = v.Cache.Put(ctx, key, p.version, p.pages, p.lives)
	}

	if err != nil {
		slog.WarnContext(ctx, "read without the cache", "key", key, "err", err)
	}

	if n < len(p.pages) {
		return p.pages[n], nil
	}

	return nil, nil
}

// cached returns a page from the cache. If there is none it claims to write the projection,
// or waits until who has claimed that has written it, or has found nothing to write. mine is
// whether it has the claim.
func (v Views) cached(ctx context.Context, key string, n int) (page []byte, found, mine bool, err error) {
	for began := v.clock.Now(); ; {
		page, _, found, err = v.Cache.Page(ctx, key, n)
		if found || err != nil {
			return page, found, false, err
		}

		mine, err = v.Cache.Claim(ctx, claimOf(key), claim)
		if mine || err != nil {
			return nil, false, mine, err
		}

		now := v.clock.Now()
		if now.Sub(began) >= patience {
			return nil, false, false, nil
		}

		if err := v.clock.Sleep(ctx, now.Add(pause)); err != nil {
			return nil, false, false, err
		}
	}
}

func claimOf(key string) string { return key + ":claim" }

// Refresh writes a projection as the database has it now. It does nothing for what does not
// exist any more.
func (v Views) refresh(ctx context.Context, key string, load load) error {
	p, err := load(ctx)
	if problem.Of(err) == problem.NotFound {
		return nil
	}

	if err != nil {
		return err
	}

	_, err = v.Cache.Put(ctx, key, p.version, p.pages, p.lives)

	return err
}

// Status is the status of a match.
type Status string

// Match is a match of a round.
type Match struct {
	ID     string    `json:"id" format:"uuid" doc:"The id of the match."`
	Date   time.Time `json:"date" doc:"The kick-off."`
	Status Status    `json:"status" enum:"open,ended,not-defined" doc:"open: not over yet; it can be guessed before its date. ended: with its result. not-defined: postponed, interrupted or cancelled; it earns nothing unless it is played."`
	Home   Side      `json:"home" doc:"The home team."`
	Away   Side      `json:"away" doc:"The away team."`
}

// Side is a team in a match.
type Side struct {
	ID    string `json:"id" format:"uuid" doc:"The id of the team."`
	Name  string `json:"name" doc:"The name of the team."`
	Score *int   `json:"score" doc:"Its goals, also those of extra time, without penalties; null before the match."`
}

// MatchRow is a match as the database has it.
type MatchRow struct {
	ID        string    `db:"id"`
	Date      time.Time `db:"date"`
	Status    Status    `db:"status"`
	HomeID    string    `db:"home_id"`
	HomeName  string    `db:"home_name"`
	HomeScore *int      `db:"home_score"`
	AwayID    string    `db:"away_id"`
	AwayName  string    `db:"away_name"`
	AwayScore *int      `db:"away_score"`
}

// Match returns the match as members see it.
func (r MatchRow) Match() Match {
	return Match{r.ID, r.Date.UTC(), r.Status, Side{r.HomeID, r.HomeName, r.HomeScore}, Side{r.AwayID, r.AwayName, r.AwayScore}}
}

// Matches returns the matches of a round, in the order of their kick-offs. Errors:
// ErrNoRound.
func (v Views) Matches(ctx context.Context, tournamentID, round string) ([]Match, error) {
	return decode[Match](v.page(ctx, MatchesKey(tournamentID, round), 0, v.matches(tournamentID, round)))
}

// RefreshMatches writes the projection of a round.
func (v Views) RefreshMatches(ctx context.Context, tournamentID, round string) error {
	return v.refresh(ctx, MatchesKey(tournamentID, round), v.matches(tournamentID, round))
}

func (v Views) matches(tournamentID, round string) load {
	return func(ctx context.Context) (projection, error) {
		version, ok, err := pg.Value[int64](ctx, v.DB,
			sql.GetRoundVersion, tournamentID, round)
		if err != nil {
			return projection{}, err
		}

		if !ok {
			return projection{}, ErrNoRound
		}
		// The version is read first: matches that are newer than it are replaced soon.
		rows, err := pg.All[MatchRow](ctx, v.DB,
			sql.ListMatches, tournamentID, round)
		if err != nil {
			return projection{}, err
		}

		all := make([]Match, len(rows))
		for i, r := range rows {
			all[i] = r.Match()
		}

		return encode(version, all)
	}
}

// Standing is a team in the standings.
type Standing struct {
	Position int     `json:"position" db:"order" doc:"In its group."`
	TeamID   string  `json:"teamId" db:"team_id" format:"uuid" doc:"The id of the team."`
	Team     string  `json:"team" db:"name" doc:"The name of the team."`
	Points   int     `json:"points" db:"points" doc:"Its points."`
	Played   int     `json:"played" db:"games" doc:"Its matches."`
	Wins     int     `json:"wins" db:"wins" doc:"Those that it won."`
	Draws    int     `json:"draws" db:"draws" doc:"Those without a winner."`
	Losses   int     `json:"losses" db:"losses" doc:"Those that it lost."`
	For      int     `json:"goalsFor" db:"gf" doc:"The goals that it scored."`
	Against  int     `json:"goalsAgainst" db:"ga" doc:"The goals against it."`
	Group    *string `json:"group" db:"group_name" doc:"Its group; null in a tournament with one table."`
}

// Standings returns the standings, by group and position. Errors: ErrNoTournament.
func (v Views) Standings(ctx context.Context, tournamentID string) ([]Standing, error) {
	return decode[Standing](v.page(ctx, StandingsKey(tournamentID), 0, v.standings(tournamentID)))
}

func (v Views) standings(tournamentID string) load {
	return func(ctx context.Context) (projection, error) {
		version, ok, err := pg.Value[int64](ctx, v.DB, sql.GetStandingsVersion, tournamentID)
		if err != nil {
			return projection{}, err
		}

		if !ok {
			return projection{}, ErrNoTournament
		}

		rows, err := pg.All[Standing](ctx, v.DB,
			sql.ListStandings, tournamentID)
		if err != nil {
			return projection{}, err
		}

		return encode(version, rows)
	}
}

// Entry is a member in a leaderboard.
type Entry struct {
	Rank     int    `json:"rank" doc:"Dense: members with equal points have one rank, and the next points have the next rank."`
	MemberID string `json:"memberId" format:"uuid" doc:"The id of the member."`
	NickName string `json:"nickName" doc:"The name of the member."`
	Points   int    `json:"points" doc:"The points in the tournament."`
	Movement int    `json:"movement" doc:"How many ranks the member has gained in the current round; negative for lost ones."`
}

// stored is a member in the projection of a leaderboard, which has no ranks but that of the
// first member of a page.
type stored struct {
	MemberID string `json:"memberId" db:"member_id"`
	NickName string `json:"nickName" db:"nick_name"`
	Points   int    `json:"points" db:"points"`
	Before   int    `json:"before" db:"before"` // points before the current round, then the rank by them
}

// board is a page of a leaderboard.
type board struct {
	First   int      `json:"first"` // rank of the first member
	Members []stored `json:"members"`
	Last    bool     `json:"last"` // no page follows
}

// Leaderboard returns a page of the leaderboard, counted from 0: points descending, then
// nickname, then id. next is the number of the page that follows, "" after the last. A page
// behind the last is nil. Errors: ErrNoTournament.
func (v Views) Leaderboard(ctx context.Context, tournamentID string, n int) (entries []Entry, next string, err error) {
	return rank(n)(v.page(ctx, LeaderboardKey(tournamentID), n, v.leaderboard(tournamentID)))
}

// League returns a page of the table of a league, as Leaderboard does: the sums of the points
// in its active tournaments. It may be LeagueLives old.
func (v Views) League(ctx context.Context, leagueID string, n int) (entries []Entry, next string, err error) {
	return rank(n)(v.page(ctx, "league:{"+leagueID+"}:score", n, v.league(leagueID)))
}

// rank returns the function that reads page n of a table.
func rank(n int) func(page []byte, err error) ([]Entry, string, error) {
	return func(page []byte, err error) ([]Entry, string, error) { return ranked(n, page, err) }
}

func ranked(n int, page []byte, err error) (entries []Entry, next string, _ error) {
	if err != nil || page == nil {
		return nil, "", err
	}

	var b board
	if err := json.Unmarshal(page, &b); err != nil {
		return nil, "", fmt.Errorf("page %d of a leaderboard: %w", n, err)
	}

	points := make([]int, len(b.Members))
	for i, m := range b.Members {
		points[i] = m.Points
	}

	entries = make([]Entry, len(b.Members))
	for i, rank := range score.Ranks(b.First, points) {
		m := b.Members[i]
		entries[i] = Entry{rank, m.MemberID, m.NickName, m.Points, m.Before - rank}
	}

	if !b.Last {
		next = strconv.Itoa(n + 1)
	}

	return entries, next, nil
}

// RefreshLeaderboard writes the projection of the leaderboard, without a moment in which it
// is empty.
func (v Views) RefreshLeaderboard(ctx context.Context, tournamentID string) error {
	return v.refresh(ctx, LeaderboardKey(tournamentID), v.leaderboard(tournamentID))
}

func (v Views) leaderboard(tournamentID string) load {
	return func(ctx context.Context) (projection, error) {
		version, ok, err := pg.Value[int64](ctx, v.DB, sql.GetLeaderboardVersion, tournamentID)
		if err != nil {
			return projection{}, err
		}

		if !ok {
			return projection{}, ErrNoTournament
		}

		all, err := pg.All[stored](ctx, v.DB, sql.ListLeaderboard, tournamentID)
		if err != nil {
			return projection{}, err
		}

		return paginate(version, lives, all)
	}
}

// LeagueLives is how long the table of a league is kept. A change of its tournaments does not
// invalidate it.
const LeagueLives = 30 * time.Second

func (v Views) league(leagueID string) load {
	return func(ctx context.Context) (projection, error) {
		all, err := pg.All[stored](ctx, v.DB, sql.ListLeagueTable, leagueID)
		if err != nil {
			return projection{}, err
		}

		return paginate(v.clock.Now().Unix(), LeagueLives, all)
	}
}

// paginate returns the pages of a leaderboard, whose members are in order.
func paginate(version int64, lives time.Duration, all []stored) (projection, error) {
	points, before := make([]int, len(all)), make([]int, len(all))
	for i, m := range all {
		points[i], before[i] = m.Points, m.Before
	}

	slices.SortFunc(before, func(a, b int) int { return b - a })

	ranks := map[int]int{}
	for i, rank := range score.Ranks(1, before) {
		ranks[before[i]] = rank
	}

	for i := range all {
		all[i].Before = ranks[all[i].Before]
	}

	now := score.Ranks(1, points)

	if len(before) > 0 && before[0] == 0 && before[len(before)-1] == 0 { // nobody had points before
		for i := range all {
			all[i].Before = now[i]
		}
	}

	p := projection{version: version, lives: lives}

	for at := 0; at == 0 || at < len(all); at += PageSize {
		b := board{First: 1, Members: all[at:min(at+PageSize, len(all))], Last: at+PageSize >= len(all)}
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

func encode[T any](version int64, rows []T) (projection, error) {
	if rows == nil {
		rows = []T{}
	}

	page, err := json.Marshal(rows)

	return projection{version, [][]byte{page}, lives}, err
}

func decode[T any](page []byte, err error) (all []T, _ error) {
	if err != nil {
		return nil, err
	}

	return all, json.Unmarshal(page, &all)
}
