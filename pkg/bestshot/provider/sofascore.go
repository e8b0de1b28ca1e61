package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Sofascore is a provider with the API of Sofascore, at a base URL.
type Sofascore struct{ client }

// NewSofascore returns the provider at base, "https://host/api/v1".
func NewSofascore(transport http.RoundTripper, base string, now func() time.Time) *Sofascore {
	return &Sofascore{newClient(transport, base, now)}
}

// get reads an answer as JSON.
func (s *Sofascore) get(ctx context.Context, path string, into any) error {
	body, err := s.fetch(ctx, path, jsonMedia, maxBody)
	if err != nil {
		return err
	}

	return decode(path, body, into)
}

// Badge implements Provider.
func (s *Sofascore) Badge(ctx context.Context, team string) ([]byte, error) {
	return s.fetch(ctx, "/team/"+url.PathEscape(team)+"/image", imageMedia, MaxImage)
}

// Logo implements Provider.
func (s *Sofascore) Logo(ctx context.Context, tournament string) ([]byte, error) {
	return s.fetch(ctx, "/unique-tournament/"+url.PathEscape(tournament)+"/image", imageMedia, MaxImage)
}

// seasonPath is the path of a season.
func seasonPath(tournament, season string) string {
	return "/unique-tournament/" + url.PathEscape(tournament) + "/season/" + url.PathEscape(season)
}

// round is a round as the provider describes it.
type round struct {
	Round  int    `json:"round"`
	Name   string `json:"name"`
	Slug   string `json:"slug"`
	Prefix string `json:"prefix"`
}

// Rounds implements Provider.
func (s *Sofascore) Rounds(ctx context.Context, tournament, season string) ([]Round, error) {
	var in struct {
		Rounds []round `json:"rounds"`
	}
	if err := s.get(ctx, seasonPath(tournament, season)+"/rounds", &in); err != nil {
		return nil, err
	}

	if len(in.Rounds) == 0 {
		return nil, errors.New("provider: a season without rounds")
	}

	var (
		all []Round
		bad error
	)

	for i, r := range in.Rounds {
		err := fmt.Errorf("provider: a round with the number %d", r.Round)
		if r.Round > 0 {
			all, err = addRound(all, r.round(i), strconv.Itoa(r.Round))
		}

		bad = errors.Join(bad, err)
	}

	return all, bad
}

// round returns the round in the room's terms. The slug of a season round is its number. The slug of
// a knockout round is the provider's, with the prefix that distinguishes two rounds of one name.
func (r round) round(order int) Round {
	path := fmt.Sprintf("/events/round/%d", r.Round)
	if r.Slug == "" {
		return Round{strconv.Itoa(r.Round), fmt.Sprintf("Round %d", r.Round), order, "season", path}
	}

	out := Round{slug(r.Slug), clean(r.Name), order, "knockout", path + "/slug/" + url.PathEscape(r.Slug)}
	if out.Label == "" {
		out.Label = clean(r.Slug)
	}

	if r.Prefix != "" {
		out.Slug = slug(r.Prefix + "-" + r.Slug)
		out.Label = clean(r.Prefix + ": " + out.Label)
		out.Path += "/prefix/" + url.PathEscape(r.Prefix)
	}

	return out
}

// event is a match as the provider describes it.
type event struct {
	ID     int64 `json:"id"`
	Start  int64 `json:"startTimestamp"`
	Status struct {
		Code int    `json:"code"`
		Type string `json:"type"`
	} `json:"status"`
	HomeTeam  team  `json:"homeTeam"`
	AwayTeam  team  `json:"awayTeam"`
	HomeScore goals `json:"homeScore"`
	AwayScore goals `json:"awayScore"`
	Time      struct {
		PeriodStart int64 `json:"currentPeriodStartTimestamp"`
	} `json:"time"`
	Changes struct {
		Changes []string `json:"changes"`
		At      int64    `json:"changeTimestamp"`
	} `json:"changes"`
}

type goals struct {
	Current   *int `json:"current"`
	Display   *int `json:"display"`
	Penalties *int `json:"penalties"`
}

// score returns the goals after extra time, without penalties. That is Display, which may be missing
// before the end. Then Current is returned, which has penalties only after a shoot-out.
func (g goals) score(ended bool) *int {
	if g.Display == nil && !ended {
		return g.Current
	}

	return g.Display
}

// Matches implements Provider.
func (s *Sofascore) Matches(ctx context.Context, tournament, season string, r Round) ([]Fixture, error) {
	var in struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := s.get(ctx, seasonPath(tournament, season)+r.Path, &in); err != nil {
		return nil, err
	}

	return fixtures[event](in.Events)
}

// sofascorePeriods are the codes of matches in play. Those of the breaks in extra time are 32 to 34.
var sofascorePeriods = map[int]Period{
	6:  FirstHalf,
	31: HalfTime,
	7:  SecondHalf,
	32: ExtraTime,
	41: ExtraTime,
	33: ExtraTime,
	42: ExtraTime,
	34: ShootOut,
	50: ShootOut,
}

// secondExtraStatus is the status of a match in the second half of extra time.
const secondExtraStatus = "inprogress/42"

// fixture returns the match in the room's terms, or an error if a value is missing or not accepted.
func (e event) fixture() (Fixture, error) {
	f, err := newFixture(e.ID, e.Start, e.HomeTeam, e.AwayTeam)
	if err != nil {
		return Fixture{}, err
	}

	f.ProviderStatus = clean(fmt.Sprintf("%s/%d", e.Status.Type, e.Status.Code))
	f.Status = e.status()
	f.Over = e.Status.Type == "finished"
	f.InPlay = slices.Contains(begun, e.Status.Type)
	f.Home.Score, f.Home.Penalties = e.HomeScore.score(f.Status == Ended), e.HomeScore.Penalties
	f.Away.Score, f.Away.Penalties = e.AwayScore.score(f.Status == Ended), e.AwayScore.Penalties

	if f.InPlay {
		f.Period = sofascorePeriods[e.Status.Code]
		f.PeriodStart = instant(e.Time.PeriodStart)
	}

	if f.Period == FirstHalf {
		f.StartedAt = f.PeriodStart
	}

	if f.InPlay && f.Status == NotDefined {
		f.Period = Interrupted
	}

	if f.Status == Ended && slices.Contains(e.Changes.Changes, "status.type") {
		f.FinishedAt = instant(e.Changes.At)
	}

	return f, f.checkScores()
}

// begun are the types of matches that have begun and not ended.
var begun = []string{"inprogress", "interrupted", "suspended", "willcontinue"}

// played are the codes of finished matches that were played: after 90 minutes, after extra time, after
// penalties. The others are walkovers and retirements.
var played = []int{100, 110, 120}

// status maps the provider's status.
func (e event) status() Status {
	switch e.Status.Type {
	case "finished":
		if slices.Contains(played, e.Status.Code) && e.HomeScore.Display != nil && e.AwayScore.Display != nil {
			return Ended
		}

		return NotDefined
	case "postponed", "canceled", "interrupted", "suspended", "willcontinue":
		return NotDefined
	case "notstarted", "inprogress":
		return Open
	}

	return Unknown
}

// Standings implements Provider.
func (s *Sofascore) Standings(ctx context.Context, tournament, season string) ([]Standing, error) {
	var in struct {
		Standings []struct {
			Name       string `json:"name"`
			Tournament struct {
				IsGroup bool `json:"isGroup"`
			} `json:"tournament"`
			Rows []struct {
				Team     team `json:"team"`
				Position int  `json:"position"`
				Matches  int  `json:"matches"`
				Wins     int  `json:"wins"`
				Draws    int  `json:"draws"`
				Losses   int  `json:"losses"`
				For      int  `json:"scoresFor"`
				Against  int  `json:"scoresAgainst"`
				Points   int  `json:"points"`
			} `json:"rows"`
		} `json:"standings"`
	}

	err := s.get(ctx, seasonPath(tournament, season)+"/standings/total", &in)
	if errors.Is(err, ErrAbsent) { // a cup
		return nil, nil
	}

	if err == nil && len(in.Standings) == 0 {
		err = errors.New("provider: standings without a table")
	}

	if err != nil {
		return nil, err
	}

	var all []Standing

	for _, g := range in.Standings {
		var group *string

		if len(in.Standings) > 1 || g.Tournament.IsGroup {
			name := clean(g.Name)
			group = &name
		}

		for _, r := range g.Rows {
			if err := checkRow(r.Team, r.Position, r.Points, r.Matches, r.Wins, r.Draws, r.Losses, r.For, r.Against); err != nil {
				return nil, err
			}

			all = append(all, Standing{
				Team:     r.Team.team(),
				Group:    group,
				Position: r.Position,
				Points:   r.Points,
				Games:    r.Matches,
				Wins:     r.Wins,
				Draws:    r.Draws,
				Losses:   r.Losses,
				For:      r.For,
				Against:  r.Against,
			})
		}
	}

	return all, nil
}
