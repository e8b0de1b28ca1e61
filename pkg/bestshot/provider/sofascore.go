package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Name is the name of the provider in the database.
const Name = "sofascore"

// Sofascore is a provider with the API of Sofascore, at a base URL.
type Sofascore struct {
	client *http.Client
	base   string
}

// maxBody is the largest answer that is read, in bytes. A round has about 30 KB.
const maxBody = 4 << 20

// NewSofascore returns the provider at base, "https://host/api/v1".
func NewSofascore(transport http.RoundTripper, base string) *Sofascore {
	return &Sofascore{&http.Client{Transport: transport, Timeout: 10 * time.Second}, strings.TrimSuffix(base, "/")}
}

// get reads an answer as JSON.
func (s *Sofascore) get(ctx context.Context, path string, into any) error {
	body, err := s.fetch(ctx, path, "application/json", maxBody)
	if err != nil {
		return err
	}

	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("provider: %s answers with other JSON than expected: %w", path, err)
	}

	return nil
}

// fetch returns an answer of at most limit bytes. Its errors contain neither the body nor a query.
// Errors: ErrAbsent.
func (s *Sofascore) fetch(ctx context.Context, path, media string, limit int) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, err
	}

	r.Header.Set("Accept", media)

	out, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	defer out.Body.Close()

	if out.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("provider: %s: %w", path, ErrAbsent)
	}

	if out.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("provider: %s answers %d", path, out.StatusCode)
	}

	body, err := io.ReadAll(io.LimitReader(out.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("provider: %s: %w", path, err)
	case len(body) > limit:
		return nil, fmt.Errorf("provider: %s answers with more than %d bytes", path, limit)
	}

	return body, nil
}

// Badge implements Provider.
func (s *Sofascore) Badge(ctx context.Context, team string) ([]byte, error) {
	return s.fetch(ctx, "/team/"+url.PathEscape(team)+"/image", "image/*", MaxImage)
}

// Logo implements Provider.
func (s *Sofascore) Logo(ctx context.Context, tournament string) ([]byte, error) {
	return s.fetch(ctx, "/unique-tournament/"+url.PathEscape(tournament)+"/image", "image/*", MaxImage)
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

	all := make([]Round, 0, len(in.Rounds))

	var bad error

	for i, r := range in.Rounds {
		mapped := r.round(i)

		switch {
		case r.Round <= 0:
			bad = errors.Join(bad, fmt.Errorf("provider: a round with the number %d", r.Round))
		case mapped.Slug == "" || len(mapped.Slug) > maxSlug:
			bad = errors.Join(bad, fmt.Errorf("provider: the round %d has no name for addresses", r.Round))
		case slices.ContainsFunc(all, func(o Round) bool { return o.Slug == mapped.Slug }):
			bad = errors.Join(bad, fmt.Errorf("provider: two rounds with the slug %s", mapped.Slug))
		default:
			all = append(all, mapped)
		}
	}

	return all, bad
}

// Bounds of names, in characters. maxSlug is that of the requests that name a round. maxName is longer
// than all known names.
const (
	maxSlug = 100
	maxName = 100
)

// clean returns a name without control characters, some of which PostgreSQL refuses, and cuts it at
// maxName.
func clean(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}

		return r
	}, name))
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName])
	}

	return name
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

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
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
	Changes   struct {
		Changes []string `json:"changes"`
		At      int64    `json:"changeTimestamp"`
	} `json:"changes"`
}

type team struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (t team) team() Team { return Team{strconv.FormatInt(t.ID, 10), clean(t.Name)} }

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

	all := make([]Fixture, 0, len(in.Events))
	seen := map[string]bool{}

	var bad error

	for _, text := range in.Events {
		var (
			e event
			f Fixture
		)

		err := json.Unmarshal(text, &e)
		if err == nil {
			f, err = e.fixture()
		}

		if err == nil && seen[f.ID] {
			err = fmt.Errorf("provider: the match %s comes twice", f.ID)
		}

		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}

		seen[f.ID] = true
		all = append(all, f)
	}

	return all, bad
}

const (
	// lastSecond is the last Unix time whose year has four digits.
	lastSecond = 253402300799
	// maxGoals and maxTotal are the highest accepted score and number in a table.
	maxGoals = 99
	maxTotal = 9999
)

// fixture returns the match in the room's terms, or an error if a value is missing or not accepted.
func (e event) fixture() (Fixture, error) {
	if e.ID <= 0 || e.Start <= 0 || e.Start > lastSecond || e.HomeTeam.ID <= 0 || e.AwayTeam.ID <= 0 || e.HomeTeam.ID == e.AwayTeam.ID {
		return Fixture{}, fmt.Errorf("provider: the match %d lacks its kick-off or a team", e.ID)
	}

	f := Fixture{
		ID:             strconv.FormatInt(e.ID, 10),
		KickOff:        time.Unix(e.Start, 0).UTC(),
		ProviderStatus: clean(fmt.Sprintf("%s/%d", e.Status.Type, e.Status.Code)),
		Status:         e.status(),
	}
	f.Home = Side{e.HomeTeam.team(), e.HomeScore.score(f.Status == Ended), e.HomeScore.Penalties}
	f.Away = Side{e.AwayTeam.team(), e.AwayScore.score(f.Status == Ended), e.AwayScore.Penalties}

	for _, n := range []*int{f.Home.Score, f.Away.Score, f.Home.Penalties, f.Away.Penalties} {
		if n != nil && (*n < 0 || *n > maxGoals) {
			return Fixture{}, fmt.Errorf("provider: the match %d has a score of %d", e.ID, *n)
		}
	}

	if f.Status == Ended && slices.Contains(e.Changes.Changes, "status.type") && e.Changes.At > 0 && e.Changes.At <= lastSecond {
		f.FinishedAt = time.Unix(e.Changes.At, 0).UTC()
	}

	return f, nil
}

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
			if r.Team.ID <= 0 {
				return nil, errors.New("provider: standings with a team without id")
			}

			for _, n := range []int{r.Position, r.Points, r.Matches, r.Wins, r.Draws, r.Losses, r.For, r.Against} {
				if n < -maxTotal || n > maxTotal { // points may be deducted
					return nil, fmt.Errorf("provider: the standings have %d for the team %d", n, r.Team.ID)
				}
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
