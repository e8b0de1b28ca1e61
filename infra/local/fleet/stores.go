package fleet

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"matchday/infra/local/databases"
	"matchday/infra/sim/chaos"
	"matchday/infra/sim/postgres"
	"matchday/infra/sim/redis"
	"matchday/pkg/spec"
)

// stores starts the servers of the databases and caches that the rooms use, and migrates the
// databases. DATABASE_URL and REDIS_URL name other servers.
func (f *Fleet) stores(ctx context.Context) error {
	f.sql, f.Caches, f.caches = map[string]string{}, map[string]*redis.Server{}, map[string]string{}
	for _, room := range f.Rooms {
		for _, d := range room.Spec.Databases() {
			if err := f.database(ctx, d); err != nil {
				return err
			}
		}

		for _, l := range room.Spec.CacheLogins() {
			if err := f.cache(l.Cache.Name); err != nil {
				return err
			}
		}
	}

	return nil
}

// database creates a database, and starts its server if none runs. Without a data folder the
// database is deleted with the fleet, also on a server that continues.
func (f *Fleet) database(ctx context.Context, d spec.SQLDatabase) (err error) {
	if f.sql[d.Name] != "" {
		return nil
	}

	if f.SQL == nil {
		dir := ""
		if f.Dir != "" {
			if dir, err = filepath.Abs(filepath.Join(f.Dir, "postgres")); err != nil {
				return err
			}
		}

		if f.SQL, err = postgres.Start(ctx, dir); err != nil {
			return err
		}

		f.stops = append(f.stops, f.SQL.Stop)
	}

	name := prefix + d.Name
	if f.Dir == "" {
		name += "-" + strings.ToLower(rand.Text()[:12])

		f.stops = append(f.stops, func() { databases.Drop(context.WithoutCancel(ctx), f.SQL, name) }) // best effort, on a server that remains
	}

	f.sql[d.Name] = name

	return databases.Create(ctx, f.SQL, d, name)
}

// cache starts the server of a cache.
func (f *Fleet) cache(name string) error {
	if f.caches[name] != "" {
		return nil
	}

	if text := os.Getenv(redis.Endpoint); text != "" {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return fmt.Errorf("%s is no URL", redis.Endpoint)
		}

		f.caches[name] = u.Host

		return nil
	}

	s, err := redis.Start(f.Clock.Now)
	if err != nil {
		return fmt.Errorf("start the cache %s: %w", name, err)
	}

	f.stops = append(f.stops, s.Close)
	f.Caches[name], f.caches[name] = s, s.Addr()

	return nil
}

// SQLURL returns the URL of a database for a role, "" for the superuser.
func (f *Fleet) SQLURL(d spec.SQLDatabase, role string) string {
	return f.SQL.URL(role, f.sql[d.Name])
}

// CacheAddress returns the host and port of a cache, by its name in the spec.
func (f *Fleet) CacheAddress(name string) string { return f.caches[name] }

// logins returns the environment variables of a function's logins. The fleet's faults are in
// front of the servers.
func (f *Fleet) logins(fn spec.Function) (env []string, err error) {
	front := func(p chaos.Protocol, address string) string {
		if f.Faults == nil || err != nil {
			return address
		}

		var stop func()
		if address, stop, err = f.Faults.Connect(fn.Name, p, address); err == nil {
			f.stops = append(f.stops, stop)
		}

		return address
	}

	for _, l := range fn.SQL {
		text := f.SQLURL(l.Database, l.Role)
		env = append(env, l.Database.Env()+"="+strings.Replace(text, f.SQL.Address, front(chaos.Postgres, f.SQL.Address), 1))
	}

	for _, l := range fn.Caches {
		env = append(env, l.Env()+"=redis://"+front(chaos.Redis, f.caches[l.Cache.Name]))
	}

	return env, err
}
