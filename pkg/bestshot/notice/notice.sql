-- name: IsPlayed
-- Whether a tournament is upcoming or active: no row if none is.
SELECT true
FROM tournament
WHERE status IN ('upcoming', 'active')
LIMIT 1;

-- name: ClaimReminders
-- Records the reminders of kind $3 that are due, and returns one for each member and tournament, at
-- most $4. Due are open matches that begin more than $1 and at most $2 seconds from now, for members
-- who play in the tournament and have not guessed the match. A member plays with points in the
-- tournament, or with a guess of a match that is not settled. A reminder is sent again if the match
-- was put off by at least $2 seconds since.
WITH soon AS (
    SELECT m.id, m.tournament_id, m.date
    FROM match m
    JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
    WHERE m.status = 'open'
        AND m.date > now() + make_interval(secs => $1)
        AND m.date <= now() + make_interval(secs => $2)
),
player AS (
    SELECT soon.id AS match_id, soon.tournament_id, soon.date, s.member_id
    FROM soon
    JOIN tournament_scoreboard s USING (tournament_id)
    UNION
    SELECT soon.id, soon.tournament_id, soon.date, g.member_id
    FROM soon
    JOIN match m ON m.tournament_id = soon.tournament_id AND m.scoreboard_applied_at IS NULL
    JOIN guess g ON g.match_id = m.id
),
due AS (
    SELECT match_id, tournament_id, member_id
    FROM player
    WHERE NOT EXISTS (
            SELECT
            FROM guess g
            WHERE g.match_id = player.match_id
                AND g.member_id = player.member_id
        )
        AND NOT EXISTS (
            SELECT
            FROM reminder r
            WHERE r.member_id = player.member_id
                AND r.match_id = player.match_id
                AND r.kind = $3::text
                AND r.created_at > player.date - 2 * make_interval(secs => $2)
        )
),
chosen AS (
    SELECT DISTINCT member_id, tournament_id
    FROM due
    ORDER BY member_id, tournament_id
    LIMIT $4
),
claimed AS (
    INSERT INTO reminder (member_id, match_id, kind)
    SELECT member_id, match_id, $3::text
    FROM due
    JOIN chosen USING (member_id, tournament_id)
    ON CONFLICT (member_id, match_id, kind) DO UPDATE
    SET created_at = now()
    RETURNING member_id, match_id
)
SELECT
    p.public_id,
    t.label,
    t.id::text || '#' || extract(epoch FROM min(soon.date))::bigint || '#' || $3::text AS id,
    count(*)::int AS matches,
    min(soon.date) AS kick_off
FROM claimed c
JOIN soon ON soon.id = c.match_id
JOIN tournament t ON t.id = soon.tournament_id
JOIN member p ON p.id = c.member_id
GROUP BY p.public_id, t.id, t.label
ORDER BY p.public_id, t.id;
