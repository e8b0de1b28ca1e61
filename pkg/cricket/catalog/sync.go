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
)

// providerTimeout is the longest that the provider may take to answer: a tick
// that has waited so long is two slots late, and the next ones have run.
const providerTimeout = 4 * time.Second

// OpenSyncer opens the service of sync-leagues and sync-teams.
func OpenSyncer(ctx context.Context, env app.Env) (*Syncer, error) {
	provider, err := OpenProvider(ctx, env)
	return &Syncer{db: dynamo.Open(env.AWS, env.Prefix), provider: provider, now: env.Now}, err
}

// OpenProvider opens the provider's client. It returns an error if the token cannot
// be read.
func OpenProvider(ctx context.Context, env app.Env) (*sportmonks.Client, error) {
	token, err := env.Secret(ctx, tables.SportMonksToken)
	if err != nil {
		return nil, err
	}
	base := env.Setting(tables.SportMonksURL)
	if base == "" {
		base = sportmonks.BaseURL
	}
	return sportmonks.Open(base, token, &http.Client{Timeout: providerTimeout, Transport: env.HTTP}), nil
}

// ProvidedLeague is a competition. Active is the administrator's: whether its matches
// are followed at all.
type ProvidedLeague struct {
	LeagueID string `dynamodbav:"leagueId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
	SeasonID string `dynamodbav:"seasonId"`
	Image    string `dynamodbav:"image,omitempty"`
	Active   bool   `dynamodbav:"active"`
}

// ProvidedTeam is a side.
type ProvidedTeam struct {
	TeamID   string `dynamodbav:"teamId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
	Image    string `dynamodbav:"image,omitempty"`
	National bool   `dynamodbav:"national"`
}

// SeasonTeam says that a team plays in a season.
type SeasonTeam struct {
	SeasonID string `dynamodbav:"seasonId"`
	TeamID   string `dynamodbav:"teamId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
}

// Syncer copies the provider's leagues and teams. Every sync may run at any time
// and any number of times: it writes what is missing or has changed, and never
// an attribute that is an administrator's or the ticker's.
type Syncer struct {
	db       dynamo.DB
	provider *sportmonks.Client
	now      func() time.Time
}

// SyncLeagues copies the leagues. A new one is active. The code is a key of
// fixtures, so a league without one has its id.
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
		row := ProvidedLeague{LeagueID: strconv.Itoa(l.ID), Code: cmp.Or(l.Code, strconv.Itoa(l.ID)), Name: l.Name, SeasonID: strconv.Itoa(l.SeasonID), Image: l.Image, Active: true}
		i := slices.IndexFunc(known, func(k ProvidedLeague) bool { return k.LeagueID == row.LeagueID })
		if i >= 0 {
			row.Active = known[i].Active
			if row == known[i] {
				continue
			}
			set := expression.Set(expression.Name("code"), expression.Value(row.Code)).
				Set(expression.Name("name"), expression.Value(row.Name)).
				Set(expression.Name("seasonId"), expression.Value(row.SeasonID)).
				Set(expression.Name("image"), expression.Value(row.Image))
			err = dynamo.Update(ctx, s.db, tables.UpdateLeague, dynamo.Key(tables.UpdateLeague, row.LeagueID), set, dynamo.Exists[ProvidedLeague]("leagueId"))
		} else {
			err = dynamo.Put(ctx, s.db, tables.PutLeague, row, expression.AttributeNotExists(expression.Name("leagueId")))
		}
		if err := dynamo.IgnoreRefused(err); err != nil { // refused: an administrator deleted it, or another sync wrote it, meanwhile
			return err
		}
	}
	slog.InfoContext(ctx, "leagues synced", "leagues", len(found))
	return nil
}

// SyncTeams copies the teams, and who plays in the current season of each
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
			set := expression.Set(expression.Name("code"), expression.Value(row.Code)).
				Set(expression.Name("name"), expression.Value(row.Name)).
				Set(expression.Name("image"), expression.Value(row.Image)).
				Set(expression.Name("national"), expression.Value(row.National))
			if err := dynamo.Update(ctx, s.db, tables.UpdateTeam, dynamo.Key(tables.UpdateTeam, row.TeamID), set, dynamo.Exists[ProvidedTeam]("teamId")); err != nil {
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

// seasonSpan is how far from now the matches of a current season can be.
const seasonSpan = 366 * 24 * time.Hour

// pairing is what a row of cricket-fixtures says of who plays.
type pairing struct {
	LeagueID      string `dynamodbav:"leagueId"`
	SeasonID      string `dynamodbav:"seasonId"`
	LocalTeamID   string `dynamodbav:"localTeamId"`
	VisitorTeamID string `dynamodbav:"visitorTeamId"`
}

// syncSeasons takes who plays in a season from its schedule, for the provider
// has no list of that.
func (s *Syncer) syncSeasons(ctx context.Context, names []ProvidedTeam) error {
	active, err := ActiveLeagues(ctx, s.db)
	if err != nil {
		return err
	}
	now := s.now()
	for _, l := range active {
		matches, err := dynamo.QueryAll[pairing](ctx, s.db, tables.FixturesByDate, dynamo.Range{Key: StartsBetween(l.Code, now.Add(-seasonSpan), now.Add(seasonSpan))})
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
		for _, t := range names {
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

// ActiveLeagues reads the leagues whose matches are followed.
func ActiveLeagues(ctx context.Context, db dynamo.DB) ([]ProvidedLeague, error) {
	active := expression.Equal(expression.Name("active"), expression.Value(true))
	return dynamo.ScanAll[ProvidedLeague](ctx, db, tables.ActiveLeagues, &active)
}

// OfSeason is the key condition of the teams of a season.
func OfSeason(seasonID string) expression.KeyConditionBuilder {
	return expression.Key("seasonId").Equal(expression.Value(seasonID))
}

// StartsBetween is the key condition of a league's matches in a span of time.
func StartsBetween(leagueCode string, from, to time.Time) expression.KeyConditionBuilder {
	return expression.Key("leagueCode").Equal(expression.Value(leagueCode)).
		And(expression.Key("startTime").Between(expression.Value(from.UTC().Format(tables.TimeLayout)), expression.Value(to.UTC().Format(tables.TimeLayout))))
}
