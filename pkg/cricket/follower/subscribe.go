package follower

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Subject is what users subscribe to: team/{id} or league/{id}.
type Subject string

// The kinds of subjects.
const (
	Team   = "team"
	League = "league"
)

// SubjectOf returns the subject of a kind with an id.
func SubjectOf(kind, id string) Subject { return Subject(kind + "/" + id) }

// Kind returns Team or League.
func (s Subject) Kind() string { return string(s[:strings.IndexByte(string(s), '/')]) }

// ID returns the id of the team or the league.
func (s Subject) ID() string { return string(s[strings.IndexByte(string(s), '/')+1:]) }

// subjectsOf returns the subjects whose subscribers follow a match: the one whose overrides count least first.
func subjectsOf(f match.Fixture) []Subject {
	all := []Subject{SubjectOf(League, f.LeagueID), SubjectOf(Team, f.VisitorTeamID), SubjectOf(Team, f.LocalTeamID)}
	return slices.Compact(all) // a match whose teams are not known yet has one twice
}

// SubscriptionRow is a row of cricket-subscriptions: a user follows each match of a team or a league that
// there is and will be.
type SubscriptionRow struct {
	Subject   Subject    `dynamodbav:"subject"`
	UserID    string     `dynamodbav:"userId"`
	Overrides *Overrides `dynamodbav:"preferences,omitempty"`
	CreatedAt int64      `dynamodbav:"createdAt"` // epoch ms
}

// SubscriptionList returns the key of the list of a user's subscriptions.
func SubscriptionList(userID string) []string {
	return []string{userPartition + userID, "#SUBSCRIPTIONS"}
}

// SubjectsOf returns the subjects in the list of a user's subscriptions.
func SubjectsOf(list dynamo.List) []Subject {
	all := make([]Subject, len(list.IDs))
	for i, id := range list.IDs {
		all[i] = Subject(id)
	}

	return all
}

// maxSubscriptions is more than the teams of the largest leagues, and the list of them is one kilobyte.
var maxSubscriptions = spec.Limit{Name: "subscriptions per user", Max: 50, Code: "too_many_subscriptions"}

var (
	errNotSubscribed = problem.New(problem.NotFound, "not_subscribed", "you have not subscribed to this team or league")
	errNoSubject     = problem.New(problem.NotFound, "subject_not_found", "there is no such team or league")
)

// Subscription is a team or a league that a user follows, as the API returns it.
type Subscription struct {
	_ struct{} `schema:"TeamOrLeagueSubscription"`

	Kind        string     `json:"kind" enum:"team,league" doc:"What the user follows."`
	ID          string     `json:"id" doc:"The id of the team or the league."`
	Preferences *Overrides `json:"preferences,omitempty" doc:"What replaces the user's preferences for its matches. Absent: nothing."`
	CreatedAt   time.Time  `json:"createdAt" doc:"When the user subscribed."`
}

// SubscriptionPage is the response with a subscription.
type SubscriptionPage struct {
	Status int
	Body   Subscription
}

func (r SubscriptionRow) page(status int) *SubscriptionPage {
	return &SubscriptionPage{status, Subscription{
		Kind: r.Subject.Kind(), ID: r.Subject.ID(), Preferences: r.Overrides, CreatedAt: time.UnixMilli(r.CreatedAt).UTC(),
	}}
}

// SubjectPath names a subject in a URL.
type SubjectPath struct {
	Kind string `path:"kind" enum:"team,league" doc:"Whether it is a team or a league."`
	ID   string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the team or the league."`
}

func (p SubjectPath) subject() Subject { return SubjectOf(p.Kind, p.ID) }

// PutSubscription is the request to follow a team or a league.
type PutSubscription struct {
	auth.User
	SubjectPath
	Body *struct {
		Preferences *Overrides `json:"preferences,omitempty" doc:"What replaces the caller's preferences for its matches. Absent: nothing."`
	}
}

// PutSubscriptionFunction makes the caller a follower of each match of a team or a league.
func PutSubscriptionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/put-subscription",
		Does:   "Makes the caller a follower of each match of a team or a league.",
		IfDown: "Users cannot follow teams and leagues. Those that are followed stay followed.",
		On:     spec.Route{Method: "PUT", Path: "/user/subscriptions/{kind}/{id}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetTeam, tables.GetLeague, tables.PutSubscription, account.CheckDeleted},
		Limits: []spec.Limit{maxSubscriptions},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).PutSubscription, errNoSubject)
}

// PutSubscription makes the caller a follower of each match of a team or a league that there is and will be,
// or replaces the preferences of the subscription. The perspective of a match is that of its team: that of a
// league, and of both teams of a match, is neutral. It returns NotFound if there is no such team or league,
// and Conflict if the caller has maxSubscriptions others.
func (s *Follows) PutSubscription(ctx context.Context, in *PutSubscription) (*SubscriptionPage, error) {
	type anything struct{}

	lookUp := tables.GetTeam
	if in.Kind == League {
		lookUp = tables.GetLeague
	}

	if _, ok, err := dynamo.Get[anything](ctx, s.db, lookUp, in.ID); err != nil {
		return nil, err
	} else if !ok {
		return nil, errNoSubject
	}

	now := s.now()
	row := SubscriptionRow{Subject: in.subject(), UserID: in.UserID, CreatedAt: now.UnixMilli()}

	if in.Body != nil {
		row.Overrides = in.Body.Preferences.orNil()
	}

	entry := dynamo.Entry{
		Access: tables.PutSubscription, List: SubscriptionList(in.UserID), ID: string(row.Subject), Limit: maxSubscriptions,
		ExpiresAt: now.AddDate(100, 0, 0).Unix(), // never: the table has no TTL
		Existing:  func(_ context.Context, ids []string) ([]string, error) { return ids, nil },
	}

	key := dynamo.Key(tables.PutSubscription, string(row.Subject), in.UserID)
	if err := entry.Write(ctx, s.db, dynamo.UpdateWrite(key, dynamo.Set(row, "preferences").SetIfAbsent(row, "createdAt"))); err != nil {
		return nil, err
	}

	stored, ok, err := dynamo.Get[SubscriptionRow](ctx, s.db, tables.PutSubscription, string(row.Subject), in.UserID)
	if err != nil {
		return nil, err
	}

	if ok { // otherwise the caller has ended it since
		row.CreatedAt = stored.CreatedAt
	}

	return row.page(http.StatusOK), nil
}

// DeleteSubscription is the request to end a subscription.
type DeleteSubscription struct {
	auth.User
	SubjectPath
}

// DeleteSubscriptionFunction ends a subscription of the caller.
func DeleteSubscriptionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/delete-subscription",
		Does:   "Ends the caller's subscription to a team or a league.",
		IfDown: "Users get unwanted alerts of teams and leagues.",
		On:     spec.Route{Method: "DELETE", Path: "/user/subscriptions/{kind}/{id}", Auth: spec.User},
		Uses:   []spec.Access{tables.DeleteSubscription, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).DeleteSubscription, errNotSubscribed)
}

// DeleteSubscription ends a subscription of the caller. The matches that the caller follows besides stay followed,
// and Live Activities stay. It returns NotFound if there is none.
func (s *Follows) DeleteSubscription(ctx context.Context, in *DeleteSubscription) (*httpapi.Removed, error) {
	id := string(in.subject())

	err := dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error {
		list, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.DeleteSubscription, SubscriptionList(in.UserID)...)
		if err != nil {
			return err
		}

		i := slices.Index(list.IDs, id)
		if i < 0 {
			return errNotSubscribed
		}

		next := list
		next.IDs = slices.Delete(slices.Clone(list.IDs), i, i+1)

		return dynamo.Transact(ctx, s.db, tables.DeleteSubscription,
			dynamo.DeleteWrite(dynamo.Key(tables.DeleteSubscription, id, in.UserID)),
			dynamo.UpdateWrite(dynamo.Key(tables.DeleteSubscription, SubscriptionList(in.UserID)...),
				dynamo.Set(next, "ids"), dynamo.Unchanged(list, "ids")))
	})
	if err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// GetSubscription is the request for a subscription of the caller.
type GetSubscription struct {
	auth.User
	SubjectPath
}

// GetSubscriptionFunction answers with a subscription of the caller.
func GetSubscriptionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-subscription",
		Does:   "Returns the caller's subscription to a team or a league.",
		IfDown: "Pages of teams and leagues do not show whether the user follows them.",
		On:     spec.Route{Method: "GET", Path: "/user/subscriptions/{kind}/{id}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetSubscription},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).GetSubscription, errNotSubscribed)
}

// GetSubscription returns a subscription of the caller with its preferences. It returns NotFound if there is none.
func (s *Follows) GetSubscription(ctx context.Context, in *GetSubscription) (*SubscriptionPage, error) {
	row, ok, err := dynamo.Get[SubscriptionRow](ctx, s.db, tables.GetSubscription, string(in.subject()), in.UserID)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, errNotSubscribed
	}

	return row.page(http.StatusOK), nil
}

// ListSubscriptions is the request for the teams and leagues that the caller follows.
type ListSubscriptions struct{ auth.User }

// Subscriptions is the response with all subscriptions of a user.
type Subscriptions struct {
	Body struct {
		Teams   []string `json:"teams" nullable:"false" doc:"The ids of the followed teams, the one that was followed last first."`
		Leagues []string `json:"leagues" nullable:"false" doc:"The ids of the followed leagues, the one that was followed last first."`
	}
}

// ListSubscriptionsFunction lists the teams and leagues that the caller follows.
func ListSubscriptionsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-subscriptions",
		Does:   "Lists the teams and leagues that the caller follows.",
		IfDown: "Users do not see which teams and leagues they follow. Those stay followed.",
		On:     spec.Route{Method: "GET", Path: "/user/subscriptions", Auth: spec.User},
		Uses:   []spec.Access{getTombstone, tables.ListSubscriptions},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).ListSubscriptions, account.ErrDeleted)
}

// ListSubscriptions returns the ids of all teams and leagues that the caller follows. It may miss the changes of
// about the last second. It costs one read unit. It returns account.ErrDeleted if the caller's account is deleted.
func (s *Follows) ListSubscriptions(ctx context.Context, in *ListSubscriptions) (*Subscriptions, error) {
	var (
		tombstone account.Tombstone
		list      dynamo.List
	)

	err := dynamo.GetEach(ctx, s.db.Eventual(),
		dynamo.Read{Access: getTombstone, Key: []string{in.UserID}, Into: &tombstone},
		dynamo.Read{Access: tables.ListSubscriptions, Key: SubscriptionList(in.UserID), Into: &list})
	if err != nil {
		return nil, err
	}

	if tombstone.UserID != "" {
		return nil, account.ErrDeleted
	}

	out := &Subscriptions{}
	out.Body.Teams, out.Body.Leagues = []string{}, []string{}

	for _, subject := range slices.Backward(SubjectsOf(list)) {
		if subject.Kind() == Team {
			out.Body.Teams = append(out.Body.Teams, subject.ID())
		} else {
			out.Body.Leagues = append(out.Body.Leagues, subject.ID())
		}
	}

	return out, nil
}
