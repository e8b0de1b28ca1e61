-- +goose Up

-- Whether the member wants reminders.
ALTER TABLE member ADD COLUMN reminders boolean NOT NULL DEFAULT true;

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
-- +goose Down
SELECT 1;
