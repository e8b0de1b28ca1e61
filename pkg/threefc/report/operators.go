package report

import (
	"context"
	"errors"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/takedown"
	"matchday/pkg/threefc/web"
)

// maxListed is how many reports and how many requests an operator gets at once.
const maxListed = 100

// ListReports is the request of an operator for what waits, or for a league.
type ListReports struct {
	auth.Admin
	League string `query:"league" maxLength:"40" doc:"The slug or the id of a league: the answer has it, and what is reported of it alone." example:"parkside"`
}

// Reported is a report for operators.
type Reported struct {
	ReportID string    `json:"reportId" doc:"The id of the report."`
	LeagueID string    `json:"leagueId" doc:"The id of the league."`
	At       time.Time `json:"at" doc:"When it was reported. It is kept for 90 days."`
	Kind     string    `json:"kind" enum:"abuse,privacy,spam,other" doc:"What is wrong."`
	Text     string    `json:"text" doc:"What somebody says about it."`
	Page     string    `json:"page,omitempty" doc:"The path of the page."`
}

// Asked is a request to remove a name for operators.
type Asked struct {
	LeagueID string    `json:"leagueId" doc:"The id of the league."`
	PlayerID string    `json:"playerId" doc:"The id of the player."`
	At       time.Time `json:"at" doc:"When it was asked."`
	Reason   string    `json:"reason,omitempty" doc:"Why."`
}

// LookedUp is a league for operators.
type LookedUp struct {
	LeagueID   string          `json:"leagueId" doc:"The id of the league."`
	Name       string          `json:"name" doc:"The name of the league."`
	Slug       string          `json:"slug" doc:"The name of the league in URLs."`
	Visibility item.Visibility `json:"visibility" enum:"public,unlisted,private" doc:"What its administrators have chosen."`
	Hidden     bool            `json:"hidden" doc:"An operator has hidden the league: only members see it."`
	Members    int             `json:"memberCount" doc:"The number of members."`
	Seasons    int             `json:"seasonCount" doc:"The number of seasons."`
	Players    int             `json:"playerCount" doc:"The number of players."`
}

func lookedUp(l item.League) *LookedUp {
	return &LookedUp{l.ID, l.Name, l.Slug, l.Shown(), l.Hidden, l.Members, l.Seasons, l.Players}
}

// ReportList is the answer with what waits.
type ReportList struct {
	Body struct {
		League   *LookedUp  `json:"league,omitempty" doc:"The league that was asked for."`
		Reports  []Reported `json:"reports" doc:"The newest first: at most 100. Of one league, those among the newest 1,000."`
		Removals []Asked    `json:"removals" doc:"Requests to remove a name that nobody has answered for seven days, the oldest first: at most 100. Of one league all that are open."`
	}
}

// ListReportsFunction lists for operators what is reported.
func ListReportsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-reports",
		Does:   "Returns to operators what is reported, requests to remove a name that wait, and a league that is looked up.",
		IfDown: "Operators do not see what is reported.",
		On:     spec.Route{Method: "GET", Path: "/admin/reports", Auth: spec.Admin},
		Uses: []spec.Access{tables.FindSlug, tables.GetLeague, tables.ListReports, tables.ListRemovals,
			tables.ListOldRemovals},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).ListReports, web.ErrNotFound)
}

// ListReports returns what is reported. Its reads do not grow with the number of leagues. Errors: web.ErrNotFound.
func (s *Service) ListReports(ctx context.Context, in *ListReports) (*ReportList, error) {
	out := &ReportList{}
	out.Body.Reports, out.Body.Removals = []Reported{}, []Asked{}

	var (
		removals []item.Removal
		most     int32 = maxListed
	)

	if in.League != "" {
		l, err := s.find(ctx, in.League)
		if err != nil {
			return nil, err
		}

		out.Body.League, most = lookedUp(*l.V()), 10*maxListed

		if removals, err = s.open(ctx, l.V().ID); err != nil {
			return nil, err
		}
	} else {
		rows, _, err := dynamo.Query[item.Row[item.Removal]](ctx, s.DB, tables.ListOldRemovals, dynamo.Range{
			Key: dynamo.KeyLess(tables.ListOldRemovals, item.RemovalsKey, item.Format(s.Now().Add(-answerTime))), Limit: maxListed,
		})
		if err != nil {
			return nil, err
		}

		removals = item.Values(rows)
	}

	for _, r := range removals {
		out.Body.Removals = append(out.Body.Removals, Asked{r.LeagueID, r.PlayerID, item.Parse(r.At), r.Reason})
	}

	rows, _, err := dynamo.Query[item.Row[item.Report]](ctx, s.DB, tables.ListReports, dynamo.Range{
		Key: dynamo.KeyBeginsWith(tables.ListReports, item.ReportsKey, item.Reports), Backward: true, Limit: most,
	})

	for _, row := range rows {
		r := row.V()
		if len(out.Body.Reports) < maxListed && (out.Body.League == nil || r.LeagueID == out.Body.League.LeagueID) {
			out.Body.Reports = append(out.Body.Reports, Reported{r.ID, r.LeagueID, item.Parse(row.CreatedAt), r.Kind, r.Text, r.Page})
		}
	}

	return out, err
}

// Operate is the request of an operator to do something with a league.
type Operate struct {
	auth.Admin
	League string `path:"league" maxLength:"40" doc:"The slug or the id of the league." example:"parkside"`
	Body   struct {
		Action   string `json:"action" enum:"hide,show,rename,remove-name,dismiss,close" doc:"Hide the league from all but its members, or end that; give it a neutral name; replace the name of a player; leave that name; delete a report." example:"hide"`
		PlayerID string `json:"playerId,omitempty" maxLength:"26" doc:"The id of the player, of remove-name and dismiss." example:"01JX0000000000000000000001"`
		ReportID string `json:"reportId,omitempty" maxLength:"26" doc:"The id of the report, of close." example:"01JX0000000000000000000002"`
	}
}

// Operated is the answer with the league.
type Operated struct {
	Body LookedUp
}

// OperateFunction lets an operator act on a league.
func OperateFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/operate-league",
		Does:   "Lets an operator hide a league, replace its name or the name of a player, or close what is reported of it.",
		IfDown: "Operators cannot hide a league.",
		On:     spec.Route{Method: "POST", Path: "/admin/leagues/{league}", Auth: spec.Admin},
		Uses: []spec.Access{tables.FindSlug, tables.GetLeague, tables.SaveLeague, tables.EndLeague, tables.DropReport, tables.SaveRemoval,
			tables.GetPlayer, tables.SavePlayer, tables.TakeOutbox, tables.ListSeasons},
		Sends:  []spec.Queue{game.AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).Operate, web.ErrNotFound, errWhich, item.ErrNoPlayer, item.ErrScope)
}

var errWhich = problem.New(problem.Unprocessable, "id_needed", "remove-name and dismiss need playerId, and close needs reportId").In("body")

// Operate does something with a league, also with one that was deleted and may be restored. A league that is hidden is
// for its members, whatever visibility its administrators choose. A second run has no second effect. To delete a
// league, invoke takedown. Errors: web.ErrNotFound, id_needed, player_not_found.
func (s *Service) Operate(ctx context.Context, in *Operate) (*Operated, error) {
	id, err := s.idOf(ctx, in.League)
	if err != nil {
		return nil, err
	}

	if _, err := s.look(ctx, id); err != nil {
		return nil, err
	}

	playerID := in.Body.PlayerID

	switch in.Body.Action {
	case "hide", "show":
		err = s.hide(ctx, id, in.Body.Action == "hide")
	case "rename":
		err = takedown.RenameLeague(ctx, s.DB, s.Now(), id)
	case "close":
		if !item.IsID(in.Body.ReportID) {
			return nil, errWhich
		}

		_, err = dynamo.Delete(ctx, s.DB, tables.DropReport, item.Key(item.ReportsKey, item.Reports+in.Body.ReportID))
	case "dismiss", "remove-name":
		if !item.IsID(playerID) {
			return nil, errWhich
		}

		err = s.decideAs(ctx, id, playerID, in.Body.Action == "remove-name", in.UserID)
	}

	if err != nil {
		return nil, err
	}

	after, err := s.look(ctx, id)

	return &Operated{*lookedUp(after)}, err
}

// hide hides a league, or ends that.
func (s *Service) hide(ctx context.Context, leagueID string, hidden bool) error {
	return league.Edit(ctx, s.DB, s.Now(), leagueID, func(l *item.League) ([]dynamo.Write, bool) {
		changed := l.Hidden != hidden
		l.Hidden = hidden

		return nil, changed
	})
}

// decideAs lets an operator replace the name of a player of a league, whether there is a request or not, or dismiss
// the request.
func (s *Service) decideAs(ctx context.Context, leagueID, playerID string, remove bool, by string) error {
	if !remove {
		return s.decide(ctx, leagueID, playerID, item.RemovalDismissed, by)
	}

	p, err := item.PlayerRow.Read(ctx, s.DB, playerID)
	if err == nil && p.V().LeagueID != leagueID {
		err = item.ErrNoPlayer
	}

	if err == nil {
		_, err = takedown.RenamePlayer(ctx, s.DB, s.queue, s.Now(), playerID)
	}

	if decided := s.decide(ctx, leagueID, playerID, item.RemovalAccepted, by); decided != nil {
		return errors.Join(err, decided)
	}

	return err
}
