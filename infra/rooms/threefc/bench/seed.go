package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// The scorekeeper, and what the season has beside its games.
const (
	origin    = "https://app.bench"
	user      = "7f6c1f0e-5d0a-4c5e-9b57-000000000001"
	leagueID  = "01JX0000000000000000000001"
	seasonID  = "01JX0000000000000000000002"
	sessionID = "01JX0000000000000000000003"
	roster    = 9  // players of a game
	goals     = 20 // of a game
	played    = 45 // games of the season
)

func player(n int) string { return fmt.Sprintf("01JZ%022d", n) }

var teams = []item.Team{
	{TeamID: "blue", Name: "Blue", Color: "#0057b8"},
	{TeamID: "red", Name: "Red", Color: "#c8102e"},
	{TeamID: "yellow", Name: "Yellow", Color: "#ffd100"},
}

// season is a season whose tables are computed, with a game that is being played.
type season struct {
	world *measure.World
	token string // of the scorekeeper's session
	live  string // id of the game
	games int
}

// newSeason stores a season with so many players.
func newSeason(ctx context.Context, w *measure.World, players int) (*season, error) {
	s := &season{world: w}
	now := evening
	l := item.New(item.LeagueKey(leagueID), item.Metadata, "League",
		item.League{
			ID:      leagueID,
			Name:    "Bench",
			Slug:    "bench",
			Admins:  1,
			Members: 1,
			Seasons: 1,
			Players: players,
		}, now)
	x := item.New(item.SeasonKey(seasonID), item.Metadata, "Season",
		item.Season{
			ID:       seasonID,
			LeagueID: leagueID,
			Name:     "Spring",
			Slug:     "spring",
			TimeZone: "Europe/London",
			Teams:    3,
			Sessions: 1,
		}, now)
	token, login := session.New()
	s.token = token
	all := []any{
		l, x, item.New(item.SlugKey("bench"), item.Metadata, "Slug", item.Ref{ID: leagueID}, now),
		item.New(l.PK, item.SlugKey("spring"), "Slug", item.Ref{ID: seasonID}, now),
		item.New(l.PK, item.GrantKey(user), "Grant", item.Grant{LeagueID: leagueID, UserID: user, Role: item.Admin}, now),
	}
	all = append(all, item.New(item.SessionKey(sessionID), item.Metadata, "Session",
		item.Session{ID: sessionID, LeagueID: leagueID, SeasonID: seasonID, Date: "2026-06-06"}, now))

	for _, t := range teams {
		all = append(all, item.New(x.PK, item.TeamKey(t.TeamID), "Team", t, now))
	}

	begun := item.New(item.LoginKey(login), item.Metadata, "AuthSession", map[string]string{"userId": user}, now)
	begun.TTL = now.Add(time.Hour).Unix()
	all = append(all, begun)

	var totals []standing.PlayerTotals

	for n := range players {
		p := item.Player{ID: player(n), LeagueID: leagueID, Nickname: fmt.Sprintf("Player %d", n)}
		totals = append(totals, standing.PlayerTotals{PlayerID: p.ID, Nickname: p.Nickname, Games: 20, Goals: players - n, Assists: 3})
		all = append(all, item.New(item.PlayerKey(p.ID), item.Profile, "Player", p, now),
			item.New(x.PK, item.PlayerStats+p.ID, "Table", totals[n], now))
	}

	all = append(all, item.New(x.PK, standing.Leaders, "Table", totals[:min(players, 100)], now))
	for i, t := range teams {
		all = append(all, item.New(x.PK, standing.TeamRows+t.TeamID, "Table",
			standing.TeamStanding{
				TeamID:   t.TeamID,
				Name:     t.Name,
				Color:    t.Color,
				Rank:     i + 1,
				Played:   played,
				Wins:     played / 3,
				Losses:   2 * played / 3,
				Scored:   200,
				Conceded: 200,
			}, now))
	}

	for n := range played {
		id := fmt.Sprintf("01JW%022d", n)
		start := item.Format(now.AddDate(0, 0, -n-1))

		g := item.Listing{
			GameID:      id,
			SessionID:   sessionID,
			Slug:        "game-" + fmt.Sprint(n),
			StartTs:     start,
			ThirdLength: 20,
			Status:      item.Finished,
			Teams:       teams,
			Scores:      item.Scores(teams, nil),
			Result:      &item.Result{Winner: "red"},
		}

		tallies := item.GameTallies{GameID: id, Status: item.Finished, Players: map[string]item.Tally{}}
		for i := range roster {
			tallies.Players[player(i)] = item.Tally{TeamID: teams[i%3].TeamID, Games: 1, Goals: 1}
		}

		all = append(all, item.New(x.PK, item.StartKey(start, id), "SessionGame", g, now),
			item.New(x.PK, item.TalliesKey(id), "GameTallies", tallies, now))
	}

	if err := s.put(ctx, all); err != nil {
		return nil, err
	}

	var err error

	s.live, err = s.addGame(ctx, false)

	return s, err
}

// addGame stores a game with a roster and goals, in its first third or, if it is over, after
// its last, and returns its id.
func (s *season) addGame(ctx context.Context, over bool) (id string, err error) {
	s.games++
	id = fmt.Sprintf("01JY%022d", s.games)
	now := evening
	g := item.Game{
		ID:          id,
		LeagueID:    leagueID,
		SeasonID:    seasonID,
		SessionID:   sessionID,
		Slug:        "live-" + fmt.Sprint(s.games),
		StartTs:     item.Format(now),
		ThirdLength: 20,
		Teams:       teams,
	}

	g.Thirds[0].StartedAt = item.Format(now.Add(-7 * time.Minute))
	if over {
		for i := range g.Thirds {
			g.Thirds[i] = item.Third{StartedAt: item.Format(now), FinishedAt: item.Format(now)}
		}
	}

	var (
		all    []any
		scored []item.Goal
	)

	for n := range goals {
		one := item.Goal{
			ID:         code.NewID(now),
			Third:      1,
			Minute:     n / 3,
			Scoring:    "blue",
			Conceding:  "yellow",
			Scorer:     player(0),
			Assists:    []string{player(1)},
			RecordedBy: user,
			GameRev:    n + 1,
		}
		scored = append(scored, one)
		all = append(all, item.New(item.GameKey(id), item.GoalKey(one), "Goal", one, now))
	}

	for n := range roster {
		team := []string{"red", "blue", "yellow"}[n%3]
		all = append(all, item.New(item.GameKey(id), item.RosterKey(team, player(n)), "Roster",
			item.Seat{TeamID: team, PlayerID: player(n)}, now))
	}

	g.Scores = item.Scores(teams, scored)
	row := item.New(item.GameKey(id), item.Metadata, "Game", g, now)
	row.Status, row.Rev = item.Live, goals+1
	l := item.Listing{
		GameID:      id,
		SessionID:   sessionID,
		Slug:        g.Slug,
		StartTs:     g.StartTs,
		ThirdLength: 20,
		Status:      item.Live,
		Teams:       teams,
	}
	listed := item.New(item.SeasonKey(seasonID), item.StartKey(g.StartTs, id), "SessionGame", l, now)
	mirror := listed
	mirror.PK = item.SessionKey(sessionID)

	return id, s.put(ctx, append(all, row, listed, mirror,
		item.New(item.SeasonKey(seasonID), item.SlugKey(g.Slug), "Slug", item.Ref{ID: id}, now)))
}

// put stores rows.
func (s *season) put(ctx context.Context, all []any) error {
	for some := range slices.Chunk(all, 500) {
		if err := dynamo.PutAll(ctx, s.world.DB(), spec.Access{Table: tables.App}, some); err != nil {
			return err
		}
	}

	return nil
}
