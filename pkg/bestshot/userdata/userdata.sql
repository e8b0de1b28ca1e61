-- name: Forget
-- Records that user $1 has deleted the account, so that no request in flight creates a member.
INSERT INTO forgotten (public_id)
VALUES ($1)
ON CONFLICT DO NOTHING;

-- name: ForgetCorrections
-- Forgets that user $1 has entered or corrected matches, or decided questions.
WITH matches AS (
    UPDATE match
    SET corrected_by = 'deleted'
    WHERE corrected_by = $1
),
questions AS (
    UPDATE question
    SET decided_by = 'deleted'
    WHERE decided_by = $1
)
UPDATE settlement
SET corrected_by = 'deleted'
WHERE corrected_by = $1;

-- name: RaiseLeaderboards
-- Raises the version of each leaderboard that shows member $1, or would after a settlement. Locks
-- the tournaments in the order of their ids.
UPDATE tournament
SET scoreboard_version = scoreboard_version + 1
WHERE id IN (
    SELECT id
    FROM tournament
    WHERE id IN (
        SELECT tournament_id
        FROM tournament_scoreboard
        WHERE member_id = $1
        UNION
        SELECT m.tournament_id
        FROM guess g
        JOIN match m ON m.id = g.match_id
        WHERE g.member_id = $1
        UNION
        SELECT tournament_id
        FROM question_answer
        WHERE member_id = $1
    )
    ORDER BY id
    FOR UPDATE
)
RETURNING id::text, scoreboard_version AS version;

-- name: ListLeagues
-- The leagues of member $1, in the order in which they are locked.
SELECT league_id::text
FROM league_role
WHERE member_id = $1
ORDER BY league_id;

-- name: DeleteMember
-- Deletes member $1 with guesses, points, reminders and wrong codes.
DELETE FROM member
WHERE id = $1;

-- name: ListLeaderboards
-- All leaderboards, with their versions.
SELECT id::text, scoreboard_version AS version
FROM tournament
ORDER BY id;

-- name: ExportMember
-- The member of user $1.
SELECT to_jsonb(m)
FROM member m
WHERE m.public_id = $1;

-- name: ExportGuesses
-- The guesses of user $1.
SELECT to_jsonb(g)
FROM guess g
JOIN member m ON m.id = g.member_id
WHERE m.public_id = $1
ORDER BY g.created_at, g.id;

-- name: ExportJokers
-- The jokers of user $1.
SELECT to_jsonb(j)
FROM joker j
JOIN member m ON m.id = j.member_id
WHERE m.public_id = $1
ORDER BY j.tournament_id, j.round_slug;

-- name: ExportLedger
-- The rows of the ledger of user $1.
SELECT to_jsonb(l)
FROM scoreboard_ledger l
JOIN member m ON m.id = l.member_id
WHERE m.public_id = $1
ORDER BY l.match_id, l.version;

-- name: ExportPoints
-- The points of user $1 in tournaments.
SELECT to_jsonb(s)
FROM tournament_scoreboard s
JOIN member m ON m.id = s.member_id
WHERE m.public_id = $1
ORDER BY s.tournament_id;

-- name: ExportRoundPoints
-- The points of user $1 in rounds.
SELECT to_jsonb(s)
FROM round_score s
JOIN member m ON m.id = s.member_id
WHERE m.public_id = $1
ORDER BY s.tournament_id, s.round_slug;

-- name: ExportLeagues
-- The memberships of user $1 in leagues.
SELECT to_jsonb(r)
FROM league_role r
JOIN member m ON m.id = r.member_id
WHERE m.public_id = $1
ORDER BY r.league_id;

-- name: ExportReminders
-- The reminders of user $1.
SELECT to_jsonb(r)
FROM reminder r
JOIN member m ON m.id = r.member_id
WHERE m.public_id = $1
ORDER BY r.match_id, r.kind;

-- name: ExportWrongCodes
-- The wrong codes of leagues that user $1 has tried.
SELECT to_jsonb(w)
FROM wrong_code w
JOIN member m ON m.id = w.member_id
WHERE m.public_id = $1
ORDER BY w.tried_at;

-- name: ExportCorrections
-- The results and kick-offs that user $1 has corrected, the matches that the user has changed last, and the
-- questions that the user has decided.
SELECT jsonb_build_object('match', z.match_id, 'version', z.version, 'reason', z.reason, 'at', z.applied_at)
FROM settlement z
WHERE z.corrected_by = $1
UNION ALL
SELECT jsonb_build_object('match', m.id, 'kickOff', m.date, 'at', m.updated_at)
FROM match m
WHERE m.corrected_by = $1
UNION ALL
SELECT jsonb_build_object('tournament', q.tournament_id, 'question', q.slug, 'state', q.state)
FROM question q
WHERE q.decided_by = $1
ORDER BY 1;

-- name: ExportFormerLeagues
-- The memberships of user $1 that have ended, and that final tables of leagues show.
SELECT to_jsonb(l)
FROM league_left l
JOIN member m ON m.id = l.member_id
WHERE m.public_id = $1
ORDER BY l.league_id, l.joined_at;

-- name: ExportAnswers
-- The answers of user $1 to questions.
SELECT to_jsonb(a)
FROM question_answer a
JOIN member m ON m.id = a.member_id
WHERE m.public_id = $1
ORDER BY a.tournament_id, a.slug;

-- name: ExportQuestionPoints
-- The rows of the ledger of questions of user $1.
SELECT to_jsonb(l)
FROM question_ledger l
JOIN member m ON m.id = l.member_id
WHERE m.public_id = $1
ORDER BY l.tournament_id, l.slug, l.version;
