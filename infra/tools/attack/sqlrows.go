package attack

import (
	"context"
	"encoding/json"
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

// database is a connection to a database as the superuser.
type database struct {
	*pgx.Conn
	read string // the query of readTables
}

// open returns the connection to a database, which walk closes.
func (w *Fleet) open(ctx context.Context, d spec.SQLDatabase) (*database, error) {
	if db := w.databases[d.Name]; db != nil {
		return db, nil
	}

	c, err := pgx.Connect(ctx, w.fleet.SQLURL(d, ""))
	if err != nil {
		return nil, err
	}

	db := &database{Conn: c}
	w.databases[d.Name] = db

	return db, c.QueryRow(ctx, readTables).Scan(&db.read)
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
		batch.Queue("INSERT INTO "+table+" OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::"+table+", $1)", text)
	})

	if batch.Len() == 1 {
		return nil
	}

	db, err := w.open(ctx, d)
	if err != nil {
		return err
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
