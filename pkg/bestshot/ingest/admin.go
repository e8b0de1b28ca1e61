package ingest

import (
	"context"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
)

// Admin is the service of administrators for tournaments.
type Admin struct {
	db      pg.DB
	cache   redis.Cache
	queue   queue.Sender
	now     func() time.Time
	setting func(name string) string
}

// OpenAdmin opens the service of administrators for tournaments.
func OpenAdmin(ctx context.Context, env app.Env) (*Admin, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Admin{db, cache, queue.Open(env.AWS, env.Queues), env.Now, env.Setting}, err
}

var (
	errExists  = problem.New(problem.Conflict, "tournament_exists", "there is a tournament with this slug, or of this season")
	errRunning = problem.New(problem.Conflict, "sync_running", "this is running already")
	errActive  = problem.New(problem.Conflict, "tournament_active", "members have guessed: cancel the tournament first")
	errSource  = problem.New(problem.Unprocessable, "provider_not_configured", "this stage has no settings for this provider")
	errManual  = problem.New(problem.NotFound, "entered_by_hand", "there is no provider to ask: administrators enter the matches")
	errNoMatch = problem.New(problem.NotFound, "match_not_found", "there is no such match")
)

// CreateTournament is the request for a new tournament.
type CreateTournament struct {
	auth.Admin
	Body struct {
		Provider   *provider.Name `json:"provider,omitempty" doc:"Who has its data; the first of the list if absent. Administrators enter the matches of a manual one. It never changes."`
		ExternalID string         `json:"externalId" pattern:"^[0-9]{1,18}$" doc:"The provider's id of the tournament; any number for a manual one." example:"16"`
		Season     string         `json:"season" pattern:"^[0-9]{1,18}$" doc:"The provider's id of the season; any number for a manual one, such as the year." example:"58210"`
		Slug       string         `json:"slug" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"Its name in addresses." example:"world-cup-2026"`
		Label      string         `json:"label" format:"display-name" maxLength:"80" doc:"Its name." example:"World Cup 2026"`
		Rule       *ChosenRule    `json:"rule,omitempty" doc:"What the parts of a guess earn; 3 for the outcome if absent."`
		Rounds     []NewRound     `json:"rounds,omitempty" maxItems:"100" doc:"The rounds of a manual tournament, in the order in which they are played. Others have those of their provider."`
	}
}

// Created is the answer with the id of a tournament.
type Created struct {
	Status int
	Body   struct {
		ID string `json:"id" format:"uuid" doc:"The id of the tournament."`
	}
}

// CreateTournamentFunction creates a tournament.
func CreateTournamentFunction() app.Function {
	return app.API(
		admin("create-tournament", "Creates a tournament of the provider.", "No tournament can be added.",
			"POST", "/tournaments", polls, 201),
		OpenAdmin, (*Admin).CreateTournament, errExists, errSource)
}

// CreateTournament creates a tournament, wakes the jobs that rest, and asks the provider for its rounds. If the
// first run did not ask, the next plan does. Nobody is asked about a manual one. A second run gets the same
// answer, until the label is changed; with other rounds it adds those that are new, and gives all their labels
// and order. Errors: tournament_exists, provider_not_configured.
func (s *Admin) CreateTournament(ctx context.Context, in *CreateTournament) (*Created, error) {
	b, rule := in.Body, score.Standard
	if b.Rule != nil {
		var err error
		if rule, err = b.Rule.rule(); err != nil {
			return nil, err
		}
	}

	from := provider.Default
	if b.Provider != nil {
		from = *b.Provider
	}

	if !provider.Configured(from, s.setting) {
		return nil, errSource
	}

	if err := checkRounds(from, b.Rounds); err != nil {
		return nil, err
	}

	out := &Created{Status: http.StatusCreated}

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		id, ok, err := pg.Value[string](ctx, tx, sql.CreateTournament, from, b.ExternalID, b.Season, b.Slug, b.Label)
		if err != nil {
			return err
		}

		if ok {
			out.Body.ID = id
			if err := addRule(ctx, tx, id, 1, rule); err != nil {
				return err
			}

			return putRounds(ctx, tx, id, b.Rounds)
		}

		out.Body.ID, ok, err = pg.Value[string](ctx, tx, sql.FindSameTournament, from, b.ExternalID, b.Season, b.Slug, b.Label,
			rule.Outcome, rule.HomeScore, rule.AwayScore, rule.GoalDifference, rule.ExactScore, rule.TieBreaks,
			rule.JokerFactor)
		if err == nil && !ok {
			err = errExists
		}

		if err != nil {
			return err
		}

		return putRounds(ctx, tx, out.Body.ID, b.Rounds)
	})
	if err != nil {
		return nil, err
	}

	view.Wake(ctx, s.cache, s.now())

	if from == provider.Manual {
		return out, nil
	}

	poll := Poll{Kind: Rounds, Provider: from, TournamentID: out.Body.ID, Tournament: b.ExternalID, Season: b.Season}

	return out, s.queue.Send(ctx, PollQueue, poll, 0)
}

// addRule adds a version of a tournament's rule.
func addRule(ctx context.Context, tx pgx.Tx, tournamentID string, version int, r score.Rule) error {
	_, err := pg.Do(ctx, tx, sql.AddRule,
		tournamentID, version, r.Outcome, r.HomeScore, r.AwayScore, r.GoalDifference, r.ExactScore, r.TieBreaks,
		r.JokerFactor)

	return err
}

// UpdateTournament is the request to change a tournament.
type UpdateTournament struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Body         struct {
		Label  *string     `json:"label,omitempty" format:"display-name" maxLength:"80" doc:"Its name."`
		Status *string     `json:"status,omitempty" enum:"upcoming,active,completed,cancelled" doc:"Where it is. Only upcoming and active ones are polled."`
		Rule   *ChosenRule `json:"rule,omitempty" doc:"What the parts of a guess earn. Matches that are settled are settled again."`
	}
}

// Done is the answer without a body.
type Done struct {
	Status int
}

func done() *Done { return &Done{http.StatusNoContent} }

// UpdateTournamentFunction changes a tournament.
func UpdateTournamentFunction() app.Function {
	return app.API(
		admin("update-tournament", "Changes a tournament, or what a guess earns in it.", "No tournament can be changed.", "PATCH",
			"/tournaments/{tournamentId}", settlements),
		OpenAdmin, (*Admin).UpdateTournament, view.ErrNoTournament)
}

// UpdateTournament changes a tournament. If its rule changes, the rule gets the next version, and the
// settled matches are posted. A second run changes nothing. Errors: tournament_not_found.
func (s *Admin) UpdateTournament(ctx context.Context, in *UpdateTournament) (*Done, error) {
	b := in.Body

	var rule score.Rule

	if b.Rule != nil {
		var err error
		if rule, err = b.Rule.rule(); err != nil {
			return nil, err
		}
	}

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		current, ok, err := pg.One[struct {
			Version int `db:"version"`
			score.Rule
		}](ctx, tx, sql.LockRule, in.TournamentID)
		if err == nil && !ok {
			err = view.ErrNoTournament
		}

		if err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.UpdateTournament, in.TournamentID, b.Label, b.Status); err != nil {
			return err
		}

		if b.Rule == nil || rule == current.Rule {
			return nil
		}

		if err := addRule(ctx, tx, in.TournamentID, current.Version+1, rule); err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.PutRuleVersion, in.TournamentID, current.Version+1); err != nil {
			return err
		}

		return settlement.Repost(ctx, tx, in.TournamentID, "")
	})
	if err != nil {
		return nil, err
	}

	if b.Status != nil {
		view.Wake(ctx, s.cache, s.now())
	}

	return done(), settlement.Relay(ctx, s.db, s.queue)
}

// UpdateRound is the request to change what a round multiplies points by.
type UpdateRound struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Round        string `path:"roundSlug" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the round." example:"final"`
	Body         struct {
		Multiplier int `json:"multiplier" minimum:"1" maximum:"5" doc:"What the points of its matches are multiplied by."`
	}
}

// UpdateRoundFunction changes what the points of a round are multiplied by.
func UpdateRoundFunction() app.Function {
	return app.API(
		admin("update-round", "Changes what the points of a round are multiplied by.", "No round can be changed.", "PATCH",
			"/tournaments/{tournamentId}/rounds/{roundSlug}", settlements),
		OpenAdmin, (*Admin).UpdateRound, view.ErrNoRound)
}

// UpdateRound changes the multiplier of a round, and posts its settled matches. A second run changes
// nothing. Errors: round_not_found.
func (s *Admin) UpdateRound(ctx context.Context, in *UpdateRound) (*Done, error) {
	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := lockTournament(ctx, tx, in.TournamentID); err != nil {
			return err
		}

		current, ok, err := pg.Value[int](ctx, tx, sql.LockMultiplier, in.TournamentID, in.Round)
		switch {
		case err != nil:
			return err
		case !ok:
			return view.ErrNoRound
		case current == in.Body.Multiplier:
			return nil
		}

		if _, err := pg.Do(ctx, tx, sql.PutMultiplier, in.TournamentID, in.Round, in.Body.Multiplier); err != nil {
			return err
		}

		return settlement.Repost(ctx, tx, in.TournamentID, in.Round)
	})
	if err != nil {
		return nil, err
	}

	return done(), settlement.Relay(ctx, s.db, s.queue)
}

// SyncTournament is the request to ask the provider for a part of a tournament.
type SyncTournament struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Part         Kind   `path:"part" enum:"rounds,matches,standings" doc:"What to ask for; the teams come with the matches."`
}

// Execution is the answer with the id of an execution.
type Execution struct {
	Status int
	Body   struct {
		ExecutionID string `json:"executionId" format:"uuid" doc:"The id of the execution."`
	}
}

// SyncTournamentFunction asks the provider for a part of a tournament.
func SyncTournamentFunction() app.Function {
	return app.API(
		admin("sync-tournament", "Asks the provider for the rounds, matches or standings of a tournament.",
			"A tournament waits for the next poll.", "POST", "/tournaments/{tournamentId}/{part}", polls, 202),
		OpenAdmin, (*Admin).SyncTournament, errRunning, errManual, view.ErrNoTournament)
}

// SyncTournament asks the provider for the rounds, the standings, or the matches of all rounds of a
// tournament. The execution is done when each answer is stored. It has failed if one is not, with the number
// of rounds that have failed and the reason of the first, and if an answer is missing after 10 minutes. It
// fails at once if the matches are asked for and no round is known. Errors: tournament_not_found,
// entered_by_hand, sync_running for 10 minutes at most.
func (s *Admin) SyncTournament(ctx context.Context, in *SyncTournament) (*Execution, error) {
	out := &Execution{Status: http.StatusAccepted}

	var polls []Poll

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		t, ok, err := pg.One[tournamentRow](ctx, tx, sql.GetTournament, in.TournamentID)
		if err == nil && !ok {
			err = view.ErrNoTournament
		}

		if err == nil && t.Provider == provider.Manual {
			err = errManual
		}

		if err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.FailLostExecution, in.TournamentID, in.Part); err != nil {
			return err
		}

		out.Body.ExecutionID, ok, err = pg.Value[string](ctx, tx, sql.BeginExecution, in.TournamentID, in.Part)
		if err == nil && !ok {
			err = errRunning
		}

		if err != nil {
			return err
		}

		if polls, err = pollsOf(ctx, tx, t, in.Part); err != nil {
			return err
		}

		if len(polls) == 0 {
			_, err = pg.Do(ctx, tx, sql.FailExecutionWithoutRounds, out.Body.ExecutionID)
			return err
		}

		slugs := []string{}

		for i := range polls {
			polls[i].Execution = out.Body.ExecutionID

			if in.Part == Matches {
				slugs = append(slugs, polls[i].Round.Slug)
			}
		}

		_, err = pg.Do(ctx, tx, sql.AwaitRounds, out.Body.ExecutionID, slugs)

		return err
	})
	if err != nil {
		return nil, err
	}

	return out, queue.SendAll(ctx, s.queue, PollQueue, polls)
}

// pollsOf returns the polls that ask for a part of a tournament: for Matches one for each round.
func pollsOf(ctx context.Context, tx pgx.Tx, t tournamentRow, part Kind) (polls []Poll, err error) {
	if part != Matches {
		return []Poll{t.poll(part)}, nil
	}

	rounds, err := pg.All[roundRow](ctx, tx, sql.ListRounds, t.TournamentID)
	for _, r := range rounds {
		polls = append(polls, r.poll())
	}

	return polls, err
}

// SyncMatch is the request to ask the provider for a match.
type SyncMatch struct {
	auth.Admin
	MatchID string `path:"matchId" format:"uuid" doc:"The id of the match."`
}

// SyncMatchFunction asks the provider for a match.
func SyncMatchFunction() app.Function {
	return app.API(
		admin("sync-match", "Asks the provider for a match.", "A match waits for the next poll.", "PATCH",
			"/matches/{matchId}/sync", polls, 202),
		OpenAdmin, (*Admin).SyncMatch, errNoMatch, errManual)
}

// SyncMatch asks the provider for all matches of the match's round. Errors: match_not_found,
// entered_by_hand.
func (s *Admin) SyncMatch(ctx context.Context, in *SyncMatch) (*Done, error) {
	r, ok, err := pg.One[roundRow](ctx, s.db, sql.GetRoundOfMatch, in.MatchID)
	if err == nil && !ok {
		err = errNoMatch
	}

	if err == nil && r.Provider == provider.Manual {
		err = errManual
	}

	if err != nil {
		return nil, err
	}

	out := done()
	out.Status = http.StatusAccepted

	return out, s.queue.Send(ctx, PollQueue, r.poll(), 0)
}

// ListExecutions is the request for the executions of a tournament.
type ListExecutions struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
}

// Executions is the answer with executions.
type Executions struct {
	Body struct {
		Data []ExecutionRow `json:"data" doc:"The newest first, at most 100."`
	}
}

// ExecutionRow is a request of an administrator to the provider.
type ExecutionRow struct {
	_ struct{} `schema:"Execution"`

	ID        string `json:"id" db:"id" format:"uuid" doc:"The id of the execution."`
	Operation string `json:"operation" db:"operation" doc:"What was asked for."`
	Status    string `json:"status" db:"status" enum:"running,done,failed" doc:"What became of it."`
	Detail    string `json:"detail" db:"detail" doc:"Why it failed, or the first failure while it is running; else empty."`
}

// ListExecutionsFunction returns what administrators have asked the provider for.
func ListExecutionsFunction() app.Function {
	return app.API(
		admin("list-executions", "Returns what administrators have asked the provider for.",
			"Administrators do not see whether a request has failed.", "GET", "/tournaments/{tournamentId}/executions", nil),
		OpenAdmin, (*Admin).ListExecutions, view.ErrNoTournament)
}

// ListExecutions returns the latest 100 executions of a tournament. Errors: tournament_not_found.
func (s *Admin) ListExecutions(ctx context.Context, in *ListExecutions) (*Executions, error) {
	all, err := pg.All[ExecutionRow](ctx, s.db, sql.ListExecutions, in.TournamentID)
	if err != nil {
		return nil, err
	}

	if len(all) == 0 {
		if err := s.find(ctx, in.TournamentID); err != nil {
			return nil, err
		}
	}

	out := &Executions{}
	out.Body.Data = append([]ExecutionRow{}, all...)

	return out, nil
}
