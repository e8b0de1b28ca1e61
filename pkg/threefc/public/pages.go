package public

import (
	"cmp"
	"context"
	_ "embed" // the templates
	"fmt"
	"html/template"
	neturl "net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the runtime has no database of time zones

	"golang.org/x/text/unicode/bidi"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

//go:embed pages.html
var markup string

// Sizes of the page of a season.
const (
	maxPast    = 40
	maxNext    = 20
	maxScorers = 20
)

// isolated returns a name within a text: one with letters that are written from right to
// left does not change the order of what surrounds it (Unicode, UAX #9, isolates).
func isolated(name string) string {
	for _, r := range name {
		p, _ := bidi.LookupRune(r)
		if c := p.Class(); c == bidi.R || c == bidi.AL || c == bidi.AN {
			return "\u2068" + name + "\u2069"
		}
	}

	return name
}

// moment is a time as a page has it.
type moment struct{ Machine, Text string }

func at(t time.Time, layout string) moment { return moment{t.Format(time.RFC3339), t.Format(layout)} }

const timeLayout = "15:04 MST"

// zone returns where a season is played.
func zone(x item.Season) *time.Location {
	if in, err := time.LoadLocation(x.TimeZone); err == nil {
		return in
	}

	return time.UTC
}

// shownTeam is a team on a page.
type shownTeam struct{ Name, Class string }

func show(name, color string) shownTeam { return shownTeam{name, web.Class(color)} }

// url returns the address of a page of a league.
func (s *Service) url(l item.League, slugs ...string) string {
	if s.members {
		return s.links.Members(l, slugs...)
	}

	return s.links.League(l, slugs...)
}

// Pages is the service of pages for people.
type Pages struct {
	Service
	templates *template.Template
	calendars func(item.League, item.Season) string // the address of a member's calendar; nil for that of everybody
	removals  int                                   // how many names an administrator, who reads the page, is asked to remove
}

// page returns a page of a league.
func (s *Pages) page(name string, l item.League, h web.Head, colors []string, data map[string]any) *web.Page {
	h.Unlisted = s.members || !l.Listed()
	page := strings.TrimPrefix(h.URL, s.links.To())
	data["Report"] = s.links.To("report", l.Slug) + "?" + neturl.Values{"page": {page}}.Encode()
	data["Removals"] = s.removals

	return s.links.Page(s.templates, name, h, colors, data)
}

// calendarURL returns the address of the calendar of a season.
func (s *Pages) calendarURL(l item.League, x item.Season) string {
	if s.calendars != nil {
		return s.calendars(l, x)
	}

	return s.url(l, x.Slug) + "/calendar.ics"
}

// OpenPages opens the service.
func OpenPages(ctx context.Context, env app.Env) (*Pages, error) {
	s, err := Open(ctx, env)
	return &Pages{Service: *s, templates: web.Parse(markup)}, err
}

// ShowSeason is the request for the page of a season.
type ShowSeason struct {
	SeasonPath
	Cursor string `query:"cursor" maxLength:"47" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z_[0-9A-Z]{26}$" example:"2026-06-06T18:00:00Z_01JX3Y5ZK8Q2M4N6P8R0T2V4W6" doc:"The game after the results, as the link to earlier games has it: by default the latest results."`
}

// listed is a game in a list.
type listed struct {
	URL             string
	Start           moment
	Location, State string
	Teams           []listedTeam
}

type listedTeam struct {
	Team  shownTeam
	Score string // "" before it is known
}

// day is the games of a day.
type day struct {
	Date  moment
	Games []listed
}

// place is a team in the standings.
type place struct {
	standing.TeamStanding
	Shirt shownTeam
}

// ShowSeasonFunction returns the page of a season: the standings, the scorers and the games.
func ShowSeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-season-page",
		Does:   "Shows the standings, the scorers and the games of a season in a browser.",
		IfDown: "The public page of a season does not open.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}/{season}", Auth: spec.Public, OthersCall: true, Queries: []string{"cursor"}},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.ReadTables, tables.ReadDays},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowSeason, ErrNotFound)
}

// ShowSeason returns the page of a season: standings, scorers, the next games and results.
func (s *Pages) ShowSeason(ctx context.Context, in *ShowSeason) (*web.Page, error) {
	l, x, err := s.season(ctx, in.League, in.Season)
	if err != nil {
		return nil, err
	}

	teams, err := s.standings(ctx, x.ID)
	if err != nil {
		return nil, err
	}

	scorers, err := s.leaders(ctx, x.ID, maxScorers)
	if err != nil {
		return nil, err
	}

	pk, now := item.SeasonKey(x.ID), item.Games+item.Format(s.now())

	older := dynamo.Range{Key: dynamo.KeyBetween(tables.ReadDays, pk, item.Games, now), Backward: true, Limit: maxPast + 1}
	if in.Cursor != "" {
		sk := item.Games + strings.ReplaceAll(in.Cursor, "_", "#")
		older.Key, older.After = dynamo.KeyBetween(tables.ReadDays, pk, item.Games, item.Games+"~"), item.Key(pk, sk)
	}

	past, err := s.games(ctx, older)
	if err != nil {
		return nil, err
	}

	var next []item.Listing
	if in.Cursor == "" {
		if next, err = s.games(ctx, dynamo.Range{Key: dynamo.KeyBetween(tables.ReadDays, pk, now, item.Games+"~"), Limit: maxNext}); err != nil {
			return nil, err
		}
	}

	url, earlier := s.url(l, x.Slug), ""

	if len(past) > maxPast {
		past = past[:maxPast]
		earlier = s.with(url, "cursor=") + past[maxPast-1].StartTs + "_" + past[maxPast-1].GameID
	}

	live, next, past := sorted(past, next, s.now())

	h := web.Head{
		Title: x.Name + " · " + l.Name,
		About: "Standings, scorers and games of " + isolated(x.Name) + ", " + isolated(l.Name) + ".",
		URL:   url,
		Site:  l.Name,
	}
	if len(teams) > 0 {
		h.About += " " + isolated(teams[0].Name) + " leads after " + counted(teams[0].Played, "game") + "."
	}

	if len(next) > 0 {
		var events []sportsEvent

		for _, g := range next {
			e := s.event(l, x, g)
			e.Context = ""
			events = append(events, e)
		}

		h.Data = map[string]any{"@context": schemaOrg, "@graph": events}
	}

	var (
		colors []string
		places []place
	)

	for _, t := range teams {
		colors = append(colors, t.Color)
		places = append(places, place{t, show(t.Name, t.Color)})
	}

	for _, g := range slices.Concat(live, next, past) {
		for _, t := range g.Teams {
			colors = append(colors, t.Color)
		}
	}

	return s.page("season", l, h, colors, map[string]any{
		"League":    l.Name,
		"LeagueURL": s.url(l),
		"Season":    x.Name,
		"Standings": places,
		"Order":     orderOf(x),
		"Leaders":   slices.DeleteFunc(scorers, func(p standing.PlayerTotals) bool { return p.Goals == 0 }),
		"Live":      s.days(url, x, live),
		"Next":      s.days(url, x, next),
		"Past":      s.days(url, x, past),
		"Earlier":   earlier,
		"Calendar":  s.calendarURL(l, x),
		"Zone":      x.TimeZone,
	}), nil
}

// played is how long after its start a game is shown as live, or as one that may still begin. After that
// somebody has forgotten to finish it, or it was not played.
const played = 12 * time.Hour

// isLive reports whether a game is shown as live.
func isLive(status, startTs string, now time.Time) bool {
	return status == item.Live && item.Parse(startTs).Add(played).After(now)
}

// sorted returns the games that are being played, those to come, and the others, newest
// first: not every game starts at the time that was set.
func sorted(past, next []item.Listing, now time.Time) (live, toCome, rest []item.Listing) {
	slices.Reverse(past)

	for _, g := range past {
		recent := item.Parse(g.StartTs).Add(played).After(now)

		switch {
		case recent && g.Status == item.Live:
			live = append(live, g)
		case recent && g.Status == item.Scheduled:
			toCome = append(toCome, g)
		default:
			rest = append(rest, g)
		}
	}

	for _, g := range next {
		switch g.Status {
		case item.Live:
			live = append(live, g)
		case item.Finished, item.Void:
			rest = append(rest, g)
		default:
			toCome = append(toCome, g)
		}
	}

	slices.Reverse(rest)

	return live, toCome, rest
}

// games reads one page of the games of a season.
func (s *Service) games(ctx context.Context, r dynamo.Range) ([]item.Listing, error) {
	rows, _, err := dynamo.Query[item.Row[item.Listing]](ctx, s.db, tables.ReadDays, r)
	return item.Values(rows), err
}

// with returns an address with one more parameter of its query.
func (s *Service) with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}

	return url + "?" + parameter
}

// gameURL returns the address of a game below that of its season.
func (s *Service) gameURL(season, slug string) string {
	if s.members {
		return s.with(season, "game=") + slug
	}

	return season + "/" + slug
}

// days returns games by the days on which they are played.
func (s *Service) days(season string, x item.Season, games []item.Listing) (all []day) {
	for _, g := range games {
		start := item.Parse(g.StartTs).In(zone(x))

		date := moment{start.Format(time.DateOnly), start.Format(web.Day)}
		if len(all) == 0 || all[len(all)-1].Date != date {
			all = append(all, day{Date: date})
		}

		one := listed{URL: s.gameURL(season, g.Slug), Start: at(start, timeLayout), Location: g.Location, State: listedState(g, s.now())}
		for i, t := range g.Teams {
			shown := listedTeam{Team: show(t.Name, t.Color)}
			if len(g.Scores) == len(g.Teams) {
				shown.Score = both(g.Scores[i].Count)
			}

			one.Teams = append(one.Teams, shown)
		}

		d := &all[len(all)-1]
		d.Games = append(d.Games, one)
	}

	return all
}

// listedState returns the state of a game of a list in words.
func listedState(g item.Listing, now time.Time) string {
	switch {
	case g.Result != nil && g.Result.Winner != "":
		return isolated(nameOf(g.Teams, g.Result.Winner)) + " won" + special(g.State)
	case g.Result != nil:
		return "Draw: " + names(g.Teams, g.Result.Drawn) + special(g.State)
	case g.Status == item.Void:
		return "Abandoned"
	case g.State == item.Postponed:
		return "Postponed"
	case isLive(g.Status, g.StartTs, now):
		return "Live now"
	case g.Status == item.Live:
		return "Not finished"
	case item.Parse(g.StartTs).Add(played).Before(now):
		return "Not played"
	case item.Parse(g.StartTs).Before(now):
		return "Not started"
	}

	return ""
}

// both is goals for and against.
func both(c item.Count) string { return strconv.Itoa(c.Scored) + "–" + strconv.Itoa(c.Conceded) }

func nameOf(teams []item.Team, id string) string {
	for _, t := range teams {
		if t.TeamID == id {
			return t.Name
		}
	}

	return id
}

// names lists teams: "Red, Blue and Yellow".
func names(teams []item.Team, ids []string) string {
	var all []string
	for _, id := range ids {
		all = append(all, isolated(nameOf(teams, id)))
	}

	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}

	return strings.Join(all, "")
}

// counted is a number with what it counts: "1 goal", "no goals".
func counted(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}

	return strconv.Itoa(n) + " " + what + "s"
}

// ShowGame is the request for the page of a game.
type ShowGame struct{ Path }

// shownThird is a third on the page of a game.
type shownThird struct {
	Name, Short string
	Now         bool
	Goals       []shownGoal
}

type shownGoal struct {
	At           string
	Scorer       string
	Own          bool
	For, Against shownTeam
	Assists      []string
}

// row is a team in the table of a game.
type row struct {
	Team   shownTeam
	Thirds []cell
	Score  string
}

type cell struct {
	Score string
	Now   bool
}

var ordinals = [item.Thirds]string{"first", "second", "third"}

// ShowGameFunction returns the page of a game: the score and the goals.
func ShowGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-game-page",
		Does:   "Shows the score and the goals of a game in a browser.",
		IfDown: "The public page of a game does not open.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}/{season}/{game}", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.GetGame, tables.ListGoals, tables.ReadNames},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowGame, ErrNotFound)
}

// ShowGame returns the page of a game.
func (s *Pages) ShowGame(ctx context.Context, in *ShowGame) (*web.Page, error) {
	v, err := s.game(ctx, in.Path)
	if err == nil {
		err = s.timeline(ctx, &v)
	}

	if err != nil {
		return nil, err
	}

	g := v.row.V()
	start := item.Parse(g.StartTs).In(zone(v.season))

	var (
		colors, parts []string
		rows          []row
	)

	for i, t := range g.Teams {
		colors = append(colors, t.Color)
		r := row{Team: show(t.Name, t.Color)}

		for n, third := range g.Thirds {
			c := cell{Score: "·", Now: g.Running() == n+1}
			if third.StartedAt != "" {
				c.Score = both(g.Scores[i].Thirds[n])
			}

			r.Thirds = append(r.Thirds, c)
		}

		r.Score = both(g.Scores[i].Count)
		rows = append(rows, r)
		parts = append(parts, isolated(t.Name)+" "+r.Score)
	}

	live := isLive(v.row.Status, g.StartTs, s.now())
	state, outcome := v.state(live), v.outcome()

	h := web.Head{
		Title: title(g.Teams) + ", " + start.Format("2 January 2006") + " · " + v.season.Name, About: strings.TrimSpace(state + " " + outcome),
		URL: s.url(v.league, v.season.Slug, g.Slug), Site: v.league.Name, Live: live,
	}
	if v.row.Status != item.Scheduled {
		h.About += " Scored–conceded: " + strings.Join(parts, ", ") + "."
	}

	e := s.event(v.league, v.season, item.Listing{
		Slug:        g.Slug,
		StartTs:     g.StartTs,
		ThirdLength: g.ThirdLength,
		Location:    g.Location,
		Teams:       g.Teams,
		State:       g.State,
	})
	e.Description = h.About
	h.Data = e

	return s.page("game", v.league, h, colors, map[string]any{
		"League":    v.league.Name,
		"Season":    v.season.Name,
		"SeasonURL": s.url(v.league, v.season.Slug),
		"Start":     at(start, web.Day+", "+timeLayout),
		"Location":  g.Location,
		"Teams":     rows,
		"State":     state,
		"Outcome":   outcome,
		"Live":      live,
		"Thirds":    v.thirds(),
		"Scored":    len(v.goals) > 0,
		"Length":    fmt.Sprintf("Three thirds of %d minutes.", g.ThirdLength),
		"Zone":      v.season.TimeZone,
	}), nil
}

// title is the teams of a game.
func title(teams []item.Team) string {
	var all []string
	for _, t := range teams {
		all = append(all, t.Name)
	}

	return cmp.Or(strings.Join(all, " – "), "Teams to be announced")
}

// state returns the state of a game, which is shown as live or not, in words.
func (v view) state(live bool) string {
	g := v.row.V()

	n := g.Running()
	switch {
	case v.row.Status == item.Void:
		return "Abandoned: the game has no result."
	case v.row.Status == item.Finished && g.State == item.Abandoned:
		return "Abandoned: the result stands."
	case v.row.Status == item.Finished && g.State == item.Walkover:
		return "Walkover."
	case v.row.Status == item.Finished:
		return "Finished."
	case g.State == item.Postponed:
		return "Postponed: there is no new time yet."
	case v.row.Status == item.Scheduled:
		return "Not started."
	case !live:
		return "Not finished."
	case n > 0:
		return "Live: the " + ordinals[n-1] + " third is being played."
	case g.Over():
		return "Live: all thirds are played, the result is not final."
	}

	for g.Thirds[n].FinishedAt != "" { // not all are
		n++
	}

	return "Live: break after the " + ordinals[n-1] + " third."
}

// outcome returns in words who has won a game, and why: see item.ResultOf.
func (v view) outcome() string {
	g := v.row.V()
	if g.Result == nil {
		return v.missing()
	}

	if g.State == item.Walkover {
		return walkover(*g)
	}

	score := func(id string) item.Count {
		i := slices.IndexFunc(g.Scores, func(s item.Score) bool { return s.TeamID == id })
		return g.Scores[i].Count
	}
	if drawn := g.Result.Drawn; g.Result.Winner == "" {
		s := score(drawn[0])

		text := fmt.Sprintf("A draw between %s: each conceded %s and scored %s.", names(g.Teams, drawn),
			counted(s.Conceded, "goal"), strconv.Itoa(s.Scored))
		for _, t := range g.Teams {
			if !slices.Contains(drawn, t.TeamID) && !slices.Contains(g.Absent, t.TeamID) {
				text += " " + isolated(t.Name) + " lost."
			}
		}

		return text + v.missing()
	}

	won := score(g.Result.Winner)

	var like []string

	for _, s := range g.Scores {
		if s.TeamID != g.Result.Winner && s.Conceded == won.Conceded && !slices.Contains(g.Absent, s.TeamID) {
			like = append(like, s.TeamID)
		}
	}

	name := names(g.Teams, []string{g.Result.Winner})
	if like == nil {
		return fmt.Sprintf("%s won and conceded fewest: %s.", name, counted(won.Conceded, "goal")) + v.missing()
	}

	return fmt.Sprintf("%s won: conceded %s like %s, and scored more: %d.", name, counted(won.Conceded, "goal"),
		names(g.Teams, like), won.Scored) + v.missing()
}

// thirds returns the thirds of a game with their goals.
func (v view) thirds() []shownThird {
	g := v.row.V()
	team := func(id string) shownTeam {
		i := slices.IndexFunc(g.Teams, func(t item.Team) bool { return t.TeamID == id })
		if i < 0 {
			return show(id, "")
		}

		return show(g.Teams[i].Name, g.Teams[i].Color)
	}
	nickname := func(id string) string { return cmp.Or(v.players[id].Nickname, "a player") }

	all := make([]shownThird, item.Thirds)
	for i := range all {
		all[i] = shownThird{
			Name:  strings.ToUpper(ordinals[i][:1]) + ordinals[i][1:] + " third",
			Short: []string{"1st", "2nd", "3rd"}[i],
			Now:   g.Running() == i+1,
		}
	}

	for _, one := range v.goals {
		shown := shownGoal{
			At:      game.Display(one.Minute, g.ThirdLength),
			Scorer:  nickname(one.Scorer),
			Own:     one.OwnGoal,
			Against: team(one.Conceding),
		}
		if one.Guest {
			shown.Scorer = "a guest"
		}

		if !one.OwnGoal {
			shown.For = team(one.Scoring)
		}

		for _, a := range one.Assists {
			shown.Assists = append(shown.Assists, nickname(a))
		}

		t := &all[one.Third-1]
		t.Goals = append(t.Goals, shown)
	}

	return all
}

const schemaOrg = "https://schema.org"

// sportsEvent is a game for search engines: https://schema.org/SportsEvent.
type sportsEvent struct {
	Context     string  `json:"@context,omitempty"`
	Type        string  `json:"@type"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	URL         string  `json:"url"`
	Sport       string  `json:"sport"`
	Start       string  `json:"startDate"`
	End         string  `json:"endDate"`
	Status      string  `json:"eventStatus"`
	Location    *thing  `json:"location,omitempty"`
	Organizer   thing   `json:"organizer"`
	Competitors []thing `json:"competitor"`
}

type thing struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	// Address is that of a place, as far as it is known.
	Address string `json:"address,omitempty"`
}

func (s *Service) event(l item.League, x item.Season, g item.Listing) sportsEvent {
	start := item.Parse(g.StartTs).In(zone(x))

	e := sportsEvent{
		Context: schemaOrg, Type: "SportsEvent", Name: title(g.Teams), URL: s.url(l, x.Slug, g.Slug), Sport: "Three-sided football",
		Start: start.Format(time.RFC3339), End: start.Add(length(g)).Format(time.RFC3339), Status: schemaOrg + "/EventScheduled",
		Organizer: thing{Type: "SportsOrganization", Name: l.Name}, Competitors: []thing{},
	}
	if g.State == item.Postponed {
		e.Status = schemaOrg + "/EventPostponed"
	}

	if g.Location != "" {
		e.Location = &thing{"Place", g.Location, g.Location}
	}

	for _, t := range g.Teams {
		e.Competitors = append(e.Competitors, thing{Type: "SportsTeam", Name: t.Name})
	}

	return e
}

// length is how long a game lasts, without breaks and stoppage.
func length(g item.Listing) time.Duration {
	return item.Thirds * time.Duration(g.ThirdLength) * time.Minute
}
