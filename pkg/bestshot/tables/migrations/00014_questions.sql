-- +goose Up

-- A question of a tournament, such as its champion, or of a match of it, such as who advances. kind says what an
-- answer is: the id of a team with a match in the tournament, or of a team of the match, or one of choices. state
-- and right_answers are the decision of an administrator, and version counts decisions, from 0 on. From a decision on until its points are applied, applied_at is NULL, member_id is
-- the last member who was dealt with, run_at is when, and seen is how many of the total answers were. A question
-- that is decided again before that begins again with seen as it was: the leaderboard is mixed while it is not 0.
CREATE TABLE question (
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    slug          text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    match_id      uuid REFERENCES match ON DELETE CASCADE,
    "order"       integer NOT NULL,
    text          text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 200),
    points        integer NOT NULL CHECK (points BETWEEN 1 AND 100),
    kind          text NOT NULL CHECK (kind IN ('team', 'choice')),
    choices       text[] NOT NULL DEFAULT '{}' CHECK (cardinality(choices) <= 100),
    state         text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'void')),
    right_answers text[],
    version       integer NOT NULL DEFAULT 0,
    decided_by    text, -- the subject of the administrator
    applied_at    timestamptz,
    run_at        timestamptz,
    member_id     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    seen          integer NOT NULL DEFAULT 0,
    total         integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tournament_id, slug)
);
CREATE INDEX question_match ON question (match_id);
CREATE INDEX question_decided_by ON question (decided_by) WHERE decided_by IS NOT NULL;
CREATE INDEX question_pending ON question (run_at) WHERE version > 0 AND applied_at IS NULL;

-- An answer that was replaced, as it was at stored_at.
CREATE TYPE earlier_answer AS (stored_at timestamptz, answer text);

-- The answer of a member, and those that the member has replaced, the oldest first, at most 20. If play began
-- before the latest change was stored, the one before counts.
CREATE TABLE question_answer (
    tournament_id uuid NOT NULL,
    slug          text NOT NULL,
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    answer        text NOT NULL,
    stored_at     timestamptz NOT NULL,
    earlier       earlier_answer[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tournament_id, slug, member_id),
    FOREIGN KEY (tournament_id, slug) REFERENCES question ON DELETE CASCADE
);
CREATE INDEX question_answer_member ON question_answer (member_id);

-- What a decision gave a member: the difference to the decisions of the question before.
CREATE TABLE question_ledger (
    tournament_id uuid NOT NULL,
    slug          text NOT NULL,
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    version       integer NOT NULL,
    points_earned integer NOT NULL,
    PRIMARY KEY (tournament_id, slug, member_id, version),
    FOREIGN KEY (tournament_id, slug) REFERENCES question ON DELETE CASCADE
);
CREATE INDEX question_ledger_member ON question_ledger (member_id, tournament_id);

-- has_begun returns whether a match has begun. A void one has if its kick-off has passed.
CREATE FUNCTION has_begun(m match) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT m.seen_at IS NOT NULL
        OR m.status = 'ended'
        OR m.status <> 'not-defined' AND m.date <= clock_timestamp()
$$;

-- questions_locked returns whether a match of a tournament, or match $2 of it if that is not NULL, has begun: its
-- questions take no answers then.
CREATE FUNCTION questions_locked(tournament uuid, match_id uuid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN $2 IS NULL THEN EXISTS (SELECT FROM match m WHERE m.tournament_id = $1 AND has_begun(m))
        ELSE EXISTS (SELECT FROM match m WHERE m.id = $2 AND has_begun(m))
    END
$$;

-- play_began returns when play of a tournament, or of match $2 of it if that is not NULL, began, by all that is
-- known: an answer counts as it was before. NULL if that is not known.
CREATE FUNCTION play_began(tournament uuid, match_id uuid) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN $2 IS NULL THEN (
            SELECT min(coalesce(began_at, CASE WHEN status = 'ended' THEN date END))
            FROM match
            WHERE tournament_id = $1
        )
        ELSE (
            SELECT coalesce(began_at, CASE WHEN status = 'ended' THEN date END)
            FROM match
            WHERE id = $2
        )
    END
$$;

-- counted_answer returns the answer as it was before play began. NULL if there was none.
CREATE FUNCTION counted_answer(a question_answer, began timestamptz) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN coalesce(a.stored_at < began, true) THEN a.answer
        ELSE (
            SELECT e.answer
            FROM unnest(a.earlier) e
            WHERE e.stored_at < began
            ORDER BY e.stored_at DESC
            LIMIT 1
        )
    END
$$;

-- valid_answer returns an answer as it is stored. NULL if it is no answer to the question.
CREATE FUNCTION valid_answer(q question, answer text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN q.kind = 'choice' AND $2 = ANY(q.choices) THEN $2
        WHEN q.kind = 'team' THEN (
            SELECT lower($2)
            FROM match
            WHERE tournament_id = q.tournament_id
                AND id = coalesce(q.match_id, id)
                AND lower($2) IN (home_team::text, away_team::text)
            LIMIT 1
        )
    END
$$;

-- If play of a tournament, or of a match, turns out to have begun at another time, other answers count: questions
-- of it that are decided are applied again.
-- +goose StatementBegin
CREATE FUNCTION reopen_questions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE question
    SET version = version + 1,
        applied_at = NULL,
        run_at = '-infinity',
        member_id = DEFAULT
    WHERE tournament_id = NEW.tournament_id
        AND state = 'settled'
        AND CASE
            WHEN match_id IS NULL THEN coalesce(
                least(OLD.began_at, NEW.began_at, OLD.date, NEW.date) <= (
                    SELECT min(coalesce(began_at, CASE WHEN status = 'ended' THEN date END))
                    FROM match
                    WHERE tournament_id = NEW.tournament_id
                        AND id <> NEW.id
                ),
                true
            )
            ELSE match_id = NEW.id
        END;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER match_questions AFTER UPDATE OF began_at, status ON match
FOR EACH ROW WHEN (
    coalesce(OLD.began_at, CASE WHEN OLD.status = 'ended' THEN OLD.date END)
        IS DISTINCT FROM coalesce(NEW.began_at, CASE WHEN NEW.status = 'ended' THEN NEW.date END)
)
EXECUTE FUNCTION reopen_questions();

-- Questions of a tournament that is being deleted are hidden, as in 00013. Their answers are read with them.
CREATE POLICY not_deleted ON question TO bestshot_reader, bestshot_player, bestshot_worker
    USING (EXISTS (SELECT FROM tournament t WHERE t.id = tournament_id));
ALTER TABLE question ENABLE ROW LEVEL SECURITY;

GRANT SELECT ON question, question_answer, question_ledger TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, UPDATE ON question_answer TO bestshot_player;
GRANT INSERT, UPDATE, DELETE ON question, question_answer, question_ledger TO bestshot_worker;
-- +goose Down
SELECT 1;
