package cricket

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/dynamo"
)

// league is a competition. Active is the administrator's: whether its matches
// are followed at all.
type league struct {
	LeagueID string `dynamodbav:"leagueId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
	SeasonID string `dynamodbav:"seasonId"`
	Image    string `dynamodbav:"image,omitempty"`
	Active   bool   `dynamodbav:"active"`
}

// team is a side.
type team struct {
	TeamID   string `dynamodbav:"teamId"`
	Code     string `dynamodbav:"code"`
	Name     string `dynamodbav:"name"`
	Image    string `dynamodbav:"image,omitempty"`
	National bool   `dynamodbav:"national"`
}

// seasonTeam says that a team plays in a season.
type seasonTeam struct {
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
	known, err := dynamo.ScanAll[league](ctx, s.db, allLeagues, nil)
	if err != nil {
		return err
	}
	for _, l := range found {
		row := league{LeagueID: strconv.Itoa(l.ID), Code: cmp.Or(l.Code, strconv.Itoa(l.ID)), Name: l.Name, SeasonID: strconv.Itoa(l.SeasonID), Image: l.Image, Active: true}
		i := slices.IndexFunc(known, func(k league) bool { return k.LeagueID == row.LeagueID })
		if i >= 0 {
			row.Active = known[i].Active
			if row == known[i] {
				continue
			}
			set := expression.Set(expression.Name("code"), expression.Value(row.Code)).
				Set(expression.Name("name"), expression.Value(row.Name)).
				Set(expression.Name("seasonId"), expression.Value(row.SeasonID)).
				Set(expression.Name("image"), expression.Value(row.Image))
			err = dynamo.Update(ctx, s.db, updateLeague, dynamo.Key(updateLeague, row.LeagueID), set, dynamo.Exists[league]("leagueId"))
		} else {
			err = dynamo.Put(ctx, s.db, putLeague, row, expression.AttributeNotExists(expression.Name("leagueId")))
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
	known, err := dynamo.ScanAll[team](ctx, s.db, allTeams, nil)
	if err != nil {
		return err
	}
	var rows, fresh []team
	for _, t := range found {
		row := team{TeamID: strconv.Itoa(t.ID), Code: t.Code, Name: t.Name, Image: t.Image, National: t.National}
		rows = append(rows, row)
		i := slices.IndexFunc(known, func(k team) bool { return k.TeamID == row.TeamID })
		switch {
		case i < 0:
			fresh = append(fresh, row)
		case row != known[i]:
			set := expression.Set(expression.Name("code"), expression.Value(row.Code)).
				Set(expression.Name("name"), expression.Value(row.Name)).
				Set(expression.Name("image"), expression.Value(row.Image)).
				Set(expression.Name("national"), expression.Value(row.National))
			if err := dynamo.Update(ctx, s.db, updateTeam, dynamo.Key(updateTeam, row.TeamID), set, dynamo.Exists[team]("teamId")); err != nil {
				return err
			}
		}
	}
	if err := dynamo.PutAll(ctx, s.db, batchPutTeams, fresh); err != nil {
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
func (s *Syncer) syncSeasons(ctx context.Context, names []team) error {
	active, err := readActiveLeagues(ctx, s.db)
	if err != nil {
		return err
	}
	now := s.now()
	for _, l := range active {
		matches, err := dynamo.QueryAll[pairing](ctx, s.db, fixturesByDate, dynamo.Range{Key: startsBetween(l.Code, now.Add(-seasonSpan), now.Add(seasonSpan))})
		if err != nil {
			return err
		}
		playing := map[string]bool{}
		for _, f := range matches {
			if f.LeagueID == l.LeagueID && f.SeasonID == l.SeasonID {
				playing[f.LocalTeamID], playing[f.VisitorTeamID] = true, true
			}
		}
		known, err := dynamo.QueryAll[seasonTeam](ctx, s.db, teamsOfSeason, dynamo.Range{Key: ofSeason(l.SeasonID)})
		if err != nil {
			return err
		}
		var rows []seasonTeam
		for _, t := range names {
			row := seasonTeam{SeasonID: l.SeasonID, TeamID: t.TeamID, Code: t.Code, Name: t.Name}
			if playing[t.TeamID] && !slices.Contains(known, row) {
				rows = append(rows, row)
			}
		}
		if err := dynamo.PutAll(ctx, s.db, putSeasonTeams, rows); err != nil {
			return err
		}
	}
	return nil
}

func readActiveLeagues(ctx context.Context, db dynamo.DB) ([]league, error) {
	active := expression.Equal(expression.Name("active"), expression.Value(true))
	return dynamo.ScanAll[league](ctx, db, activeLeagues, &active)
}
