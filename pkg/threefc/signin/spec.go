package signin

import (
	"net/http"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/tables"
)

// MailFrom is the setting with the address of the room's mails.
const MailFrom = "THREEFC_MAIL"

// Mails is who sends the room's mails.
var Mails = spec.MailSender{Setting: MailFrom}

// Limits of mails with links, which anybody can have sent.
var (
	// MaxLinks keeps a mailbox from filling up.
	MaxLinks = spec.Limit{Name: "sign-in mails per address", Max: 5, Per: time.Hour, Code: "too_many_links"}
	// MaxCallerLinks keeps a caller from mailing many addresses, or one mailbox under many of its
	// names, which would cost the room its reputation as a sender. All players at a pitch may share
	// one address of the network: three teams with substitutes sign in within an hour, and some of
	// them twice. A caller is one IPv4 address, or one network of IPv6.
	MaxCallerLinks = spec.Limit{Name: "sign-in mails per caller", Max: 30, Per: time.Hour, Code: "too_many_sign_ins"}
)

// The functions.
var (
	StartFunction = spec.Function{
		Name:   "threefc/start-sign-in",
		Does:   "Mails a link that signs in to the owner of an address.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "POST", Path: "/v1/auth/magic/start", Auth: spec.Browser, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.PutLink}, Mail: []spec.MailSender{Mails}, Limits: []spec.Limit{MaxLinks, MaxCallerLinks},
		Memory: 256, Timeout: 10 * time.Second,
	}
	CompleteFunction = spec.Function{
		Name:   "threefc/finish-sign-in",
		Does:   "Signs in the browser that has the token of a link, once.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "POST", Path: "/v1/auth/magic/complete", Auth: spec.Browser},
		Uses:   []spec.Access{tables.TakeLink, tables.CreateLogin, account.CheckDeleted},
		Users:  []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser, spec.AdminDeleteUser},
		Memory: 256, Timeout: 10 * time.Second,
	}
	GetFunction = spec.Function{
		Name:   "threefc/get-sign-in",
		Does:   "Returns who is signed in.",
		IfDown: "The app does not open.",
		On:     spec.Route{Method: "GET", Path: "/v1/auth/session", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession},
		Memory: 256, Timeout: 5 * time.Second,
	}
	EndFunction = spec.Function{
		Name:   "threefc/sign-out",
		Does:   "Ends the caller's session.",
		IfDown: "Users cannot sign out.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/auth/session", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.DropLogin},
		Memory: 256, Timeout: 5 * time.Second,
	}
)
