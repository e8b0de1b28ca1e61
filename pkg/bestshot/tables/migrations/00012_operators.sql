-- +goose Up

-- A page of an administrator's list is a range of an index. Both tables are small: a season has some
-- hundred matches.
CREATE INDEX tournament_list ON tournament (status, slug);
CREATE INDEX match_list ON match (tournament_id, date, id);

-- What the provider had said before an administrator set the kick-off: date, seen_at and began_at. They
-- return when that is undone. All are NULL of a match whose kick-off was never set.
ALTER TABLE match
    ADD COLUMN provider_date     timestamptz,
    ADD COLUMN provider_seen_at  timestamptz,
    ADD COLUMN provider_began_at timestamptz;

GRANT SELECT ON match TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT UPDATE ON match TO bestshot_worker;
-- +goose Down
SELECT 1;
