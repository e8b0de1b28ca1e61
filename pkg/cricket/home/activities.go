package home

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// list is the row of a user's activities of a match.
type list struct {
	Partition string `dynamodbav:"matchId"`   // #USER#{userId}
	MatchID   string `dynamodbav:"pushToken"` // the sort key
	follower.ActivityRow
}

// active reports whether an activity of the list may still be on a lock screen.
func (l list) active(now time.Time) bool {
	return follower.FollowRow{ActivityAt: l.ActivityAt}.HasActivity(now)
}

// lists reads the user's lists of activities from a match to another, in the order of the ids.
func (h *Homes) lists(ctx context.Context, userID, from, to string, limit int32) ([]list, error) {
	partition := follower.ActivityList(userID, "")[0]

	rows, _, err := dynamo.Query[list](ctx, h.db, tables.ActivityLists,
		dynamo.Range{Key: dynamo.KeyBetween(tables.ActivityLists, partition, from, to), Limit: limit})

	return rows, err
}

// The first and the last id of a match.
const (
	firstID = "0"
	lastID  = "9999999999999999999"
)

// ListActivities is the request for a page of the caller's Live Activities.
type ListActivities struct {
	auth.User
	Cursor string `query:"cursor" pattern:"^[0-9]{1,19}(/[0-9A-Za-z_-]{43})?$" doc:"The value of next in the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"4" default:"4" doc:"The maximum number of activities in the page."`
}

// Activity is a Live Activity of a user.
type Activity struct {
	_ struct{} `schema:"UserActivity"`

	MatchID    string       `json:"matchId" doc:"The id of the match."`
	TeamID     string       `json:"teamId,omitempty" doc:"The team that the user supports. Absent: neutral, or the activity listens to a channel."`
	ActivityID push.TokenID `json:"activityId,omitempty" doc:"Names the activity in URLs. Absent if it listens to a channel."`
	Since      time.Time    `json:"since" doc:"When the activity was registered; one that listens to a channel, when it was registered last."`
	ExpiresAt  time.Time    `json:"expiresAt" doc:"The updates end at this time at the latest."`
}

// ActivityPage is a page of the Live Activities of a user.
type ActivityPage struct {
	Body struct {
		Activities []Activity `json:"activities" nullable:"false" doc:"The activities of this page, by match. A page may be shorter than its limit, because it leaves out activities that have ended."`
		Next       string     `json:"next,omitempty"`
	}
}

// getSubscriptions reads the activities of a page. It costs half a read unit for each; the lists cost one or
// two with the longest tokens.
var getSubscriptions = tables.Subscriptions.On("Batch get user's subscriptions", "PK=matchId, SK=pushToken (up to 4)",
	spec.Rate{Driver: spec.Request}, spec.BatchGetItem)

// ListActivitiesFunction lists the caller's Live Activities.
func ListActivitiesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-activities",
		Does:   "Lists the Live Activities of the caller, on all phones.",
		IfDown: "Users do not see which activities they have. Activities are updated.",
		On:     spec.Route{Method: "GET", Path: "/user/activities", Auth: spec.User, Queries: []string{"cursor", "limit"}},
		Uses:   []spec.Access{tables.ActivityLists, getSubscriptions},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenHomes, (*Homes).ListActivities, httpapi.ErrBadCursor)
}

// ListActivities returns a page of the caller's Live Activities, in the order of the ids of their matches. An
// activity that listens to a channel is listed for 12 h after its registration, the longest life of an
// activity, because its end is not known. It returns httpapi.ErrBadCursor if the activity of
// the cursor is no longer in the list. It costs 4 read units at most.
func (h *Homes) ListActivities(ctx context.Context, in *ListActivities) (*ActivityPage, error) {
	from, _, _ := strings.Cut(in.Cursor, "/")

	// The first list may have been read to its end, and one more tells whether there is a next page.
	lists, err := h.lists(ctx, in.UserID, cmp.Or(from, firstID), lastID, int32(in.Limit)+2)
	if err != nil {
		return nil, err
	}

	var all []entry

	for _, l := range lists {
		for _, token := range l.IDs {
			all = append(all, entry{l, push.Token(token)})
		}

		if len(l.IDs) == 0 { // it listens to a channel
			all = append(all, entry{list: l})
		}
	}

	page, next, err := httpapi.Page(all, entry.cursor, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	out := &ActivityPage{}
	out.Body.Next = next
	out.Body.Activities, err = h.activities(ctx, in.UserID, page)

	return out, err
}

// entry is an activity in the list of a match: one with a push token, or one that listens to a channel.
type entry struct {
	list
	token push.Token
}

// cursor returns the position of the entry in the lists of the user.
func (e entry) cursor() string {
	if e.token == "" {
		return e.MatchID
	}

	return e.MatchID + "/" + string(e.token.ID())
}

// activities returns those of the entries that have not ended.
func (h *Homes) activities(ctx context.Context, userID string, page []entry) ([]Activity, error) {
	var keys []dynamo.Item

	for _, e := range page {
		if e.token != "" {
			keys = append(keys, dynamo.Key(getSubscriptions, e.MatchID, string(e.token)))
		}
	}

	rows, err := dynamo.GetAll[activity.Subscription](ctx, h.db, getSubscriptions, keys)
	if err != nil {
		return nil, err
	}

	all, now := []Activity{}, h.now()

	for _, e := range page {
		i := slices.IndexFunc(rows, func(s activity.Subscription) bool {
			return s.MatchID == e.MatchID && s.PushToken == string(e.token) && s.UserID == userID && s.ExpiresAt > now.Unix()
		})

		switch {
		case i >= 0:
			all = append(all, Activity{
				MatchID: e.MatchID, TeamID: rows[i].TeamID, ActivityID: e.token.ID(),
				Since: time.UnixMilli(rows[i].CreatedAt).UTC(), ExpiresAt: time.Unix(rows[i].ExpiresAt, 0).UTC(),
			})
		case e.token == "" && e.active(now) && e.ExpiresAt > now.Unix():
			all = append(all, Activity{
				MatchID: e.MatchID, Since: time.Unix(e.ActivityAt, 0).UTC(), ExpiresAt: time.Unix(e.ExpiresAt, 0).UTC(),
			})
		}
	}

	return all, nil
}
