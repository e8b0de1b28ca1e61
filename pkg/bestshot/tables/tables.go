// Package tables is what Best Shot stores: its database with the migrations, the projections
// of its cache, and images.
package tables

import (
	"embed"
	"io/fs"
	"time"

	"matchday/pkg/spec"
)

//go:embed migrations/*.sql
var files embed.FS

// DB is the truth: members, tournaments, guesses, settlements and leagues.
var DB = spec.SQLDatabase{Name: "bestshot", Migrations: migrations()}

func migrations() fs.FS {
	dir, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the name is a constant
	}

	return dir
}

// Rest is how long an instance of a scheduled job leaves the database alone when no tournament
// is upcoming or active: where it may pause, it does after five minutes without use.
const Rest = time.Hour

// Roles of functions, with the grants of the migrations.
var (
	Reader = DB.As("bestshot_reader") // reads
	Player = DB.As("bestshot_player") // writes what belongs to a member
	Worker = DB.As("bestshot_worker") // writes all
)

// Cache holds the projections. All of it may vanish.
var Cache = spec.Cache{Name: "bestshot"}

// Assets has the badges of teams and the logos of tournaments. Its objects are public.
var Assets = spec.Bucket{Name: "bestshot-assets"}

// CacheUser reads and writes the projections.
var CacheUser = Cache.As("app", "~tournament:* ~league:* -@all +@hash +@string +@keyspace +@scripting +@connection +cluster -@dangerous")
