package notice

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// Remind asks to remind the players of a session.
type Remind struct {
	SessionID string `json:"sessionId"`
}

// Mail asks to mail a user about a finished game or a session.
type Mail struct {
	UserID    string `json:"userId"`
	GameID    string `json:"gameId,omitempty"`    // that is finished
	SessionID string `json:"sessionId,omitempty"` // that is tomorrow
}

// The queues.
var (
	RemindQueue = spec.Queue{Name: "threefc-remind", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
	MailQueue   = spec.Queue{Name: "threefc-mail", MaxReceiveCount: 10, Batch: 1, Concurrency: 5}
)

// The functions.
var (
	PutAvailabilityFunction = spec.Function{
		Name:   "threefc/put-availability",
		Does:   "Says whether the caller will play in a session.",
		IfDown: "Players cannot say whether they will play.",
		On:     spec.Route{Method: "PUT", Path: "/v1/sessions/{sessionId}/availability", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.FindAnswer, tables.GetSession, tables.MyPlayers, tables.PutAvailability, account.CheckDeleted},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListAvailabilityFunction = spec.Function{
		Name:   "threefc/list-availability",
		Does:   "Returns who will play in a session.",
		IfDown: "Nobody sees who will play.",
		On:     spec.Route{Method: "GET", Path: "/v1/sessions/{sessionId}/availability", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSession, tables.MyPlayers, tables.ListAvailability),
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetPreferencesFunction = spec.Function{
		Name:   "threefc/get-preferences",
		Does:   "Returns which mails the caller gets.",
		IfDown: "Users do not see which mails they get.",
		On:     spec.Route{Method: "GET", Path: "/v1/me/preferences", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetPreferences},
		Memory: 256, Timeout: 5 * time.Second,
	}
	PutPreferencesFunction = spec.Function{
		Name:   "threefc/put-preferences",
		Does:   "Chooses which mails the caller gets.",
		IfDown: "Users cannot stop mails.",
		On:     spec.Route{Method: "PUT", Path: "/v1/me/preferences", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.PutPreferences, account.CheckDeleted},
		Memory: 256, Timeout: 5 * time.Second,
	}
	NotifyFinishFunction = spec.Function{
		Name:   "threefc/notify-finish",
		Does:   "Asks for a mail to each user who has played in a finished game.",
		IfDown: "Nobody gets a mail about a finished game.",
		On:     standing.FinishQueue,
		Uses:   []spec.Access{tables.GetGame, tables.ListRoster}, Sends: []spec.Queue{MailQueue},
		Memory: 256, Timeout: time.Minute,
	}
	SendRemindersFunction = spec.Function{
		Name:   "threefc/send-reminders",
		Does:   "Has the players of tomorrow's sessions reminded.",
		IfDown: "Nobody is reminded of tomorrow's session.",
		On:     spec.Schedule("cron(0 10 * * ? *)"),
		Uses:   []spec.Access{tables.SessionsOfDay}, Sends: []spec.Queue{RemindQueue},
		Memory: 256, Timeout: 10 * time.Minute,
	}
	RemindSessionFunction = spec.Function{
		Name:   "threefc/remind-session",
		Does:   "Asks for a mail to each player of a session who has not said whether to play.",
		IfDown: "Nobody is reminded of a session.",
		On:     RemindQueue,
		Uses:   []spec.Access{tables.GetSession, tables.ListAvailability, tables.ListPlayers}, Sends: []spec.Queue{MailQueue},
		Memory: 256, Timeout: time.Minute,
	}
	SendMailFunction = spec.Function{
		Name:   "threefc/send-mail",
		Does:   "Mails a user about a finished game or tomorrow's session, once.",
		IfDown: "Users get no mails about games and sessions.",
		On:     MailQueue,
		Uses:   []spec.Access{tables.GetPreferences, tables.MarkMail, tables.GetGame, tables.GetSession, tables.GetSeason, tables.GetLeague, account.CheckDeleted},
		Users:  []spec.UserOp{spec.AdminGetUser}, Mail: []spec.MailSender{signin.Mails},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
