-- +goose NO TRANSACTION
-- +goose Up

-- What operators need. Each statement can run again, because a run that ends early repeats them all.
--
-- An execution that asks for several rounds ends when none is waiting. failed is how many rounds have failed.
ALTER TABLE execution
    ADD COLUMN IF NOT EXISTS waiting text[] NOT NULL DEFAULT '{}', -- the slugs of the rounds without an answer
    ADD COLUMN IF NOT EXISTS rounds  integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS failed  integer NOT NULL DEFAULT 0;

-- A message that could not be settled is closed when its match is settled, or by an administrator. match_id is
-- NULL if the message names no match.
ALTER TABLE settlement_dlq
    ADD COLUMN IF NOT EXISTS closed_at timestamptz,
    ADD COLUMN IF NOT EXISTS match_id  uuid GENERATED ALWAYS AS (
        substring(payload FROM '"matchId"\s*:\s*"([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})"')::uuid
    ) STORED;
CREATE INDEX IF NOT EXISTS dlq_open ON settlement_dlq (match_id) WHERE closed_at IS NULL;

-- A tournament that is being deleted has deleted_at. No function sees it, or what belongs to it, unless its
-- transaction sets bestshot.deletion to on: those that delete it do. The rows of its members are not hidden:
-- they are read by its matches, or together with it.
ALTER TABLE tournament
    ADD COLUMN IF NOT EXISTS deleted_at      timestamptz,
    ADD COLUMN IF NOT EXISTS deletion_run_at timestamptz; -- when its rows were deleted last

DROP POLICY IF EXISTS not_deleted ON tournament;
CREATE POLICY not_deleted ON tournament TO bestshot_reader, bestshot_player, bestshot_worker
    USING (deleted_at IS NULL OR current_setting('bestshot.deletion', true) = 'on');
ALTER TABLE tournament ENABLE ROW LEVEL SECURITY;

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['tournament_round', 'match', 'tournament_standing', 'league_tournament', 'execution'] LOOP
        EXECUTE format('DROP POLICY IF EXISTS not_deleted ON %I', name);
        EXECUTE format('CREATE POLICY not_deleted ON %I TO bestshot_reader, bestshot_player, bestshot_worker
            USING (EXISTS (SELECT FROM tournament t WHERE t.id = tournament_id))', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        COMMIT;
    END LOOP;
END $$;
-- +goose StatementEnd

-- The rows of the ledger go with their matches. Without an index, this constraint would read the whole ledger
-- when a tournament is deleted.
ALTER TABLE scoreboard_ledger DROP CONSTRAINT IF EXISTS scoreboard_ledger_tournament_id_fkey;

DROP INDEX CONCURRENTLY IF EXISTS league_tournament_followed;
CREATE INDEX CONCURRENTLY league_tournament_followed ON league_tournament (tournament_id);
DROP INDEX CONCURRENTLY IF EXISTS execution_tournament;
CREATE INDEX CONCURRENTLY execution_tournament ON execution (tournament_id, started_at);
-- +goose Down
SELECT 1;
