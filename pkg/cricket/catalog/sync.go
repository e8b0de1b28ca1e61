package catalog

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// providerTimeout is the timeout of a request to the provider. A tick that waits so
// long is almost two slots late, and a later tick has polled meanwhile.
const providerTimeout = 4 * time.Second

// OpenSyncer opens the service of sync-leagues and sync-teams.
func OpenSyncer(ctx context.Context, env app.Env) (*Syncer, error) {
	provider, err := OpenProvider(ctx, env)
	return &Syncer{db: dynamo.Open(env.AWS, env.Prefix), provider: provider, now: env.Now}, err
}

// OpenProvider opens the client of the provider, with the settings and the secret of
// the room. The client sends the requests of each budget while the function's share of it
// lasts; afterwards they fail with the kind sportmonks.Limited. A function with shares uses
// CountRequest. OpenProvider returns the error of reading the secret.
func OpenProvider(ctx context.Context, env app.Env, shares ...spec.Share) (*sportmonks.Client, error) {
	token, err := env.Secret(ctx, tables.SportMonksToken)
	if err != nil {
		return nil, err
	}

	base := env.Setting(tables.SportMonksURL)
	if base == "" {
		base = sportmonks.BaseURL
	}

	transport := env.HTTP
	if transport == nil {
		transport = http.DefaultTransport
	}

	for _, s := range shares {
		transport = withBudget(env, transport, s)
	}

	return sportmonks.Open(base, token, &http.Client{Timeout: env.Limit(providerTimeout), Transport: transport}), nil
}

// ProvidedLeague has the attributes of a league that the provider supplies, and
// Active, which administrators set: see the package.
type ProvidedLeague struct {
	LeagueID string `dynamodbav:"leagueId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
	SeasonID string `dynamodbav:"seasonId"`
	Image    string `dynamodbav:"image,omitempty"`
	Active   bool   `dynamodbav:"active"`
}

// ProvidedTeam has the attributes of a team that the provider supplies.
type ProvidedTeam struct {
	TeamID   string `dynamodbav:"teamId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
	Image    string `dynamodbav:"image,omitempty"`
	National bool   `dynamodbav:"national"`
}

// SeasonTeam is a row of cricket-team-seasons: a team that plays in a season.
type SeasonTeam struct {
	SeasonID string `dynamodbav:"seasonId"`
	TeamID   string `dynamodbav:"teamId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
}

// Syncer copies leagues and teams from the provider. Every sync is idempotent: it
// writes rows that are missing or have changed, and never an attribute that belongs
// to the administrators or the ticker.
type Syncer struct {
	db       dynamo.DB
	provider *sportmonks.Client
	now      func() time.Time
}

// SyncLeaguesFunction copies the provider's leagues.
func SyncLeaguesFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "cricket/sync-leagues",
		Does:   "Copies the leagues from the provider.",
		IfDown: "New leagues are missing.",
		On:     spec.Schedule("cron(10 3 * * ? *)"),
		Uses:   []spec.Access{tables.AllLeagues, tables.PutLeague, tables.UpdateLeague}, Secrets: []string{tables.SportMonksToken},
		Memory: 128, Timeout: tables.JobTimeout,
	}, OpenSyncer, (*Syncer).SyncLeagues)
}

// SyncLeagues copies the leagues. A new league is active. The code is an index key of
// fixtures and must not be empty, so a league without a code gets its id as code.
func (s *Syncer) SyncLeagues(ctx context.Context) error {
	found, err := s.provider.Leagues(ctx)
	if err != nil {
		return err
	}

	known, err := dynamo.ScanAll[ProvidedLeague](ctx, s.db, tables.AllLeagues, nil)
	if err != nil {
		return err
	}

	for _, l := range found {
		row := ProvidedLeague{
			LeagueID: strconv.Itoa(l.ID),
			Code:     cmp.Or(l.Code, strconv.Itoa(l.ID)),
			Name:     l.Name,
			SeasonID: strconv.Itoa(l.SeasonID),
			Image:    l.Image,
			Active:   true,
		}

		i := slices.IndexFunc(known, func(k ProvidedLeague) bool { return k.LeagueID == row.LeagueID })
		if i >= 0 {
			row.Active = known[i].Active
			if row == known[i] {
				continue
			}

			changes := dynamo.Set(row, "code", "name", "seasonId", "image")
			err = dynamo.Update(ctx, s.db, tables.UpdateLeague, dynamo.Key(tables.UpdateLeague, row.LeagueID), changes,
				dynamo.Exists[ProvidedLeague]("leagueId"))
		} else {
			err = dynamo.Put(ctx, s.db, tables.PutLeague, row, dynamo.Absent[ProvidedLeague]("leagueId"))
		}

		if err := dynamo.IgnoreRefused(err); err != nil { // refused: meanwhile an administrator deleted the league, or another sync wrote it
			return err
		}
	}

	slog.InfoContext(ctx, "leagues synced", "leagues", len(found))

	return nil
}

// SyncTeamsFunction copies the provider's teams and seasons.
func SyncTeamsFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "cricket/sync-teams",
		Does:   "Copies the teams, and the teams of each current season, from the provider.",
		IfDown: "New teams are missing from the team list.",
		On:     spec.Schedule("cron(20 3 * * ? *)"),
		Uses: []spec.Access{tables.AllTeams, tables.BatchPutTeams, tables.UpdateTeam, tables.ActiveLeagues, tables.FixturesByDate,
			tables.TeamsOfSeason, tables.PutSeasonTeams},
		Secrets: []string{tables.SportMonksToken},
		Memory:  128,
		Timeout: tables.JobTimeout,
	}, OpenSyncer, (*Syncer).SyncTeams)
}

// SyncTeams copies the teams, and the list of teams in the current season of each
// active league.
func (s *Syncer) SyncTeams(ctx context.Context) error {
	found, err := s.provider.Teams(ctx)
	if err != nil {
		return err
	}

	known, err := dynamo.ScanAll[ProvidedTeam](ctx, s.db, tables.AllTeams, nil)
	if err != nil {
		return err
	}

	var rows, fresh []ProvidedTeam

	for _, t := range found {
		row := ProvidedTeam{TeamID: strconv.Itoa(t.ID), Code: t.Code, Name: t.Name, Image: t.Image, National: t.National}
		rows = append(rows, row)

		i := slices.IndexFunc(known, func(k ProvidedTeam) bool { return k.TeamID == row.TeamID })
		switch {
		case i < 0:
			fresh = append(fresh, row)
		case row != known[i]:
			changes := dynamo.Set(row, "code", "name", "image", "national")
			if err := dynamo.Update(ctx, s.db, tables.UpdateTeam, dynamo.Key(tables.UpdateTeam, row.TeamID), changes); err != nil {
				return err
			}
		}
	}

	if err := dynamo.PutAll(ctx, s.db, tables.BatchPutTeams, fresh); err != nil {
		return err
	}

	slog.InfoContext(ctx, "teams synced", "teams", len(found), "new", len(fresh))

	return s.syncSeasons(ctx, rows)
}

// seasonSpan is the largest distance between now and a match of a current season.
const seasonSpan = 366 * 24 * time.Hour

// opponents has the attributes of a row of cricket-fixtures that name the two teams.
type opponents struct {
	LeagueID      string `dynamodbav:"leagueId"`
	SeasonID      string `dynamodbav:"seasonId"`
	LocalTeamID   string `dynamodbav:"localTeamId"`
	VisitorTeamID string `dynamodbav:"visitorTeamId"`
}

// syncSeasons writes the teams of the current season of each active league. It takes
// them from the stored schedule, because the provider has no list of them.
func (s *Syncer) syncSeasons(ctx context.Context, teams []ProvidedTeam) error {
	active, err := ActiveLeagues(ctx, s.db)
	if err != nil {
		return err
	}

	now := s.now()
	for _, l := range active {
		matches, err := dynamo.QueryAll[opponents](ctx, s.db, tables.FixturesByDate,
			dynamo.Range{Key: StartsBetween(l.Code, now.Add(-seasonSpan), now.Add(seasonSpan))})
		if err != nil {
			return err
		}

		playing := map[string]bool{}

		for _, f := range matches {
			if f.LeagueID == l.LeagueID && f.SeasonID == l.SeasonID {
				playing[f.LocalTeamID], playing[f.VisitorTeamID] = true, true
			}
		}

		known, err := dynamo.QueryAll[SeasonTeam](ctx, s.db, tables.TeamsOfSeason, dynamo.Range{Key: OfSeason(l.SeasonID)})
		if err != nil {
			return err
		}

		var rows []SeasonTeam

		for _, t := range teams {
			row := SeasonTeam{SeasonID: l.SeasonID, TeamID: t.TeamID, Code: t.Code, Name: t.Name}
			if playing[t.TeamID] && !slices.Contains(known, row) {
				rows = append(rows, row)
			}
		}

		if err := dynamo.PutAll(ctx, s.db, tables.PutSeasonTeams, rows); err != nil {
			return err
		}
	}

	return nil
}

// ActiveLeagues lists the active leagues.
func ActiveLeagues(ctx context.Context, db dynamo.DB) ([]ProvidedLeague, error) {
	return dynamo.ScanAll[ProvidedLeague](ctx, db, tables.ActiveLeagues, new(dynamo.Equal[ProvidedLeague]("active", true)))
}

// ActiveLeagueRows lists the active leagues with what administrators have set.
func ActiveLeagueRows(ctx context.Context, db dynamo.DB) ([]LeagueRow, error) {
	return dynamo.ScanAll[LeagueRow](ctx, db, tables.ActiveLeagues, new(dynamo.Equal[LeagueRow]("active", true)))
}

// OfSeason is the key condition of the teams of a season.
func OfSeason(seasonID string) expression.KeyConditionBuilder {
	return dynamo.KeyIs(tables.TeamsOfSeason, seasonID)
}

// StartsBetween is the key condition of the matches of a league that start from from
// to to, both included, at a precision of a second.
func StartsBetween(leagueCode string, from, to time.Time) expression.KeyConditionBuilder {
	return dynamo.KeyBetween(tables.FixturesByDate, leagueCode, from.UTC().Format(tables.TimeLayout), to.UTC().Format(tables.TimeLayout))
}
