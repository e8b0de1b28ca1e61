// Package pg opens the PostgreSQL databases of the spec, and classifies their errors.
//
// A function has at most two connections, because each of its instances has a pool. It logs in
// by IAM over verified TLS. An error because the server is down, busy or resuming is an
// Unavailable problem: a request is answered with 503 and Retry-After, and a message is
// delivered again.
//
// All SQL uses now() for the time. At the local stage now() is the time of the fleet's clock:
// see Open.
package pg

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/rds/auth"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

const (
	// MaxConns is the number of connections of an instance of a function.
	MaxConns = 2
	// idle is how long a connection may be unused. It is shorter than the server's limit for
	// idle sessions.
	idle = 30 * time.Second
	dial = 5 * time.Second
	// statement and locks are how long a statement may run, and may wait for a lock.
	statement = 10 * time.Second
	locks     = 3 * time.Second
	// tries is how often a transaction is run that conflicts with others.
	tries = 3
	// resume is how long a paused cluster takes to resume. After it a retry may succeed.
	resume = 15 * time.Second
	// resumed is how long a cluster takes to resume that was paused for days.
	resumed = time.Minute
)

// DB is a database, with the permissions of one role.
type DB struct{ pool *pgxpool.Pool }

// Open returns a database with the role of the function's login, whose URL is in the environment. It connects at
// the first use.
//
// At the local stage now() is the fleet's time: sessions find the function now of the schema
// virtual before that of PostgreSQL, and Open sets its time whenever a connection is taken from
// the pool. No deployed database has that schema.
func Open(ctx context.Context, env app.Env, database spec.SQLDatabase) (DB, error) {
	cfg, err := configure(env, database)
	if err != nil {
		return DB{}, err
	}

	cfg.MaxConns, cfg.MaxConnIdleTime = MaxConns, idle
	if env.Stage == spec.Local {
		cfg.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			_, err := conn.Exec(ctx, "SELECT set_config('"+VirtualTime+".now', $1, false)", env.Now().UTC().Format(time.RFC3339Nano))
			return err == nil, err
		}
	}

	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), cfg)

	return DB{pool}, err
}

// Config returns the configuration of one connection, for migrations: it waits until a paused
// cluster has resumed, its statements have no time limit but wait for a lock no longer than
// others, which would queue behind them, and its password is valid for 15 minutes.
func Config(ctx context.Context, env app.Env, database spec.SQLDatabase) (*pgx.ConnConfig, error) {
	cfg, err := configure(env, database)
	if err != nil {
		return nil, err
	}

	for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
		delete(cfg.ConnConfig.RuntimeParams, limit)
	}

	cfg.ConnConfig.ConnectTimeout = resumed
	if cfg.BeforeConnect != nil {
		err = cfg.BeforeConnect(ctx, cfg.ConnConfig)
	}

	return cfg.ConnConfig, err
}

func configure(env app.Env, database spec.SQLDatabase) (*pgxpool.Config, error) {
	url := env.Setting(database.Env())
	if url == "" {
		return nil, errors.New(database.Env() + " is not set")
	}

	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", database.Env(), err)
	}

	c := cfg.ConnConfig
	c.ConnectTimeout = env.Limit(dial)
	milliseconds := func(d time.Duration) string { return fmt.Sprint(env.Limit(d).Milliseconds()) }
	c.RuntimeParams["application_name"] = "matchday"
	c.RuntimeParams["timezone"] = "UTC"
	c.RuntimeParams["statement_timeout"] = milliseconds(statement)
	c.RuntimeParams["lock_timeout"] = milliseconds(locks)

	c.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(statement)
	if env.Dial != nil {
		c.DialFunc = env.Dial
		// Tests count the calls, and a ping after a second of idle time would be one more.
		cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	}

	if env.Stage == spec.Local {
		c.RuntimeParams["search_path"] = "public, " + VirtualTime + ", pg_catalog"
		return cfg, nil
	}

	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, errors.New("the certificates of Amazon RDS cannot be read")
	}

	c.TLSConfig = &tls.Config{RootCAs: roots, ServerName: c.Host, MinVersion: tls.VersionTLS12}
	c.Fallbacks = nil // it would connect without TLS
	address := net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) (err error) {
		c.Password, err = auth.BuildAuthToken(ctx, address, env.AWS.Region, c.User, env.AWS.Credentials)
		return err
	}

	return cfg, nil
}

// VirtualTime is the schema of a local database whose function now() returns the setting
// virtual.now.
const VirtualTime = "virtual"

// Close ends the connections.
func (db DB) Close() { db.pool.Close() }

// Session runs statements. It is a DB, which runs each in a transaction of its own, or the
// transaction of Tx.
type Session interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) // the error is also that of the rows
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Query runs a statement on a connection of the pool.
func (db DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return db.pool.Query(ctx, sql, args...)
}

// Exec runs a statement on a connection of the pool.
func (db DB) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return db.pool.Exec(ctx, sql, args...)
}

// Tx runs do in a transaction, and commits it if do returns nil. If the transaction conflicts
// with another, it runs do again, up to three times; do must have no other effect. After an
// Unavailable problem the transaction may have been committed.
func (db DB) Tx(ctx context.Context, do func(pgx.Tx) error) error {
	for n := 1; ; n++ {
		err := classify(pgx.BeginFunc(ctx, db.pool, do))
		if n == tries || !lost(err) {
			return err
		}
	}
}

// All returns the rows of a query. The fields of T are matched with the columns by their
// names, or by their tags `db`.
func All[T any](ctx context.Context, s Session, sql string, args ...any) ([]T, error) {
	rows, _ := s.Query(ctx, sql, args...)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])

	return all, classify(err)
}

// One returns the first row of a query. ok is false if there is none.
func One[T any](ctx context.Context, s Session, sql string, args ...any) (row T, ok bool, err error) {
	return first(ctx, s, pgx.RowToStructByName[T], sql, args)
}

// Value returns the only column of the first row of a query. ok is false if there is none.
func Value[T any](ctx context.Context, s Session, sql string, args ...any) (v T, ok bool, err error) {
	return first(ctx, s, pgx.RowTo[T], sql, args)
}

// Values returns the only column of the rows of a query.
func Values[T any](ctx context.Context, s Session, sql string, args ...any) ([]T, error) {
	rows, _ := s.Query(ctx, sql, args...)
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])

	return all, classify(err)
}

func first[T any](ctx context.Context, s Session, read pgx.RowToFunc[T], sql string, args []any) (v T, ok bool, err error) {
	rows, _ := s.Query(ctx, sql, args...)

	v, err = pgx.CollectOneRow(rows, read)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, false, nil
	}

	return v, err == nil, classify(err)
}

// Do runs a statement, and returns the number of rows that it changed.
func Do(ctx context.Context, s Session, sql string, args ...any) (changed int64, err error) {
	tag, err := s.Exec(ctx, sql, args...)
	return tag.RowsAffected(), classify(err)
}

// Violates reports whether err is the violation of a constraint, by its name.
func Violates(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.ConstraintName == constraint
}

// IsLockTimeout reports whether err is that of a statement that waited for a lock too long.
func IsLockTimeout(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == lockTimeout
}

// Classes and codes of errors after which a later try may succeed (PostgreSQL, appendix A).
var (
	passing = map[string]bool{
		"08": true, // connection
		"53": true, // insufficient resources: too many connections
		"57": true, // operator intervention: shutdown, pause, idle session, statement timeout
		"58": true, // system error
	}
	losing = map[string]bool{
		"40001": true, // serialization failure
		"40P01": true, // deadlock
	}
	lockTimeout = "55P03"
)

func lost(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && losing[e.Code]
}

// classify returns err as an Unavailable problem if a later try may succeed.
func classify(err error) error {
	if err == nil {
		return nil
	}

	if _, ok := errors.AsType[*problem.Error](err); ok {
		return err
	}

	if e, ok := errors.AsType[*pgconn.PgError](err); ok && !passing[e.Code[:2]] && !losing[e.Code] && e.Code != lockTimeout {
		return fmt.Errorf("database: %w", err)
	} else if !ok && !unreachable(err) {
		return err
	}

	return problem.ErrDatabase.WithRetryAfter(resume).Because(err)
}

// unreachable reports whether err is an error of the connection.
func unreachable(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}

	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}

	return pgconn.Timeout(err) || pgconn.SafeToRetry(err) || errors.Is(err, net.ErrClosed) || isEOF(err) ||
		errors.Is(err, context.DeadlineExceeded)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
