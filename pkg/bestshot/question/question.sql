-- name: ListQuestions
-- The questions of tournament $1, at most 50, with the answers of member $2. known is false in the only row of a
-- tournament without questions: no row if there is no tournament. A choice that is no longer one is no answer.
-- closes_at is the kick-off from which it takes no answers: NULL if that is not known.
WITH play AS MATERIALIZED (
    SELECT
        questions_locked($1, NULL) AS locked,
        play_began($1, NULL) AS began,
        (SELECT min(date) FROM match WHERE tournament_id = $1 AND status <> 'not-defined') AS closes_at
)
SELECT
    q.slug IS NOT NULL AS known,
    coalesce(q.slug, '') AS slug,
    q.match_id::text,
    coalesce(q.text, '') AS text,
    coalesce(q.points, 0) AS points,
    coalesce(q.kind, '') AS kind,
    coalesce(q.choices, '{}') AS choices,
    CASE
        WHEN q.state = 'open' AND (b.locked OR t.status NOT IN ('upcoming', 'active')) THEN 'locked'
        ELSE coalesce(q.state, '')
    END AS state,
    b.closes_at,
    CASE WHEN q.kind = 'team' OR c.answer = ANY(q.choices) THEN c.answer END AS answer,
    coalesce(a.stored_at >= b.began, false) AS late,
    q.right_answers,
    CASE
        WHEN q.state <> 'open' AND q.applied_at IS NOT NULL THEN (
            SELECT coalesce(sum(points_earned), 0)::int
            FROM question_ledger
            WHERE tournament_id = $1
                AND slug = q.slug
                AND member_id = $2
        )
    END AS earned
FROM tournament t
LEFT JOIN question q ON q.tournament_id = t.id
CROSS JOIN LATERAL (
    SELECT *
    FROM play
    WHERE q.match_id IS NULL
    UNION ALL
    SELECT has_begun(m), play_began(t.id, m.id), CASE WHEN m.status <> 'not-defined' THEN m.date END
    FROM match m
    WHERE m.id = q.match_id
) b
LEFT JOIN question_answer a ON a.tournament_id = t.id
    AND a.slug = q.slug
    AND a.member_id = $2
LEFT JOIN LATERAL (SELECT counted_answer(a, b.began) AS answer) c ON a.slug IS NOT NULL
WHERE t.id = $1
ORDER BY q."order";

-- name: PutAnswer
-- Stores answer $3 of user $4 to question $2 of tournament $1, or replaces the one before. Stores nothing from
-- the first kick-off or sign of play of the tournament, or of the match of the question, on, by the clock of the database when the row of the
-- answer is locked. An answer that is replaced is kept: the last 20.
--
-- Returns no row if there is no such question. member is false if there is no such member, valid if it is no
-- answer to the question. stored is NULL if nothing was stored.
WITH stored AS (
    INSERT INTO question_answer (tournament_id, slug, member_id, answer, stored_at)
    SELECT q.tournament_id, q.slug, p.id, valid_answer(q, $3), clock_timestamp()
    FROM question q
    JOIN tournament t ON t.id = q.tournament_id AND t.status IN ('upcoming', 'active')
    CROSS JOIN member p
    WHERE q.tournament_id = $1
        AND q.slug = $2
        AND q.state = 'open'
        AND p.public_id = $4
        AND valid_answer(q, $3) IS NOT NULL
        AND NOT questions_locked(q.tournament_id, q.match_id)
    ON CONFLICT (tournament_id, slug, member_id) DO UPDATE
    SET answer = excluded.answer,
        stored_at = CASE
            WHEN question_answer.answer = excluded.answer THEN question_answer.stored_at
            ELSE clock_timestamp()
        END,
        earlier = CASE
            WHEN question_answer.answer = excluded.answer THEN question_answer.earlier
            ELSE question_answer.earlier[greatest(1, cardinality(question_answer.earlier) - 18):]
                || (question_answer.stored_at, question_answer.answer)::earlier_answer
        END
    WHERE NOT questions_locked(
        excluded.tournament_id,
        (SELECT q.match_id FROM question q WHERE q.tournament_id = excluded.tournament_id AND q.slug = excluded.slug)
    )
    RETURNING answer
)
SELECT
    EXISTS (SELECT FROM member WHERE public_id = $4) AS member,
    valid_answer(q, $3) IS NOT NULL AS valid,
    (SELECT answer FROM stored) AS stored
FROM question q
WHERE q.tournament_id = $1
    AND q.slug = $2;

-- name: LockTournament
-- Locks tournament $1 before its questions change. over is whether they may not: it is over. began is whether its
-- play has begun. No row if there is no tournament.
SELECT
    t.status NOT IN ('upcoming', 'active') AS over,
    questions_locked(t.id, NULL) AS began
FROM tournament t
WHERE t.id = $1
FOR NO KEY UPDATE;

-- name: LockQuestions
-- Locks the questions of tournament $1. locked is whether they may not change: play has begun, or they are decided.
-- answered is whether a member has answered.
SELECT
    q.slug,
    coalesce(q.match_id::text, '') AS match_id,
    q.text,
    q.points,
    q.kind,
    q.choices,
    q.state <> 'open' OR questions_locked(q.tournament_id, q.match_id) AS locked,
    EXISTS (
        SELECT
        FROM question_answer a
        WHERE a.tournament_id = q.tournament_id
            AND a.slug = q.slug
    ) AS answered
FROM question q
WHERE q.tournament_id = $1
FOR UPDATE;

-- name: FindMatches
-- The matches of the list $2 that tournament $1 has, and whether they have begun.
SELECT m.id::text, has_begun(m) AS began
FROM match m
WHERE m.tournament_id = $1
    AND m.id = ANY($2::uuid[]);

-- name: DeleteQuestion
-- Deletes question $2 of tournament $1.
DELETE FROM question
WHERE tournament_id = $1
    AND slug = $2;

-- name: PutQuestion
-- Gives tournament $1 question $2 with the order $3, the text $4, the points $5, the kind $6, the choices $7 and the
-- match $8, '' if it is of the tournament.
INSERT INTO question (tournament_id, slug, "order", text, points, kind, choices, match_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, '')::uuid)
ON CONFLICT (tournament_id, slug) DO UPDATE
SET "order" = excluded."order",
    match_id = excluded.match_id,
    text = excluded.text,
    points = excluded.points,
    kind = excluded.kind,
    choices = excluded.choices;

-- name: LockQuestion
-- Locks question $2 of tournament $1, with what is decided. open is whether it takes answers.
SELECT
    q.state,
    coalesce(q.right_answers, '{}') AS right_answers,
    t.status IN ('upcoming', 'active') AND NOT questions_locked(t.id, q.match_id) AS open
FROM question q
JOIN tournament t ON t.id = q.tournament_id
WHERE q.tournament_id = $1
    AND q.slug = $2
FOR NO KEY UPDATE OF q;

-- name: CheckAnswers
-- The answers of the list $3 as they are stored, in its order: NULL for what is no answer to question $2 of
-- tournament $1.
SELECT valid_answer(q, a.answer)
FROM question q
CROSS JOIN unnest($3::text[]) WITH ORDINALITY a (answer, place)
WHERE q.tournament_id = $1
    AND q.slug = $2
ORDER BY a.place;

-- name: DecideQuestion
-- Gives question $2 of tournament $1 the state $3 and the right answers $4, for administrator $5. The points are
-- to be applied from then on.
UPDATE question
SET state = $3,
    right_answers = $4,
    decided_by = $5,
    version = version + 1,
    applied_at = NULL,
    run_at = now(),
    member_id = DEFAULT
WHERE tournament_id = $1
    AND slug = $2;

-- name: LockPending
-- Locks question $2 of tournament $1 if its points are to be applied: no row if not. began is when play began.
SELECT
    version,
    points,
    coalesce(right_answers, '{}') AS right_answers,
    member_id::text,
    play_began(tournament_id, match_id) AS began
FROM question
WHERE tournament_id = $1
    AND slug = $2
    AND version > 0
    AND applied_at IS NULL
FOR NO KEY UPDATE;

-- name: SettleRange
-- Gives the next members who have answered question $2 of tournament $1 their points: rows of the ledger, and
-- the same points in the leaderboard.
--
-- $3       the version of the decision
-- $4, $5   the points of a right answer, and the right answers
-- $6       when play began: an answer counts as it was before; NULL if it is not known
-- $7, $8   the member after whom the range begins, and its number of answers
--
-- The ledger has the differences to what members have. Returns the number of answers, the last member and the
-- number of rows in the ledger.
WITH range AS MATERIALIZED (
    SELECT a.member_id, CASE WHEN counted_answer(a, $6) = ANY($5::text[]) THEN $4::int ELSE 0 END AS points
    FROM question_answer a
    WHERE a.tournament_id = $1
        AND a.slug = $2
        AND a.member_id > $7
    ORDER BY a.member_id
    LIMIT $8
),
last AS (
    SELECT member_id
    FROM range
    ORDER BY member_id DESC
    LIMIT 1
),
earned AS (
    INSERT INTO question_ledger (tournament_id, slug, member_id, version, points_earned)
    SELECT $1, $2, range.member_id, $3, range.points - had.points
    FROM range
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(points_earned), 0)::int AS points
        FROM question_ledger
        WHERE tournament_id = $1
            AND slug = $2
            AND member_id = range.member_id
    ) had
    WHERE range.points <> had.points
    RETURNING member_id, points_earned
),
changed AS (
    UPDATE tournament_scoreboard s
    SET points = s.points + e.points_earned
    FROM earned e
    WHERE s.tournament_id = $1
        AND s.member_id = e.member_id
),
added AS (
    INSERT INTO tournament_scoreboard (tournament_id, member_id, points)
    SELECT $1, e.member_id, e.points_earned
    FROM earned e
    LEFT JOIN tournament_scoreboard s ON s.tournament_id = $1
        AND s.member_id = e.member_id
    WHERE s.member_id IS NULL
)
SELECT
    (SELECT count(*)::int FROM range) AS seen,
    (SELECT member_id::text FROM last) AS member_id,
    (SELECT count(*)::int FROM earned) AS rows;

-- name: MoveQuestion
-- Records that the answers to question $2 of tournament $1 up to member $3 have their points: $4 more answers.
UPDATE question
SET member_id = $3,
    seen = CASE WHEN member_id = '00000000-0000-0000-0000-000000000000' THEN 0 ELSE seen END + $4,
    total = CASE
        WHEN member_id = '00000000-0000-0000-0000-000000000000' THEN (
            SELECT count(*)
            FROM question_answer a
            WHERE a.tournament_id = $1
                AND a.slug = $2
        )
        ELSE total
    END,
    run_at = now()
WHERE tournament_id = $1
    AND slug = $2;

-- name: EndQuestion
-- Records that all answers to question $2 of tournament $1 have their points.
UPDATE question
SET applied_at = now(),
    run_at = now(),
    member_id = DEFAULT,
    seen = 0
WHERE tournament_id = $1
    AND slug = $2;

-- name: ClaimLost
-- The questions whose points are to be applied, and of which no range was for 15 minutes. The claim is as good as
-- a range.
UPDATE question
SET run_at = now()
WHERE version > 0
    AND applied_at IS NULL
    AND run_at < now() - interval '15 minutes'
RETURNING tournament_id::text, slug;
