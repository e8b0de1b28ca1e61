-- +goose Up

-- Which notices the member wants.
ALTER TABLE member
    ADD COLUMN reminders boolean NOT NULL DEFAULT true,
    ADD COLUMN points_notices boolean NOT NULL DEFAULT true,
    ADD COLUMN correction_notices boolean NOT NULL DEFAULT true,
    ADD COLUMN void_notices boolean NOT NULL DEFAULT true;

-- A pass over the members, who are reminded of a match: those up to member_id are dealt with. A pass that
-- is done stays, so that no other begins. Passes of a tournament that began together go on together.
CREATE TABLE reminder_pass (
    match_id  uuid NOT NULL REFERENCES match ON DELETE CASCADE,
    kind      text NOT NULL,
    begun_at  timestamptz NOT NULL DEFAULT now(),
    member_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    done      boolean NOT NULL DEFAULT false,
    PRIMARY KEY (match_id, kind)
);
GRANT SELECT ON reminder_pass TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, UPDATE, DELETE ON reminder_pass TO bestshot_worker;

-- The settlement of a match of which members were told, and the one of which they are being told, if they
-- are. Nobody is told of what was settled before this migration.
ALTER TABLE match
    ADD COLUMN told_version integer NOT NULL DEFAULT 0,
    ADD COLUMN telling integer;
UPDATE match SET told_version = settled_version WHERE settled_version > 0;

-- A pass over the members who have guessed the matches with telling: those up to member_id are told.
CREATE TABLE points_pass (
    tournament_id uuid PRIMARY KEY REFERENCES tournament ON DELETE CASCADE,
    begun_at      timestamptz NOT NULL DEFAULT now(),
    member_id     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
GRANT SELECT ON points_pass TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, UPDATE, DELETE ON points_pass TO bestshot_worker;
-- +goose Down
SELECT 1;
