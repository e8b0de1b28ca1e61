package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// defaultMedia is the base URL of API-Football's images.
const defaultMedia = "https://media.api-sports.io/football"

// APIFootball is a provider with the API of API-Football v3, at a base URL. A tournament is a league
// of it, and a season is the year in which it begins.
type APIFootball struct{ api, media client }

// NewAPIFootball returns the provider at base, "https://host", with images at media, "" for those of
// API-Football. Requests for data need a key, and requests for images none.
func NewAPIFootball(
	transport http.RoundTripper, base, media string, key func(context.Context) (string, error), now func() time.Time,
) *APIFootball {
	return &APIFootball{
		api:   newClient(transport, base, now).withKey("x-apisports-key", key),
		media: newClient(transport, cmp.Or(media, defaultMedia), now),
	}
}

// Badge implements Provider.
func (a *APIFootball) Badge(ctx context.Context, team string) ([]byte, error) {
	return a.media.fetch(ctx, "/teams/"+url.PathEscape(team)+".png", imageMedia, MaxImage)
}

// Logo implements Provider.
func (a *APIFootball) Logo(ctx context.Context, tournament string) ([]byte, error) {
	return a.media.fetch(ctx, "/leagues/"+url.PathEscape(tournament)+".png", imageMedia, MaxImage)
}

// get reads the response of an answer. Errors: ErrAbsent, ErrKey, ErrPlan, LimitedError. Most refusals
// have the status 200, and some have another status and the same body.
func (a *APIFootball) get(ctx context.Context, path string, query url.Values, into any) error {
	status, body, wait, err := a.api.do(ctx, path+"?"+query.Encode(), jsonMedia, maxBody)
	if err != nil {
		return err
	}

	var in struct {
		Errors json.RawMessage `json:"errors"`
		Paging struct {
			Total int `json:"total"`
		} `json:"paging"`
		Response json.RawMessage `json:"response"`
	}

	wrong := decode(path, body, &in)
	if wrong == nil {
		if err := a.refusal(in.Errors); err != nil {
			return fmt.Errorf("provider: %s: %w", path, err)
		}
	}

	switch err := a.api.check(path, status, wait); {
	case err != nil:
		return err
	case wrong != nil:
		return wrong
	case in.Response == nil:
		return fmt.Errorf("provider: %s answers without a response", path)
	case in.Paging.Total > 1:
		return fmt.Errorf("provider: %s answers with %d pages, and one is read", path, in.Paging.Total)
	}

	return decode(path, in.Response, into)
}

// refusal returns what the errors of an answer mean: an empty list that there are none, and an object
// why the request is refused.
func (a *APIFootball) refusal(text json.RawMessage) error {
	var list []json.RawMessage
	if len(text) == 0 || json.Unmarshal(text, &list) == nil && len(list) == 0 {
		return nil
	}

	var reasons map[string]json.RawMessage

	json.Unmarshal(text, &reasons) // what is no object has no reasons

	has := func(reason string) bool { return reasons[reason] != nil }
	now := a.api.now().UTC()

	switch {
	case has("token"):
		return ErrKey
	case has("requests"): // of the day, which ends at 00:00 UTC
		return &LimitedError{now.Truncate(24 * time.Hour).Add(24 * time.Hour)}
	case has("rateLimit"): // of the minute
		return &LimitedError{nextMinute(now)}
	case has("plan"):
		return ErrPlan
	}

	return fmt.Errorf("the request is refused: %s", clean(strings.Join(slices.Sorted(maps.Keys(reasons)), ", ")))
}

func ofSeason(tournament, season string) url.Values {
	return url.Values{"league": {tournament}, "season": {season}}
}

// Rounds implements Provider.
func (a *APIFootball) Rounds(ctx context.Context, tournament, season string) ([]Round, error) {
	var in []json.RawMessage
	if err := a.get(ctx, "/fixtures/rounds", ofSeason(tournament, season), &in); err != nil {
		return nil, err
	}

	if len(in) == 0 {
		return nil, errors.New("provider: a season without rounds")
	}

	var (
		all []Round
		bad error
	)

	for i, text := range in {
		var name string

		err := json.Unmarshal(text, &name)
		switch {
		case err != nil:
		case clean(name) != name: // it is stored and asked for as it is
			err = fmt.Errorf("provider: the round %q has no name for addresses", clean(name))
		default:
			all, err = addRound(all, roundOf(name, i), strconv.Quote(name))
		}

		bad = errors.Join(bad, err)
	}

	return all, bad
}

// numbered are the rounds with a number: "Regular Season - 14", "Relegation Round - 3".
var numbered = regexp.MustCompile(`^(.+) - ([0-9]{1,3})$`)

// mainStages are the stages whose rounds have their number as the slug. A season has one of them.
var mainStages = []string{"Regular Season", "League Stage", "League Phase", "Group Stage"}

// sameRounds are the slugs of rounds that have several names.
var sameRounds = map[string]string{
	"16th-finals":          "round-of-32",
	"8th-finals":           "round-of-16",
	"quarter-finals":       "quarterfinals",
	"semi-finals":          "semifinals",
	"3rd-place-final":      "match-for-3rd-place",
	"3rd-place-play-off":   "match-for-3rd-place",
	"third-place-play-off": "match-for-3rd-place",
}

// roundOf returns a round in the room's terms. A round of a part of the competition has that before its
// slug: "Play-offs - Final" is "play-offs-final".
func roundOf(name string, order int) Round {
	r := Round{slug(name), name, order, "knockout", name}

	if m := numbered.FindStringSubmatch(name); m != nil {
		r.Type = "season"

		if n, err := strconv.Atoi(m[2]); err == nil && slices.Contains(mainStages, m[1]) {
			r.Slug, r.Label = strconv.Itoa(n), fmt.Sprintf("Round %d", n)
		}

		return r
	}

	part, last := "", name
	if at := strings.LastIndex(name, " - "); at >= 0 {
		part, last = name[:at], name[at+len(" - "):]
	}

	if same, ok := sameRounds[slug(last)]; ok {
		r.Slug = slug(part + "-" + same)
	}

	return r
}

// apiFixture is a match as API-Football describes it. Its goals are the running score. The parts of the
// score are not read in play. That of half time is the running score in the first half. That of full time
// is null until 90 minutes are over. That of extra time has only the goals of extra time.
type apiFixture struct {
	Fixture struct {
		ID      int64 `json:"id"`
		At      int64 `json:"timestamp"`
		Periods struct {
			First int64 `json:"first"`
		} `json:"periods"`
		Status struct {
			Short   string `json:"short"`
			Elapsed int    `json:"elapsed"`
		} `json:"status"`
	} `json:"fixture"`
	Teams struct {
		Home team `json:"home"`
		Away team `json:"away"`
	} `json:"teams"`
	Goals apiGoals `json:"goals"` // after extra time, without penalties
	Score struct {
		Penalty apiGoals `json:"penalty"`
	} `json:"score"`
}

type apiGoals struct {
	Home *int `json:"home"`
	Away *int `json:"away"`
}

// Matches implements Provider.
func (a *APIFootball) Matches(ctx context.Context, tournament, season string, r Round) ([]Fixture, error) {
	query := ofSeason(tournament, season)
	query.Set("round", r.Path)

	var in []json.RawMessage
	if err := a.get(ctx, "/fixtures", query, &in); err != nil {
		return nil, err
	}

	return fixtures[apiFixture](in)
}

// apiPeriods are the periods of the statuses of matches in play. LIVE does not say which.
var apiPeriods = map[string]Period{
	"1H":   FirstHalf,
	"HT":   HalfTime,
	"2H":   SecondHalf,
	"ET":   ExtraTime,
	"BT":   ExtraTime,
	"P":    ShootOut,
	"SUSP": Interrupted,
	"INT":  Interrupted,
}

// apiStatus is what a status of API-Football means.
type apiStatus struct {
	Status
	inPlay, over bool
}

// apiStatuses are the known statuses. A match whose date is to be defined has a placeholder as its
// kick-off, which must neither close guesses nor show those of others: it is NotDefined.
var apiStatuses = map[string]apiStatus{
	"NS":   {Open, false, false},
	"TBD":  {NotDefined, false, false},
	"1H":   {Open, true, false},
	"HT":   {Open, true, false},
	"2H":   {Open, true, false},
	"ET":   {Open, true, false},
	"BT":   {Open, true, false}, // a break before or in extra time
	"P":    {Open, true, false},
	"LIVE": {Open, true, false},
	"SUSP": {NotDefined, true, false},
	"INT":  {NotDefined, true, false},
	"FT":   {Ended, false, true},
	"AET":  {Ended, false, true},
	"PEN":  {Ended, false, true},
	"AWD":  {NotDefined, false, true}, // decided without play
	"WO":   {NotDefined, false, true},
	"PST":  {NotDefined, false, false},
	"CANC": {NotDefined, false, false},
	"ABD":  {NotDefined, false, false},
}

// maxMinute is more than any match has.
const maxMinute = 200

// fixture returns the match in the room's terms, or an error if a value is missing or not accepted.
func (e apiFixture) fixture() (Fixture, error) {
	x := e.Fixture

	f, err := newFixture(x.ID, x.At, e.Teams.Home, e.Teams.Away)
	if err != nil {
		return Fixture{}, err
	}

	status, known := apiStatuses[x.Status.Short]
	if !known {
		status.Status = Unknown
	}

	if status.Status == Ended && (e.Goals.Home == nil || e.Goals.Away == nil) {
		status.Status = NotDefined
	}

	f.ProviderStatus = clean(x.Status.Short)
	f.Status, f.InPlay, f.Over = status.Status, status.inPlay, status.over
	f.Period = apiPeriods[x.Status.Short]
	f.StartedAt = instant(x.Periods.First)
	f.Home.Score, f.Away.Score = e.Goals.Home, e.Goals.Away

	if x.Status.Elapsed > 0 && x.Status.Elapsed <= maxMinute {
		f.Minute = x.Status.Elapsed
	}

	if p := e.Score.Penalty; x.Status.Short == "PEN" && p.Home != nil && p.Away != nil {
		f.Home.Penalties, f.Away.Penalties = p.Home, p.Away
	}

	return f, f.checkScores()
}

// groupName is the name of a group. The table of a league has the league's name in its place.
var groupName = regexp.MustCompile(`^Group [A-Z0-9]{1,2}$`)

// Standings implements Provider. A team that is in several tables, as the third-placed teams of a cup
// are, has the row of the first.
func (a *APIFootball) Standings(ctx context.Context, tournament, season string) ([]Standing, error) {
	type goals struct{ For, Against int }

	type record struct {
		Played int   `json:"played"`
		Win    int   `json:"win"`
		Draw   int   `json:"draw"`
		Lose   int   `json:"lose"`
		Goals  goals `json:"goals"`
	}

	var in []struct {
		League struct {
			Standings [][]struct {
				Rank   int    `json:"rank"`
				Team   team   `json:"team"`
				Points int    `json:"points"`
				Group  string `json:"group"`
				All    record `json:"all"`
			} `json:"standings"`
		} `json:"league"`
	}

	err := a.get(ctx, "/standings", ofSeason(tournament, season), &in)
	if errors.Is(err, ErrAbsent) || err == nil && len(in) == 0 { // a cup
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	tables := in[0].League.Standings
	if len(tables) == 0 {
		return nil, errors.New("provider: standings without a table")
	}

	var all []Standing

	seen := map[int64]bool{}

	for _, rows := range tables {
		for _, r := range rows {
			if err := checkRow(r.Team, r.Rank, r.Points, r.All.Played, r.All.Win, r.All.Draw, r.All.Lose,
				r.All.Goals.For, r.All.Goals.Against); err != nil {
				return nil, err
			}

			if seen[r.Team.ID] {
				continue
			}

			seen[r.Team.ID] = true

			var group *string
			if len(tables) > 1 || groupName.MatchString(r.Group) {
				name := clean(r.Group)
				group = &name
			}

			all = append(all, Standing{
				Team:     r.Team.team(),
				Group:    group,
				Position: r.Rank,
				Points:   r.Points,
				Games:    r.All.Played,
				Wins:     r.All.Win,
				Draws:    r.All.Draw,
				Losses:   r.All.Lose,
				For:      r.All.Goals.For,
				Against:  r.All.Goals.Against,
			})
		}
	}

	return all, nil
}
