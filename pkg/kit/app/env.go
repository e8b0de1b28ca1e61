package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"matchday/pkg/spec"
)

// Env is the environment in which the service of a function is opened.
type Env struct {
	AWS     aws.Config
	Stage   string
	Prefix  string // before every table name
	Queues  string // prefix of a queue's URL, before its name
	Secrets string // before every secret's name
	Pool    string // id of the user pool, "" for a function that changes no users
	Clock
	HTTP http.RoundTripper // to providers; nil for net/http's
	// Dial connects to databases and caches; nil for net's. With a Dial, caches are used without
	// TLS, which only a local fleet may do.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Setting reads a plain setting, "" when it is not set.
	Setting func(name string) string
	// Patience is the factor of Limit: 1 in a stage, more on one machine. Zero is 1.
	Patience int
}

// longestCall is the upper bound of a limit that Patience extends: a call that takes longer
// hangs.
const longestCall = time.Minute

// Limit returns the time limit of a call that has the limit d in a stage. On one machine the
// callers and the servers share the processors, so the limit there is Patience times d, but
// at most a minute if d is shorter than that.
func (e Env) Limit(d time.Duration) time.Duration {
	return max(d, min(d*time.Duration(e.Patience), longestCall))
}

// Secret reads a secret's current value from Secrets Manager. The local stage
// keeps its secrets in settings.
func (e Env) Secret(ctx context.Context, name string) (string, error) {
	if e.Stage == spec.Local {
		if v := e.Setting(name); v != "" {
			return v, nil
		}

		return "", fmt.Errorf("the secret %s is not set", name)
	}

	id := e.Secrets + name

	out, err := secretsmanager.NewFromConfig(e.AWS).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return "", fmt.Errorf("read the secret %s: %w", name, err)
	}

	if aws.ToString(out.SecretString) == "" {
		return "", fmt.Errorf("the secret %s holds no text", name)
	}

	return *out.SecretString, nil
}

// environment reads the variables that Lambda and the deployment set. The clock is
// nil except at the local stage.
func environment(getenv func(string) string) (Env, *fleetClock, error) {
	env := Env{
		AWS:     config(getenv),
		Stage:   getenv(spec.EnvStage),
		Prefix:  getenv(spec.EnvPrefix),
		Queues:  getenv(spec.EnvQueues),
		Secrets: getenv(spec.EnvSecrets),
		Pool:    getenv(spec.EnvUserPool),
		Clock:   Clock{Now: time.Now, Sleep: sleep},
		Setting: getenv,
	}
	if env.AWS.Region == "" {
		return Env{}, nil, errors.New("AWS_REGION is not set")
	}

	if env.Stage == "" {
		return Env{}, nil, errors.New(spec.EnvStage + " is not set")
	}

	if env.Stage != spec.Local {
		return env, nil, nil
	}

	clock := &fleetClock{runtime: getenv("AWS_LAMBDA_RUNTIME_API")}
	env.Clock = Clock{Now: clock.now, Sleep: clock.sleep}

	if text := getenv(spec.EnvPatience); text != "" {
		var err error
		if env.Patience, err = strconv.Atoi(text); err != nil {
			return Env{}, nil, fmt.Errorf("%s must be a whole number, not %q", spec.EnvPatience, text)
		}
	}

	return env, clock, nil
}

// config returns the SDK's configuration from the variables that Lambda sets. The SDK's own
// loader also supports profiles, SSO, STS and instance metadata. A function does not need them,
// and they are a sixth of its binary.
func config(getenv func(string) string) aws.Config {
	return aws.Config{
		Region: getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(getenv("AWS_ACCESS_KEY_ID"),
			getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")),
		ConfigSources: []any{endpoints(getenv)},
		HTTPClient: Client{awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = idleConnections
		})},
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts, o.Backoff = attempts, retry.BackoffDelayerFunc(backoff)
				o.Retryables = append(slices.Clone(o.Retryables), conflicts)
			})
		},
	}
}

// conflicts makes the SDK retry a write that DynamoDB refused because of a concurrent
// transaction on the item. By default the SDK treats the error as permanent.
var conflicts = retry.RetryableErrorCode{Codes: map[string]struct{}{"TransactionConflictException": {}}}

// attempts is the limit of tries of an AWS call. backoff replaces the SDK's own
// pauses, which are up to 2 s and 4 s: longer than a tick's slot.
const attempts = 4

// backoff returns the pause after an attempt: random, up to 50 ms, doubled for each attempt.
func backoff(attempt int, _ error) (time.Duration, error) {
	return rand.N(25 * time.Millisecond << attempt), nil
}

// idleConnections is the limit of idle connections to each service. A tick of 50
// matches makes about 100 calls at once; with the SDK's limit of 10 it would dial
// about 90 connections in each slot.
const idleConnections = 100

// Restored returns the tables that were restored under another name, for package dynamo.
func (getenv endpoints) Restored() string { return getenv(spec.EnvRestored) }

// endpoints returns a service's endpoint from the variable that all AWS SDKs read, such as
// AWS_ENDPOINT_URL_SECRETS_MANAGER. The SDK's services look for this method.
type endpoints func(name string) string

func (getenv endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (url string, found bool, err error) {
	url = getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(service), " ", "_"))
	return url, url != "", nil
}
