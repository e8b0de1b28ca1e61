package tables

import "matchday/pkg/spec"

// Subscriptions of users to teams and leagues. The seed does not have this table. It has no TTL: a
// subscription stays until the user ends it.
var (
	Subscribers = spec.Table{Name: "cricket-subscriptions", Key: spec.Key{Partition: "subject", Sort: "userId"}}

	PutSubscription = Subscribers.On("Subscribe to a team or a league",
		"PK={kind}/{id}, SK=userId; PK=#USER#{userId}, SK=#SUBSCRIPTIONS", onUserAction, spec.GetItem, spec.UpdateItem)
	DeleteSubscription = Subscribers.On("End a subscription",
		"PK={kind}/{id}, SK=userId; PK=#USER#{userId}, SK=#SUBSCRIPTIONS", onUserAction, spec.GetItem, spec.UpdateItem, spec.DeleteItem)
	GetSubscription   = Subscribers.On("Get subscription", "PK={kind}/{id}, SK=userId", perRequest, spec.GetItem)
	ListSubscriptions = Subscribers.On("Get user's subscriptions", "PK=#USER#{userId}, SK=#SUBSCRIPTIONS", perRequest,
		spec.GetItem, spec.BatchGetItem)
	AllSubscribers = Subscribers.On("Get all subscribers of a team or a league", "PK={kind}/{id} (paginated)",
		spec.Rate{Driver: spec.Message, Note: "for each alert of a match: both teams and the league"}, spec.Query)

	MarkOwnActivity = Prematch.On("Mark activity of a user who does not follow the match", "PK={matchId}#{userId}, SK=#START#{userId}",
		spec.Rate{Driver: spec.UserAction, Note: "when iOS starts or ends a Live Activity"}, spec.UpdateItem)
)

// What the room keeps of a user's subscriptions, for the export and the deletion of an account.
var (
	UsersSubscriptions = Subscribers.On("Get user's subscriptions with their list", "PK=#USER#{userId}; PK={kind}/{id}, SK=userId",
		ofAccount, spec.GetItem)
	ForgetSubscriptions = Subscribers.On("Forget user's subscriptions", "PK={kind}/{id}, SK=userId; PK=#USER#{userId}",
		ofAccount, spec.DeleteItem)
)
