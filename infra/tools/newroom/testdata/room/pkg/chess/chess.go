// Package chess keeps the ratings of its users. It is the smallest room that keeps data of users.
package chess

import (
	"context"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

const room = "chess"

// ratings has a row for each user who has played.
var ratings = spec.Table{Name: "chess-ratings", Key: spec.Key{Partition: "userId"}}

// The access patterns.
var (
	readRating   = ratings.On("Read rating", "PK=userId", spec.Rate{Driver: spec.Request}, spec.GetItem)
	forgetRating = ratings.On("Forget rating", "PK=userId", spec.Rate{Driver: spec.Message}, spec.DeleteItem)
)

// clock is a setting that a function gets.
const clock = "CHESS_CLOCK"

// Room is the room's part of the fleet.
func Room() app.Room {
	return app.NewRoom(spec.Room{
		Name: room,
		Data: []spec.Data{{Store: "chess-ratings", Of: "users", What: "the rating", Why: "to show it", Kept: "until the account is deleted"}},
		Settings: []spec.Setting{{
			Name: clock, Functions: []string{"chess/get-rating"}, Does: "the clock whose ratings are shown", Like: "blitz|rapid", Example: "blitz",
		}},
	}, GetRatingFunction(), ForgetUserFunction(), ExportUserFunction())
}

// Service is the service of ratings.
type Service struct {
	db    dynamo.DB
	queue queue.Sender
	files object.Bucket
	clock string
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{
		db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues),
		files: object.Open(env.AWS, env.Setting(account.Exports.On("").Env())), clock: env.Setting(clock),
	}, nil
}

type rating struct {
	UserID string `dynamodbav:"userId"`
	Points int    `dynamodbav:"points"`
}

// GetRating is the request for the caller's rating.
type GetRating struct{ auth.User }

// Rating is the answer with a rating.
type Rating struct {
	Body struct {
		Clock  string `json:"clock,omitempty" doc:"The clock." example:"blitz"`
		Points int    `json:"points" doc:"0 before the first game." example:"1500"`
	}
}

// GetRatingFunction returns the caller's rating.
func GetRatingFunction() app.Function {
	return app.API(spec.Function{
		Name:   "chess/get-rating",
		Does:   "Returns the caller's rating.",
		IfDown: "Users do not see their ratings.",
		On:     spec.Route{Method: "GET", Path: "/rating", Auth: spec.User},
		Uses:   []spec.Access{readRating},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetRating)
}

// GetRating returns the caller's rating.
func (s *Service) GetRating(ctx context.Context, in *GetRating) (*Rating, error) {
	row, _, err := dynamo.Get[rating](ctx, s.db, readRating, in.UserID)

	out := &Rating{}
	out.Body.Clock, out.Body.Points = s.clock, row.Points

	return out, err
}

// ForgetUserFunction deletes what the room has of a user.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "chess/forget-user",
		Does:   "Deletes what the room has of a user who has deleted the account.",
		IfDown: "Ratings of deleted users stay.",
		On:     account.Queue(room, account.Forget),
		Uses:   []spec.Access{forgetRating}, Sends: []spec.Queue{account.DoneQueue},
		Memory: 256, Timeout: 30 * time.Second,
	}, Open, (*Service).ForgetUser)
}

// ForgetUser deletes the rating of a user, and confirms it.
func (s *Service) ForgetUser(ctx context.Context, in account.Request) error {
	if _, err := dynamo.Delete(ctx, s.db, forgetRating, dynamo.Key(forgetRating, in.UserID)); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// ExportUserFunction hands out what the room has of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "chess/export-user",
		Does:   "Hands out what the room has of a user.",
		IfDown: "Exports of users do not end.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{readRating}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: 30 * time.Second,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes the rating of a user to the bucket of exports, and confirms it.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	row, _, err := dynamo.Get[rating](ctx, s.db, readRating, in.UserID)
	if err != nil {
		return err
	}

	if err := s.files.Put(ctx, account.PartKey(room, in.Job), map[string]int{"points": row.Points}); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}
