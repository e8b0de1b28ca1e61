-- +goose Up

-- The final table of a league has the members of the time when the tournament ended. Triggers keep what it
-- needs, whoever writes: the code of before runs on this schema while functions are replaced.

-- When a tournament ended; NULL while it has not. Of those that have ended before, the time of this
-- migration.
ALTER TABLE tournament ADD COLUMN completed_at timestamptz;
UPDATE tournament SET completed_at = now() WHERE status = 'completed';

-- +goose StatementBegin
CREATE FUNCTION keep_completed_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status <> 'completed' THEN
        NEW.completed_at := NULL;
    ELSIF NEW.completed_at IS NULL THEN
        NEW.completed_at := now();
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER tournament_completed_at BEFORE INSERT OR UPDATE OF status ON tournament
FOR EACH ROW EXECUTE FUNCTION keep_completed_at();

-- Since when a league follows a tournament; of those of before, since ever.
ALTER TABLE league_tournament ADD COLUMN followed_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE league_tournament ALTER COLUMN followed_at SET DEFAULT now();

-- A tournament that ended while a league followed it, and that the league does not follow any more.
CREATE TABLE league_finished (
    league_id     uuid NOT NULL REFERENCES league ON DELETE CASCADE,
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    PRIMARY KEY (league_id, tournament_id)
);
CREATE INDEX league_finished_tournament ON league_finished (tournament_id);

-- A membership that has ended, of a league whose final tables show it.
CREATE TABLE league_left (
    league_id uuid NOT NULL REFERENCES league ON DELETE CASCADE,
    member_id uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    joined_at timestamptz NOT NULL,
    left_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (league_id, member_id, joined_at)
);
CREATE INDEX league_left_member ON league_left (member_id);

-- The tournaments that ended while a league followed them.
CREATE VIEW league_history WITH (security_invoker = true) AS
SELECT f.league_id, t.id AS tournament_id, t.completed_at
FROM league_tournament f
JOIN tournament t ON t.id = f.tournament_id AND t.completed_at >= f.followed_at
UNION
SELECT f.league_id, t.id, t.completed_at
FROM league_finished f
JOIN tournament t ON t.id = f.tournament_id AND t.completed_at IS NOT NULL;

-- A league, a tournament or a member that is deleted leaves nothing: its row is gone when these run.
-- +goose StatementBegin
CREATE FUNCTION keep_finished() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO league_finished (league_id, tournament_id)
    SELECT l.id, t.id
    FROM league l
    JOIN tournament t ON t.id = OLD.tournament_id AND t.completed_at >= OLD.followed_at
    WHERE l.id = OLD.league_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION keep_membership() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO league_left (league_id, member_id, joined_at)
    SELECT l.id, m.id, OLD.joined_at
    FROM league l
    JOIN member m ON m.id = OLD.member_id
    WHERE l.id = OLD.league_id
        AND EXISTS (SELECT FROM league_history WHERE league_id = l.id AND completed_at >= OLD.joined_at)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER league_tournament_finished AFTER DELETE ON league_tournament
FOR EACH ROW EXECUTE FUNCTION keep_finished();
CREATE TRIGGER league_role_left AFTER DELETE ON league_role
FOR EACH ROW EXECUTE FUNCTION keep_membership();

GRANT SELECT ON league_finished, league_left, league_history TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT ON league_finished, league_left TO bestshot_player;
GRANT INSERT, UPDATE, DELETE ON league_finished, league_left TO bestshot_worker;
-- +goose Down
SELECT 1;
