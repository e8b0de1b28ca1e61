package profile

import (
	"net/http"
	"time"

	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// What users do.
var (
	GetHealthFunction = spec.Function{
		Name: "commitcollect/get-health", Does: "Answers, if the room does.", IfDown: "Monitors report that the room is down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}
	GetViewerFunction = spec.Function{
		Name:   "commitcollect/get-viewer",
		Does:   "Returns what the app needs to know of who opens it, signed in or not.",
		IfDown: "The app does not open.",
		On:     spec.Route{Method: "GET", Path: "/viewer", Auth: spec.Browser},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetProfile, tables.GetConnection},
		Memory: 256, Timeout: 5 * time.Second,
	}
	UpdatePreferencesFunction = spec.Function{
		Name:   "commitcollect/update-preferences",
		Does:   "Changes what the caller has chosen: units, which workouts count, and whether they are kept.",
		IfDown: "Preferences cannot be changed.",
		On:     spec.Route{Method: "PATCH", Path: "/preferences", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetProfile, tables.SaveProfile, account.CheckDeleted}, Sends: []spec.Queue{workout.ChangeQueue, link.PurgeQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteAccountFunction = spec.Function{
		Name:   "commitcollect/delete-account",
		Does:   "Has the caller's account deleted, with all that is kept of the user in all rooms.",
		IfDown: "Users cannot delete their accounts here.",
		On:     spec.Route{Method: "DELETE", Path: "/account", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.ResolveSession, tables.WriteAudit, account.CheckDeleted}, Sends: []spec.Queue{account.DeleteQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListAuditFunction = spec.Function{
		Name:   "commitcollect/list-audit",
		Does:   "Returns what happened to the caller's account.",
		IfDown: "Users cannot see what happened to their account.",
		On:     spec.Route{Method: "GET", Path: "/audit", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.ReadTrail},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What administrators do.
var (
	ListCorrelationFunction = spec.Function{
		Name:   "commitcollect/list-correlation",
		Does:   "Returns the entries of the audit trail that one cause joins.",
		IfDown: "Administrators cannot trace an event.",
		On:     spec.Route{Method: "GET", Path: "/admin/audit/correlations/{correlationId}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.Correlation},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListAuditEventsFunction = spec.Function{
		Name:   "commitcollect/list-audit-events",
		Does:   "Returns the entries of the audit trail of a type and a month.",
		IfDown: "Administrators cannot list events.",
		On:     spec.Route{Method: "GET", Path: "/admin/audit/events/{type}/{month}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.EventsOf},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// The jobs.
var (
	ForgetUserFunction = spec.Function{
		Name:   "commitcollect/forget-user",
		Does:   "Ends the connection to Strava of a user who has deleted the account, and deletes all that is kept of the user.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses: []spec.Access{
			tables.GetConnection, tables.LockRefresh, tables.UnlinkAthlete, tables.WriteAudit, tables.Phones.List, tables.Phones.Drop,
			tables.CloseTrail, tables.DropUser, tables.UserSessions, tables.DropSessions, account.CheckDeleted,
		},
		Sends: []spec.Queue{account.DoneQueue}, Secrets: []string{link.StravaApp, link.TokenKeys},
		Memory: 256, Timeout: time.Minute,
	}
	ExportUserFunction = spec.Function{
		Name:   "commitcollect/export-user",
		Does:   "Hands out all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.ReadUser, tables.Phones.List, tables.ReadTrail}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}
)
