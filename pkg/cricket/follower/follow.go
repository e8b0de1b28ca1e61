package follower

import (
	"cmp"
	"context"
	"net/http"
	"slices"
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

// Follow is the key of a row of cricket-match-follows: a user follows a match.
type Follow struct {
	MatchID string `dynamodbav:"matchId"`
	UserID  string `dynamodbav:"userId"`
}

// FollowRow is a row of cricket-match-follows.
type FollowRow struct {
	Follow
	TeamID    string `dynamodbav:"teamId,omitempty"` // the team of the fan, "" for neither
	CreatedAt int64  `dynamodbav:"createdAt"`        // epoch ms
	ExpiresAt int64  `dynamodbav:"expiresAt"`        // epoch s

	ActivityAt int64 `dynamodbav:"activityAt,omitempty"` // when the user last registered an activity of the match, epoch s: see HasActivity
	// ActivityEndedAt is when the user last ended the only activity of the match, epoch s.
	ActivityEndedAt int64 `dynamodbav:"activityEndedAt,omitempty"`

	StartTime string `dynamodbav:"startTime,omitempty"` // of the match when it was followed last: see StartRow

	Overrides *Overrides `dynamodbav:"preferences,omitempty"`
	// Off reports that the user has unfollowed the match, and follows one of its teams or its league.
	Off bool `dynamodbav:"off,omitempty"`

	// CarriedTo is the match that replaces this one, and which the user follows too: see CarryFollows.
	CarriedTo string `dynamodbav:"carriedTo,omitempty"`
}

// activityLife is the longest life of a Live Activity: iOS ends it after 8 h, and removes
// it from the lock screen 4 h later.
const activityLife = 12 * time.Hour

// HasActivity reports whether an activity of the user may still be on the lock screen. Then no
// other one is started by a push.
func (f FollowRow) HasActivity(now time.Time) bool {
	return now.Sub(time.Unix(f.ActivityAt, 0)) < activityLife && f.ActivityEndedAt < max(f.ActivityAt, 1)
}

// freshFor is how long an activity need not be renewed with those that the start of the day has
// started: it lasts to the end of the longest day of play.
const freshFor = 3 * time.Hour

// NeedsRenewal reports whether the user's activity of the match, which the start of the day may have
// started without the app's knowledge, is to be replaced. One that the user has ended is not.
func (f FollowRow) NeedsRenewal(now time.Time) bool {
	ended := f.ActivityEndedAt != 0 && f.ActivityEndedAt >= f.ActivityAt && now.Sub(time.Unix(f.ActivityEndedAt, 0)) < activityLife
	return !ended && now.Sub(time.Unix(f.ActivityAt, 0)) >= freshFor
}

// ActivityRow is the row of ActivityList in cricket-activity-subscriptions.
type ActivityRow struct {
	dynamo.List
	// as in FollowRow; also of an activity without a push token, which has no row of its own
	ActivityAt int64 `dynamodbav:"activityAt,omitempty"`
	// when the user was counted with an Android phone, epoch s: see CountPhone
	PhoneAt int64 `dynamodbav:"phoneAt,omitempty"`
}

// Follows serves the matches that users follow.
type Follows struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenFollows opens the service of the matches that a user follows.
func OpenFollows(_ context.Context, env app.Env) (*Follows, error) {
	return &Follows{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

// maxFollows is more than the matches of any league in a month.
var maxFollows = spec.Limit{Name: "followed matches per user", Max: 100, Code: "too_many_follows"}

var errNotFollowed = problem.New(problem.NotFound, "not_followed", "you do not follow this match")

// FollowedMatch is a match that a user follows, as the API returns it.
type FollowedMatch struct {
	MatchID     string     `json:"matchId" doc:"The id of the match."`
	TeamID      string     `json:"teamId,omitempty" doc:"The team that the user supports. Absent: neutral."`
	ExpiresAt   time.Time  `json:"expiresAt" doc:"The user stops following the match at this time."`
	Preferences *Overrides `json:"preferences,omitempty" doc:"What replaces the user's preferences for the match. Absent: nothing."`
	Subscribed  bool       `json:"subscribed,omitempty" doc:"Whether the user follows the match through a team or its league alone."`
}

// FollowPage is the response with a followed match.
type FollowPage struct {
	Status int
	Body   FollowedMatch
}

// followed returns the match as the API returns it.
func (r FollowRow) followed() FollowedMatch {
	return FollowedMatch{MatchID: r.MatchID, TeamID: r.TeamID, ExpiresAt: time.Unix(r.ExpiresAt, 0).UTC(), Preferences: r.Overrides}
}

// FollowMatch is the request to follow a match.
type FollowMatch struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Body    *struct {
		TeamID      string     `json:"teamId,omitempty" pattern:"^([0-9]{1,19}|neutral)$" example:"11" doc:"The team that the user supports, or neutral. Default: neutral."`
		Preferences *Overrides `json:"preferences,omitempty" doc:"What replaces the user's preferences for the match. Absent: what is stored stays. An empty object removes it."`
	}
}

// FollowMatchFunction makes the caller a follower of a match.
func FollowMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/follow-match",
		Does:   "Makes the caller a follower of a match.",
		IfDown: "Users cannot follow matches. Followed matches stay followed.",
		On:     spec.Route{Method: "POST", Path: "/user/follow/{matchId}", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.FollowMatch, tables.ListActivities, account.CheckDeleted},
		Limits: []spec.Limit{maxFollows},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).FollowMatch, match.ErrMatchOver, match.ErrNotFound, match.ErrTeamNotInMatch)
}

// FollowMatch makes the caller a follower of a match, or changes the team of a follower and renews
// the expiry. If the caller has an activity of the match, send-alerts starts no other. It returns
// ErrNotFound if there is no such match, ErrTeamNotInMatch if the team does not play in it,
// ErrMatchOver if it is over, and Conflict if the caller follows maxFollows other matches.
func (s *Follows) FollowMatch(ctx context.Context, in *FollowMatch) (*FollowPage, error) {
	team := ""
	if in.Body != nil && in.Body.TeamID != match.Neutral {
		team = in.Body.TeamID
	}

	f, err := s.match(ctx, in.MatchID, team)
	if err != nil {
		return nil, err
	}

	over, err := match.Ended(ctx, s.db, f)
	if err != nil {
		return nil, err
	}

	if over {
		return nil, match.ErrMatchOver
	}

	now := s.now()
	row := FollowRow{TeamID: team, CreatedAt: now.UnixMilli(), ExpiresAt: f.Expiry(now, match.KeepFollow), StartTime: f.StartTime}
	changes := dynamo.Set(row, "teamId", "expiresAt", "startTime").SetIfAbsent(row, "createdAt").Remove("off")

	if in.Body != nil && in.Body.Preferences != nil {
		row.Overrides = in.Body.Preferences.orNil()
		changes = changes.Set(row, "preferences")
	}

	key := dynamo.Key(tables.FollowMatch, in.MatchID, in.UserID)

	before, _, err := dynamo.Get[FollowRow](ctx, s.db, tables.FollowMatch, in.MatchID, in.UserID)
	if err != nil {
		return nil, err
	}

	writes := append([]dynamo.Write{dynamo.UpdateWrite(key, changes)}, startWrites(in.UserID, f, before, row.ExpiresAt, false)...)
	if err := s.entry(in.UserID, in.MatchID, row.ExpiresAt).Write(ctx, s.db, writes...); err != nil {
		return nil, err
	}
	// It reads after it has written, and start-activity writes before it looks for the
	// follow: so one of them sees the other.
	activities, _, err := dynamo.Get[ActivityRow](ctx, s.db, tables.ListActivities, ActivityList(in.UserID, in.MatchID)...)
	if err != nil {
		return nil, err
	}

	if row.ActivityAt = activities.ActivityAt; row.HasActivity(now) {
		err := dynamo.Update(ctx, s.db, tables.FollowMatch, key, dynamo.Set(row, "activityAt"), dynamo.Exists[FollowRow]("matchId"))
		if err := dynamo.IgnoreRefused(err); err != nil { // refused: the user has unfollowed meanwhile
			return nil, err
		}
	}

	if row.MatchID = in.MatchID; in.Body == nil || in.Body.Preferences == nil {
		row.Overrides = before.Overrides
	}

	return &FollowPage{http.StatusCreated, row.followed()}, nil
}

// followed returns those of the matches that the user still follows, in the same order.
func (s *Follows) followed(ctx context.Context, userID string, ids []string) ([]string, error) {
	rows, err := s.rows(ctx, s.db, tables.FollowMatch, userID, ids)

	still := make([]string, len(rows))
	for i, r := range rows {
		still[i] = r.MatchID
	}

	return still, err
}

// rows reads the rows of those of the matches that the user still follows, in the same order.
func (s *Follows) rows(ctx context.Context, db dynamo.DB, a spec.Access, userID string, ids []string) ([]FollowRow, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = dynamo.Key(a, id, userID)
	}

	rows, err := dynamo.GetAll[FollowRow](ctx, db, a, keys)
	now := s.now().Unix()
	rows = slices.DeleteFunc(rows, func(r FollowRow) bool { return r.ExpiresAt <= now })
	slices.SortFunc(rows, func(a, b FollowRow) int { return slices.Index(ids, a.MatchID) - slices.Index(ids, b.MatchID) })

	return rows, err
}

// match reads a fixture. It returns match.ErrNotFound if there is none, and
// match.ErrTeamNotInMatch if the team does not play in it. A team of "" is no team.
func (s *Follows) match(ctx context.Context, id, teamID string) (match.Fixture, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, id)
	if err != nil {
		return match.Fixture{}, err
	}

	if !ok {
		return match.Fixture{}, match.ErrNotFound
	}

	if teamID != "" && f.Perspective(teamID) == match.Neutral {
		return match.Fixture{}, match.ErrTeamNotInMatch.In("body.teamId")
	}

	return f, nil
}

// GetFollow is the request for the caller's follow of a match.
type GetFollow struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
}

// GetFollowFunction answers whether the caller follows a match.
func GetFollowFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-follow",
		Does:   "Returns the team that the caller supports in a followed match.",
		IfDown: "Match pages do not show whether the user follows the match.",
		On:     spec.Route{Method: "GET", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.CheckFollow, tables.GetFixture, tables.ListSubscriptions},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).GetFollow, errNotFollowed)
}

// GetFollow returns the team that the caller supports in a followed match, also if the caller follows it through a
// team or its league. It returns NotFound if the caller does not follow the match.
func (s *Follows) GetFollow(ctx context.Context, in *GetFollow) (*FollowPage, error) {
	row, ok, err := dynamo.Get[FollowRow](ctx, s.db, tables.CheckFollow, in.MatchID, in.UserID)
	if err != nil {
		return nil, err
	}

	if ok && row.ExpiresAt > s.now().Unix() {
		if row.Off {
			return nil, errNotFollowed
		}

		return &FollowPage{http.StatusOK, row.followed()}, nil
	}

	f, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, in.MatchID)
	if err != nil || !ok || f.EndingAt != 0 {
		return nil, cmp.Or[error](err, errNotFollowed)
	}

	m, ok, err := s.subscribed(ctx, in.UserID, f)
	if err != nil || !ok {
		return nil, cmp.Or[error](err, errNotFollowed)
	}

	out := &FollowPage{http.StatusOK, m.followed()}
	out.Body.Subscribed = true

	return out, nil
}

// subscribed returns the user as a member of the audience of a match, through a team or its league. It does not
// read the preferences. ok is false if the user has subscribed to none of them.
func (s *Follows) subscribed(ctx context.Context, userID string, f match.Fixture) (m Member, ok bool, err error) {
	list, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.ListSubscriptions, SubscriptionList(userID)...)
	if err != nil {
		return Member{}, false, err
	}

	rows := make([][]SubscriptionRow, len(subjectsOf(f)))

	for i, subject := range subjectsOf(f) {
		if slices.Contains(SubjectsOf(list), subject) {
			rows[i] = []SubscriptionRow{{Subject: subject, UserID: userID}}
		}
	}

	members := merge(f, nil, rows, s.now())
	if len(members) == 0 {
		return Member{}, false, nil
	}

	m = members[0]
	m.ExpiresAt = f.Expiry(s.now(), match.KeepFollow)

	return m, true, nil
}

// ListFollows is the request for a page of the matches that the caller follows.
type ListFollows struct {
	auth.User
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}$" doc:"The value of next in the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"6" default:"6" doc:"The maximum number of matches in the page."`
}

// FollowedMatches is a page of the matches that a user follows. Next is the cursor of the next
// page; the last page has none.
type FollowedMatches struct {
	Body struct {
		Follows []FollowedMatch `json:"follows" nullable:"false" doc:"The match that was followed last comes first. A page may be shorter than its limit, because it leaves out matches that have ended or that the user has unfollowed."`
		Next    string          `json:"next,omitempty"`
	}
}

// A page of ListFollows costs half a read unit for each of its rows, the list and the tombstone: at
// most 4 in all.
var (
	listFollows = tables.Follows.On("List user's follows", "PK=#USER#{userId}, SK=#FOLLOWS; PK=matchId, SK=userId (up to 6)",
		spec.Rate{Driver: spec.Request}, spec.BatchGetItem)
	getTombstone = account.Deleted.On("Get tombstone", "PK=userId", spec.Rate{Driver: spec.Request}, spec.BatchGetItem)
)

// ListFollowsFunction lists the matches that the caller follows.
func ListFollowsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-follows",
		Does:   "Lists the matches that the caller follows, the one followed last first.",
		IfDown: "Users do not see which matches they follow. Followed matches stay followed.",
		On:     spec.Route{Method: "GET", Path: "/user/follows", Auth: spec.User, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{getTombstone, listFollows},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).ListFollows, account.ErrDeleted, httpapi.ErrBadCursor)
}

// ListFollows returns a page of the matches that the caller follows, in reverse order of the last
// POST /user/follow of each. It may miss the changes of about the last second. It returns
// account.ErrDeleted if the caller's account is deleted, and httpapi.ErrBadCursor if the match of the
// cursor is not in the list.
func (s *Follows) ListFollows(ctx context.Context, in *ListFollows) (*FollowedMatches, error) {
	var (
		tombstone account.Tombstone
		list      dynamo.List
	)

	db := s.db.Eventual()

	err := dynamo.GetEach(ctx, db,
		dynamo.Read{Access: getTombstone, Key: []string{in.UserID}, Into: &tombstone},
		dynamo.Read{Access: listFollows, Key: FollowList(in.UserID), Into: &list})
	if err != nil {
		return nil, err
	}

	if tombstone.UserID != "" {
		return nil, account.ErrDeleted
	}

	slices.Reverse(list.IDs)

	ids, next, err := httpapi.Page(list.IDs, func(id string) string { return id }, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	rows, err := s.rows(ctx, db, listFollows, in.UserID, ids)
	if err != nil {
		return nil, err
	}

	rows = slices.DeleteFunc(rows, func(r FollowRow) bool { return r.Off })

	out := &FollowedMatches{}
	out.Body.Follows, out.Body.Next = make([]FollowedMatch, len(rows)), next

	for i, r := range rows {
		out.Body.Follows[i] = r.followed()
	}

	return out, nil
}

// UpdateFollow is the request to change the team of a followed match.
type UpdateFollow struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Body    struct {
		TeamID      string     `json:"teamId,omitempty" pattern:"^([0-9]{1,19}|neutral)$" example:"11" doc:"The team that the user supports, or neutral. Absent: it stays."`
		Preferences *Overrides `json:"preferences,omitempty" doc:"What replaces the user's preferences for the match. Absent: what is stored stays. An empty object removes it."`
	}
}

// UpdateFollowFunction changes the team of a match that the caller follows.
func UpdateFollowFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/update-follow",
		Does:   "Changes the team that the caller supports in a followed match, and the preferences for it.",
		IfDown: "Users cannot change the team of a followed match.",
		On:     spec.Route{Method: "PATCH", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetFixture, tables.UpdateFollow, tables.CheckFollow, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).UpdateFollow, errNotFollowed, match.ErrNotFound, match.ErrTeamNotInMatch)
}

// UpdateFollow changes the team and the preferences of a match that the caller follows. It returns NotFound
// if the caller does not follow it, or follows it through a subscription alone, or the match does not exist, and
// ErrTeamNotInMatch if the team does not play in it.
func (s *Follows) UpdateFollow(ctx context.Context, in *UpdateFollow) (*FollowPage, error) {
	team := in.Body.TeamID
	if team == match.Neutral {
		team = ""
	}

	if in.Body.TeamID == "" && in.Body.Preferences == nil {
		return nil, problem.In("body", "teamId or preferences is required")
	}

	f, err := s.match(ctx, in.MatchID, team)
	if err != nil {
		return nil, err
	}

	now := s.now()
	row := FollowRow{TeamID: team, ExpiresAt: f.Expiry(now, match.KeepFollow), Overrides: in.Body.Preferences.orNil()}

	changes := dynamo.Set(row, "expiresAt")
	if in.Body.TeamID != "" {
		changes = changes.Set(row, "teamId")
	}

	if in.Body.Preferences != nil {
		changes = changes.Set(row, "preferences")
	}

	followed := dynamo.Exists[FollowRow]("matchId").And(dynamo.Greater[FollowRow]("expiresAt", now.Unix()), dynamo.Absent[FollowRow]("off"))

	err = dynamo.Update(ctx, s.db, tables.UpdateFollow, dynamo.Key(tables.UpdateFollow, in.MatchID, in.UserID), changes, followed)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNotFollowed)
	}

	row, ok, err := dynamo.Get[FollowRow](ctx, s.db, tables.CheckFollow, in.MatchID, in.UserID)
	if err != nil || !ok { // the caller has unfollowed the match since
		return nil, cmp.Or[error](err, errNotFollowed)
	}

	return &FollowPage{http.StatusOK, row.followed()}, nil
}

// UnfollowMatch is the request to stop following a match.
type UnfollowMatch struct {
	auth.User
	MatchID string `path:"matchId" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
}

// UnfollowMatchFunction ends the follow of a match by the caller.
func UnfollowMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/unfollow-match",
		Does:   "Ends the caller's follow of a match, and the caller's Live Activities of it.",
		IfDown: "Users cannot unfollow matches, and get unwanted alerts until the match ends.",
		On:     spec.Route{Method: "DELETE", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses: []spec.Access{tables.UnfollowMatch, tables.RemoveOfUser, tables.ListSubscriptions, tables.GetFixture, tables.FollowMatch,
			tables.CountPhones, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenFollows, (*Follows).UnfollowMatch, errNotFollowed)
}

// UnfollowMatch deletes the caller's follow of a match, and then the caller's Live Activities of
// it. If the caller follows a team of the match or its league, the match becomes an exception. The list of
// the activities is deleted last: if a call fails, the next one deletes the rest. It returns NotFound if
// there is nothing to delete. Its cost does not depend on other users.
func (s *Follows) UnfollowMatch(ctx context.Context, in *UnfollowMatch) (*httpapi.Removed, error) {
	found, err := s.unfollow(ctx, in)
	if err != nil {
		return nil, err
	}

	list := ActivityList(in.UserID, in.MatchID)

	activities, listed, err := dynamo.Get[ActivityRow](ctx, s.db, tables.RemoveOfUser, list...)
	if err != nil {
		return nil, err
	}

	for _, token := range activities.IDs {
		deleted, err := dynamo.Applied(s.deleteActivity(ctx, in, token))
		if err != nil {
			return nil, err
		}

		found = found || deleted
	}

	if listed {
		_, err := dynamo.Delete(ctx, s.db, tables.RemoveOfUser, dynamo.Key(tables.RemoveOfUser, list...),
			dynamo.Unchanged(activities, "ids", "phoneAt"))

		deleted, err := dynamo.Applied(err) // refused: meanwhile the user has registered another activity
		if err != nil {
			return nil, err
		}

		if deleted && activities.PhoneAt != 0 {
			if err := uncountPhone(ctx, s.db, in.MatchID); err != nil {
				return nil, err
			}
		}
	}

	if !found {
		return nil, errNotFollowed
	}

	return httpapi.NewRemoved(), nil
}

// deleteActivity deletes a Live Activity of the caller. It returns *dynamo.Refused if it
// has ended, or is another user's.
func (s *Follows) deleteActivity(ctx context.Context, in *UnfollowMatch, token string) error {
	type activity struct {
		UserID string `dynamodbav:"userId"`
	}

	mine := dynamo.Equal[activity]("userId", in.UserID)
	_, err := dynamo.Delete(ctx, s.db, tables.RemoveOfUser, dynamo.Key(tables.RemoveOfUser, in.MatchID, token), mine)

	return err
}

// RemoveFollows deletes all follows of the match. It calls more before each page, and stops when
// more returns false. done reports that no follow is left.
func RemoveFollows(ctx context.Context, db dynamo.DB, matchID string, more func() bool) (done bool, err error) {
	key := dynamo.KeyIs(tables.RemoveFollows, matchID)

	pages := dynamo.Pages(func(after dynamo.Item) ([]Follow, dynamo.Item, error) {
		return dynamo.Query[Follow](ctx, db, tables.RemoveFollows, dynamo.Range{Key: key, After: after})
	})
	for page, err := range pages {
		if err != nil {
			return false, err
		}

		if !more() {
			return false, nil
		}

		keys := make([]dynamo.Item, len(page))
		for i, f := range page {
			keys[i] = dynamo.Key(tables.RemoveFollows, f.MatchID, f.UserID)
		}

		if err := dynamo.DeleteAll(ctx, db, tables.RemoveFollows, keys); err != nil {
			return false, err
		}
	}

	return true, nil
}
