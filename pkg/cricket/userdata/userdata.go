// Package userdata deletes and exports what the room keeps of a user, when the accounts room
// requests it.
package userdata

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

const room = "cricket"

var reads = []spec.Access{tables.UsersDevices, tables.UsersPreferences, tables.UsersFollows, tables.UsersReminders, tables.UsersActivities,
	tables.UsersSubscriptions, tables.DaySummaries}

// Service deletes and exports the data of users.
type Service struct {
	db    dynamo.DB
	queue queue.Sender
	files object.Bucket
	now   func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues),
		object.Open(env.AWS, env.Setting(account.Exports.On("").Env())), env.Now}, nil
}

// ForgetUserFunction deletes the data of a user who has deleted the account.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "cricket/forget-user",
		Does:   "Deletes what the room has of a user who has deleted the account.",
		IfDown: "Phones, follows and preferences of deleted users stay.",
		On:     account.Queue(room, account.Forget),
		Uses: append([]spec.Access{tables.ForgetDevices, tables.ForgetPreferences, tables.ForgetFollows, tables.ForgetReminders,
			tables.ForgetActivities, tables.ForgetSubscriptions}, reads...),
		Sends:  []spec.Queue{account.DoneQueue},
		Memory: 256, Timeout: 30 * time.Second,
	}, Open, (*Service).ForgetUser)
}

// ForgetUser deletes all rows of a user, and confirms it. It deletes a list of rows after
// the rows, so that a second run continues an interrupted one.
func (s *Service) ForgetUser(ctx context.Context, in account.Request) error {
	all, err := s.rows(ctx, in.UserID)
	if err != nil {
		return err
	}

	for _, r := range all {
		_, err := dynamo.Delete(ctx, s.db, r.forget, r.key(), r.mine...)
		if err := dynamo.IgnoreRefused(err); err != nil { // refused: it became another user's
			return err
		}
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// ExportUserFunction exports the data of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "cricket/export-user",
		Does:   "Exports what the room has of a user.",
		IfDown: "Exports of users do not end.",
		On:     account.Queue(room, account.Export),
		Uses:   reads, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: 30 * time.Second,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes all rows of a user to the bucket of exports, by table, and confirms
// it. A second run replaces the document.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	all, err := s.rows(ctx, in.UserID)
	if err != nil {
		return err
	}

	document := map[string][]map[string]any{}
	for _, r := range all {
		document[r.forget.Table.Name] = append(document[r.forget.Table.Name], r.item)
	}

	if err := s.files.Put(ctx, account.PartKey(room, in.Job), document); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}

// row is a row of a user.
type row struct {
	forget spec.Access // deletes it
	item   map[string]any
	mine   []expression.ConditionBuilder // holds while it is the user's
}

func (r row) key() dynamo.Item {
	k := r.forget.Table.Key
	return dynamo.Key(r.forget, fmt.Sprint(r.item[k.Partition]), fmt.Sprint(r.item[k.Sort]))
}

// rows reads all rows of a user: a list of rows after the rows.
func (s *Service) rows(ctx context.Context, userID string) (all []row, err error) {
	get := func(read, forget spec.Access, owner string, mine []expression.ConditionBuilder, key ...string) error {
		item, ok, err := dynamo.Get[map[string]any](ctx, s.db, read, key...)
		if ok && (owner == "" || item[owner] == userID) {
			all = append(all, row{forget, item, mine})
		}

		return err
	}

	devices, err := s.partition(ctx, tables.UsersDevices, userID)
	if err != nil {
		return nil, err
	}

	owns := []expression.ConditionBuilder{dynamo.Equal[follower.DeviceRow]("owner", userID)}
	for _, d := range devices {
		if err := get(tables.UsersDevices, tables.ForgetDevices, "owner", owns, "#TOKEN#"+fmt.Sprint(d["deviceToken"]), "~"); err != nil {
			return nil, err
		}

		all = append(all, row{tables.ForgetDevices, d, nil})
	}

	if err := get(tables.UsersPreferences, tables.ForgetPreferences, "", nil, userID); err != nil {
		return nil, err
	}

	lists := follower.FollowList(userID)

	follows, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.UsersFollows, lists...)
	if err != nil {
		return nil, err
	}

	subscriptions, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.UsersSubscriptions, follower.SubscriptionList(userID)...)
	if err != nil {
		return nil, err
	}

	activities, err := s.partition(ctx, tables.UsersActivities, lists[0])
	if err != nil {
		return nil, err
	}

	claimed, err := s.claimed(ctx, follows, subscriptions, activities)
	if err != nil {
		return nil, err
	}

	for _, match := range claimed {
		for _, claim := range [][]string{alert.ReminderClaim(match, userID), follower.StartClaim(match, userID)} {
			if err := get(tables.UsersReminders, tables.ForgetReminders, "", nil, claim...); err != nil {
				return nil, err
			}
		}
	}

	for _, match := range follows.IDs {
		if err := get(tables.UsersFollows, tables.ForgetFollows, "", nil, match, userID); err != nil {
			return nil, err
		}
	}

	listed, err := s.partition(ctx, tables.UsersFollows, lists[0]) // the list, and the starts
	if err != nil {
		return nil, err
	}

	for _, r := range listed {
		all = append(all, row{tables.ForgetFollows, r, nil})
	}

	registered := []expression.ConditionBuilder{dynamo.Equal[activity.Subscription]("userId", userID)}

	for _, list := range activities {
		tokens, _ := list["ids"].([]any)
		for _, token := range tokens {
			if err := get(tables.UsersActivities, tables.ForgetActivities, "userId", registered, fmt.Sprint(list["pushToken"]),
				fmt.Sprint(token)); err != nil {
				return nil, err
			}
		}

		all = append(all, row{tables.ForgetActivities, list, nil})
	}

	for _, subject := range subscriptions.IDs {
		if err := get(tables.UsersSubscriptions, tables.ForgetSubscriptions, "", nil, subject, userID); err != nil {
			return nil, err
		}
	}

	err = get(tables.UsersSubscriptions, tables.ForgetSubscriptions, "", nil, follower.SubscriptionList(userID)...)

	return all, err
}

// claimed returns the ids of the matches of which the user may have claims: those that the user follows or has an
// activity of, and those of the last days that the user follows through a team or a league.
func (s *Service) claimed(ctx context.Context, follows, subscriptions dynamo.List, activities []map[string]any) ([]string, error) {
	all := slices.Clone(follows.IDs)
	for _, list := range activities {
		all = append(all, fmt.Sprint(list["pushToken"]))
	}

	if len(subscriptions.IDs) > 0 {
		recent, err := match.Between(ctx, s.db, s.now().Add(-match.MaxLasts-follower.KeepClaims), s.now().Add(follower.KeepClaims))
		if err != nil {
			return nil, err
		}

		for _, m := range recent {
			if follower.IsSubscribed(subscriptions, m.Fixture()) {
				all = append(all, m.MatchID)
			}
		}
	}

	slices.Sort(all)

	return slices.Compact(all), nil
}

func (s *Service) partition(ctx context.Context, a spec.Access, key string) ([]map[string]any, error) {
	return dynamo.QueryAll[map[string]any](ctx, s.db, a, dynamo.Range{Key: dynamo.KeyIs(a, key), Consistent: true})
}
