-- name: FindMember
-- The member of user $1.
SELECT id::text
FROM member
WHERE public_id = $1;

-- name: GetMember
-- The member of user $1, as the API answers it.
SELECT id::text, nick_name, created_at, reminders, points_notices, correction_notices, void_notices
FROM member
WHERE public_id = $1;

-- name: LockUser
-- Locks user $1 until the transaction ends. No row needs to exist.
SELECT pg_advisory_xact_lock(hashtextextended($1, 0));

-- name: CreateMember
-- Creates the member of user $1 with nickname $2. Changes nothing if the user is a member, or has
-- deleted the account.
INSERT INTO member (public_id, nick_name)
SELECT $1, $2
WHERE NOT EXISTS (SELECT FROM forgotten WHERE public_id = $1)
ON CONFLICT DO NOTHING;

-- name: LockMember
-- Locks the member of user $1, with the number of new nicknames in the last $2 seconds.
SELECT
    id::text,
    nick_name,
    created_at,
    reminders,
    points_notices,
    correction_notices,
    void_notices,
    CASE WHEN renamed_at > now() - make_interval(secs => $2) THEN renames ELSE 0 END AS renames
FROM member
WHERE public_id = $1
FOR NO KEY UPDATE;

-- name: RenameMember
-- Gives member $1 nickname $2, after $3 others in the same period.
UPDATE member
SET nick_name = $2,
    renames = $3 + 1,
    renamed_at = CASE WHEN $3 = 0 THEN now() ELSE renamed_at END
WHERE id = $1;

-- name: RaiseLeaderboards
-- Raises the version of each leaderboard that shows member $1. Locks the tournaments in the order
-- of their ids.
UPDATE tournament
SET scoreboard_version = scoreboard_version + 1
WHERE id IN (
    SELECT t.id
    FROM tournament t
    JOIN tournament_scoreboard s ON s.tournament_id = t.id
    WHERE s.member_id = $1
    ORDER BY t.id
    FOR UPDATE OF t
);

-- name: ListLeaderboards
-- The leaderboards that show member $1, with their versions.
SELECT t.id::text, t.scoreboard_version AS version
FROM tournament t
JOIN tournament_scoreboard s ON s.tournament_id = t.id
WHERE s.member_id = $1
ORDER BY t.id;

-- name: FindAnswer
-- The answer to request $2 of member $1 of the last day, and the hash of its body.
SELECT hash, body
FROM answer
WHERE member_id = $1
    AND request = $2
    AND created_at > now() - interval '1 day';

-- name: DeleteAnswers
-- Deletes the answers of member $1 that are older than a day.
DELETE FROM answer
WHERE member_id = $1
    AND created_at <= now() - interval '1 day';

-- name: StoreAnswer
-- Stores answer $4 to request $2 of member $1, whose body has hash $3.
INSERT INTO answer (member_id, request, hash, body)
VALUES ($1, $2, $3, $4);

-- name: SetNotices
-- Records which notices member $1 wants.
UPDATE member
SET reminders = $2,
    points_notices = $3,
    correction_notices = $4,
    void_notices = $5
WHERE id = $1;
