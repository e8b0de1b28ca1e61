-- +goose Up

-- When a match began, and who entered its result.
--
-- seen_at is the first sign of play: the stored kick-off, or the time of the answer less the minutes
-- played if that is earlier. began_at is when play began by all that is known. A guess counts only if
-- it was stored before.
ALTER TABLE match
    ADD COLUMN seen_at            timestamptz,
    ADD COLUMN began_at           timestamptz,
    ADD COLUMN kick_off_corrected boolean NOT NULL DEFAULT false, -- by an administrator
    ADD COLUMN corrected_by       text; -- the subject of the administrator

-- A guess that was replaced, as it was at stored_at.
CREATE TYPE earlier_guess AS (stored_at timestamptz, home_score integer, away_score integer);

-- The guesses that the member has replaced, the oldest first, at most 20. If play began before the
-- latest change was stored, the one before counts.
ALTER TABLE guess ADD COLUMN earlier earlier_guess[] NOT NULL DEFAULT '{}';

-- counted is the guess g as it was before play began, if that is known; NULL if there was none.
CREATE FUNCTION counted(g guess, began_at timestamptz) RETURNS earlier_guess LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN began_at IS NULL OR g.updated_at < began_at THEN (g.updated_at, g.home_score, g.away_score)::earlier_guess
        ELSE (
            SELECT (e.stored_at, e.home_score, e.away_score)::earlier_guess
            FROM unnest(g.earlier) e
            WHERE e.stored_at < began_at
            ORDER BY e.stored_at DESC
            LIMIT 1
        )
    END
$$;

ALTER TABLE settlement
    ADD COLUMN began_at     timestamptz, -- guesses from then on did not count
    ADD COLUMN corrected_by text,
    DROP CONSTRAINT settlement_reason_check,
    ADD CONSTRAINT settlement_reason_check CHECK (reason IN ('result', 'correction', 'rule', 'void', 'kick-off'));

-- A settlement that goes on: guesses up to the member in member_id are settled. It becomes a row of
-- settlement with its last range.
CREATE TABLE settling (
    match_id     uuid PRIMARY KEY REFERENCES match ON DELETE CASCADE,
    version      integer NOT NULL,
    reason       text NOT NULL,
    void         boolean NOT NULL,
    home_score   integer,
    away_score   integer,
    rule_version integer NOT NULL,
    multiplier   integer NOT NULL,
    began_at     timestamptz,
    member_id    uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    guesses      integer NOT NULL DEFAULT 0, -- rows of the ledger so far
    seen         integer NOT NULL DEFAULT 0, -- guesses so far
    total        integer NOT NULL, -- guesses of the match
    updated_at   timestamptz NOT NULL DEFAULT now()
);

-- Corrections of an administrator are found when the account is deleted.
CREATE INDEX match_corrected_by ON match (corrected_by) WHERE corrected_by IS NOT NULL;
CREATE INDEX settlement_corrected_by ON settlement (corrected_by) WHERE corrected_by IS NOT NULL;

-- A repair of a leaderboard that was not finished in time, with the last member that it has dealt with.
CREATE TABLE repair (
    tournament_id uuid PRIMARY KEY REFERENCES tournament ON DELETE CASCADE,
    member_id     uuid NOT NULL
);
GRANT SELECT ON settling, repair TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, UPDATE, DELETE ON settling, repair TO bestshot_worker;
-- +goose Down
SELECT 1;
