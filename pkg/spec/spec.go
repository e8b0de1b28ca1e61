// Package spec describes the fleet as plain Go values: its tables and their access patterns, its
// functions, what invokes each function, and what each may use.
//
// The values have five readers, so they cannot differ: the Lambda binaries (names), infra (what
// to deploy and grant), infra/local (what to create, route and schedule), the tests (what to
// create, what to forbid) and the documents. The package imports only the standard library, so
// it adds nothing to a binary.
package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Room is a bounded context: one system of the fleet, and one stack. Its tables and access
// patterns are those that its functions use.
type Room struct {
	Name      string
	Functions []Function
	Machines  []Machine
	Settings  []Setting
	Alarms    []Alarm
	// WatchesConcurrency is set if an alarm of the room watches Lambda's concurrency, which
	// all rooms share.
	WatchesConcurrency bool
	// Native is set if the room's native apps have a client of the user pool, whose access tokens its functions
	// verify: see TakesTokens.
	Native bool
	// Data describes each store of the room, for docs/privacy.md.
	Data []Data
	// Recipients are those besides AWS who get data of the room's users.
	Recipients []Recipient
}

// Access returns the access patterns that the room's functions use, each once, sorted by ID.
func (r Room) Access() []Access {
	all := map[string]Access{}

	for _, f := range r.Functions {
		for _, a := range f.Uses {
			all[a.ID()] = a
		}
	}

	return byName(all)
}

// Tables returns the tables that the room's functions use, each once, sorted by name.
func (r Room) Tables() []Table {
	all := map[string]Table{}

	for _, f := range r.Functions {
		for _, a := range f.Uses {
			all[a.Table.Name] = a.Table
		}
	}

	return byName(all)
}

// Shared returns the tables and the buckets that rooms share, each once, sorted by name.
func Shared(rooms []Room) (tables []Table, buckets []Bucket) {
	allTables, allBuckets := map[string]Table{}, map[string]Bucket{}

	for _, r := range rooms {
		for _, t := range r.Tables() {
			if t.Shared {
				allTables[t.Name] = t
			}
		}

		for _, b := range r.Buckets() {
			if b.Shared {
				allBuckets[b.Name] = b
			}
		}
	}

	return byName(allTables), byName(allBuckets)
}

// Metrics returns the metrics that the room's functions emit, each once, sorted by name.
func (r Room) Metrics() []Metric {
	all := map[string]Metric{}

	for _, f := range r.Functions {
		for _, m := range f.Emits {
			all[m.Name] = m
		}
	}

	return byName(all)
}

// ServesBrowsers reports whether the room has routes for browsers. Pages send their cookies to
// such a room, and it redirects browsers to its own address.
func (r Room) ServesBrowsers() bool {
	return slices.ContainsFunc(r.Functions, func(f Function) bool {
		on, ok := f.On.(Route)
		return ok && on.Auth == Browser
	})
}

// DeadLetterFunction returns the function that processes the dead letters of a queue. ok is
// false if they wait for an operator.
func (r Room) DeadLetterFunction(q Queue) (f Function, ok bool) {
	for _, f := range r.Functions {
		if on, ok := f.On.(DeadLetters); ok && on.Of.Name == q.Name {
			return f, true
		}
	}

	return Function{}, false
}

// KnowsPages reports whether a function of the room gets the addresses of the web pages. In a
// room that serves browsers, functions of routes and functions whose mails link to pages do.
func (r Room) KnowsPages(f Function) bool {
	_, ok := f.On.(Route)
	return r.ServesBrowsers() && (ok || len(f.Mail) > 0)
}

// TakesTokens reports whether a function of the room verifies access tokens of native apps itself: those of
// routes with sessions or for browsers do, in a room that is Native.
func (r Room) TakesTokens(f Function) bool {
	on, ok := f.On.(Route)
	return r.Native && ok && (on.Auth == Session || on.Auth == Browser)
}

// byName returns the values sorted by their keys.
func byName[T any](all map[string]T) (values []T) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		values = append(values, all[name])
	}

	return values
}

// Table is one DynamoDB table. The attributes of its keys and indexes are strings.
type Table struct {
	Name    string // see TableIn
	Key     Key
	Indexes []Index
	TTL     string // attribute that holds the expiry in epoch seconds, or ""
	Shared  bool   // all rooms may use it: it is in the shared stack
	Busy    bool   // its load jumps with an event: an alarm watches whether DynamoDB throttles its reads
}

// stageInName is the place of the stage in the name of a table.
const stageInName = "{stage}"

// TableIn returns the name of a table in the stage whose names begin with prefix, "dev-" or "" for production:
// the stage stands in the place of {stage}, in production "prod". A name without that begins with the prefix.
func TableIn(prefix, name string) string {
	if !strings.Contains(name, stageInName) {
		return prefix + name
	}

	return strings.Replace(name, stageInName, cmp.Or(strings.TrimSuffix(prefix, "-"), "prod"), 1)
}

// Key names a partition attribute and an optional sort attribute.
type Key struct{ Partition, Sort string }

// Index is a global secondary index. It projects all attributes; or only its keys and the
// table's, if KeysOnly is set; or these and Include, of at most 20 attributes. A write that
// changes no projected attribute costs nothing in the index.
type Index struct {
	Name     string
	Key      Key
	KeysOnly bool
	Include  []string
}

// Op is a DynamoDB action, spelled as IAM spells it.
type Op string

const (
	GetItem            Op = "GetItem"
	BatchGetItem       Op = "BatchGetItem"
	Query              Op = "Query"
	Scan               Op = "Scan"
	PutItem            Op = "PutItem"
	UpdateItem         Op = "UpdateItem"
	DeleteItem         Op = "DeleteItem"
	BatchWriteItem     Op = "BatchWriteItem"
	ConditionCheckItem Op = "ConditionCheckItem"
)

// Access is one access pattern: a way in which the code reads or writes one table. Every call to
// DynamoDB names its pattern. A function may make only the calls of the patterns that it Uses:
// tests check the patterns, and IAM checks the actions.
type Access struct {
	Name  string // unique among its table's
	Table Table
	Index string // "" for the table itself
	Ops   []Op
	Key   string // the key condition, for the reader
	Rate  Rate
}

// On returns an access pattern of the table.
func (t Table) On(name, key string, rate Rate, ops ...Op) Access {
	return Access{Name: name, Table: t, Ops: ops, Key: key, Rate: rate}
}

// OnIndex returns an access pattern of one of the table's indexes.
func (t Table) OnIndex(index, name, key string, rate Rate, ops ...Op) Access {
	return Access{Name: name, Table: t, Index: index, Ops: ops, Key: key, Rate: rate}
}

// ID names the pattern in the fleet: "cricket-locks: Acquire lock".
func (a Access) ID() string { return a.Table.Name + ": " + a.Name }

// UserOp is an action of Cognito on the user pool, spelled as IAM spells it.
type UserOp string

const (
	AdminCreateUser UserOp = "AdminCreateUser"
	AdminGetUser    UserOp = "AdminGetUser"
	AdminDeleteUser UserOp = "AdminDeleteUser"
	ListUsers       UserOp = "ListUsers"
)

// Function is one Lambda function, built from functions/<Name>.
type Function struct {
	Name    string // "cricket/get-match"
	Does    string // one sentence
	IfDown  string // what a user notices when it fails
	On      Trigger
	Uses    []Access
	Sends   []Queue  // beside its own dead-letter queue
	Emits   []Metric // beside those that every function emits
	Users   []UserOp // what it does to the accounts of the user pool
	SignIn  bool     // it sends browsers to the sign-in page of the user pool
	Keepers bool     // it gets the names of the rooms that keep data of users: see EnvKeepers
	SQL     []SQLLogin
	Caches  []CacheLogin
	Objects []ObjectAccess
	Mail    []MailSender
	Secrets []string // names in Secrets Manager
	Limits  []Limit  // that a user of its route may reach
	Budgets []Share  // of what it requests of a provider
	Memory  int      // MB
	Timeout time.Duration
	// Reserved is its reserved concurrency, 0 for none.
	Reserved int
	// Ends is set if the route is to end: clients are to use another one.
	Ends *Ending
}

// MaxDescription is the maximum length of a description in Lambda.
const MaxDescription = 256

// Description is the description of the deployed function: what it does, and what a user notices when
// it fails. It has at most MaxDescription bytes.
func (f Function) Description() string { return f.Does + " If it is down: " + f.IfDown }

// VisibilityTimeout is how long SQS hides a message after the function received it: six times
// the function's timeout, as AWS advises, so that a throttled invocation does not use up a
// delivery.
func (f Function) VisibilityTimeout() time.Duration { return 6 * f.Timeout }

// SendsToItself reports whether the function sends messages to the queue that invokes it.
func (f Function) SendsToItself() bool {
	on, ok := f.On.(Queue)
	return ok && slices.ContainsFunc(f.Sends, func(q Queue) bool { return q.Name == on.Name })
}

// Grant is what a function may do on a table, or on one of its indexes.
type Grant struct {
	Table string
	Index string
	Ops   []Op
}

// Grants returns the permissions that the function's access patterns need, sorted by table and
// index.
func (f Function) Grants() []Grant {
	var all []Grant
	for _, a := range f.Uses {
		i := slices.IndexFunc(all, func(g Grant) bool { return g.Table == a.Table.Name && g.Index == a.Index })
		if i < 0 {
			i = len(all)
			all = append(all, Grant{Table: a.Table.Name, Index: a.Index})
		}

		all[i].Ops = append(all[i].Ops, a.Ops...)
	}

	for i := range all {
		slices.Sort(all[i].Ops)
		all[i].Ops = slices.Compact(all[i].Ops)
	}

	slices.SortFunc(all, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index))
	})

	return all
}

// Budget is how many requests of one kind a provider allows to all functions together in a
// period, or how many of them a room makes for one user.
type Budget struct {
	Name string
	Max  int
	Per  time.Duration
	// Aligned is set if the periods begin at the multiples of Per in UTC, as days do. Otherwise
	// a period begins with the first request after the period before.
	Aligned bool
	// Setting is the setting in whose place Max is the default, "" if Max is fixed.
	Setting string
}

// Share is what a function may use of a budget. It sends a request only while all functions
// together have sent fewer than UpTo in the period. The less urgent a function is, the smaller
// is its UpTo.
type Share struct {
	Budget Budget
	UpTo   int
}

// Of returns the same part of a budget that allows most requests, and at least one request.
func (s Share) Of(most int) Share {
	s.UpTo = max(1, s.UpTo*most/s.Budget.Max)
	s.Budget.Max = most

	return s
}

// String is the share for an operator: "1400 of 2000 requests in 1h0m0s, fixtures".
func (s Share) String() string {
	text := fmt.Sprintf("%d of %d requests in %s, %s", s.UpTo, s.Budget.Max, s.Budget.Per, s.Budget.Name)
	if s.Budget.Setting != "" {
		text += fmt.Sprintf("; the same part of what %s sets", s.Budget.Setting)
	}

	return text
}

// Limit bounds what a user may have, or do in a period. A request beyond it is
// refused with its code.
type Limit struct {
	Name string // of the things or actions, with the scope: "leagues per member", "wrong codes"
	Max  int
	Per  time.Duration // 0 for a number of things that exist
	Code string        // of the problem: "too_many_leagues"
}

// String is the limit for a user: "20 leagues per member", "10 wrong codes in 1h".
func (l Limit) String() string {
	text := strconv.Itoa(l.Max) + " " + l.Name
	if l.Per > 0 {
		text += " in " + short(l.Per)
	}

	return text
}

// Trigger is what invokes a function: a Route, a Schedule, a Queue, DeadLetters, a Migration, a
// Task or UserConfirmed.
type Trigger interface{ trigger() }

// Auth is who may call a route.
type Auth string

const (
	Public  Auth = "public"
	User    Auth = "user"    // a signed-in user (JWT)
	Admin   Auth = "admin"   // a signed-in administrator of the room (JWT of another user pool)
	Session Auth = "session" // the bearer of a session cookie
	Browser Auth = "browser" // anybody; the answer depends on cookies, and is never cached
	Secret  Auth = "secret"  // the bearer of a shared secret
)

// Route invokes a function on an HTTP request.
type Route struct {
	Method, Path string // "GET", "/matches/{id}"
	Auth         Auth
	Answers      []int    // statuses of success, the usual one first; nil for 200, or 204 without a body
	Queries      []string // the query parameters of a public route, by which a CDN caches its answers
	// OthersCall is set if other services or people write the URL. Query parameters that they
	// add are ignored.
	OthersCall bool
}

// Ending is how a route ends.
type Ending struct {
	Deprecated time.Time // from then on the route is deprecated; it may lie in the future
	Sunset     time.Time // from then on it may be gone; not before Deprecated
	Link       string    // to the page that says what to use
}

// Methods returns the methods of the route's requests. A public page that others link to also
// has HEAD, with which link checkers and calendars ask for changes. An HTTP API has no HEAD of
// its own, and removes the body from the answer.
func (r Route) Methods() []string {
	if r.Method == "GET" && r.Auth == Public && r.OthersCall {
		return []string{"GET", "HEAD"}
	}

	return []string{r.Method}
}

// CDNHeader is the header with which a CDN proves that a request came through it. CDNKeys is the
// variable of the API's stage with the accepted values, separated by commas. Without the
// variable any request is accepted.
const (
	CDNHeader = "x-matchday-cdn"
	CDNKeys   = "cdnKeys"
)

// SignedIn is the path of a room's API to which the sign-in page redirects.
const SignedIn = "/auth/callback"

// Scope is the scope that a token must have on a route of users or administrators. An
// access token of the sign-in has it; an ID token has no scopes.
const Scope = "openid"

// Schedule invokes a function by an expression of EventBridge Scheduler, in UTC.
type Schedule string

// Queue invokes a function for the messages of an SQS queue. A message moves to the dead-letter
// queue after MaxReceiveCount deliveries, or at once if it can never be processed. A queue whose
// name ends with ".fifo" delivers the messages of a group one after the other.
type Queue struct {
	Name            string
	MaxReceiveCount int
	Batch           int // messages per invocation
	Concurrency     int // invocations at once
	// Backoff is how long a message waits after its first failure, its second, and so on. The
	// last value is used for all further failures. Without it a message waits for the visibility
	// timeout.
	Backoff []time.Duration
	// Holds is the largest number of messages that wait for a function at one time while all is
	// well. An alarm watches that the queue holds no more for two minutes, and that its messages
	// are received, in place of their age. Without it no alarm watches that.
	Holds int
	// Unhurried is set if no alarm needs to watch the age of the messages, because nobody waits
	// for their processing, or because another alarm watches its result.
	Unhurried bool
	// Answered is set if the sender expects an answer to each message, and an alarm of its room
	// tells when one is missing. No other alarm watches the dead letters.
	Answered bool
}

// FIFO reports whether the queue is a FIFO queue.
func (q Queue) FIFO() bool { return strings.HasSuffix(q.Name, fifo) }

// DeadLetter is the name of the queue's dead-letter queue, which is FIFO if the queue is.
func (q Queue) DeadLetter() string {
	if name, ok := strings.CutSuffix(q.Name, fifo); ok {
		return name + "-dead" + fifo
	}

	return q.Name + "-dead"
}

const fifo = ".fifo"

// DeadLetters invokes a function for the messages of a queue's dead-letter queue. A message is
// deleted once it is processed.
type DeadLetters struct{ Of Queue }

// DeadLetterConcurrency is the number of concurrent invocations for a dead-letter queue: the
// smallest that Lambda accepts.
const DeadLetterConcurrency = 2

// Migration invokes a function when the migrations of a database differ from those of the
// previous deployment. The function logs in as SQLAdmin. If it fails, the deployment fails.
type Migration struct{ Of SQLDatabase }

// Task is invoked by a state machine or by an operator.
type Task struct{}

// UserConfirmed invokes a function when somebody has signed up to the user pool and confirmed
// the account.
type UserConfirmed struct{}

func (Route) trigger()         {}
func (Schedule) trigger()      {}
func (Queue) trigger()         {}
func (DeadLetters) trigger()   {}
func (Migration) trigger()     {}
func (Task) trigger()          {}
func (UserConfirmed) trigger() {}

// Machine is a Step Functions Express state machine.
type Machine struct {
	Name       string
	Definition string            // file in infra/machines
	Calls      map[string]string // placeholder in the definition: function name
	Every      Schedule
	IfDown     string
}

// Setting is an environment variable of the functions that hold a secret.
type Setting struct {
	Name      string
	Secret    string   // whose functions get it; "" for an address of a MailSender, or if Functions is set
	Functions []string // that get it, by their names
	Checks    []string // functions that get it too, and only check whether it is set
	Does      string   // what it is, for the operator
	Like      string   // regular expression of its values
	Example   string   // a value of nobody, which a Required setting has for tests of the templates
	Trial     string   // value of stages other than production that set none
	Required  bool
}

// Of reports whether a function gets the setting: it is listed in Functions or Checks, it holds the
// Secret, or it sends mail from the address in the setting.
func (s Setting) Of(f Function) bool {
	return slices.Contains(s.Functions, f.Name) || slices.Contains(s.Checks, f.Name) ||
		s.Secret != "" && slices.Contains(f.Secrets, s.Secret) || slices.Contains(f.Mail, MailSender{s.Name})
}

// Environment variables that every function gets.
const (
	EnvStage  = "MATCHDAY_STAGE"  // "prod", "local", ...
	EnvPrefix = "MATCHDAY_PREFIX" // before every table and queue name; "" in production
	EnvQueues = "MATCHDAY_QUEUES" // URL that a queue's name completes
	// EnvPatience is the factor by which a fleet on one machine multiplies the time limits of
	// calls.
	EnvPatience = "MATCHDAY_PATIENCE"
	// EnvRestored lists the tables that were restored under another name, as ParseRestored
	// reads it; it is absent if there are none.
	EnvRestored = "MATCHDAY_RESTORED"
	// EnvCode identifies the program: the first 12 digits of its SHA-256.
	EnvCode = "MATCHDAY_CODE"
	// EnvRestart has no meaning: functions with Secrets get it, and a new value of it restarts
	// them. It is absent if the stage does not set it.
	EnvRestart = "MATCHDAY_RESTART"
	// EnvUserPool is the id of the user pool, for functions that change its users.
	EnvUserPool = "MATCHDAY_USER_POOL"
	// EnvOrigins are the origins of the stage's web pages, separated by commas. EnvAPI is the
	// base URL of the room's API. Functions for which Room.KnowsPages holds get them. The first
	// origin is the app's.
	EnvOrigins = "MATCHDAY_ORIGINS"
	EnvAPI     = "MATCHDAY_API"
	// EnvIssuer, EnvSignIn and EnvClient are the issuer of the user pool's tokens, the base URL
	// of its sign-in page and the id of its client. Functions with SignIn get them.
	EnvIssuer = "MATCHDAY_ISSUER"
	EnvSignIn = "MATCHDAY_SIGN_IN"
	EnvClient = "MATCHDAY_CLIENT"
	// EnvNative is the id of the user pool's client for the room's native apps, empty if there is none. The
	// functions for which Room.TakesTokens holds get it, EnvIssuer and EnvSignIn.
	EnvNative = "MATCHDAY_NATIVE"
	// EnvKeepers are the names of the rooms of the fleet that keep data of users, as
	// account.ParseKeepers reads them. Functions with Keepers get it.
	EnvKeepers = "MATCHDAY_KEEPERS"
	// EnvSecrets is the prefix of the names of secrets in Secrets Manager.
	EnvSecrets = "MATCHDAY_SECRETS"
)

// Local is the stage of a fleet on one machine.
const Local = "local"
