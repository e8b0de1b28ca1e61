package spec

import (
	"io/fs"
	"strings"
	"time"
)

// SQLDatabase is an Aurora PostgreSQL database. Functions log in by IAM, without a
// password, and run in the room's VPC.
type SQLDatabase struct {
	Name       string
	Migrations fs.FS // of goose, *.sql; run by the function that logs in as SQLAdmin
}

// As returns a login to the database as a role of PostgreSQL. Every role but SQLAdmin must be
// granted rds_iam.
func (d SQLDatabase) As(role string) SQLLogin { return SQLLogin{d, role} }

// SQLAdmin is the role that owns the database. Only migrations log in with it.
const SQLAdmin = "matchday"

// SQLLogin is a function's login to a database.
type SQLLogin struct {
	Database SQLDatabase
	Role     string
}

// Env is the environment variable with the URL of a function's login to the database, without a password:
// postgres://role@host:port/name. A function has one login to a database.
func (d SQLDatabase) Env() string { return variable("SQL", d.Name) }

// Cache is a serverless Valkey cache. Functions log in by IAM, over TLS, and run
// in the room's VPC.
type Cache struct{ Name string }

// As returns a login to the cache as a user who may run some commands on some
// keys, in the syntax of Valkey's access lists: "~* +@read".
func (c Cache) As(user, access string) CacheLogin { return CacheLogin{c, user, access} }

// CacheLogin is a function's login to a cache. Logins of one user have one Access.
type CacheLogin struct {
	Cache        Cache
	User, Access string
}

// Env is the environment variable with the URL of the login, without a password:
// rediss://user@host:port/cache.
func (l CacheLogin) Env() string { return variable("CACHE", l.Cache.Name) }

// Bucket is a private S3 bucket.
type Bucket struct {
	Name    string
	Expires time.Duration // whole days after which an object is deleted, 0 for never
	Shared  bool          // all rooms may use it: it is in the shared stack
}

// ObjectOp is an action of S3 on objects, spelled as IAM spells it, or ListBucket.
type ObjectOp string

const (
	GetObject    ObjectOp = "GetObject"
	PutObject    ObjectOp = "PutObject"
	DeleteObject ObjectOp = "DeleteObject"
	ListBucket   ObjectOp = "ListBucket"
)

// On returns what a function does with the bucket's objects whose keys begin with
// prefix, "" for all.
func (b Bucket) On(prefix string, ops ...ObjectOp) ObjectAccess { return ObjectAccess{b, prefix, ops} }

// ObjectAccess is what a function does with objects of a bucket.
type ObjectAccess struct {
	Bucket Bucket
	Prefix string
	Ops    []ObjectOp
}

// Env is the environment variable with the name of the bucket.
func (a ObjectAccess) Env() string { return variable("BUCKET", a.Bucket.Name) }

// MailSender is an address from which functions send mail by SES. The setting that
// holds the address is one of the room's, and SES must have verified its domain.
type MailSender struct{ Setting string }

func variable(kind, name string) string {
	return "MATCHDAY_" + kind + "_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// InVPC reports whether the function runs in the room's VPC. From there it reaches databases,
// caches, SQS, and the tables and objects that it is granted, and nothing else.
func (f Function) InVPC() bool { return len(f.SQL)+len(f.Caches) > 0 }

// Databases returns the databases that the room's functions use, sorted by name.
func (r Room) Databases() []SQLDatabase {
	all := map[string]SQLDatabase{}

	for _, f := range r.Functions {
		for _, l := range f.SQL {
			all[l.Database.Name] = l.Database
		}
	}

	return byName(all)
}

// CacheLogins returns the logins to caches of the room's functions, each once, sorted by cache
// and user.
func (r Room) CacheLogins() []CacheLogin {
	all := map[string]CacheLogin{}

	for _, f := range r.Functions {
		for _, l := range f.Caches {
			all[l.Cache.Name+" "+l.User] = l
		}
	}

	return byName(all)
}

// Buckets returns the buckets that the room's functions use, sorted by name.
func (r Room) Buckets() []Bucket {
	all := map[string]Bucket{}

	for _, f := range r.Functions {
		for _, a := range f.Objects {
			all[a.Bucket.Name] = a.Bucket
		}
	}

	return byName(all)
}
