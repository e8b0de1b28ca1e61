// Package tables declares what Best Shot stores: the database with its migrations, the cache, the
// table of phones and the bucket of images.
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

// IdleInterval is how often a scheduled job reads the database while no tournament is upcoming or
// active. One that is made ends that: see view.Rest. In stages where the database may pause, it pauses after five minutes without use.
const IdleInterval = time.Hour

// Roles of functions, with the grants of the migrations.
var (
	Reader   = DB.As("bestshot_reader")   // reads
	Player   = DB.As("bestshot_player")   // writes what belongs to a member
	Settler  = DB.As("bestshot_settler")  // writes points
	Notifier = DB.As("bestshot_notifier") // writes who is told
	Keeper   = DB.As("bestshot_keeper")   // deletes members and tournaments
	Worker   = DB.As("bestshot_worker")   // writes all tables, by answers of providers and by administrators
)

// Assets has the badges of teams and the logos of tournaments. Its objects are public.
var Assets = spec.Bucket{Name: "bestshot-assets"}

// Cache has the projections: copies of what the database has. They may be lost at any time.
var Cache = spec.Cache{Name: "bestshot"}

// CacheUser is the login that reads and writes the projections.
var CacheUser = Cache.As("app", "~tournament:* ~league:* -@all +@hash +@string +@keyspace +@scripting +@connection +cluster -@dangerous")
