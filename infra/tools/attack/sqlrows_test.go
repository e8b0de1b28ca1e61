package attack

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/fleet"
	"matchday/infra/testkit/pgtest"
	"matchday/infra/tools/events/storyfleet"
	"matchday/pkg/spec"
)

var club = spec.SQLDatabase{Name: "club", Migrations: fstest.MapFS{"00001_create.sql": {Data: []byte(`-- +goose Up
CREATE TABLE player (id uuid PRIMARY KEY, public_id text NOT NULL);
CREATE TABLE note (player_id uuid NOT NULL REFERENCES player ON DELETE CASCADE, n integer NOT NULL, at timestamptz, data jsonb, PRIMARY KEY (player_id, n));
CREATE TABLE entry (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text   text,
    length integer GENERATED ALWAYS AS (length(text)) STORED
);
CREATE TABLE "Odd one" (text text);
INSERT INTO player VALUES ('00000000-0000-4000-8000-000000000001', 'ann'), ('00000000-0000-4000-8000-000000000002', 'bob');
INSERT INTO note SELECT id, n, '2026-06-06T12:00:00.123456Z', '{"a":[1,2.5,null,"x"]}' FROM player, generate_series(1, 2) n;
INSERT INTO entry (text) VALUES ('first');
INSERT INTO "Odd one" VALUES ('it''s');`)}}}

// TestSQLRows: rows of PostgreSQL are read by table and primary key, and put back as they were,
// whatever has been changed. What is a user's is known by the ids of the user.
func TestSQLRows(t *testing.T) {
	t.Parallel()

	c, err := connect(t.Context(), pgtest.Shared(t).URL("", pgtest.Create(t, club)))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { c.Close(t.Context()) })

	w := &Fleet{fleet: &storyfleet.Fleet{Fleet: &fleet.Fleet{}}, databases: map[string]*database{club.Name: c}}
	rows := func() map[string]map[string]row {
		all := map[string]map[string]row{}
		if err := w.sqlRows(t.Context(), club, all); err != nil {
			t.Fatal(err)
		}

		delete(all, "sql:goose_db_version")

		return all
	}
	before := rows()

	got := map[string][]string{}
	for table, all := range before {
		got[table] = slices.Sorted(maps.Keys(all))
	}

	want := map[string][]string{
		"sql:player": {`["00000000-0000-4000-8000-000000000001"]`, `["00000000-0000-4000-8000-000000000002"]`},
		"sql:note": {
			`["00000000-0000-4000-8000-000000000001", 1]`, `["00000000-0000-4000-8000-000000000001", 2]`,
			`["00000000-0000-4000-8000-000000000002", 1]`, `["00000000-0000-4000-8000-000000000002", 2]`,
		},
		"sql:entry":     {`[1]`},
		`sql:"Odd one"`: {`{"text": "it's"}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the keys of the rows (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"bob", "00000000-0000-4000-8000-000000000002"}, idsOf("bob", before)); diff != "" {
		t.Errorf("the ids of a user (-want +got):\n%s", diff)
	}

	for _, change := range []string{
		`DELETE FROM player WHERE public_id = 'ann'`,
		`UPDATE note SET data = '{}', at = NULL`,
		`INSERT INTO entry (text) VALUES ('second'); UPDATE entry SET text = 'other' WHERE id = 1`,
		`INSERT INTO "Odd one" VALUES ('other'); UPDATE "Odd one" SET text = NULL WHERE text = 'it''s'`,
	} {
		if _, err := c.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}

		now := rows()
		if cmp.Equal(textsOf(before), textsOf(now)) {
			t.Errorf("%s: no change is seen", change)
		}

		if err := w.restoreSQL(t.Context(), club, now, before); err != nil {
			t.Errorf("%s: %v", change, err)
		}

		if diff := cmp.Diff(textsOf(before), textsOf(rows())); diff != "" {
			t.Errorf("%s: not put back (-want +got):\n%s", change, diff)
		}
	}
}

// textsOf returns the rows as JSON, by table and key.
func textsOf(all map[string]map[string]row) map[string]string {
	texts := map[string]string{}

	for table, rows := range all {
		for key, r := range rows {
			texts[table+key] = textIn(r)
		}
	}

	return texts
}
