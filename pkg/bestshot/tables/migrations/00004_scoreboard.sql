-- +goose Up

-- Tie-breakers are part of a rule: of members with equal points the one with more exact scores is
-- first, then the one with more right outcomes. A tie is 10,000 for an exact score and 1 for a right
-- outcome. All ties of a tournament without tie-breakers are 0.
ALTER TABLE rule ADD COLUMN tie_breaks boolean NOT NULL DEFAULT false;
ALTER TABLE scoreboard_ledger ADD COLUMN tie_earned integer NOT NULL DEFAULT 0;

-- What a leaderboard is sorted by: points, then tie, then nick_name, which is a copy of
-- member.nick_name. round_points and round_tie were earned in round_slug, the latest round in which
-- the member has earned something.
ALTER TABLE tournament_scoreboard
    ADD COLUMN tie          integer NOT NULL DEFAULT 0,
    ADD COLUMN nick_name    text COLLATE "und-x-icu",
    ADD COLUMN round_slug   text,
    ADD COLUMN round_points integer NOT NULL DEFAULT 0,
    ADD COLUMN round_tie    integer NOT NULL DEFAULT 0;

-- score orders a leaderboard, the highest first.
CREATE FUNCTION score(points integer, tie integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT points::bigint * 100000000 + tie
$$;

-- What a guess adds to the tie of its member.
CREATE FUNCTION guess_tie(guessed_home integer, guessed_away integer, home integer, away integer, r rule)
RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN NOT r.tie_breaks THEN 0
        ELSE CASE WHEN guessed_home = home AND guessed_away = away THEN 10000 ELSE 0 END
            + CASE WHEN sign(guessed_home - guessed_away) = sign(home - away) THEN 1 ELSE 0 END
    END
$$;

-- A member who is new in a leaderboard gets the nickname, also by code that does not know the copy.
-- +goose StatementBegin
CREATE FUNCTION copy_nick_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT nick_name INTO NEW.nick_name FROM member WHERE id = NEW.member_id;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER scoreboard_nick_name BEFORE INSERT ON tournament_scoreboard
    FOR EACH ROW WHEN (NEW.nick_name IS NULL) EXECUTE FUNCTION copy_nick_name();

-- A new nickname goes to the leaderboards. The login that changes it has no right to write them.
-- +goose StatementBegin
CREATE FUNCTION spread_nick_name() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE tournament_scoreboard SET nick_name = NEW.nick_name WHERE member_id = NEW.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER member_nick_name AFTER UPDATE OF nick_name ON member
    FOR EACH ROW WHEN (OLD.nick_name <> NEW.nick_name) EXECUTE FUNCTION spread_nick_name();
-- +goose Down
SELECT 1;
