package event

import (
	"time"

	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// What members read.
var (
	ListEventsFunction = spec.Function{
		Name:   "pickem/list-events",
		Does:   "Events, the newest first.",
		IfDown: "The list of events does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events"},
		Uses:   []spec.Access{tables.ListEvents},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetEventFunction = spec.Function{
		Name:   "pickem/get-event",
		Does:   "An event with its card and the caller's prediction.",
		IfDown: "Nobody sees a card, so nobody can pick.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}"},
		Uses:   []spec.Access{tables.GetCard},
		Memory: 512, Timeout: 5 * time.Second,
	}
	GetResultsFunction = spec.Function{
		Name:   "pickem/get-results",
		Does:   "A scored event with its results and everybody's scores.",
		IfDown: "The results of past events do not open.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}/results"},
		Uses:   []spec.Access{tables.GetResults},
		Memory: 512, Timeout: 10 * time.Second,
	}
	ListCorrectionsFunction = spec.Function{
		Name:   "pickem/list-corrections",
		Does:   "Who changed which result of an event, and when.",
		IfDown: "The log of an event's results does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}/corrections"},
		Uses:   []spec.Access{tables.FindEvent, tables.ListCorrections},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What members write.
var (
	PutPredictionsFunction = spec.Function{
		Name:   "pickem/put-predictions",
		Does:   "Saves the caller's prediction, if the event is not locked.",
		IfDown: "Nobody can pick. If it is down at the lock, move the lock.",
		On:     spec.Route{Method: "PUT", Auth: spec.User, Path: "/app/events/{eventId}/predictions"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.SavePrediction},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeletePredictionsFunction = spec.Function{
		Name:   "pickem/delete-predictions",
		Does:   "Withdraws the caller's prediction, if the event is not locked.",
		IfDown: "Nobody can withdraw a prediction.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/events/{eventId}/predictions"},
		Uses:   []spec.Access{tables.DropPrediction},
		Memory: 256, Timeout: 10 * time.Second,
	}
)

// What administrators do.
var (
	CreateEventFunction = spec.Function{
		Name:   "pickem/create-event",
		Does:   "Announces an event.",
		IfDown: "No event can be announced.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events"},
		Uses:   []spec.Access{tables.CreateEvent},
		Memory: 256, Timeout: 10 * time.Second,
	}
	UpdateEventFunction = spec.Function{
		Name:   "pickem/update-event",
		Does:   "Renames or moves an event, locks or opens it, or sets its bonus.",
		IfDown: "An event cannot be moved; it locks as it was said.",
		On:     spec.Route{Method: "PATCH", Auth: spec.Admin, Path: "/admin/events/{eventId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeEvent, tables.SetResult}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteEventFunction = spec.Function{
		Name:   "pickem/delete-event",
		Does:   "Calls an event off that is not scored, with all predictions on it.",
		IfDown: "An event cannot be called off.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/events/{eventId}"},
		Uses:   []spec.Access{tables.ChangeEvent, tables.EntriesOf, tables.RemoveEvent},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	AddMatchFunction = spec.Function{
		Name:   "pickem/add-match",
		Does:   "Adds a match to the end of a card.",
		IfDown: "The card of an event cannot be made.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard},
		Memory: 256, Timeout: 10 * time.Second,
	}
	UpdateMatchFunction = spec.Function{
		Name:   "pickem/update-match",
		Does:   "Changes a match; if its teams change, picks on it are void and who made them is told.",
		IfDown: "A match that has changed is shown as it was.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{score.Queue, notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	DeleteMatchFunction = spec.Function{
		Name:   "pickem/delete-match",
		Does:   "Takes a match off a card, and tells who picked it.",
		IfDown: "A match that is off stays on the card.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
	OrderCardFunction = spec.Function{
		Name:   "pickem/order-card",
		Does:   "Puts the matches of a card into an order.",
		IfDown: "The order of a card cannot be changed.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/card"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard},
		Memory: 256, Timeout: 10 * time.Second,
	}
	PutResultFunction = spec.Function{
		Name:   "pickem/put-result",
		Does:   "Says who won a match, or that it is void; points of a scored event follow.",
		IfDown: "Results cannot be entered, so the event is not scored.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}/result"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.SetResult}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	RequestScoreFunction = spec.Function{
		Name:   "pickem/request-score",
		Does:   "Has an event scored whose results are all in.",
		IfDown: "The event is not scored.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/score"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeEvent}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListEntriesFunction = spec.Function{
		Name:   "pickem/list-entries",
		Does:   "Who has predicted an event, without the picks.",
		IfDown: "Administrators do not see who takes part.",
		On:     spec.Route{Method: "GET", Auth: spec.Admin, Path: "/admin/events/{eventId}/entries"},
		Uses:   []spec.Access{tables.FindEvent, tables.EntriesOf},
		Memory: 512, Timeout: 10 * time.Second,
	}
	GetHealthFunction = spec.Function{
		Name:   "pickem/get-health",
		Does:   "Says that the API answers.",
		IfDown: "Whoever watches the API from outside takes it for down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}
)

// Jobs.
var (
	LockEventsFunction = spec.Function{
		Name:   "pickem/lock-events",
		Does:   "Locks the events whose time has come, and has those scored that wait for it too long.",
		IfDown: "Events say that they are open when they are locked; no late pick gets in.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.FindOpenEvents, tables.ChangeEvent, tables.EntriesOf}, Sends: []spec.Queue{score.Queue},
		Emits:  []spec.Metric{ScoresBehind},
		Memory: 256, Timeout: 30 * time.Second,
	}
)

// ScoresBehind is the number of events that have waited for their points for longer
// than lateScore.
var ScoresBehind = spec.Metric{Name: "ScoresBehind", Unit: spec.Count}
