-- name: IsPlayed
-- Whether a tournament is upcoming or active: no row if none is.
SELECT true
FROM tournament
WHERE status IN ('upcoming', 'active')
LIMIT 1;

-- name: BeginPasses
-- Begins a pass of kind $3 for each open match that begins more than $1 and at most $2 seconds from now.
-- A match has one pass of a kind, and another if it was put off by at least $2 seconds since.
INSERT INTO reminder_pass AS p (match_id, kind)
SELECT m.id, $3
FROM match m
JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
WHERE m.status = 'open'
    AND m.date > now() + make_interval(secs => $1)
    AND m.date <= now() + make_interval(secs => $2)
ON CONFLICT (match_id, kind) DO UPDATE
SET begun_at = now(),
    member_id = excluded.member_id,
    done = false
WHERE p.begun_at <= (SELECT date FROM match WHERE id = p.match_id) - 2 * make_interval(secs => $2);

-- name: PrepareRange
-- Has the statements of this transaction look up each member of a range by its key: the planner would
-- read all members instead, of whom it expects too few.
SELECT
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('enable_seqscan', 'off', true);

-- name: LockPass
-- Locks the passes of kind $3 that are not done, of matches that are due as in BeginPasses. Returns the
-- oldest of them, with the matches of its tournament that go on together: no row if none is left.
WITH open AS (
    SELECT p.match_id, p.begun_at, p.member_id, m.tournament_id, t.label
    FROM match m
    JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
    JOIN reminder_pass p ON p.match_id = m.id
    WHERE m.status = 'open'
        AND m.date > now() + make_interval(secs => $1)
        AND m.date <= now() + make_interval(secs => $2)
        AND p.kind = $3
        AND NOT p.done
    ORDER BY p.match_id
    FOR UPDATE OF p
)
SELECT
    tournament_id::text,
    label,
    member_id::text,
    array_agg(match_id::text ORDER BY match_id) AS matches
FROM open
GROUP BY tournament_id, label, begun_at, member_id
ORDER BY begun_at, tournament_id
LIMIT 1;

-- name: FindRangeEnd
-- The last of the next $2 members after member $1: no row behind the last member.
SELECT max(id::text)
FROM (
    SELECT id
    FROM member
    WHERE id > $1
    ORDER BY id
    LIMIT $2
) m
HAVING count(*) > 0;

-- name: ClaimRange
-- Records the reminders of kind $4 of the matches $2 of tournament $1, for the members after $5 and up to
-- $6, and returns one for each member. $3 is the seconds of the kind before the kick-off. A member is
-- reminded who is in the leaderboard, has guessed a match of the tournament, or is in a league that
-- follows it, and has not guessed the match, unless the member wants no reminders. A reminder is sent
-- again if the match was put off by at least $3 seconds since.
WITH soon AS MATERIALIZED (
    SELECT id, date
    FROM match
    WHERE id = ANY($2::uuid[])
),
player AS MATERIALIZED (
    SELECT p.id, p.public_id
    FROM member p
    WHERE p.id > $5
        AND p.id <= $6
        AND p.reminders
        AND (
            EXISTS (
                SELECT
                FROM tournament_scoreboard s
                WHERE s.tournament_id = $1
                    AND s.member_id = p.id
            )
            OR EXISTS (
                SELECT
                FROM guess g
                JOIN match m ON m.id = g.match_id
                WHERE g.member_id = p.id
                    AND m.tournament_id = $1
            )
            OR EXISTS (
                SELECT
                FROM league_role l
                JOIN league_tournament f ON f.league_id = l.league_id
                WHERE l.member_id = p.id
                    AND f.tournament_id = $1
            )
        )
),
due AS (
    SELECT p.id AS member_id, p.public_id, soon.id AS match_id, soon.date
    FROM player p
    CROSS JOIN soon
    WHERE NOT EXISTS (
            SELECT
            FROM guess g
            WHERE g.match_id = soon.id
                AND g.member_id = p.id
        )
        AND NOT EXISTS (
            SELECT
            FROM reminder r
            WHERE r.member_id = p.id
                AND r.match_id = soon.id
                AND r.kind = $4::text
                AND r.created_at > soon.date - 2 * make_interval(secs => $3)
        )
),
claimed AS (
    INSERT INTO reminder (member_id, match_id, kind)
    SELECT member_id, match_id, $4::text
    FROM due
    ON CONFLICT (member_id, match_id, kind) DO UPDATE
    SET created_at = now()
)
SELECT
    public_id,
    $1::uuid::text || '#' || extract(epoch FROM min(date))::bigint || '#' || $4::text AS id,
    count(*)::int AS matches,
    min(date) AS kick_off
FROM due
GROUP BY public_id
ORDER BY public_id;

-- name: MovePass
-- Records that the passes of kind $2 of the matches $1 have dealt with the members up to $3.
UPDATE reminder_pass
SET member_id = $3
WHERE match_id = ANY($1::uuid[])
    AND kind = $2;

-- name: EndPass
-- Records that the passes of kind $2 of the matches $1 are done.
UPDATE reminder_pass
SET done = true
WHERE match_id = ANY($1::uuid[])
    AND kind = $2;
