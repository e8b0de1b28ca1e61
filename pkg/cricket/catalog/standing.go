package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"time"

	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// StandingsRow is a row of cricket-standings: the table of a season, as the provider has it.
type StandingsRow struct {
	SeasonID string        `dynamodbav:"seasonId"`
	Teams    []StandingRow `dynamodbav:"teams"`
	ReadAt   int64         `dynamodbav:"readAt"` // epoch s
}

// StandingRow is a team in the table of a season, with the names of the last sync.
type StandingRow struct {
	Position   int      `dynamodbav:"position" json:"position" doc:"The place in the table, from 1."`
	TeamID     string   `dynamodbav:"teamId" json:"teamId" doc:"The id of the team."`
	Title      string   `dynamodbav:"title" json:"title" doc:"The display name of the team."`
	ShortName  string   `dynamodbav:"shortName" json:"shortName" doc:"The short display name of the team."`
	Image      string   `dynamodbav:"image,omitempty" json:"image,omitempty" doc:"The address of the provider's image."`
	Played     int      `dynamodbav:"played" json:"played" doc:"Matches."`
	Won        int      `dynamodbav:"won" json:"won" doc:"Matches that the team has won."`
	Lost       int      `dynamodbav:"lost" json:"lost" doc:"Matches that the team has lost."`
	Drawn      int      `dynamodbav:"drawn" json:"drawn" doc:"Draws and ties."`
	NoResult   int      `dynamodbav:"noResult" json:"noResult" doc:"Matches without a result."`
	Points     int      `dynamodbav:"points" json:"points" doc:"The provider's points, which include deductions."`
	NetRunRate string   `dynamodbav:"netRunRate" json:"netRunRate" example:"+0.625" doc:"Runs scored an over less runs conceded an over, with a sign and three decimals."`
	For        string   `dynamodbav:"for" json:"for" example:"2282/263.5" doc:"Runs scored and overs faced, of which the digit after the point is balls."`
	Against    string   `dynamodbav:"against" json:"against" example:"2188/272.4" doc:"Runs conceded and overs bowled."`
	Form       []string `dynamodbav:"form" json:"form" nullable:"false" doc:"The results of the last matches, as the provider orders them: W, L, D for a draw, T for a tie, or N for none."`
}

// GetStandings is the request for the table of a league's current season.
type GetStandings struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the league."`
}

// StandingsPage is the response with the table of a season.
type StandingsPage struct {
	httpapi.Cached
	Body struct {
		LeagueID string        `json:"leagueId" doc:"The id of the league."`
		SeasonID string        `json:"seasonId" doc:"The id of the current season."`
		ReadAt   *time.Time    `json:"readAt,omitempty" doc:"When this table was read from the provider. Absent: the season has no table."`
		Teams    []StandingRow `json:"teams" nullable:"false" doc:"The teams in order of their position."`
	}
}

// GetStandingsFunction answers with the table of a league's current season.
func GetStandingsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-standings",
		Does:   "Returns the table of a league's current season.",
		IfDown: "The tables of leagues do not load.",
		On:     spec.Route{Method: "GET", Path: "/leagues/{id}/standings", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetLeague, tables.GetStandings},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenReference, (*Reference).GetStandings, errNoLeague)
}

// GetStandings returns the table of a league's current season, which sync-standings has copied within the
// hour. It has no teams if the provider has no table. It returns NotFound if the league does not exist. It
// costs two read units at most, for up to 24 teams.
func (r *Reference) GetStandings(ctx context.Context, in *GetStandings) (*StandingsPage, error) {
	l, err := league(ctx, r.db.Eventual(), in.ID)
	if err != nil {
		return nil, err
	}

	row, ok, err := dynamo.Get[StandingsRow](ctx, r.db.Eventual(), tables.GetStandings, l.SeasonID)
	if err != nil {
		return nil, err
	}

	out := &StandingsPage{Cached: cacheReference}
	out.Body.LeagueID, out.Body.SeasonID, out.Body.Teams = l.ID, l.SeasonID, []StandingRow{}

	if ok {
		out.Body.ReadAt, out.Body.Teams = new(time.Unix(row.ReadAt, 0).UTC()), row.Teams
	}

	return out, nil
}

// SyncStandingsFunction copies the provider's standings.
func SyncStandingsFunction() app.Function {
	return app.Job(spec.Function{
		Name:    "cricket/sync-standings",
		Does:    "Copies the table of the current season of each active league from the provider.",
		IfDown:  "The tables of leagues are old.",
		On:      spec.Schedule("rate(1 hour)"),
		Uses:    []spec.Access{tables.ActiveLeagues, tables.AllTeams, tables.PutStandings},
		Secrets: []string{tables.SportMonksToken},
		Memory:  128,
		Timeout: tables.JobTimeout,
	}, OpenSyncer, (*Syncer).SyncStandings)
}

// SyncStandings copies the table of the current season of each active league: one request each. A table that
// cannot be read does not keep the others from being copied: SyncStandings joins their errors. A season without
// a table gets no row. A second run writes what has changed since, and no older table replaces a newer one.
func (s *Syncer) SyncStandings(ctx context.Context) error {
	active, err := ActiveLeagues(ctx, s.db)
	if err != nil {
		return err
	}

	teams, err := TeamRows(ctx, s.db)
	if err != nil {
		return err
	}

	var failed error

	for _, l := range active {
		if err := s.syncStandings(ctx, l, teams); err != nil {
			failed = errors.Join(failed, fmt.Errorf("standings of league %s: %w", l.LeagueID, err))
		}
	}

	return failed
}

func (s *Syncer) syncStandings(ctx context.Context, l ProvidedLeague, teams []TeamRow) error {
	at := s.now().Unix()

	found, err := s.provider.Standings(ctx, l.SeasonID)
	if e, ok := errors.AsType[*sportmonks.Error](err); ok && e.Kind == sportmonks.NotFound { // a season without a table
		return nil
	}

	if err != nil || len(found) == 0 {
		return err
	}

	stored, _, err := dynamo.Get[StandingsRow](ctx, s.db, tables.PutStandings, l.SeasonID)
	if err != nil {
		return err
	}

	row := StandingsRow{SeasonID: l.SeasonID, Teams: standings(found, teams), ReadAt: at}
	if reflect.DeepEqual(row.Teams, stored.Teams) {
		return nil
	}

	older := dynamo.Absent[StandingsRow]("readAt").Or(dynamo.Less[StandingsRow]("readAt", at))
	if err := dynamo.IgnoreRefused(dynamo.Put(ctx, s.db, tables.PutStandings, row, older)); err != nil {
		return err
	}

	slog.InfoContext(ctx, "copied the table of a season", "league", l.LeagueID, "season", l.SeasonID, "teams", len(row.Teams))

	return nil
}

// maxStandings is more than the teams of any league.
const maxStandings = 60

// standings returns the rows of a table in order of their position, each team once.
func standings(found []sportmonks.Standing, teams []TeamRow) []StandingRow {
	slices.SortStableFunc(found, func(a, b sportmonks.Standing) int { return cmp.Compare(a.Position, b.Position) })

	var all []StandingRow

	for _, f := range found {
		id := strconv.Itoa(f.TeamID)
		if len(all) == maxStandings || slices.ContainsFunc(all, func(r StandingRow) bool { return r.TeamID == id }) {
			continue
		}

		row := StandingRow{
			Position:   f.Position,
			TeamID:     id,
			Played:     f.Played,
			Won:        f.Won,
			Lost:       f.Lost,
			Drawn:      f.Draw,
			NoResult:   f.NoRes,
			Points:     f.Points,
			NetRunRate: fmt.Sprintf("%+.3f", f.NetRunRate),
			For:        ratio(f.RunsFor, f.OversFor),
			Against:    ratio(f.RunsAgainst, f.OversAgainst),
			Form:       append([]string{}, f.Form...),
		}

		if i := slices.IndexFunc(teams, func(t TeamRow) bool { return t.TeamID == id }); i >= 0 {
			t := teams[i]
			row.Title, row.ShortName, row.Image = cmp.Or(t.Title, t.Name), cmp.Or(t.ShortName, t.Code), t.Image
		}

		all = append(all, row)
	}

	return all
}

// ratio returns "2282/263.5": runs, and overs and balls.
func ratio(runs int, in sportmonks.Overs) string {
	return fmt.Sprintf("%d/%d.%d", runs, in.Overs, in.Balls)
}
