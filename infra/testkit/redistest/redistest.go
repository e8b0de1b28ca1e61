// Package redistest gives a test's world a cache of its own.
package redistest

import (
	"matchday/infra/sim/redis"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
)

// Attach starts an empty cache, which is every cache of the world's functions.
func Attach(w *testkit.World) *redis.Server {
	w.T.Helper()
	cache, err := redis.Start(w.Clock.Now)
	testkit.Must(w.T, err)
	w.T.Cleanup(cache.Close)

	w.Stores = append(w.Stores, testkit.Store{
		Name: dynamotest.CacheCall,
		URL: func(fn app.Function, setting string) string {
			for _, l := range fn.Caches {
				if l.Env() == setting {
					return "redis://" + cache.Addr()
				}
			}

			return ""
		},
		At: func(address string) bool { return address == cache.Addr() },
	})

	return cache
}
