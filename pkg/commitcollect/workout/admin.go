package workout

import (
	"context"
	"net/http"
	"strings"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// OpenHooks opens the service of the webhook.
func OpenHooks(ctx context.Context, env app.Env) (*Hooks, error) {
	secret, err := env.Secret(ctx, Webhook)
	if err != nil {
		return nil, err
	}

	return &Hooks{dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues), secret}, nil
}

// Subscriptions is the service of the subscription to the webhook.
type Subscriptions struct {
	db     dynamo.DB
	strava *strava.Client
	env    app.Env
}

// OpenSubscriptions opens the service of the subscription.
func OpenSubscriptions(ctx context.Context, env app.Env) (*Subscriptions, error) {
	client, err := link.OpenStrava(ctx, env)
	return &Subscriptions{dynamo.Open(env.AWS, env.Prefix), client, env}, err
}

// GetSubscription is the request for the subscription to Strava's webhooks.
type GetSubscription struct{ auth.Admin }

// Subscription is the answer with the subscription.
type Subscription struct {
	Body struct {
		Subscribed bool  `json:"subscribed" doc:"Whether Strava has a subscription of this application."`
		Ours       bool  `json:"ours" doc:"Whether its events are accepted here."`
		ID         int64 `json:"subscriptionId,omitempty" doc:"Its id at Strava."`
	}
}

// GetSubscriptionFunction returns whether Strava sends its events to this stage.
func GetSubscriptionFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/get-subscription",
		Does:    "Returns whether Strava sends its events to this stage.",
		IfDown:  "Administrators cannot see the subscription.",
		On:      spec.Route{Method: "GET", Path: "/admin/strava/subscription", Auth: spec.Admin},
		Uses:    []spec.Access{tables.GetSubscription},
		Secrets: []string{link.StravaApp},
		Memory:  256, Timeout: 25 * time.Second,
	}, OpenSubscriptions, (*Subscriptions).GetSubscription, errSubscribing)
}

// GetSubscription returns the subscription as Strava has it. The address of the webhook contains
// the secret, and is not in the answer.
func (s *Subscriptions) GetSubscription(ctx context.Context, _ *GetSubscription) (*Subscription, error) {
	all, err := s.strava.Subscriptions(ctx)
	if err != nil {
		return nil, errSubscribing.Because(err)
	}

	ours, _, err := dynamo.Get[subscription](ctx, s.db, tables.GetSubscription, item.Subscription, item.Meta)
	if err != nil {
		return nil, err
	}

	out := &Subscription{}
	if len(all) > 0 {
		out.Body.Subscribed, out.Body.ID, out.Body.Ours = true, all[0].ID, all[0].ID == ours.ID
	}

	return out, nil
}

// CreateSubscription is the request to subscribe to Strava's webhooks.
type CreateSubscription struct{ auth.Admin }

// CreateSubscriptionFunction subscribes this stage to Strava's events.
func CreateSubscriptionFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/create-subscription",
		Does:    "Has Strava send its events to this stage.",
		IfDown:  "Administrators cannot subscribe to Strava's events.",
		On:      spec.Route{Method: "POST", Path: "/admin/strava/subscription", Auth: spec.Admin},
		Uses:    []spec.Access{tables.PutSubscription},
		Secrets: []string{link.StravaApp, Webhook},
		Memory:  256, Timeout: 25 * time.Second,
	}, OpenSubscriptions, (*Subscriptions).CreateSubscription, errSubscribed, errSubscribing)
}

// CreateSubscription subscribes to the webhooks, and stores the subscription. If Strava has
// a subscription to this webhook already, it is stored: so a second run completes an
// interrupted one. Errors: already_exists if that is to another address,
// subscription_failed.
func (s *Subscriptions) CreateSubscription(ctx context.Context, _ *CreateSubscription) (*Subscription, error) {
	secret, err := s.env.Secret(ctx, Webhook)
	if err != nil {
		return nil, err
	}

	callback := s.env.Setting(spec.EnvAPI) + "/webhooks/strava/" + secret

	all, err := s.strava.Subscriptions(ctx)
	if err != nil {
		return nil, errSubscribing.Because(err)
	}

	var is strava.Subscription

	switch {
	case len(all) > 0 && all[0].Callback != callback:
		return nil, errSubscribed
	case len(all) > 0:
		is = all[0]
	default:
		if is, err = s.strava.Subscribe(ctx, callback, secret); err != nil {
			return nil, errSubscribing.Because(err)
		}
	}
	// The address is kept without its secret.
	row := subscription{item.Subscription, item.Meta, is.ID, strings.TrimSuffix(callback, secret)}
	if err := dynamo.Put(ctx, s.db, tables.PutSubscription, row); err != nil {
		return nil, err
	}

	out := &Subscription{}
	out.Body.Subscribed, out.Body.Ours, out.Body.ID = true, true, is.ID

	return out, nil
}

// DeleteSubscription is the request to end the subscription to Strava's webhooks.
type DeleteSubscription struct{ auth.Admin }

// DeleteSubscriptionFunction ends the subscription to Strava's events.
func DeleteSubscriptionFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/delete-subscription",
		Does:    "Ends the subscription to Strava's events.",
		IfDown:  "Administrators cannot end the subscription.",
		On:      spec.Route{Method: "DELETE", Path: "/admin/strava/subscription", Auth: spec.Admin},
		Uses:    []spec.Access{tables.PutSubscription},
		Secrets: []string{link.StravaApp},
		Memory:  256, Timeout: 25 * time.Second,
	}, OpenSubscriptions, (*Subscriptions).DeleteSubscription, errSubscribing)
}

// DeleteSubscription ends the subscription, at Strava first. A second run finds none, and
// succeeds.
func (s *Subscriptions) DeleteSubscription(ctx context.Context, _ *DeleteSubscription) (*httpapi.Removed, error) {
	all, err := s.strava.Subscriptions(ctx)
	if err != nil {
		return nil, errSubscribing.Because(err)
	}

	for _, is := range all {
		if err := s.strava.Unsubscribe(ctx, is.ID); err != nil {
			return nil, errSubscribing.Because(err)
		}
	}

	if _, err := dynamo.Delete(ctx, s.db, tables.PutSubscription,
		dynamo.Key(tables.PutSubscription, item.Subscription, item.Meta)); err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// ReplayEvent is the request to handle an event of Strava again.
type ReplayEvent struct {
	auth.Admin
	Key string `path:"idempotencyKey" maxLength:"128" doc:"The key of the event, with each # as %23." example:"STRAVA#EVT#activity#create#12345678901#1780754400"`
}

// ReplayEventFunction handles an event of Strava again.
func ReplayEventFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/replay-event",
		Does:   "Has an event of Strava handled again.",
		IfDown: "Administrators cannot repeat an event.",
		On:     spec.Route{Method: "POST", Path: "/admin/replay/{idempotencyKey}", Auth: spec.Admin, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.RetryEvent}, Sends: []spec.Queue{EventQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ReplayEvent, errNoEvent)
}

// ReplayEvent queues an event again, whatever its state. To handle an event twice changes nothing.
// An unknown event is event_not_found.
func (s *Service) ReplayEvent(ctx context.Context, in *ReplayEvent) (*Accepted, error) {
	key := dynamo.Key(tables.RetryEvent, in.Key)
	if err := dynamo.Update(ctx, s.db, tables.RetryEvent, key, dynamo.Set(claim{State: retry}, "state", "dueAt"),
		dynamo.Exists[claim]("state")); err != nil {
		return nil, dynamo.RefusedAs(err, errNoEvent)
	}

	c, _, err := dynamo.Get[claim](ctx, s.db, tables.RetryEvent, in.Key)
	if err != nil {
		return nil, err
	}

	if err := s.queue.Send(ctx, EventQueue, c.Event, 0); err != nil {
		return nil, err
	}

	return &Accepted{Status: http.StatusAccepted}, nil
}
