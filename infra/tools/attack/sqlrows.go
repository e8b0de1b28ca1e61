package attack

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jackc/pgx/v5"

	"matchday/pkg/spec"
)

// sqlTable is how the name of a table of PostgreSQL begins: "sql:league".
const sqlTable = "sql:"

// readTables returns the query that reads all rows of all tables: the table, the primary key
// as a JSON array, and the row as JSON.
const readTables = `
SELECT string_agg(format(
	'SELECT %L, %s::text, to_jsonb(t)::text FROM %s t', c.oid::regclass, coalesce(key.text, 'to_jsonb(t)'), c.oid::regclass
), ' UNION ALL ')
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
	SELECT 'jsonb_build_array(' || string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attnum) || ')' AS text
	FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
	WHERE i.indrelid = c.oid AND i.indisprimary
) key
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`

// readColumns returns the columns of all tables that can be written: not those that are generated.
const readColumns = `
SELECT a.attrelid::regclass::text AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
	AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
GROUP BY a.attrelid`

// database is a connection to a database as the superuser.
type database struct {
	*pgx.Conn
	read    string            // the query of readTables
	columns map[string]string // those of a table that can be written, separated by commas
}

// open returns the connection to a database, which walk closes.
func (w *Fleet) open(ctx context.Context, d spec.SQLDatabase) (*database, error) {
	if db := w.databases[d.Name]; db != nil {
		return db, nil
	}

	db, err := connect(ctx, w.fleet.SQLURL(d, ""))
	if err == nil {
		w.databases[d.Name] = db
	}

	return db, err
}

// connect connects to a database, and reads which tables and columns it has.
func connect(ctx context.Context, url string) (*database, error) {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}

	db := &database{Conn: c, columns: map[string]string{}}

	err = c.QueryRow(ctx, readTables).Scan(&db.read)
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}

	rows, err := c.Query(ctx, readColumns)
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}

	var table, columns string

	_, err = pgx.ForEachRow(rows, []any{&table, &columns}, func() error {
		db.columns[table] = columns
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}

	return db, nil
}

// sqlRows adds the rows of a database to all.
func (w *Fleet) sqlRows(ctx context.Context, d spec.SQLDatabase, all map[string]map[string]row) error {
	db, err := w.open(ctx, d)
	if err != nil {
		return err
	}

	rows, err := db.Query(ctx, db.read)
	if err != nil {
		return err
	}

	var table, key, text string

	_, err = pgx.ForEachRow(rows, []any{&table, &key, &text}, func() error {
		var columns map[string]any
		if err := json.Unmarshal([]byte(text), &columns); err != nil {
			return err
		}

		r, err := attributevalue.MarshalMap(columns)
		if err != nil {
			return err
		}

		r[sqlText] = &types.AttributeValueMemberS{Value: text}

		if all[sqlTable+table] == nil {
			all[sqlTable+table] = map[string]row{}
		}

		all[sqlTable+table][key] = r

		return nil
	})

	return err
}

// restoreSQL puts the rows of a database back as they were before, and empties the caches of
// what was read since. Triggers and foreign keys do not apply: all rows together are valid.
func (w *Fleet) restoreSQL(ctx context.Context, d spec.SQLDatabase, now, before map[string]map[string]row) error {
	db, err := w.open(ctx, d)
	if err != nil {
		return err
	}

	var batch pgx.Batch
	batch.Queue("SET LOCAL session_replication_role = replica")

	each := func(all, except map[string]map[string]row, do func(table, text string)) {
		for name, rows := range all {
			table, ok := strings.CutPrefix(name, sqlTable)
			for key, r := range rows {
				if ok && textIn(r) != textIn(except[name][key]) {
					do(table, textIn(r))
				}
			}
		}
	}
	each(now, before, func(table, text string) {
		batch.Queue("DELETE FROM "+table+" t WHERE to_jsonb(t) = $1", text)
	})
	each(before, now, func(table, text string) {
		batch.Queue("INSERT INTO "+table+" ("+db.columns[table]+") OVERRIDING SYSTEM VALUE SELECT "+db.columns[table]+
			" FROM jsonb_populate_record(NULL::"+table+", $1)", text)
	})

	if batch.Len() == 1 {
		return nil
	}

	for _, cache := range w.fleet.Caches {
		cache.FlushAll()
	}

	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &batch).Close() })
}

// textIn is the JSON text of a row of PostgreSQL, "" for none.
func textIn(r row) string {
	text, _ := r[sqlText].(*types.AttributeValueMemberS)
	if text == nil {
		return ""
	}

	return text.Value
}
