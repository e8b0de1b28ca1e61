package match

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Matches serves the public reads.
type Matches struct {
	db       dynamo.DB
	eventual dynamo.DB // the same tables, for half the cost
	leagues  *catalog.Leagues
	now      func() time.Time
}

// OpenMatches opens the service of the public reads.
func OpenMatches(_ context.Context, env app.Env) (*Matches, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Matches{db: db, eventual: db.Eventual(), leagues: catalog.NewLeagues(db, env.Now), now: env.Now}, nil
}

// Errors of requests about a match.
var (
	ErrNotFound       = problem.New(problem.NotFound, "match_not_found", "the match does not exist")
	ErrMatchOver      = problem.New(problem.Conflict, "match_over", "the match is over")
	ErrTeamNotInMatch = problem.New(problem.Invalid, "team_not_in_match", "the team does not play in this match")

	errNoScore = problem.New(problem.NotFound, "score_not_found", "the match has no score yet")
)

// How long an answer may be cached: about a slot while a match is played, longer before
// and after it.
var (
	cacheLive = httpapi.Cached{CacheControl: "public, max-age=2"}
	cacheIdle = httpapi.Cached{CacheControl: "public, max-age=30"}
	cacheOver = httpapi.Cached{CacheControl: "public, max-age=300"}
)

// cacheFor returns how long an answer about a match in phase p may be cached.
func cacheFor(p sportmonks.Phase) httpapi.Cached {
	switch {
	case p == sportmonks.Upcoming:
		return cacheIdle
	case p.Over():
		return cacheOver
	}

	return cacheLive
}

// Match is a match as the API returns it.
type Match struct {
	ID         string           `json:"id" doc:"The id of the match."`
	League     string           `json:"league" doc:"The league's code."`
	LeagueID   string           `json:"leagueId" doc:"The id of the league."`
	LeagueName string           `json:"leagueName,omitempty" doc:"The display name: an administrator's title, or the provider's name."`
	SeasonID   string           `json:"seasonId" doc:"The id of the season."`
	StartTime  string           `json:"startTime" format:"date-time" doc:"The scheduled start."`
	Round      string           `json:"round,omitempty" doc:"The round of the competition, such as 1st T20I."`
	Type       string           `json:"type,omitempty" example:"T20I" doc:"The type of the match."`
	Venue      string           `json:"venue,omitempty" doc:"The ground and its city."`
	Status     string           `json:"status" doc:"The provider's status." example:"1st Innings"`
	Phase      sportmonks.Phase `json:"phase" enum:"upcoming,live,break,stumps,interrupted,result,closed" doc:"The phase of the match."`
	Live       bool             `json:"live" doc:"Whether the match is played now."`
	Local      MatchSide        `json:"local" doc:"The home side."`
	Visitor    MatchSide        `json:"visitor" doc:"The visiting side."`
	Result     string           `json:"result,omitempty" doc:"The result as a sentence. Absent: there is none."`
}

// MatchSide is a team in a match. Score is "182/8", or "364 & 298/8d".
type MatchSide struct {
	ID    string `json:"id" doc:"The id of the team."`
	Name  string `json:"name,omitempty" doc:"The display name: an administrator's title, or the provider's name."`
	Code  string `json:"code,omitempty" doc:"The short display name: an administrator's short name, or the provider's code."`
	Color string `json:"color,omitempty" example:"#0b5cad" doc:"The color as #rrggbb."`
	Image string `json:"image,omitempty" doc:"The address of the provider's image."`
	Score string `json:"score,omitempty" doc:"The score, such as 182/8. Absent: the side has not batted."`
	Overs string `json:"overs,omitempty" doc:"The overs of its last innings, such as 19.4."`
}

// summary joins a fixture with its score and its names. Either may be zero.
func summary(f Fixture, s score.State, n Names) Match {
	m := Match{
		ID:         f.MatchID,
		League:     f.LeagueCode,
		LeagueID:   f.LeagueID,
		LeagueName: n.League,
		SeasonID:   f.SeasonID,
		StartTime:  f.StartTime,
		Round:      f.Round,
		Type:       f.Type,
		Venue:      f.VenueName,
		Status:     f.Status,
		Phase:      cmp.Or(s.Phase, f.Phase(), sportmonks.Upcoming),
		Live:       f.Live != "",
		Result:     s.Result.Text,
	}

	var d score.Display
	if s.ID != "" {
		d = s.For(Neutral)
	}

	m.Local = MatchSide{
		f.LocalTeamID, cmp.Or(n.Local.Title, s.Local.Name), cmp.Or(n.Local.ShortName, s.Local.Code), n.Local.Color,
		cmp.Or(n.Local.Image, s.Local.Image), d.Local.Score, d.Local.Overs,
	}
	m.Visitor = MatchSide{
		f.VisitorTeamID, cmp.Or(n.Visitor.Title, s.Visitor.Name), cmp.Or(n.Visitor.ShortName, s.Visitor.Code), n.Visitor.Color,
		cmp.Or(n.Visitor.Image, s.Visitor.Image), d.Visitor.Score, d.Visitor.Overs,
	}

	return m
}

// GetMatch is the request for one match.
type GetMatch struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
}

// MatchPage is the response with a match and its full score.
type MatchPage struct {
	httpapi.Cached
	Body struct {
		Match
		Teams []catalog.TeamRef `json:"seasonTeams,omitempty" doc:"The teams of the season."`
		Score *score.State      `json:"score,omitempty" doc:"Innings, batters, bowler, rates and result."`
	}
}

// GetMatchFunction answers with one match in full.
func GetMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-match",
		Does:   "Returns one match with its full score.",
		IfDown: "Match pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}", Auth: spec.Public},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.EnrichCached, tables.GetTeam, tables.GetLeague, tables.TeamsOfSeason},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).GetMatch, ErrNotFound)
}

// GetMatch returns a match and its score. It returns ErrNotFound if there is no such
// fixture. A match without a cached score has no Score.
func (m *Matches) GetMatch(ctx context.Context, in *GetMatch) (*MatchPage, error) {
	f, state, err := m.match(ctx, m.eventual, in.ID)
	if err != nil {
		return nil, err
	}

	n, err := m.names(ctx, f, state)
	if err != nil {
		return nil, err
	}

	out := &MatchPage{}
	out.Body.Match, out.Body.Teams = summary(f, state, n), n.Season

	out.Cached = cacheFor(out.Body.Phase)
	if state.ID != "" {
		out.Body.Score = &state
	}

	return out, nil
}

// match reads a fixture and its score, which is zero if there is none or it has
// expired. It returns ErrNotFound if there is no such fixture.
func (m *Matches) match(ctx context.Context, db dynamo.DB, id string) (Fixture, score.State, error) {
	f, ok, err := dynamo.Get[Fixture](ctx, db, tables.GetFixture, id)
	if err != nil {
		return Fixture{}, score.State{}, err
	}

	if !ok {
		return Fixture{}, score.State{}, ErrNotFound
	}

	c, ok, err := ReadScore(ctx, db, id)
	if err != nil || !ok || c.TTL <= m.now().Unix() {
		return f, score.State{}, err
	}

	return f, c.State, nil
}

// ListMatches is the request for matches by id, of a league, in play, or of a day.
type ListMatches struct {
	IDs    []string                    `query:"ids" maxItems:"25" doc:"Up to 25 match ids, separated by commas."`
	League string                      `query:"league" maxLength:"32" doc:"With from and to, the code of a league. Without them, its id: the list then has the matches of the last seven days and those to come."`
	From   httpapi.Optional[time.Time] `query:"from" doc:"The earliest start. Requires to, at most 31 days later."`
	To     httpapi.Optional[time.Time] `query:"to" doc:"The latest start. Requires from."`
	Cursor string                      `query:"cursor" pattern:"^[0-9A-Z:-]{20}/[0-9]{1,19}$" doc:"The value of next in the previous page."`
	Limit  int32                       `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"The maximum number of matches in the page. Pages of live and date have 30 at most."`

	Live     bool   `query:"live" doc:"True: the matches in play, those of the league with the highest priority first."`
	Date     string `query:"date" format:"date" doc:"The matches of the active leagues that are played on this day, those of several days first. A match of several days is listed on each of them, up to its end."`
	TimeZone string `query:"timeZone" maxLength:"64" example:"Asia/Kolkata" doc:"The time zone of date, by its name in the IANA database. Default: UTC."`
	Team     string `query:"team" pattern:"^[0-9]{1,19}$" doc:"Of the matches of date only those of the team with this id."`
}

// MatchList is a page of matches in order of start. Next is the cursor of the next
// page; the last page has none.
type MatchList struct {
	httpapi.Cached
	Body struct {
		Matches []Match `json:"matches" doc:"The matches of this page, in order of their start."`
		Next    string  `json:"next,omitempty"`
	}
}

// maxIDs is the largest number of ids in a request. A match costs three halves of a read
// unit: an answer costs no more than 38, and fills a screen.
const maxIDs = 25

// recently is how long ago a match of a list without from and to started, at most.
const recently = 7 * 24 * time.Hour

// longestRange is the largest distance of from and to.
const longestRange = 31 * 24 * time.Hour

// ListMatchesFunction answers with the matches asked for.
func ListMatchesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-matches",
		Does:   "Lists matches by id, the matches in play, those of a day, or those of a league, optionally between two dates.",
		IfDown: "The match list does not load.",
		On: spec.Route{
			Method:  "GET",
			Path:    "/matches",
			Auth:    spec.Public,
			Queries: []string{"cursor", "date", "from", "ids", "league", "limit", "live", "team", "timeZone", "to"},
		},
		Uses: []spec.Access{tables.BatchGetFixtures, tables.BatchGetCached, tables.FixturesByDate, tables.CachedByLeague,
			tables.LiveSummaries, tables.DaySummaries, tables.LocalSummaries, tables.VisitorSummaries, tables.AllLeagues},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).ListMatches, httpapi.ErrBadCursor)
}

// ListMatches returns a page of matches. It omits unknown ids. It returns Invalid for
// a combination of parameters that is not supported, and httpapi.ErrBadCursor for a
// cursor of another list. The matches in play and those of a day cost 4 read units at most,
// however many there are.
func (m *Matches) ListMatches(ctx context.Context, in *ListMatches) (*MatchList, error) {
	by, err := in.selection()
	if err != nil {
		return nil, err
	}

	out := &MatchList{Cached: cacheIdle}

	var (
		found []Fixture
		rows  []SummaryRow
	)

	switch {
	case by == "live":
		rows, out.Body.Next, err = m.inPlay(ctx, in)
		out.Body.Matches, _ = matchesOf(rows)
		out.Cached = cacheLive

		return out, err
	case by == "date":
		rows, out.Body.Next, err = m.ofDay(ctx, in)
		out.Body.Matches, out.Cached = matchesOf(rows)

		return out, err
	case by == "ids":
		found, err = m.byID(ctx, in.IDs)
	case !in.From.Set && !in.To.Set:
		found, out.Body.Next, err = m.ofLeague(ctx, in)
	default:
		found, out.Body.Next, err = m.between(ctx, in)
	}

	if err != nil {
		return nil, err
	}

	out.Body.Matches, err = m.summaries(ctx, found)
	if slices.ContainsFunc(out.Body.Matches, func(m Match) bool { return m.Live }) {
		out.Cached = cacheLive
	}

	return out, err
}

// byID reads the fixtures with these ids.
func (m *Matches) byID(ctx context.Context, ids []string) ([]Fixture, error) {
	var keys []dynamo.Item

	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if !ValidID(id) {
			return nil, problem.In("query.ids", "ids has an invalid match id: valid are 1 to 19 digits")
		}

		keys = append(keys, dynamo.Key(tables.BatchGetFixtures, id))
	}

	found, err := dynamo.GetAll[Fixture](ctx, m.eventual, tables.BatchGetFixtures, keys)
	slices.SortFunc(found, byStart)

	return found, err
}

// byStart orders fixtures by start, then by id.
func byStart(a, b Fixture) int {
	return strings.Compare(a.StartTime+"/"+a.MatchID, b.StartTime+"/"+b.MatchID)
}

// between reads a page of the fixtures of a league that start between two times, and
// the cursor of the next page.
func (m *Matches) between(ctx context.Context, in *ListMatches) ([]Fixture, string, error) {
	from, to := in.From.Value, in.To.Value
	switch {
	case !in.From.Set:
		return nil, "", problem.In("query.from", "from is required if to is set")
	case !in.To.Set:
		return nil, "", problem.In("query.to", "to is required if from is set")
	case to.Before(from):
		return nil, "", problem.In("query.to", "to must not be before from")
	case to.UTC().Year() > 9999:
		return nil, "", problem.In("query.to", "to must be before the year 10000")
	case to.Sub(from) > longestRange:
		return nil, "", problem.In("query.to", "to must be at most 31 days after from")
	}

	r := dynamo.Range{Limit: in.Limit, Key: catalog.StartsBetween(in.League, from, to)}
	if in.Cursor != "" {
		at, start, id, err := parseCursor(in.Cursor)
		if err != nil {
			return nil, "", err
		}

		if at.Before(from.Truncate(time.Second)) || at.After(to) { // DynamoDB refuses a start key outside the range
			return nil, "", httpapi.ErrBadCursor
		}

		r.After = dynamo.StartKey(tables.FixturesByDate, in.League, start, id)
	}

	found, last, err := dynamo.Query[Fixture](ctx, m.eventual, tables.FixturesByDate, r)
	if err != nil || last == nil {
		return found, "", err
	}

	return found, found[len(found)-1].StartTime + "/" + found[len(found)-1].MatchID, nil
}

// parseCursor splits a cursor into the start and the id of the last match of the page
// before. It returns httpapi.ErrBadCursor if the start is not a time.
func parseCursor(cursor string) (at time.Time, start, id string, err error) {
	start, id, _ = strings.Cut(cursor, "/")
	if at, err = time.Parse(tables.TimeLayout, start); err != nil {
		return at, "", "", httpapi.ErrBadCursor.Because(err)
	}

	return at, start, id, nil
}

// ofLeague reads a page of the fixtures of a league that have a cached score and started in
// the last week, or are still to come, and the cursor of the next page. Results are kept for
// good: a list of all of them would begin with the oldest.
func (m *Matches) ofLeague(ctx context.Context, in *ListMatches) ([]Fixture, string, error) {
	from := m.now().Add(-recently).UTC().Format(tables.TimeLayout)

	r := dynamo.Range{
		Key:    dynamo.KeyAtLeast(tables.CachedByLeague, in.League, from),
		Filter: new(dynamo.Greater[ScoreRow]("ttl", m.now().Unix())),
		Limit:  in.Limit,
	}
	if in.Cursor != "" {
		_, start, id, err := parseCursor(in.Cursor)
		if err != nil {
			return nil, "", err
		}

		if start < from { // DynamoDB refuses a start key outside the range
			return nil, "", httpapi.ErrBadCursor
		}

		r.After = dynamo.StartKey(tables.CachedByLeague, in.League, start, id)
	}

	scores, last, err := dynamo.Query[ScoreRow](ctx, m.eventual, tables.CachedByLeague, r)
	if err != nil {
		return nil, "", err
	}

	keys := make([]dynamo.Item, len(scores))
	for i, c := range scores {
		keys[i] = dynamo.Key(tables.BatchGetFixtures, c.MatchID)
	}

	found, err := dynamo.GetAll[Fixture](ctx, m.eventual, tables.BatchGetFixtures, keys)
	slices.SortFunc(found, byStart)

	if last == nil {
		return found, "", err
	}

	var end ScoreRow
	if err := attributevalue.UnmarshalMap(last, &end); err != nil {
		return nil, "", err
	}

	return found, end.StartingAt + "/" + end.MatchID, nil
}

// summaries joins fixtures with their scores and names.
func (m *Matches) summaries(ctx context.Context, found []Fixture) ([]Match, error) {
	scores, err := CachedOf[ScoreRow](ctx, m.eventual, found, func(id string) string { return id })
	if err != nil {
		return nil, err
	}

	names, err := CachedOf[Names](ctx, m.eventual, found, NamesKey)
	if err != nil {
		return nil, err
	}

	out := make([]Match, len(found))
	for i, f := range found {
		var state score.State

		if j := slices.IndexFunc(scores, func(c ScoreRow) bool { return c.MatchID == f.MatchID }); j >= 0 && scores[j].TTL > m.now().Unix() {
			if err := scores[j].Decode(); err != nil {
				return nil, err
			}

			state = scores[j].State
		}

		var n Names
		if j := slices.IndexFunc(names, func(n Names) bool { return n.MatchID == NamesKey(f.MatchID) }); j >= 0 {
			n = names[j]
		}

		out[i] = summary(f, state, n)
	}

	return out, nil
}

// CachedOf reads the rows of cricket-fixture-cache with the keys that key returns for
// the ids of the matches. It omits missing rows.
func CachedOf[T any](ctx context.Context, db dynamo.DB, matches []Fixture, key func(matchID string) string) ([]T, error) {
	keys := make([]dynamo.Item, len(matches))
	for i, f := range matches {
		keys[i] = dynamo.Key(tables.BatchGetCached, key(f.MatchID))
	}

	return dynamo.GetAll[T](ctx, db, tables.BatchGetCached, keys)
}

// GetDisplay is the request for the display of a match on a lock screen.
type GetDisplay struct {
	ID   string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Team string `query:"team" pattern:"^([0-9]{1,19}|neutral)$" default:"neutral" doc:"The id of the team that the user supports, or neutral."`
}

// DisplayPage is the response with a display: the content state of a Live Activity.
type DisplayPage struct {
	httpapi.Cached
	Body score.Display
}

// GetDisplayFunction answers with the display of a match on a lock screen.
func GetDisplayFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-display",
		Does:   "Returns the display of a match on a lock screen, for the fans of a team or neutral.",
		IfDown: "A new activity shows no score until the next ball.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/display", Auth: spec.Public, Queries: []string{"team"}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetDisplay, tables.GetCached, tables.PutDisplay},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenMatches, (*Matches).GetDisplay, ErrNotFound, ErrTeamNotInMatch, errNoScore)
}

// GetDisplay returns the cached display, or builds it from the score and caches it. The
// display of a match that was never polled is not cached: a sync changes its score. It
// returns ErrNotFound if the match does not exist, ErrTeamNotInMatch for another team,
// and NotFound if the match has no score yet.
func (m *Matches) GetDisplay(ctx context.Context, in *GetDisplay) (*DisplayPage, error) {
	f, state, err := m.match(ctx, m.eventual, in.ID)
	if err != nil {
		return nil, err
	}

	view := f.Perspective(in.Team)
	if view == Neutral && in.Team != Neutral {
		return nil, ErrTeamNotInMatch.In("query.team")
	}

	out := &DisplayPage{Cached: cacheFor(state.Phase)}
	if f.LastSlot == 0 && state.ID != "" {
		out.Body = state.For(view)
		return out, nil
	}

	now := m.now()

	row, ok, err := ReadDisplay(ctx, m.eventual, in.ID, view)
	if err != nil {
		return nil, err
	}

	if ok && row.TTL > now.Unix() {
		return out, json.Unmarshal([]byte(row.Display), &out.Body)
	}
	// The stored display has the slot of the fixture, so the score must not be
	// older than the fixture.
	if f, state, err = m.match(ctx, m.db, in.ID); err != nil {
		return nil, err
	}

	if state.ID == "" {
		return nil, errNoScore
	}

	out.Body = state.For(view)
	if f.LastSlot == 0 {
		return out, nil
	}

	text, err := json.Marshal(out.Body)
	if err != nil {
		return nil, err
	}

	row = DisplayRow{ // as of its slot: the next display of the ticker must be newer
		CacheKey: DisplayKey(in.ID, view), Display: RawJSON(text), Hash: out.Body.Hash(), Slot: f.LastSlot, At: SlotTime(f.LastSlot).Unix(),
		Playing: state.Phase == sportmonks.Live, Key: state.KeyEvent(), TTL: now.Add(KeepShown).Unix(),
	}

	err = dynamo.Put(ctx, m.db, tables.PutDisplay, row, NotAfter(f.LastSlot))
	if err := dynamo.IgnoreRefused(err); err != nil { // refused: the ticker has written a newer display
		return nil, err
	}

	return out, nil
}
