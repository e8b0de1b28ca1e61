// Package fleet runs rooms on one machine: the deployed binaries, with local engines in
// place of AWS and simulators in place of providers. It creates what the spec lists:
// each route, schedule, queue and table, and nothing else. It knows no room: Config
// lists the rooms to run.
package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/local/tables"
	"matchday/infra/sim/account"
	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/chaos"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/fcm"
	"matchday/infra/sim/guard"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/postgres"
	"matchday/infra/sim/redis"
	"matchday/infra/sim/s3"
	"matchday/infra/sim/scheduler"
	"matchday/infra/sim/ses"
	"matchday/infra/sim/sqs"
	"matchday/infra/sim/stepfunctions"
	"matchday/infra/stage"
	"matchday/infra/tools/judge/calls"
	"matchday/infra/tools/openapi"
	accounts "matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// FunctionArgument is the argument before the name of the function that Config.Program serves.
const FunctionArgument = "function"

// Config configures a fleet.
type Config struct {
	Clock *clock.Clock
	Root  string // folder of the module, for infra/machines
	// Program is the path of infra/local, which holds all functions.
	Program string
	// Dist is a folder of deployed programs, <room>/<verb-noun>/bootstrap, which run instead of
	// Program; "" for none.
	Dist  string
	Dir   string // folder of the data; in memory when empty
	Addr  string // address of the API, "127.0.0.1:0" when empty
	Seed  uint64 // seed of the schedules' start jitter; 0 for no jitter
	Rooms []Room
	// Restored lists the tables that were restored under another name, as in a deployment:
	// see spec.ParseRestored.
	Restored string

	Faults *chaos.Faults // injected from its Start on; nil for none

	// Awake reports whether schedules run at a time; nil for always. Those that would find
	// nothing to do can be left out of a run over months.
	Awake func(time.Time) bool
	// Expiry is the least time between two deletions of all expired items, for which the
	// tables are read as a whole. DynamoDB takes some days.
	Expiry time.Duration

	Log        func(lambda.Log)
	Invocation func(lambda.Invocation)
	Push       func(apns.Push)
	Sent       func(fcm.Sent)
	Started    func(apns.Start)
	Transition func(machine string, t stepfunctions.Transition)
}

// Fleet is a running fleet.
type Fleet struct {
	Config
	URL       string // address of the API; a room's routes are below /<room>
	Functions *lambda.Runtime
	Queues    *sqs.Server
	Phones    *apns.Server
	Google    *fcm.Server // with the Android phones
	Mail      *ses.Server // what functions have sent
	Users     *cognito.Pool
	Admins    *cognito.Pool // administrators
	DB        *dynamodb.Client
	DBExited  <-chan struct{} // closed when the DynamoDB engine has stopped; nil for one that runs elsewhere

	SQL    *postgres.Engine         // the server of the rooms' databases; nil if they have none
	Caches map[string]*redis.Server // by the name in the spec, but those of REDIS_URL

	sql, caches map[string]string // names of databases, and addresses of caches, by the name in the spec

	mux   *http.ServeMux
	api   http.Client // Call's
	stops []func()    // in the order of their starts

	simulators map[string]http.Handler // by name

	once sync.Once

	mu      sync.Mutex
	apis    map[string]http.Handler // by room
	signed  map[string]signedIn     // by user and groups
	started []func(context.Context, apns.Start)
}

const (
	prefix        = "local-" // of the stage's tables and queues
	clientID      = "local-app"
	adminClientID = "local-office"
	project       = "matchday-local" // at Firebase
	teamID        = "LOCALTEAM1"
	keyID         = "LOCALKEY01"
	// atOnce bounds the processes of a function without reserved concurrency.
	atOnce = 16
	sweep  = 10 * time.Minute
	// SampleOrigin is the origin of the requests in the sample events. No page of it
	// reaches the fleet.
	SampleOrigin = "https://app.example.com"
	// On a free clock work may take patience times as long as in AWS, and at most longest.
	patience = 20
	longest  = 2 * time.Minute
)

// Start starts everything but the schedules, which Begin does. On a free clock
// the caller holds work until then.
func Start(ctx context.Context, cfg Config) (f *Fleet, err error) {
	f = &Fleet{
		Config: cfg, mux: http.NewServeMux(),
		api: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}},
	}

	defer func() {
		if err != nil {
			f.Close()
			f = nil
		}
	}()

	if cfg.Dir != "" {
		if err := f.own(cfg.Dir); err != nil {
			return f, err
		}
	}

	if err := f.listen(); err != nil {
		return f, err
	}

	host, env, err := f.engines(ctx)
	if err != nil {
		return f, err
	}

	if err := f.stores(ctx); err != nil {
		return f, err
	}

	if f.Functions, err = lambda.New(cfg.Clock, lambda.Config{
		Region: account.Region, Init: f.limit(10 * time.Second), Log: cfg.Log, Observe: cfg.Invocation,
	}); err != nil {
		return f, err
	}

	f.stops = append(f.stops, f.Functions.Close)
	if f.Faults != nil {
		f.Faults.Payload, f.Faults.Kill, f.Faults.Running = f.Functions.Payload, f.Functions.KillProcess, f.Functions.Running
	}

	for _, room := range f.Rooms {
		all := slices.Clone(env)

		if room.Simulate != nil {
			own, err := room.Simulate(host)
			if err != nil {
				return f, fmt.Errorf("start the simulators of %s: %w", room.Spec.Name, err)
			}

			all = append(all, own...)
		}

		if err := f.room(room.Room, all); err != nil {
			return f, err
		}
	}

	return f, nil
}

// own creates the data folder and locks it, so that no other fleet uses it.
func (f *Fleet) own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}

	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}

	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return fmt.Errorf("another fleet uses the data in %s: stop it, or use another clone of the project", dir)
	}

	f.stops = append(f.stops, func() {
		syscall.Flock(int(lock.Fd()), syscall.LOCK_UN) // a process that is forked in the meantime has the file open until it executes a program
		lock.Close()
	})

	return nil
}

// Table is the name of a table of the spec in this fleet.
func (f *Fleet) Table(name string) string { return spec.TableIn(prefix, name) }

// Rows counts the rows of a table of the spec, except those whose attribute key begins with a
// prefix.
func (f *Fleet) Rows(ctx context.Context, table, key, except string) (n int, err error) {
	pages := dynamodb.NewScanPaginator(f.DB, &dynamodb.ScanInput{
		TableName: aws.String(f.Table(table)), Select: types.SelectCount, FilterExpression: aws.String("NOT begins_with(#key, :except)"),
		ExpressionAttributeNames:  map[string]string{"#key": key},
		ExpressionAttributeValues: map[string]types.AttributeValue{":except": &types.AttributeValueMemberS{Value: except}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, fmt.Errorf("count the rows of %s: %w", table, err)
		}

		n += int(page.Count)
	}

	return n, nil
}

// Close stops all that Start and Begin started.
func (f *Fleet) Close() {
	f.once.Do(func() {
		for i := len(f.stops) - 1; i >= 0; i-- {
			f.stops[i]()
		}
	})
}

// Handle serves a path of the fleet's address, beside the rooms.
func (f *Fleet) Handle(pattern string, h http.Handler) { f.mux.Handle(pattern, h) }

// listen opens the API's address.
func (f *Fleet) listen() error {
	addr := f.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}

	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("the address %s is in use: stop what uses it, or choose another with ADDR=host:port", addr)
	}

	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}

	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}

	f.URL = "http://localhost:" + port
	if f.Users, err = cognito.New(f.Clock, f.URL+"/identity", clientID, f.Dir); err != nil {
		return err
	}

	f.mux.Handle("/identity/", f.Users)

	redirects := []string{f.URL} // after a sign-out
	for _, room := range f.Rooms {
		redirects = append(redirects, f.URL+"/"+room.Spec.Name+spec.SignedIn)
	}

	f.Users.AllowRedirects(redirects...)

	for _, room := range f.Rooms {
		if room.Spec.Native {
			f.Users.AddNative(NativeClient(room.Spec.Name), NativeRedirect(room.Spec.Name))
		}
	}

	dir := ""
	if f.Dir != "" {
		dir = filepath.Join(f.Dir, "administrators")
	}

	if f.Admins, err = cognito.New(f.Clock, f.URL+"/administrators", adminClientID, dir); err != nil {
		return err
	}

	f.mux.Handle("/administrators/", f.Admins)
	f.mux.HandleFunc("/dev/token", func(w http.ResponseWriter, r *http.Request) { // with a group the user is an administrator
		if r.URL.Query().Has("group") {
			f.Admins.ServeHTTP(w, r)
			return
		}

		f.Users.ServeHTTP(w, r)
	})

	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}

	f.serve(l, guard.Pages(http.HandlerFunc(f.route), host))

	return nil
}

// route serves a request of the fleet's address. An API gets every path as it is:
// http.ServeMux would redirect those with empty segments or dots.
func (f *Fleet) route(w http.ResponseWriter, r *http.Request) {
	room, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")

	f.mu.Lock()
	api := f.apis[room]
	f.mu.Unlock()

	if api != nil && path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") {
		api.ServeHTTP(w, r)
		return
	}

	f.mux.ServeHTTP(w, r)
}

func (f *Fleet) serve(l net.Listener, h http.Handler) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l)

	f.stops = append(f.stops, func() { s.Close() })
}

// engines starts the services that the functions of all rooms call. It returns the Host
// to which rooms add simulators, and the environment of the functions.
func (f *Fleet) engines(ctx context.Context) (host Host, env []string, err error) {
	file := ""
	if f.Dir != "" {
		file = filepath.Join(f.Dir, "dynamodb.sqlite")
	}

	db, err := dynamodbsim.Start(ctx, file)
	if err != nil {
		return host, nil, err
	}

	f.stops = append(f.stops, db.Stop)
	f.DBExited = db.Exited

	f.DB = dynamodb.NewFromConfig(dynamodbsim.Config(db.URL))
	for _, room := range f.Rooms {
		if err := dynamodbsim.Create(ctx, f.DB, tables.FromSpec(prefix, room.Spec.Tables())); err != nil {
			return host, nil, err
		}
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return host, nil, err
	}

	inner := "http://" + l.Addr().String()
	f.Queues = sqs.New(f.Clock, inner+"/sqs")
	f.Mail = ses.New(ses.Config{Clock: f.Clock})
	mux := http.NewServeMux()
	mux.Handle("/cognito/", http.StripPrefix("/cognito", f.Users))

	var buckets, variables []string

	for _, room := range f.Rooms {
		for _, b := range room.Spec.Buckets() {
			if name := prefix + b.Name; !slices.Contains(buckets, name) {
				buckets = append(buckets, name)
				variables = append(variables, b.On("").Env()+"="+name)
			}
		}
	}

	mux.Handle("/s3/", http.StripPrefix("/s3", s3.New(buckets...)))

	endpoint := db.URL
	if f.Faults == nil {
		mux.Handle("/sqs/", f.Queues)
		mux.Handle("/ses/", http.StripPrefix("/ses", f.Mail))
	} else if endpoint, err = f.endanger(mux, inner, db.URL); err != nil {
		return host, nil, err
	}

	f.serve(l, guard.Handler(mux))
	f.stops = append(f.stops, f.Queues.Close)

	key, text, err := f.signingKey()
	if err != nil {
		return host, nil, err
	}

	bundle, others := f.apps()

	var state, attributes func([]byte) error

	for _, room := range f.Rooms {
		if room.ContentState != nil {
			state, attributes = room.ContentState, room.Attributes
		}
	}

	f.Phones = apns.New(f.Clock, apns.Config{
		ContentState: state, Attributes: attributes,
		TeamID: teamID, KeyID: keyID, PublicKey: &key.PublicKey, Bundle: bundle, Others: others, Dir: f.Dir, Observe: f.Push,
		Started: func(a apns.Start) {
			for _, do := range f.started {
				do(ctx, a)
			}

			if f.Started != nil {
				f.Started(a)
			}
		},
	})
	if err := f.Phones.Listen(); err != nil {
		return host, nil, err
	}

	f.stops = append(f.stops, func() { f.Phones.Close() })

	google, keyFor := fcm.NewAccount(f.Clock, fcm.Config{Project: project, Observe: f.Sent})

	f.Google = google
	if err := f.Google.Listen(); err != nil {
		return host, nil, err
	}

	f.stops = append(f.stops, func() { f.Google.Close() })

	ca, err := f.trust()
	if err != nil {
		return host, nil, err
	}

	f.simulators = map[string]http.Handler{}
	if f.Clock.Speed() == clock.Free && f.Faults == nil { // a call without an answer, because of a fault, ends with its limit
		variables = append(variables, fmt.Sprint(spec.EnvPatience, "=", patience))
	}

	if folder := os.Getenv(calls.Folder); folder != "" {
		// A test that has seen the folder as it was does not get its result from Go's cache.
		if _, err := os.Stat(folder); err != nil {
			return host, nil, err
		}

		variables = append(variables, calls.Folder+"="+folder)
	}

	return Host{Fleet: f, url: inner, mux: mux}, append(variables,
		spec.EnvStage+"="+spec.Local, spec.EnvPrefix+"="+prefix, spec.EnvQueues+"="+inner+"/sqs/"+account.ID+"/"+prefix,
		spec.EnvRestored+"="+f.Restored, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint, "AWS_ENDPOINT_URL_SQS="+inner+"/sqs/",
		"AWS_ENDPOINT_URL_S3="+inner+"/s3", "AWS_ENDPOINT_URL_SESV2="+inner+"/ses",
		"AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER="+inner+"/cognito/", "AWS_REGION="+account.Region,
		"APNS_URL="+f.Phones.URL(), "APNS_CA_FILE="+ca, "APNS_TEAM_ID="+teamID, "APNS_KEY_ID="+keyID, "APNS_KEY="+text,
		"FCM_URL="+f.Google.URL(), "FCM_PROJECT="+project, "FCM_KEY="+string(keyFor(f.Google.URL())),
	), nil
}

// endanger puts the fleet's faults in front of the services at inner. It returns the URL of
// DynamoDB.
func (f *Fleet) endanger(mux *http.ServeMux, inner, db string) (endpoint string, err error) {
	to, err := url.Parse(db)
	if err != nil {
		return "", err
	}

	keys := map[string][]string{}

	for _, room := range f.Rooms {
		for _, t := range room.Spec.Tables() {
			keys[spec.TableIn(prefix, t.Name)] = []string{t.Key.Partition, t.Key.Sort}
		}
	}

	f.Faults.Key = func(table string) []string { return keys[table] }
	mux.Handle("/dynamodb/", http.StripPrefix("/dynamodb", f.Faults.Guard(dynamodbsim.Proxy(to))))
	mux.Handle("/sqs/", f.Faults.Guard(f.Queues))
	mux.Handle("/ses/", http.StripPrefix("/ses", f.Faults.Guard(f.Mail)))
	f.Queues.InjectFaults(f.Faults.MessageFault)

	return inner + "/dynamodb/", nil
}

// trust writes the certificate authority of the simulators to a file for the
// functions: in the data folder or, without one, in a temporary folder.
func (f *Fleet) trust() (file string, err error) {
	dir := f.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "matchday-fleet-"); err != nil {
			return "", err
		}

		f.stops = append(f.stops, func() { os.RemoveAll(dir) })
	}

	file = filepath.Join(dir, "trusted.pem")

	return file, os.WriteFile(file, f.Phones.CA(), 0o600)
}

// signingKey returns the key that signs pushes, in the format of Apple's .p8 file.
func (f *Fleet) signingKey() (key *ecdsa.PrivateKey, text string, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, "", err
	}

	der, err := x509.MarshalPKCS8PrivateKey(key)

	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), err
}

// room adds a room's functions, queues and API, with its description.
func (f *Fleet) room(in app.Room, env []string) error {
	room := in.Spec

	var routes []apigateway.Route

	var letters []func() error // when all queues are there

	for _, fn := range room.Functions {
		path, args := f.Program, []string{FunctionArgument, fn.Name}
		if f.Dist != "" {
			path, args = filepath.Join(f.Dist, fn.Name, "bootstrap"), nil
		}

		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s is not built: start the fleet with `make run`", path)
		}

		limit := fn.Reserved
		if limit == 0 {
			limit = atOnce
		}

		logins, err := f.logins(fn)
		if err != nil {
			return err
		}

		f.Functions.Add(lambda.Function{
			Name:           fn.Name,
			Path:           path,
			Args:           args,
			Env:            append(f.environment(env, room, fn), logins...),
			Timeout:        f.limit(fn.Timeout),
			Memory:         fn.Memory,
			MaxConcurrency: limit,
		})

		switch on := fn.On.(type) {
		case spec.Route:
			kinds := map[spec.Auth]apigateway.Auth{spec.User: apigateway.User, spec.Admin: apigateway.Admin}

			a, ok := kinds[on.Auth]
			if !ok {
				a = apigateway.Public // or the function itself checks a cookie or a secret
			}

			for _, method := range on.Methods() {
				routes = append(routes, apigateway.Route{Method: method, Path: on.Path, Function: fn.Name, Auth: a})
			}
		case spec.Queue:
			if err := f.queue(room, fn, on); err != nil {
				return err
			}
		case spec.DeadLetters:
			letters = append(letters, func() error { return f.poll(fn, on.Of.DeadLetter(), on.Of.Batch, spec.DeadLetterConcurrency) })
		case spec.UserConfirmed:
			f.Users.OnConfirmed(func(ctx context.Context, event []byte) ([]byte, error) {
				return f.Functions.InvokeWait(ctx, fn.Name, event)
			})
		}
	}

	for _, poll := range letters {
		if err := poll(); err != nil {
			return err
		}
	}

	api, err := apigateway.New(apigateway.Config{
		Clock:       f.Clock,
		Base:        "/" + room.Name,
		Routes:      routes,
		Invoke:      f.Functions.Invoke,
		Verify:      f.Users.Verify,
		VerifyAdmin: f.Admins.Verify,
		Scope:       spec.Scope,
		Timeout:     f.limit(29 * time.Second),
		CORS: apigateway.CORS{
			AllowOrigins:  []string{"*"},
			AllowMethods:  stage.CORSMethods,
			AllowHeaders:  stage.CORSHeaders,
			ExposeHeaders: stage.CORSExposed,
			MaxAge:        stage.CORSMaxAge,
		},
	})
	if err != nil {
		return err
	}

	f.mux.Handle("/"+room.Name+"/", api)
	f.mu.Lock()
	if f.apis == nil {
		f.apis = map[string]http.Handler{}
	}

	f.apis[room.Name] = api
	f.mu.Unlock()

	description, err := openapi.Room(in)
	if err != nil {
		return err
	}

	f.mux.HandleFunc("GET /"+room.Name+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(description)
	})

	return nil
}

// environment returns the environment variables of a function: the id of the user pool if it
// changes users, the addresses of the pages if browsers call it, the address <room>@example.com
// if it sends mail, and the rooms of the fleet that keep data of users if its spec says so.
func (f *Fleet) environment(all []string, room spec.Room, fn spec.Function) []string {
	all = slices.Clone(all)
	if len(fn.Users) > 0 {
		all = append(all, spec.EnvUserPool+"="+cognito.ID)
	}

	if room.KnowsPages(fn) {
		all = append(all, spec.EnvOrigins+"="+f.URL+","+SampleOrigin, spec.EnvAPI+"="+f.URL+"/"+room.Name)
	}

	for _, m := range fn.Mail {
		all = append(all, m.Setting+"="+room.Name+"@example.com")
	}

	if fn.Keepers {
		all = append(all, spec.EnvKeepers+"="+accounts.FormatKeepers(f.Keepers()))
	}

	if fn.SignIn {
		all = append(all, spec.EnvIssuer+"="+f.Users.Issuer(), spec.EnvSignIn+"="+f.Users.Issuer(), spec.EnvClient+"="+f.Users.ClientID())
	}

	if room.TakesTokens(fn) {
		all = append(all, spec.EnvNative+"="+NativeClient(room.Name))
		if !fn.SignIn {
			all = append(all, spec.EnvIssuer+"="+f.Users.Issuer(), spec.EnvSignIn+"="+f.Users.Issuer())
		}
	}

	return all
}

// NativeClient returns the id of the user pool's client for the native apps of a room.
func NativeClient(room string) string { return "local-" + room + "-app" }

// NativeRedirect returns the address at which the native app of a room gets the code of a sign-in.
func NativeRedirect(room string) string { return "com.example." + room + ":/signed-in" }

// Keepers returns the names of the rooms of the fleet that keep data of users.
func (f *Fleet) Keepers() []string {
	var rooms []spec.Room
	for _, r := range f.Rooms {
		rooms = append(rooms, r.Spec)
	}

	return accounts.Keepers(rooms)
}

// limit returns a limit of wall time. On a free clock, simulated time stands still during the
// work, so the limit differs from that of AWS: it is longer for short work, so that a busy
// machine does not cause timeouts, and ends work that hangs.
func (f *Fleet) limit(aws time.Duration) time.Duration {
	if f.Clock.Speed() == clock.Free {
		return min(patience*aws, longest)
	}

	return aws
}

// queue creates a queue with its dead-letter queue. The queue invokes fn.
func (f *Fleet) queue(room spec.Room, fn spec.Function, q spec.Queue) error {
	reader, _ := room.DeadLetterFunction(q)
	if err := f.Queues.Create(sqs.Queue{Name: prefix + q.DeadLetter(), FIFO: q.FIFO(), Visibility: reader.VisibilityTimeout()}); err != nil {
		return err
	}

	if err := f.Queues.Create(sqs.Queue{
		Name:        prefix + q.Name,
		FIFO:        q.FIFO(),
		Visibility:  fn.VisibilityTimeout(),
		MaxReceives: q.MaxReceiveCount,
		DeadLetter:  prefix + q.DeadLetter(),
	}); err != nil {
		return err
	}

	return f.poll(fn, q.Name, q.Batch, q.Concurrency)
}

// poll makes a queue invoke a function.
func (f *Fleet) poll(fn spec.Function, queue string, batch, atOnce int) error {
	return f.Queues.Poll(sqs.Mapping{Queue: prefix + queue, BatchSize: batch, MaxConcurrency: atOnce},
		func(ctx context.Context, event []byte) ([]byte, error) {
			return f.Functions.InvokeWait(ctx, fn.Name, event)
		})
}

// Invoke runs a function now, as its schedule would.
func (f *Fleet) Invoke(ctx context.Context, function string) error {
	defer f.Clock.Work()()

	_, err := f.Functions.InvokeWait(ctx, function, []byte("{}"))
	if err != nil {
		return fmt.Errorf("%s: %w", function, err)
	}

	return nil
}

// Begin starts the schedules. A live loop starts with the minutes that were planned before now,
// so that it ticks at once.
func (f *Fleet) Begin(ctx context.Context) error {
	defer f.Clock.Work()()

	for _, room := range f.Rooms {
		for _, fn := range room.Spec.Functions {
			if on, ok := fn.On.(spec.Schedule); ok {
				if err := f.schedule(on, func(time.Time) { f.Invoke(ctx, fn.Name) }); err != nil { // the runtime reports errors
					return fmt.Errorf("%s: %w", fn.Name, err)
				}
			}
		}

		for _, m := range room.Spec.Machines {
			if err := f.machine(ctx, m); err != nil {
				return err
			}
		}

		f.stops = append(f.stops, f.sweeper(ctx, tables.FromSpec(prefix, room.Spec.Tables())))
	}

	return nil
}

func (f *Fleet) schedule(expression spec.Schedule, target func(scheduled time.Time)) error {
	s, err := scheduler.Parse(string(expression), "UTC")
	if err != nil {
		return err
	}

	f.stops = append(f.stops, scheduler.Run(f.Clock, s, f.jitter(), func(scheduled time.Time) {
		if f.isAwake(scheduled) {
			target(scheduled)
		}
	}))

	return nil
}

func (f *Fleet) isAwake(at time.Time) bool { return f.Awake == nil || f.Awake(at) }

func (f *Fleet) machine(ctx context.Context, m spec.Machine) error {
	text, err := os.ReadFile(filepath.Join(f.Root, "infra", "machines", m.Definition))
	if err != nil {
		return err
	}

	machine, err := stepfunctions.Parse(text, m.Calls)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Definition, err)
	}

	if f.Transition != nil {
		machine.Observe = func(t stepfunctions.Transition) { f.Transition(m.Name, t) }
	}

	invoke := f.Functions.Invoke
	if f.Faults != nil {
		invoke = f.Faults.Invoke(invoke)
	}

	run := func(scheduled time.Time) {
		input, _ := json.Marshal(map[string]time.Time{"scheduledTime": scheduled.UTC()}) // a time always encodes
		machine.Run(ctx, f.Clock, input, invoke)                                         // the observer reports its failures
	}

	minute := f.Clock.Now().Truncate(time.Minute)
	for _, missed := range []time.Time{minute.Add(-time.Minute), minute} {
		f.Clock.At(f.Clock.Now(), func() { run(missed) })
	}

	return f.schedule(m.Every, run)
}

// jitter delays each start of a schedule to a random second of its minute, as Scheduler does.
func (f *Fleet) jitter() func() time.Duration {
	if f.Seed == 0 {
		return nil
	}

	n := f.Seed

	return func() time.Duration {
		n = n*6364136223846793005 + 1442695040888963407 // Knuth's linear congruential generator
		return time.Duration(n>>33) % time.Minute
	}
}

// sweeper deletes expired items from time to time, as DynamoDB does.
func (f *Fleet) sweeper(ctx context.Context, expiring []dynamodbsim.Table) (stop func()) {
	var mu sync.Mutex

	stopped := false

	var (
		last time.Time
		arm  func()
	)

	arm = func() {
		f.Clock.After(sweep, func() {
			mu.Lock()
			defer mu.Unlock()

			if stopped {
				return
			}

			if now := f.Clock.Now(); f.isAwake(now) && now.Sub(last) >= f.Expiry {
				last = now
				dynamodbsim.Sweep(ctx, f.DB, expiring, now) // the next sweep deletes items that this one has missed
			}

			arm()
		})
	}
	arm()

	return func() {
		mu.Lock()
		defer mu.Unlock()

		stopped = true
	}
}

// AdminGroups returns the groups of an administrator of all rooms.
func (f *Fleet) AdminGroups() (all []string) {
	for _, room := range f.Rooms {
		all = append(all, auth.AdminGroup(room.Spec.Name))
	}

	return all
}
