package event

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// What members read.
var (
	ListEventsFunction = spec.Function{
		Name:   "pickem/list-events",
		Does:   "Lists events, latest first, with the count of the caller's picks of open ones.",
		IfDown: "The list of events does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events"},
		Uses:   []spec.Access{tables.CheckMember, tables.ListEvents, tables.GetPicks, tables.ReadCard},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetEventFunction = spec.Function{
		Name:   "pickem/get-event",
		Does:   "Returns an event with its card and the caller's prediction.",
		IfDown: "Events do not open, so members cannot pick.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetCard, tables.GetPick},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetResultsFunction = spec.Function{
		Name:   "pickem/get-results",
		Does:   "Returns a scored event with its results and the scores of all members.",
		IfDown: "The results of past events do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}/results"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetCard, tables.GetRanking},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListCorrectionsFunction = spec.Function{
		Name:   "pickem/list-corrections",
		Does:   "Lists the changes to the results of an event, latest first.",
		IfDown: "The log of changed results does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}/corrections"},
		Uses:   []spec.Access{tables.CheckMember, tables.FindEvent, tables.ListCorrections},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What members write.
var (
	PutPredictionsFunction = spec.Function{
		Name:   "pickem/put-predictions",
		Does:   "Replaces the caller's prediction of an event that is not locked.",
		IfDown: "Members cannot pick. If this lasts until an event locks, move its lockAt.",
		On:     spec.Route{Method: "PUT", Auth: spec.User, Path: "/app/events/{eventId}/predictions"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.SavePrediction, account.CheckDeleted},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeletePredictionsFunction = spec.Function{
		Name:   "pickem/delete-predictions",
		Does:   "Deletes the caller's prediction of an event that is not locked.",
		IfDown: "Members cannot withdraw a prediction.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/events/{eventId}/predictions"},
		Uses:   []spec.Access{tables.DropPrediction},
		Memory: 256, Timeout: 10 * time.Second,
	}
)

// What administrators do.
var (
	CreateEventFunction = spec.Function{
		Name:   "pickem/create-event",
		Does:   "Creates an event.",
		IfDown: "Administrators cannot create events.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events", Answers: []int{201}},
		Uses:   []spec.Access{tables.CreateEvent},
		Memory: 256, Timeout: 10 * time.Second,
	}
	UpdateEventFunction = spec.Function{
		Name:   "pickem/update-event",
		Does:   "Changes the name, times, bonus or state of an event.",
		IfDown: "Administrators cannot change events. Events lock at their present lockAt.",
		On:     spec.Route{Method: "PATCH", Auth: spec.Admin, Path: "/admin/events/{eventId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeEvent, tables.SetResult}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteEventFunction = spec.Function{
		Name:   "pickem/delete-event",
		Does:   "Deletes an event whose scoring was not requested, with its card and predictions.",
		IfDown: "Administrators cannot delete events.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/events/{eventId}"},
		Uses:   []spec.Access{tables.ChangeEvent, tables.EntriesOf, tables.RemoveEvent},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	AddMatchFunction = spec.Function{
		Name:   "pickem/add-match",
		Does:   "Adds a match to the end of a card, and notifies the members who have picked.",
		IfDown: "Administrators cannot add matches.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches", Answers: []int{201}},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	UpdateMatchFunction = spec.Function{
		Name:   "pickem/update-match",
		Does:   "Replaces the fields of a match. A change of who competes makes picks on it void, and notifies the members who made them.",
		IfDown: "Administrators cannot change matches.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{score.Queue, notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	DeleteMatchFunction = spec.Function{
		Name:   "pickem/delete-match",
		Does:   "Deletes a match from a card, and notifies the members who picked it.",
		IfDown: "Administrators cannot delete matches.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	OrderCardFunction = spec.Function{
		Name:   "pickem/order-card",
		Does:   "Sets the order of the matches of a card.",
		IfDown: "Administrators cannot change the order of a card.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/card"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard},
		Memory: 256, Timeout: 10 * time.Second,
	}
	PutResultFunction = spec.Function{
		Name:   "pickem/put-result",
		Does:   "Sets the winner of a match, that it is void, or that it has no result. A scored event is scored again.",
		IfDown: "Administrators cannot enter results, so events are not scored.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}/result"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.SetResult}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	RequestScoreFunction = spec.Function{
		Name:   "pickem/request-score",
		Does:   "Queues the scoring of an event. All matches must have results.",
		IfDown: "Administrators cannot have events scored.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/score", Answers: []int{202}},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeEvent}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListEntriesFunction = spec.Function{
		Name:   "pickem/list-entries",
		Does:   "Lists the members with a prediction of an event, without their picks.",
		IfDown: "Administrators cannot list the members with a prediction.",
		On:     spec.Route{Method: "GET", Auth: spec.Admin, Path: "/admin/events/{eventId}/entries"},
		Uses:   []spec.Access{tables.FindEvent, tables.EntriesOf},
		Memory: 512, Timeout: 10 * time.Second,
	}
	GetHealthFunction = spec.Function{
		Name:   "pickem/get-health",
		Does:   "Reports that the API works.",
		IfDown: "External monitoring reports the API as down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}
)

// Jobs.
var (
	LockEventsFunction = spec.Function{
		Name:   "pickem/lock-events",
		Does:   "Locks the events whose lockAt has passed, queues overdue scorings again, and completes the deletion of events.",
		IfDown: "Overdue scorings are not retried, and locked events are stored as open. Late picks are refused all the same.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.FindOpenEvents, tables.ChangeEvent, tables.EntriesOf, tables.RemoveEvent}, Sends: []spec.Queue{score.Queue},
		Emits:  []spec.Metric{ScoresBehind},
		Memory: 256, Timeout: 30 * time.Second,
	}
)

// ScoresBehind is the number of events that have waited for their points for longer
// than lateScore.
var ScoresBehind = spec.Metric{Name: "ScoresBehind", Unit: spec.Count}
