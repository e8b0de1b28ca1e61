// Package league keeps leagues, their members and the roles of these.
package league

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Errors about leagues.
var (
	errSlug      = problem.New(problem.Conflict, "slug_taken", "another league has this slug").In("body.slug")
	errNotEmpty  = problem.New(problem.Conflict, "league_not_empty", "the league has seasons: delete them first")
	errLastAdmin = problem.New(problem.Conflict, "last_admin", "the league needs an administrator: make another one first")
	errNoMember  = problem.New(problem.NotFound, "member_not_found", "this user has no role in the league")
)

// Service is the service of leagues.
type Service struct{ signin.Base }

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env)}, nil
}

// League is a league as its members see it.
type League struct {
	LeagueID string    `json:"leagueId" doc:"The id of the league."`
	Name     string    `json:"name" doc:"The name of the league."`
	Slug     string    `json:"slug" doc:"The name of the league in URLs." example:"parkside"`
	Role     item.Role `json:"role" enum:"admin,scorekeeper,viewer" doc:"What the caller may do: viewers read, scorekeepers write what belongs to games, administrators everything."`
	Members  int       `json:"memberCount" doc:"The number of members."`
	Seasons  int       `json:"seasonCount" doc:"The number of seasons."`

	Visibility item.Visibility `json:"visibility" enum:"public,unlisted,private" doc:"Who may see the league: everybody; who has the link; its members."`
	Hidden     bool            `json:"hidden,omitempty" doc:"An operator has hidden the league: whatever its visibility is, only members see it."`
}

func shown(row item.Row[item.League], role item.Role) League {
	l := row.V()
	return League{l.ID, l.Name, l.Slug, role, l.Members, l.Seasons, l.Shown(), l.Hidden}
}

// LeaguePage is the answer with a league.
type LeaguePage struct {
	Status int
	ETag   string `header:"ETag"`
	Body   League
}

func page(status int, row item.Row[item.League], role item.Role) *LeaguePage {
	return &LeaguePage{status, httpapi.ETag(row.Rev), shown(row, role)}
}

// CreateLeague is the request for a new league.
type CreateLeague struct {
	auth.User
	idem.Key
	Body struct {
		Name string `json:"name" format:"display-name" doc:"The name of the league." example:"Parkside three-sided"`
		Slug string `json:"slug,omitempty" minLength:"3" maxLength:"40" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The name in URLs: by default one that is made of the name. That of a private league gets random letters at its end." example:"parkside"`

		Visibility item.Visibility `json:"visibility,omitempty" enum:"public,unlisted,private" doc:"Who may see the league: by default everybody." example:"public"`
	}
}

// CreateLeagueFunction creates a league, of which the caller is the administrator.
func CreateLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:    "threefc/create-league",
		Does:    "Creates a league, of which the caller is the administrator.",
		IfDown:  "No league can be created.",
		On:      spec.Route{Method: "POST", Path: "/v1/leagues", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:    []spec.Access{tables.ResolveSession, tables.FindAnswer, tables.MyLeagues, tables.CreateLeague, account.CheckDeleted},
		Limits:  []spec.Limit{MaxLeagues},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).CreateLeague, errSlug, idem.ErrConflict, item.ErrAccess, item.ErrAdmin)
}

// CreateLeague creates a league with the caller as its administrator, in one transaction.
// The slug of a private league ends with random letters. Errors: slug_taken for a slug that the caller
// has chosen, too_many_leagues.
func (s *Service) CreateLeague(ctx context.Context, in *CreateLeague) (*LeaguePage, error) {
	return idem.Once(ctx, s.Answers, CreateLeagueFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[LeaguePage]) (*LeaguePage, error) {
			slug, private := cmp.Or(in.Body.Slug, Slug(in.Body.Name)), in.Body.Visibility == item.Private
			if private { // nobody is to find out by the slug that there is such a league
				slug = apart(slug)
			}

			return dynamo.RetryValue(ctx, item.Attempts, func() (*LeaguePage, error) {
				now := s.Now()

				counted, err := item.Serialize(ctx, s.DB, tables.CreateLeague, in.UserID, now)
				if err != nil {
					return nil, err
				}

				mine, err := s.mine(ctx, in.UserID)
				if err != nil {
					return nil, err
				}

				founded := slices.DeleteFunc(item.Values(mine), func(g item.Grant) bool { return !g.Founder })
				if len(founded) >= MaxLeagues.Max { // leagues to which others have invited the user do not count
					return nil, problem.Beyond(MaxLeagues)
				}

				id := code.NewID(now)
				l := item.New(item.LeagueKey(id), item.Metadata, "League",
					item.League{ID: id, Name: in.Body.Name, Slug: slug, Admins: 1, Members: 1, Visibility: in.Body.Visibility}, now)
				g := item.New(l.PK, item.GrantKey(in.UserID), "Grant",
					item.Grant{LeagueID: id, UserID: in.UserID, Role: item.Admin, Founder: true}, now)
				to := item.New(item.SlugKey(slug), item.Metadata, "Slug", item.Ref{ID: id}, now)
				out := page(http.StatusCreated, l, item.Admin)

				err = commit(ctx, tables.CreateLeague, out, to.Create(), l.Create(), g.Create(),
					g.Mirror(item.UserKey(in.UserID), item.LeagueKey(id)), counted)
				if item.RefusedWrite(err) == 0 { // another league has the slug
					if in.Body.Slug != "" && !private {
						return nil, errSlug
					}

					slug = apart(slug)
				}

				return out, err
			})
		})
}

// mine reads the grants of a user.
func (s *Service) mine(ctx context.Context, userID string) ([]item.Row[item.Grant], error) {
	return item.List[item.Grant](ctx, s.DB, tables.MyLeagues, item.UserKey(userID), item.Leagues)
}

// ListLeagues is the request for the caller's leagues.
type ListLeagues struct{ auth.User }

// LeagueList is the answer with leagues.
type LeagueList struct {
	Body struct {
		Leagues []League `json:"leagues" doc:"In order of name."`
	}
}

// ListLeaguesFunction returns the leagues that the caller is in.
func ListLeaguesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-leagues",
		Does:   "Returns the leagues that the caller is in.",
		IfDown: "The app shows no leagues.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.MyLeagues},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListLeagues)
}

// ListLeagues returns the leagues that the caller is in.
func (s *Service) ListLeagues(ctx context.Context, in *ListLeagues) (*LeagueList, error) {
	mine, err := s.mine(ctx, in.UserID)
	if err != nil {
		return nil, err
	}

	roles := map[string]item.Role{}

	var keys []dynamo.Item

	for _, g := range item.Values(mine) {
		roles[g.LeagueID] = g.Role
		keys = append(keys, item.Key(item.LeagueKey(g.LeagueID), item.Metadata))
	}

	rows, err := dynamo.GetAll[item.Row[item.League]](ctx, s.DB, tables.MyLeagues, keys)
	if err != nil {
		return nil, err
	}

	out := &LeagueList{}

	out.Body.Leagues = make([]League, len(rows))
	for i, row := range rows {
		out.Body.Leagues[i] = shown(row, roles[row.V().ID])
	}

	slices.SortFunc(out.Body.Leagues, func(a, b League) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.LeagueID, b.LeagueID))
	})

	return out, nil
}

// GetLeague is the request for a league.
type GetLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// GetLeagueFunction returns a league.
func GetLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-league",
		Does:   "Returns a league.",
		IfDown: "The app does not show a league.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}", Auth: spec.Session},
		Uses:   Reads(tables.GetLeague),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetLeague, item.ErrAccess, item.ErrScope)
}

// GetLeague returns a league.
func (s *Service) GetLeague(ctx context.Context, in *GetLeague) (*LeaguePage, error) {
	row, role, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	return page(http.StatusOK, row, role), nil
}

// UpdateLeague is the request to change a league.
type UpdateLeague struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Body     struct {
		Name string `json:"name,omitempty" format:"display-name" doc:"The new name." example:"Parkside three-sided"`
		Slug string `json:"slug,omitempty" minLength:"3" maxLength:"40" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The new name in URLs. The one before leads to the league, too, until the next change." example:"parkside"`

		Visibility item.Visibility `json:"visibility,omitempty" enum:"public,unlisted,private" doc:"Who may see the league from now on. Calendars may keep what they have for five minutes." example:"private"`
	}
}

// UpdateLeagueFunction changes the name, the slug or the visibility of a league.
func UpdateLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/update-league",
		Does:   "Changes the name, the slug or the visibility of a league.",
		IfDown: "A league can be neither renamed nor made private.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/leagues/{leagueId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.MyLeagues, tables.SaveLeague),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).UpdateLeague, errSlug, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// UpdateLeague changes a league. A new slug of a private league ends with random letters. Errors: slug_taken, stale.
func (s *Service) UpdateLeague(ctx context.Context, in *UpdateLeague) (*LeaguePage, error) {
	return idem.Once(ctx, s.Answers, UpdateLeagueFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[LeaguePage]) (*LeaguePage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*LeaguePage, error) {
				row, role, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Admin)
				if err != nil {
					return nil, err
				}

				if err := in.IfMatch.Check(row.Rev); err != nil {
					return nil, err
				}

				was := *row.V()

				row.V().Name, row.V().Slug = cmp.Or(in.Body.Name, was.Name), cmp.Or(in.Body.Slug, was.Slug)
				if in.Body.Visibility != "" && in.Body.Visibility != was.Shown() {
					row.V().Visibility = in.Body.Visibility
				}

				if slug := row.V().Slug; row.V().Shown() == item.Private && slug != was.OldSlug && slug != was.Slug {
					if row.V().Slug = was.Slug; !isApart(was.Slug, slug) {
						row.V().Slug = apart(slug)
					}
				}

				if *row.V() == was {
					return page(http.StatusOK, row, role), nil
				}

				now, writes := s.Now(), []dynamo.Write(nil)

				switch row.V().Slug {
				case was.Slug:
				case was.OldSlug:
					row.V().OldSlug = was.Slug
				default:
					row.V().OldSlug = was.Slug
					to := item.New(item.SlugKey(row.V().Slug), item.Metadata, "Slug", item.Ref{ID: was.ID}, now)
					writes = append(writes, to.Create())

					if was.OldSlug != "" {
						writes = append(writes, dynamo.DeleteWrite(item.Key(item.SlugKey(was.OldSlug), item.Metadata)))
					}
				}

				row, saved := row.Save(now)
				out := page(http.StatusOK, row, role)

				err = commit(ctx, tables.SaveLeague, out, append([]dynamo.Write{saved}, writes...)...)
				if item.RefusedWrite(err) == 1 {
					return nil, errSlug
				}

				return out, err
			})
		})
}

// DeleteLeague is the request to delete a league.
type DeleteLeague struct {
	auth.User
	httpapi.IfMatch
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// DeleteLeagueFunction deletes a league without seasons.
func DeleteLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-league",
		Does:   "Deletes a league without seasons.",
		IfDown: "A league cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/leagues/{leagueId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.DropLeague, tables.SaveLeague, tables.EndLeague),
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).DeleteLeague, errNotEmpty, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteLeague deletes a league without seasons, with its players. The league is deleted first, so
// that nothing is added to it; a second run, by any administrator, deletes what a crash has left.
// EndLeague deletes a league with its seasons: what is left of that is kept, because it may be restored.
// Errors: league_not_empty, stale.
func (s *Service) DeleteLeague(ctx context.Context, in *DeleteLeague) (*httpapi.Removed, error) {
	row, _, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Admin)
	if err == item.ErrScope {
		err = s.checkLeft(ctx, in)
	} else if err == nil {
		err = s.dropLeague(ctx, row, in.IfMatch)
	}

	if err != nil {
		return nil, err
	}

	if err := Drop(ctx, s.DB, in.LeagueID, in.UserID); err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// checkLeft checks that the caller may delete what is left of a league. Errors: acl_scope_not_found if it may be restored.
func (s *Service) checkLeft(ctx context.Context, in *DeleteLeague) error {
	if _, err := item.Check(ctx, s.DB, in.LeagueID, in.UserID, item.Admin); err != nil {
		return err
	}

	_, ends, err := Ending(ctx, s.DB, in.LeagueID)
	if err == nil && ends {
		err = item.ErrScope
	}

	return err
}

// dropLeague deletes the league itself, and its slug.
func (s *Service) dropLeague(ctx context.Context, row item.Row[item.League], match httpapi.IfMatch) error {
	if err := match.Check(row.Rev); err != nil {
		return err
	}

	if row.V().Seasons > 0 {
		return errNotEmpty
	}

	return dynamo.RefusedAs(dynamo.Transact(ctx, s.DB, tables.SaveLeague, End(row)...), httpapi.ErrStale)
}
