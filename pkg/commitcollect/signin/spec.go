package signin

import (
	"time"

	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The functions.
var (
	StartLoginFunction = spec.Function{
		Name:   "commitcollect/start-login",
		Does:   "Redirects a browser to the sign-in page.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "GET", Path: "/auth/login", Auth: spec.Browser, Answers: []int{302}},
		Uses:   []spec.Access{tables.PutState}, SignIn: true,
		Memory: 256, Timeout: 5 * time.Second,
	}
	FinishLoginFunction = spec.Function{
		Name:   "commitcollect/finish-login",
		Does:   "Signs a browser in that returns from the sign-in page, and redirects it to the app.",
		IfDown: "Nobody can sign in.",
		On:     spec.Route{Method: "GET", Path: spec.SignedIn, Auth: spec.Browser, OthersCall: true, Answers: []int{302}},
		Uses:   []spec.Access{tables.TakeState, tables.CreateProfile, tables.CreateSession, tables.WriteAudit, account.CheckDeleted}, SignIn: true,
		Memory: 256, Timeout: 15 * time.Second,
	}
	GetSessionFunction = spec.Function{
		Name:   "commitcollect/get-session",
		Does:   "Returns whose session a cookie is.",
		IfDown: "The app takes everybody for signed out.",
		On:     spec.Route{Method: "GET", Path: "/session", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetProfile},
		Memory: 256, Timeout: 5 * time.Second,
	}
	LogoutFunction = spec.Function{
		Name:   "commitcollect/logout",
		Does:   "Ends a session, and redirects the browser to the end of that of the sign-in page.",
		IfDown: "Nobody can sign out.",
		On:     spec.Route{Method: "POST", Path: "/logout", Auth: spec.Browser, Answers: []int{302}},
		Uses:   logout, SignIn: true,
		Memory: 256, Timeout: 5 * time.Second,
	}
	FollowLogoutFunction = spec.Function{
		Name:   "commitcollect/follow-logout",
		Does:   "Ends a session as logout does, for a link.",
		IfDown: "Nobody can sign out by a link.",
		On:     spec.Route{Method: "GET", Path: "/logout", Auth: spec.Browser, Answers: []int{302}},
		Uses:   logout, SignIn: true,
		Memory: 256, Timeout: 5 * time.Second,
	}

	logout = []spec.Access{tables.ResolveSession, tables.DropSession, tables.WriteAudit, account.CheckDeleted}
)
