-- +goose Up

-- How many members of a tournament have which score: a few hundred rows, whatever the number of
-- members. The dense rank of a score is one more than the number of rows with a higher one.
--
-- scoreboard_points has the scores of now, scoreboard_before those before the current round. Triggers
-- keep both, whoever writes.
CREATE TABLE scoreboard_points (
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    score         bigint NOT NULL,
    members       integer NOT NULL,
    PRIMARY KEY (tournament_id, score)
);
CREATE TABLE scoreboard_before (
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    score         bigint NOT NULL,
    members       integer NOT NULL,
    PRIMARY KEY (tournament_id, score)
);
GRANT SELECT ON scoreboard_points, scoreboard_before TO bestshot_reader, bestshot_player, bestshot_worker;

-- score_before is the score of a member before round current.
CREATE FUNCTION score_before(points integer, tie integer, round_slug text, round_points integer, round_tie integer, current text)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN round_slug = current THEN score(points - round_points, tie - round_tie)
        ELSE score(points, tie)
    END
$$;

-- members more, or less if negative, have these scores.
CREATE TYPE score_change AS (tournament_id uuid, now bigint, before bigint, members bigint);

-- +goose StatementBegin
CREATE FUNCTION count_scores() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changes score_change[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        changes := ARRAY(
            SELECT (r.tournament_id, r.now, r.before, sum(r.members))::score_change
            FROM (
                SELECT
                    n.tournament_id,
                    score(n.points, n.tie) AS now,
                    score_before(n.points, n.tie, n.round_slug, n.round_points, n.round_tie, t.current_round) AS before,
                    1 AS members
                FROM new_rows n
                JOIN tournament t ON t.id = n.tournament_id
            ) r
            GROUP BY r.tournament_id, r.now, r.before
            HAVING sum(r.members) <> 0
        );
    ELSIF TG_OP = 'DELETE' THEN
        changes := ARRAY(
            SELECT (r.tournament_id, r.now, r.before, sum(r.members))::score_change
            FROM (
                SELECT
                    o.tournament_id,
                    score(o.points, o.tie) AS now,
                    score_before(o.points, o.tie, o.round_slug, o.round_points, o.round_tie, t.current_round) AS before,
                    -1 AS members
                FROM old_rows o
                JOIN tournament t ON t.id = o.tournament_id
            ) r
            GROUP BY r.tournament_id, r.now, r.before
            HAVING sum(r.members) <> 0
        );
    ELSIF TG_OP = 'UPDATE' THEN
        changes := ARRAY(
            SELECT (r.tournament_id, r.now, r.before, sum(r.members))::score_change
            FROM (
                SELECT
                    n.tournament_id,
                    score(n.points, n.tie) AS now,
                    score_before(n.points, n.tie, n.round_slug, n.round_points, n.round_tie, t.current_round) AS before,
                    1 AS members
                FROM new_rows n
                JOIN tournament t ON t.id = n.tournament_id
                UNION ALL
                SELECT
                    o.tournament_id,
                    score(o.points, o.tie) AS now,
                    score_before(o.points, o.tie, o.round_slug, o.round_points, o.round_tie, t.current_round) AS before,
                    -1 AS members
                FROM old_rows o
                JOIN tournament t ON t.id = o.tournament_id
            ) r
            GROUP BY r.tournament_id, r.now, r.before
            HAVING sum(r.members) <> 0
        );
    END IF;

    INSERT INTO scoreboard_points AS h (tournament_id, score, members)
    SELECT tournament_id, now, sum(members)
    FROM unnest(changes)
    GROUP BY tournament_id, now
    HAVING sum(members) > 0
    ORDER BY tournament_id, now
    ON CONFLICT (tournament_id, score) DO UPDATE
    SET members = h.members + excluded.members;

    UPDATE scoreboard_points h
    SET members = h.members + c.members
    FROM (
        SELECT tournament_id, now AS score, sum(members) AS members
        FROM unnest(changes)
        GROUP BY tournament_id, now
        HAVING sum(members) < 0
    ) c
    WHERE h.tournament_id = c.tournament_id
        AND h.score = c.score;

    DELETE FROM scoreboard_points h
    USING unnest(changes) c
    WHERE h.tournament_id = c.tournament_id
        AND h.score = c.now
        AND h.members = 0;

    INSERT INTO scoreboard_before AS h (tournament_id, score, members)
    SELECT tournament_id, before, sum(members)
    FROM unnest(changes)
    GROUP BY tournament_id, before
    HAVING sum(members) > 0
    ORDER BY tournament_id, before
    ON CONFLICT (tournament_id, score) DO UPDATE
    SET members = h.members + excluded.members;

    UPDATE scoreboard_before h
    SET members = h.members + c.members
    FROM (
        SELECT tournament_id, before AS score, sum(members) AS members
        FROM unnest(changes)
        GROUP BY tournament_id, before
        HAVING sum(members) < 0
    ) c
    WHERE h.tournament_id = c.tournament_id
        AND h.score = c.score;

    DELETE FROM scoreboard_before h
    USING unnest(changes) c
    WHERE h.tournament_id = c.tournament_id
        AND h.score = c.before
        AND h.members = 0;

    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER scoreboard_inserted AFTER INSERT ON tournament_scoreboard
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_scores();
CREATE TRIGGER scoreboard_updated AFTER UPDATE ON tournament_scoreboard
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_scores();
CREATE TRIGGER scoreboard_deleted AFTER DELETE ON tournament_scoreboard
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_scores();

-- The scores before the current round are counted anew when another round becomes the current one.
-- +goose StatementBegin
CREATE FUNCTION count_scores_before() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM scoreboard_before WHERE tournament_id = NEW.id;

    INSERT INTO scoreboard_before (tournament_id, score, members)
    SELECT tournament_id, score_before(points, tie, round_slug, round_points, round_tie, NEW.current_round), count(*)
    FROM tournament_scoreboard
    WHERE tournament_id = NEW.id
    GROUP BY 1, 2;

    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER tournament_round_changed AFTER UPDATE OF current_round ON tournament
    FOR EACH ROW WHEN (OLD.current_round IS DISTINCT FROM NEW.current_round) EXECUTE FUNCTION count_scores_before();

INSERT INTO scoreboard_points (tournament_id, score, members)
SELECT tournament_id, score(points, tie), count(*)
FROM tournament_scoreboard
GROUP BY 1, 2;

INSERT INTO scoreboard_before (tournament_id, score, members)
SELECT s.tournament_id, score_before(s.points, s.tie, s.round_slug, s.round_points, s.round_tie, t.current_round), count(*)
FROM tournament_scoreboard s
JOIN tournament t ON t.id = s.tournament_id
GROUP BY 1, 2;
-- +goose Down
SELECT 1;
