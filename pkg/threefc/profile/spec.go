package profile

import (
	"net/http"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/tables"
)

// The functions.
var (
	GetHealthFunction = spec.Function{
		Name: "threefc/get-health", Does: "Answers, if the room does.", IfDown: "Monitors report that the room is down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}
	GetStatsFunction = spec.Function{
		Name:   "threefc/get-stats",
		Does:   "Returns the numbers of the players whom the caller has claimed.",
		IfDown: "Users do not see their own numbers.",
		On:     spec.Route{Method: "GET", Path: "/v1/me/stats", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.MyPlayers, tables.ReadStats},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteAccountFunction = spec.Function{
		Name:   "threefc/delete-account",
		Does:   "Has the caller's account deleted, with all that is kept of the user in all rooms.",
		IfDown: "Users cannot delete their accounts here.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/account", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.ResolveSession}, Sends: []spec.Queue{account.DeleteQueue},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ForgetUserFunction = spec.Function{
		Name:   "threefc/forget-user",
		Does:   "Deletes what is kept of a user who has deleted the account.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses: []spec.Access{
			tables.DropUser, tables.GetLeague, tables.ListGrants, tables.SaveGrant, tables.GetPlayer, tables.ListPlayers, tables.SavePlayer, tables.ListSeasons,
		},
		Sends:  []spec.Queue{account.DoneQueue, game.AggregateQueue},
		Memory: 256, Timeout: time.Minute,
	}
	ExportUserFunction = spec.Function{
		Name:   "threefc/export-user",
		Does:   "Hands out all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.ReadUser, tables.MyPlayers, tables.ReadStats}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}
)
