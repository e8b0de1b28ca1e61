// Package ingest keeps tournaments as the provider has them.
//
//	plan-polls, every 5 minutes ─▶ polls ─▶ poll-provider ─▶ feeds ─▶ ingest-feed ─▶ settlement
//	                            ─▶ assets ─▶ sync-assets ─▶ feeds
//
// plan-polls and ingest-feed run inside the VPC, with the database. poll-provider and
// sync-assets run outside, where the provider can be reached. What the provider does not
// answer is asked again with the next plan, and an image after a day. What it has answered
// waits in a queue while the database is away.
package ingest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

//go:embed ingest.sql
var file string

// sql are the statements of ingest.sql.
var sql = pg.MustParse[struct {
	ListDueRounds, ListPlayedTournaments, ListDueImages, MarkBadgeAsked, MarkLogoAsked, PutBadge, PutLogo,
	LockTournament, EndExecution, ListRoundSlugs, UpdateRound, MarkRoundsChecked, PutTeams,
	RaiseProjectionsOfTeams, GetStandingsCheckedAt, ListStandings, DeleteStandings, AddStanding,
	MarkStandingsChecked, AddRound, LockMatches, LockMatchWithoutDate, HasNewerAnswer, GetRoundVersion,
	RaiseRound, MarkMatchesChecked, PutExternalID, AddMatch, SwapGuesses, ReassignMatch, MarkMatchChecked,
	UpdateMatch, EndMatch, CreateTournament, AddRule, LockRule, UpdateTournament, PutRuleVersion,
	LockMultiplier, PutMultiplier, LockTournamentForDeletion, DeleteTournament, GetTournament,
	FailLostExecution, BeginExecution, ListRounds, FailExecutionWithoutRounds, GetRoundOfMatch, ListExecutions,
	TournamentExists string
}](file)

// Kind is what a poll asks for.
type Kind string

// The kinds.
const (
	Rounds    Kind = "rounds"
	Matches   Kind = "matches"
	Standings Kind = "standings"
	Badge     Kind = "badge" // of a team
	Logo      Kind = "logo"  // of a tournament, also for its other seasons
)

// Poll asks poll-provider for something of a tournament, or sync-assets for an image. The poll
// of a Badge has the team alone, and that of a Logo the provider's tournament.
type Poll struct {
	Kind         Kind           `json:"kind"`
	TournamentID string         `json:"tournamentId,omitempty"`
	Tournament   string         `json:"tournament,omitempty"` // the provider's id
	Season       string         `json:"season,omitempty"`
	Team         string         `json:"team,omitempty"`      // the provider's id
	Round        provider.Round `json:"round,omitzero"`      // of Matches
	Execution    string         `json:"execution,omitempty"` // that waits for it
}

// Feed is what the provider has answered.
type Feed struct {
	Poll
	FetchedAt time.Time           `json:"fetchedAt"`
	Error     string              `json:"error,omitempty"` // of all of the answer if the rest is empty, or of parts
	Rounds    []provider.Round    `json:"rounds,omitempty"`
	Fixtures  []provider.Fixture  `json:"fixtures,omitempty"`
	Standings []provider.Standing `json:"standings,omitempty"`
	Asset     string              `json:"asset,omitempty"` // the name of the image
}

// empty reports whether the provider has answered nothing.
func (f Feed) empty() bool { return len(f.Rounds)+len(f.Fixtures)+len(f.Standings) == 0 }

// The queues.
var (
	PollQueue = spec.Queue{Name: "bestshot-polls", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}
	FeedQueue = spec.Queue{Name: "bestshot-feeds", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
)

// Planner is the service that plans polls.
type Planner struct {
	db    pg.DB
	queue queue.Sender
	now   func() time.Time
	rests time.Time // until then: see tables.Rest
}

// OpenPlanner opens the service that plans polls.
func OpenPlanner(ctx context.Context, env app.Env) (*Planner, error) {
	db, err := pg.Open(ctx, env, tables.Worker)
	return &Planner{db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now}, err
}

type dueRound struct {
	TournamentID string `db:"tournament_id"`
	Tournament   string `db:"tournament"`
	Season       string `db:"season"`
	Slug         string `db:"slug"`
	Label        string `db:"label"`
	Order        int    `db:"order"`
	Type         string `db:"type"`
	Path         string `db:"path"`
}

func (r dueRound) poll() Poll {
	return Poll{
		Kind:         Matches,
		TournamentID: r.TournamentID,
		Tournament:   r.Tournament,
		Season:       r.Season,
		Round:        provider.Round{Slug: r.Slug, Label: r.Label, Order: r.Order, Type: r.Type, Path: r.Path},
	}
}

type dueTournament struct {
	TournamentID string `db:"tournament_id"`
	Tournament   string `db:"tournament"`
	Season       string `db:"season"`
	Standings    bool   `db:"standings"`
	Rounds       bool   `db:"rounds"`
}

// PlanPollsFunction asks for what may have changed.
func PlanPollsFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "bestshot/plan-polls",
		Does:   "Every 5 minutes asks for the matches, rounds and standings that may have changed, and for images.",
		IfDown: "Results do not arrive.",
		On:     spec.Schedule("rate(5 minutes)"),
		SQL:    []spec.SQLLogin{tables.Worker}, Sends: []spec.Queue{PollQueue, AssetQueue, settlement.Queue},
		Memory: 256, Timeout: time.Minute, Reserved: 1,
	}, OpenPlanner, (*Planner).PlanPolls)
}

// PlanPolls asks for what may have changed, posts matches whose message was given up, and sends
// what a crash has left in the outbox. A second run asks again, which changes nothing. Without
// tournaments it does so once an hour.
func (s *Planner) PlanPolls(ctx context.Context) error {
	if s.now().Before(s.rests) {
		return nil
	}

	if err := errors.Join(settlement.Recover(ctx, s.db), settlement.Relay(ctx, s.db, s.queue)); err != nil {
		return err
	}

	rounds, err := pg.All[dueRound](ctx, s.db, sql.ListDueRounds, provider.Name)
	if err != nil {
		return err
	}

	tournaments, err := pg.All[dueTournament](ctx, s.db, sql.ListPlayedTournaments, provider.Name)
	if err != nil {
		return err
	}

	if len(tournaments) == 0 {
		s.rests = s.now().Add(tables.Rest)
	}

	var polls []Poll

	for _, t := range tournaments {
		p := Poll{TournamentID: t.TournamentID, Tournament: t.Tournament, Season: t.Season}
		if t.Rounds {
			p.Kind = Rounds
			polls = append(polls, p)
		}

		if t.Standings {
			p.Kind = Standings
			polls = append(polls, p)
		}
	}

	for _, r := range rounds {
		polls = append(polls, r.poll())
	}

	if err := queue.SendAll(ctx, s.queue, PollQueue, polls); err != nil {
		return err
	}

	return s.planImages(ctx)
}

// ProviderURL is the setting with the address of the provider.
const ProviderURL = "BESTSHOT_PROVIDER_URL"

// Poller is the service that asks the provider.
type Poller struct {
	provider provider.Provider
	queue    queue.Sender
	now      func() time.Time
}

// OpenPoller opens the service that asks the provider.
func OpenPoller(_ context.Context, env app.Env) (*Poller, error) {
	p, err := openProvider(env)
	return &Poller{p, queue.Open(env.AWS, env.Queues), env.Now}, err
}

func openProvider(env app.Env) (provider.Provider, error) {
	url := env.Setting(ProviderURL)
	if url == "" {
		return nil, errors.New(ProviderURL + " is not set")
	}

	return provider.NewSofascore(env.HTTP, url), nil
}

// The metrics.
var (
	PollsFailed = spec.Metric{Name: "PollsFailed", Unit: spec.Count}
	Refused     = spec.Metric{Name: "ResultsRefused", Unit: spec.Count}
)

// PollProviderFunction asks the provider for what is due.
func PollProviderFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/poll-provider",
		Does:   "Asks the provider for what is due, and hands it on.",
		IfDown: "Results do not arrive.",
		On:     PollQueue,
		Sends:  []spec.Queue{FeedQueue}, Emits: []spec.Metric{PollsFailed},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenPoller, (*Poller).PollProvider)
}

// PollProvider hands on what the provider answers. A provider that fails changes nothing: the
// failure is logged and counted, and the next plan asks again. So is what is wrong with a part
// of the answer, and the rest is handed on. A second run hands the answer on twice.
func (s *Poller) PollProvider(ctx context.Context, p Poll) error {
	f := Feed{Poll: p, FetchedAt: s.now().UTC()}

	var err error

	switch p.Kind {
	case Rounds:
		f.Rounds, err = s.provider.Rounds(ctx, p.Tournament, p.Season)
	case Matches:
		f.Fixtures, err = s.provider.Matches(ctx, p.Tournament, p.Season, p.Round)
	case Standings:
		f.Standings, err = s.provider.Standings(ctx, p.Tournament, p.Season)
	default:
		return fmt.Errorf("a poll of the kind %q", p.Kind)
	}

	if err != nil {
		slog.WarnContext(ctx, "the provider failed", "tournament", p.TournamentID, "kind", p.Kind, "round", p.Round.Slug, "err", err)
		telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(PollsFailed, 1)}, slog.String("tournament", p.TournamentID))

		if p.Execution == "" && f.empty() {
			return nil
		}

		f.Error = err.Error()
	}

	return s.queue.Send(ctx, FeedQueue, f, 0)
}

// Ingester is the service that stores what the provider has answered.
type Ingester struct {
	db    pg.DB
	cache redis.Cache
	queue queue.Sender
	now   func() time.Time
}

// Open opens the service that stores what the provider has answered.
func Open(ctx context.Context, env app.Env) (*Ingester, error) {
	db, err := pg.Open(ctx, env, tables.Worker)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Ingester{db, cache, queue.Open(env.AWS, env.Queues), env.Now}, err
}

// IngestFeedFunction stores what the provider has answered.
func IngestFeedFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/ingest-feed",
		Does:    "Stores what the provider has answered, and posts the matches that have ended.",
		IfDown:  "Results wait in a queue.",
		On:      FeedQueue,
		SQL:     []spec.SQLLogin{tables.Worker},
		Caches:  []spec.CacheLogin{tables.CacheUser},
		Sends:   []spec.Queue{PollQueue, settlement.Queue},
		Emits:   []spec.Metric{Refused},
		Memory:  256,
		Timeout: 30 * time.Second,
	}, Open, (*Ingester).IngestFeed)
}

// IngestFeed stores an answer, has the projections read again that it changes, and posts the
// matches that have ended. A second run finds nothing changed, invalidates and sends what the
// first may have left.
func (s *Ingester) IngestFeed(ctx context.Context, f Feed) error {
	if f.Kind == Badge || f.Kind == Logo {
		return s.image(ctx, f)
	}

	var stale stale

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		stale = nil

		ok, err := turn(ctx, tx, f.TournamentID)
		if err != nil || !ok {
			return err // it was deleted
		}

		if f.Error == "" || !f.empty() {
			switch f.Kind {
			case Rounds:
				err = rounds(ctx, tx, f, s.queue)
			case Matches:
				err = s.matches(ctx, tx, f, &stale)
			case Standings:
				err = standings(ctx, tx, f, &stale)
			}
		}

		if err != nil || f.Execution == "" {
			return err
		}

		_, err = pg.Do(ctx, tx, sql.EndExecution, f.Execution, f.Error)

		return err
	})
	if err != nil {
		return fmt.Errorf("ingest %s of the tournament %s: %w", f.Kind, f.TournamentID, err)
	}

	for _, p := range stale {
		err = errors.Join(err, s.cache.Invalidate(ctx, p.key, p.version))
	}

	return errors.Join(err, settlement.Relay(ctx, s.db, s.queue))
}

// stale lists projections that are older than a version.
type stale []struct {
	key     string
	version int64
}

func (s *stale) add(key string, version int64) {
	*s = append(*s, struct {
		key     string
		version int64
	}{key, version})
}

// turn has the feeds of a tournament come one after the other. ok is false if it is gone.
func turn(ctx context.Context, tx pgx.Tx, tournamentID string) (ok bool, err error) {
	_, ok, err = pg.Value[bool](ctx, tx, sql.LockTournament, tournamentID)
	return ok, err
}

// rounds updates the rounds that are stored, and asks for the matches of the others: a round
// is stored with its first match.
func rounds(ctx context.Context, tx pgx.Tx, f Feed, q queue.Sender) error {
	known, err := pg.Values[string](ctx, tx, sql.ListRoundSlugs, f.TournamentID)
	if err != nil {
		return err
	}

	var (
		polls []Poll
		all   pgx.Batch
	)

	for _, r := range f.Rounds {
		if slices.Contains(known, r.Slug) {
			all.Queue(sql.UpdateRound,
				f.TournamentID, r.Slug, r.Order, r.Label, r.Path)

			continue
		}

		p := f.Poll
		p.Kind, p.Round, p.Execution = Matches, r, ""
		polls = append(polls, p)
	}

	if err := tx.SendBatch(ctx, &all).Close(); err != nil {
		return err
	}

	if _, err := pg.Do(ctx, tx, sql.MarkRoundsChecked, f.TournamentID, f.FetchedAt); err != nil {
		return err
	}

	return queue.SendAll(ctx, q, PollQueue, polls)
}

// teams stores teams, and returns their ids by those of the provider. What shows a team that has
// another name is stale, in every tournament: if the run ends before it says so, until the
// projections expire.
func teams(ctx context.Context, tx pgx.Tx, all []provider.Team, stale *stale) (ids map[string]string, err error) {
	names := map[string]string{}
	for _, t := range all {
		names[t.ID] = t.Name
	}

	keys := slices.Sorted(maps.Keys(names)) // in one order, so that two tournaments do not wait for each other

	given := make([]string, len(keys))
	for i, k := range keys {
		given[i] = names[k]
	}

	rows, err := pg.All[struct {
		Key     string `db:"external_id"`
		ID      string `db:"id"`
		Renamed bool   `db:"renamed"`
	}](ctx, tx, sql.PutTeams,
		provider.Name, keys, given)
	ids = map[string]string{}

	var renamed []string

	for _, r := range rows {
		if ids[r.Key] = r.ID; r.Renamed {
			renamed = append(renamed, r.ID)
		}
	}

	if err != nil || len(renamed) == 0 {
		return ids, err
	}

	shown, err := pg.All[struct {
		Tournament string  `db:"tournament_id"`
		Round      *string `db:"slug"`
		Version    int64   `db:"version"`
	}](ctx, tx, sql.RaiseProjectionsOfTeams, renamed)
	for _, p := range shown {
		key := view.StandingsKey(p.Tournament)
		if p.Round != nil {
			key = view.MatchesKey(p.Tournament, *p.Round)
		}

		stale.add(key, p.Version)
	}

	return ids, err
}

// standings replaces the standings, if they have changed. A table that is not there any more
// stays as it was.
func standings(ctx context.Context, tx pgx.Tx, f Feed, stale *stale) error {
	at, _, err := pg.Value[*time.Time](ctx, tx, sql.GetStandingsCheckedAt, f.TournamentID)
	if err != nil || at != nil && !f.FetchedAt.After(*at) {
		return err // a newer answer was first
	}

	all := make([]provider.Team, len(f.Standings))
	for i, r := range f.Standings {
		all[i] = r.Team
	}

	ids, err := teams(ctx, tx, all, stale)
	if err != nil {
		return err
	}

	rows := map[string]standing{}

	for _, r := range f.Standings {
		group := ""
		if r.Group != nil {
			group = *r.Group
		}

		rows[ids[r.Team.ID]] = standing{ids[r.Team.ID], group, r.Position, r.Points, r.Games, r.Wins, r.Draws, r.Losses, r.For, r.Against}
	}

	before, err := pg.All[standing](ctx, tx,
		sql.ListStandings, f.TournamentID)
	if err != nil {
		return err
	}

	same := len(rows) == 0 || len(before) == len(rows) && !slices.ContainsFunc(before, func(r standing) bool { return rows[r.Team] != r })
	if !same {
		var all pgx.Batch
		all.Queue(sql.DeleteStandings, f.TournamentID)

		for _, r := range rows {
			all.Queue(sql.AddStanding,
				f.TournamentID, r.Team, r.Group, r.Order, r.Points, r.Games, r.Wins, r.Draws, r.Losses, r.For, r.Against)
		}

		if err := tx.SendBatch(ctx, &all).Close(); err != nil {
			return err
		}
	}

	version, _, err := pg.Value[int64](ctx, tx,
		sql.MarkStandingsChecked,
		f.TournamentID, f.FetchedAt, same)
	stale.add(view.StandingsKey(f.TournamentID), version)

	return err
}

// standing is a row of the standings.
type standing struct {
	Team    string `db:"team_id"`
	Group   string `db:"group_name"`
	Order   int    `db:"order"`
	Points  int    `db:"points"`
	Games   int    `db:"games"`
	Wins    int    `db:"wins"`
	Draws   int    `db:"draws"`
	Losses  int    `db:"losses"`
	For     int    `db:"gf"`
	Against int    `db:"ga"`
}

// matches stores the matches of a round, in as many statements for one as for ten that have not
// changed. The projection of the round is always invalidated unless it has the version of the
// database: the run before may have crashed before it did so.
func (s *Ingester) matches(ctx context.Context, tx pgx.Tx, f Feed, stale *stale) error {
	if len(f.Fixtures) == 0 {
		return nil
	}

	r := f.Round
	if _, err := pg.Do(ctx, tx, sql.AddRound,
		f.TournamentID, r.Slug, r.Order, r.Label, r.Type, r.Path); err != nil {
		return err
	}

	both := make([]provider.Team, 0, 2*len(f.Fixtures))
	for _, x := range f.Fixtures {
		both = append(both, x.Home.Team, x.Away.Team)
	}

	teams, err := teams(ctx, tx, both, stale)
	if err != nil {
		return err
	}

	rows, err := pg.All[stored](ctx, tx, sql.LockMatches,
		provider.Name, ids(f.Fixtures))
	if err != nil {
		return err
	}

	known := map[string]stored{}
	for _, m := range rows {
		known[m.ExternalID] = m
	}

	late := false // a newer answer about the round was first: what it does not know is gone
	if len(known) < len(f.Fixtures) {
		if late, _, err = pg.Value[bool](ctx, tx,
			sql.HasNewerAnswer, f.TournamentID,
			r.Slug, f.FetchedAt); err != nil {
			return err
		}
	}

	var same []string // ids of matches that are as they were

	left := map[string]bool{} // other rounds that have, or had, one of the matches

	for _, x := range f.Fixtures {
		m, ok := known[x.ID]
		if ok && m.shows(x, teams[x.Home.ID], teams[x.Away.ID], r.Slug) {
			same = append(same, m.ID)
		} else if !ok && late {
			slog.InfoContext(ctx, "an older answer has another match", "provider", x.ID, "round", r.Slug)
		} else if err := s.match(ctx, tx, f, x, teams, m, ok); err != nil {
			return fmt.Errorf("match %s: %w", x.ID, err)
		}

		if ok && m.Tournament == f.TournamentID && m.Round != r.Slug {
			left[m.Round] = true
		}
	}

	for _, slug := range slices.Sorted(maps.Keys(left)) {
		version, _, err := pg.Value[int64](ctx, tx,
			sql.RaiseRound, f.TournamentID, slug)
		if err != nil {
			return err
		}

		stale.add(view.MatchesKey(f.TournamentID, slug), version)
	}

	if _, err := pg.Do(ctx, tx, sql.MarkMatchesChecked,
		same, f.FetchedAt, f.TournamentID); err != nil {
		return err
	}

	next := sql.GetRoundVersion
	if len(same) < len(f.Fixtures) {
		next = sql.RaiseRound
	}

	version, _, err := pg.Value[int64](ctx, tx, next, f.TournamentID, r.Slug)
	stale.add(view.MatchesKey(f.TournamentID, r.Slug), version)

	return err
}

// stored is a match as the database has it.
type stored struct {
	ID         string     `db:"id"`
	ExternalID string     `db:"external_id"`
	Tournament string     `db:"tournament_id"`
	Round      string     `db:"round_slug"`
	HomeTeam   string     `db:"home_team"`
	AwayTeam   string     `db:"away_team"`
	Date       time.Time  `db:"date"`
	Status     string     `db:"status"`
	Said       string     `db:"provider_status"`
	Home       *int       `db:"home_score"`
	Away       *int       `db:"away_score"`
	HomeShots  *int       `db:"home_penalties"`
	AwayShots  *int       `db:"away_penalties"`
	Corrected  bool       `db:"corrected"`
	FinishedAt *time.Time `db:"finished_at"`
	CheckedAt  time.Time  `db:"last_checked_at"`
}

// shows reports whether nothing of a match changes by what the provider says of it in a round,
// and nothing of it is refused.
func (m stored) shows(x provider.Fixture, home, away, round string) bool {
	if m.HomeTeam != home || m.AwayTeam != away || m.Round != round {
		return false
	}

	ended := m.Status == "ended" && x.Status == provider.Ended && equal(m.HomeShots, x.Home.Penalties) && equal(m.AwayShots, x.Away.Penalties)
	ahead := m.Status == "open" && x.Status == provider.Open && m.Date.Equal(x.KickOff)

	return (ended || ahead) && m.Said == x.ProviderStatus && equal(m.Home, x.Home.Score) && equal(m.Away, x.Away.Score)
}

func equal(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// match stores a match of the provider: m, if ok, or else one that is new or has another id.
func (s *Ingester) match(ctx context.Context, tx pgx.Tx, f Feed, x provider.Fixture, teams map[string]string,
	m stored, ok bool) (err error) {
	home, away := teams[x.Home.ID], teams[x.Away.ID]
	if !ok {
		// A match that lacks its date and comes back under another id keeps its guesses.
		if m, ok, err = pg.One[stored](ctx, tx,
			sql.LockMatchWithoutDate, f.TournamentID, f.Round.Slug, home, away,
			ids(f.Fixtures)); err != nil {
			return err
		}

		if ok {
			slog.InfoContext(ctx, "a match has another id", "match", m.ID, "provider", x.ID)

			if _, err := pg.Do(ctx, tx, sql.PutExternalID, m.ID, x.ID); err != nil {
				return err
			}
		}
	}

	if !ok {
		status := x.Status
		if status == provider.Unknown {
			status = provider.NotDefined
		}

		m.ID, _, err = pg.Value[string](ctx, tx,
			sql.AddMatch,
			f.TournamentID, f.Round.Slug, provider.Name, x.ID, x.KickOff, string(openOr(status)), x.ProviderStatus, home, away, time.Unix(0, 0))
		if err != nil {
			return err
		}

		m.Tournament, m.Status, m.Round, m.HomeTeam, m.AwayTeam = f.TournamentID, string(openOr(status)), f.Round.Slug, home, away
	}

	if m.Tournament != f.TournamentID || !f.FetchedAt.After(m.CheckedAt) {
		return nil // of another tournament, or a newer answer was first
	}

	others := m.HomeTeam != home || m.AwayTeam != away
	switch over := m.Status == "ended" || m.Status == "void"; {
	case over && others:
		s.refused(ctx, m.ID, x, "the match has ended with other teams")
		return nil
	case !over && (others || m.Round != f.Round.Slug):
		if err := pair(ctx, tx, f, x, m, home, away); err != nil {
			return err
		}
	}

	return s.change(ctx, tx, f, x, m)
}

// pair gives a match that is to be played other teams or another round: a guess that waits for
// the winner of a semi-final stays, and one of a match whose sides are swapped is swapped with
// them. A match that has ended keeps its own.
func pair(ctx context.Context, tx pgx.Tx, f Feed, x provider.Fixture, m stored, home, away string) error {
	slog.InfoContext(ctx, "a match has other teams or another round", "match", m.ID, "provider", x.ID, "round", f.Round.Slug)

	if m.HomeTeam == away && m.AwayTeam == home {
		if _, err := pg.Do(ctx, tx, sql.SwapGuesses, m.ID); err != nil {
			return err
		}
	}

	_, err := pg.Do(ctx, tx, sql.ReassignMatch, m.ID, f.Round.Slug, home, away)

	return err
}

// openOr is the status under which a new match is inserted: what has ended ends by change.
func openOr(s provider.Status) provider.Status {
	if s == provider.Ended {
		return provider.Open
	}

	return s
}

func ids(all []provider.Fixture) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = x.ID
	}

	return out
}

// change brings a match to what the provider says.
func (s *Ingester) change(ctx context.Context, tx pgx.Tx, f Feed, x provider.Fixture, m stored) error {
	over := m.Status == "ended" || m.Status == "void"
	switch {
	case m.Corrected, x.Status == provider.Unknown:
		if x.Status == provider.Unknown {
			s.refused(ctx, m.ID, x, "a status that is not known")
		}

		_, err := pg.Do(ctx, tx, sql.MarkMatchChecked, m.ID, f.FetchedAt)

		return err
	case over && x.Status != provider.Ended:
		// A result is not taken back by itself: an administrator does so.
		s.refused(ctx, m.ID, x, "the match has ended before")
		_, err := pg.Do(ctx, tx, sql.MarkMatchChecked, m.ID, f.FetchedAt)

		return err
	case x.Status != provider.Ended:
		if x.ProviderStatus[:min(8, len(x.ProviderStatus))] == "finished" {
			s.refused(ctx, m.ID, x, "finished without a result")
		}

		_, err := pg.Do(ctx, tx, sql.UpdateMatch,
			m.ID, x.KickOff, string(x.Status), x.ProviderStatus, x.Home.Score, x.Away.Score, f.FetchedAt)

		return err
	}

	finished := x.FinishedAt
	if finished.IsZero() || finished.After(f.FetchedAt) {
		finished = f.FetchedAt
	}

	finished = finished.Truncate(time.Second)
	if m.FinishedAt != nil {
		finished = *m.FinishedAt // written once
	}

	same := over && *m.Home == *x.Home.Score && *m.Away == *x.Away.Score
	if _, err := pg.Do(ctx, tx, sql.EndMatch,
		m.ID, x.KickOff, x.ProviderStatus, x.Home.Score, x.Away.Score, x.Home.Penalties, x.Away.Penalties, finished,
		f.FetchedAt, same); err != nil {
		return err
	}

	if same {
		return nil
	}

	if over {
		slog.InfoContext(ctx, "a result is corrected", "match", m.ID, "home", *x.Home.Score, "away", *x.Away.Score)
	}

	return settlement.Post(ctx, tx, settlement.MatchFinished{
		MatchID:        m.ID,
		TournamentID:   m.Tournament,
		FinishedAt:     finished,
		Provider:       provider.Name,
		ProviderStatus: x.ProviderStatus,
		DetectedAt:     f.FetchedAt,
	})
}

// refused logs and counts what the provider says and is not believed.
func (s *Ingester) refused(ctx context.Context, matchID string, x provider.Fixture, why string) {
	slog.WarnContext(ctx, "the provider is not believed", "match", matchID, "provider", x.ID, "status", x.ProviderStatus, "err", why)
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(Refused, 1)}, slog.String("match", matchID))
}
