-- +goose Up

-- A joker multiplies the points of one match of a round. joker_factor 0 means that the tournament has
-- no jokers.
ALTER TABLE rule
    ADD COLUMN joker_factor integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT rule_joker_factor CHECK (joker_factor = 0 OR joker_factor BETWEEN 2 AND 5) NOT VALID;

-- The match that had the joker from set_at until until_at.
CREATE TYPE earlier_joker AS (match_id uuid, set_at timestamptz, until_at timestamptz);

-- The match that has the joker of a member in a round, since set_at, and those that had it before, the
-- oldest first, at most 20.
CREATE TABLE joker (
    tournament_id uuid NOT NULL,
    round_slug    text NOT NULL,
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    match_id      uuid NOT NULL REFERENCES match ON DELETE CASCADE,
    set_at        timestamptz NOT NULL,
    earlier       earlier_joker[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tournament_id, round_slug, member_id),
    FOREIGN KEY (tournament_id, round_slug) REFERENCES tournament_round ON DELETE CASCADE
);
CREATE INDEX joker_member ON joker (member_id);
CREATE INDEX joker_match ON joker (match_id);

-- counted_joker returns the match for which a joker counts: the first that had it when play began, or
-- the latest if its beginning is not known. NULL if there is none: the joker was set during play. A match
-- that was moved to another round is none of them.
CREATE FUNCTION counted_joker(j joker) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT h.match_id
    FROM (
        SELECT match_id, set_at, until_at
        FROM unnest(j.earlier)
        UNION ALL
        SELECT j.match_id, j.set_at, NULL
    ) h
    JOIN match m ON m.id = h.match_id AND m.round_slug = j.round_slug
    WHERE CASE
        WHEN m.began_at IS NULL THEN h.until_at IS NULL
        ELSE h.set_at < m.began_at AND (h.until_at IS NULL OR m.began_at <= h.until_at)
    END
    ORDER BY h.set_at
    LIMIT 1
$$;

-- joker_of has a row if the joker of a member counts for a match of a round.
CREATE FUNCTION joker_of(r rule, round text, match uuid, member uuid) RETURNS TABLE (factor integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $$
    SELECT r.joker_factor
    FROM joker j
    WHERE r.joker_factor > 0
        AND j.tournament_id = r.tournament_id
        AND j.round_slug = round
        AND j.member_id = member
        AND (j.match_id = match OR cardinality(j.earlier) > 0)
        AND counted_joker(j) = match
$$;

-- Whether the jokers of some members may count for another match than when this one was settled.
ALTER TABLE match ADD COLUMN jokers_moved boolean NOT NULL DEFAULT false;

-- If play turns out to have begun while jokers could still be moved, those that left the match count for it,
-- and for no other: the settled matches of its round are settled again.
-- +goose StatementBegin
CREATE FUNCTION reopen_jokers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE match m
    SET jokers_moved = true,
        scoreboard_applied_at = NULL
    FROM tournament t
    JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version AND r.joker_factor > 0
    WHERE t.id = NEW.tournament_id
        AND m.tournament_id = t.id
        AND m.round_slug = NEW.round_slug
        AND m.id <> NEW.id
        AND m.status = 'ended'
        AND m.settled_version > 0;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER match_began AFTER UPDATE OF began_at ON match
FOR EACH ROW WHEN (
    OLD.began_at IS DISTINCT FROM NEW.began_at
    AND (OLD.began_at IS NOT NULL OR NEW.began_at < least(OLD.date, now()))
)
EXECUTE FUNCTION reopen_jokers();

GRANT SELECT ON joker TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, UPDATE ON joker TO bestshot_player;
GRANT INSERT, UPDATE, DELETE ON joker TO bestshot_worker;
-- +goose Down
SELECT 1;
