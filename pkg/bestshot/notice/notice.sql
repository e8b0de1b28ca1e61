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

-- name: BeginPoints
-- Begins to tell of the matches that were settled since the last time, in each tournament where none waits
-- for its points, and none has begun less than 3 h ago and not ended.
WITH begun AS (
    INSERT INTO points_pass (tournament_id)
    SELECT t.id
    FROM tournament t
    WHERE t.status <> 'cancelled'
        AND EXISTS (
            SELECT
            FROM match m
            WHERE m.tournament_id = t.id
                AND m.settled_version > m.told_version
        )
        AND NOT EXISTS (
            SELECT
            FROM match m
            WHERE m.tournament_id = t.id
                AND (
                    m.status IN ('ended', 'void')
                        AND m.scoreboard_applied_at IS NULL
                    OR m.status = 'open'
                        AND m.date <= now()
                        AND m.date > now() - interval '3 hours'
                )
        )
    ON CONFLICT DO NOTHING
    RETURNING tournament_id
)
UPDATE match m
SET telling = m.settled_version
FROM begun b
WHERE m.tournament_id = b.tournament_id
    AND m.settled_version > m.told_version;

-- name: LockPoints
-- Locks the pass that was begun first, with the matches that it tells of. match is the teams and the result
-- of a single one, else ''. No row if no pass is left.
SELECT
    p.tournament_id::text,
    t.label,
    p.begun_at,
    p.member_id::text,
    ARRAY(
        SELECT m.id::text
        FROM match m
        WHERE m.tournament_id = p.tournament_id
            AND m.telling IS NOT NULL
        ORDER BY m.id
    ) AS matches,
    coalesce((
        SELECT CASE WHEN count(*) = 1 THEN min(h.name || ' - ' || a.name || coalesce(' ' || m.home_score || ':' || m.away_score, '')) END
        FROM match m
        JOIN team h ON h.id = m.home_team
        JOIN team a ON a.id = m.away_team
        WHERE m.tournament_id = p.tournament_id
            AND m.telling IS NOT NULL
    ), '') AS match
FROM points_pass p
JOIN tournament t ON t.id = p.tournament_id
ORDER BY p.begun_at, p.tournament_id
LIMIT 1
FOR UPDATE OF p;

-- name: FindPointsEnd
-- The last of the next $3 members after $2 who have guessed one of the matches $1: no row behind the last
-- member.
SELECT max(member_id::text)
FROM (
    SELECT DISTINCT g.member_id
    FROM unnest($1::uuid[]) x (id)
    CROSS JOIN LATERAL (
        SELECT member_id
        FROM guess
        WHERE match_id = x.id
            AND member_id > $2
        ORDER BY member_id
        LIMIT $3
    ) g
    ORDER BY g.member_id
    LIMIT $3
) m
HAVING count(*) > 0;

-- name: ListPoints
-- What the members after $3 and up to $4, who have guessed, are told of the matches $2 of tournament $1:
-- what they want to know, if there is any of it. The first result of a match is one; a later settlement
-- corrects it, or makes it void.
WITH told AS MATERIALIZED (
    SELECT
        m.id,
        m.told_version,
        m.telling,
        CASE WHEN z.void THEN 'void' WHEN m.told_version = 0 THEN 'result' ELSE 'correction' END AS kind
    FROM match m
    JOIN settlement z ON z.match_id = m.id AND z.version = m.telling
    WHERE m.id = ANY($2::uuid[])
),
news AS MATERIALIZED (
    SELECT
        g.member_id,
        count(l.points) FILTER (WHERE k.kind = 'result')::int AS results,
        coalesce(sum(l.points) FILTER (WHERE k.kind = 'result'), 0)::int AS earned,
        coalesce(sum(l.points) FILTER (WHERE k.kind = 'correction'), 0)::int AS corrected,
        count(*) FILTER (WHERE k.kind = 'void')::int AS void
    FROM told k
    CROSS JOIN LATERAL (
        SELECT member_id
        FROM guess
        WHERE match_id = k.id
            AND member_id > $3
            AND member_id <= $4
    ) g
    CROSS JOIN LATERAL (
        SELECT sum(points_earned) AS points
        FROM scoreboard_ledger
        WHERE match_id = k.id
            AND member_id = g.member_id
            AND version > k.told_version
            AND version <= k.telling
    ) l
    GROUP BY g.member_id
)
SELECT
    p.public_id,
    CASE WHEN p.points_notices THEN n.results ELSE 0 END AS results,
    CASE WHEN p.points_notices THEN n.earned ELSE 0 END AS earned,
    CASE WHEN p.correction_notices THEN n.corrected ELSE 0 END AS corrected,
    CASE WHEN p.void_notices THEN n.void ELSE 0 END AS void,
    score(s.points, s.tie) AS score,
    score_before(s.points, s.tie, s.round_slug, s.round_points, s.round_tie, t.current_round) AS before
FROM news n
JOIN member p ON p.id = n.member_id
CROSS JOIN (SELECT current_round FROM tournament WHERE id = $1) t
LEFT JOIN tournament_scoreboard s ON s.tournament_id = $1
    AND s.member_id = n.member_id
WHERE p.points_notices AND n.results > 0
    OR p.correction_notices AND n.corrected <> 0
    OR p.void_notices AND n.void > 0
ORDER BY n.member_id;

-- name: ListScores
-- The scores in the leaderboard of tournament $1, the highest first.
SELECT score
FROM scoreboard_points
WHERE tournament_id = $1
ORDER BY score DESC;

-- name: ListScoresBefore
-- The scores before the current round of tournament $1, the highest first.
SELECT score
FROM scoreboard_before
WHERE tournament_id = $1
ORDER BY score DESC;

-- name: MovePoints
-- Records that the pass of tournament $1 has dealt with the members up to $2.
UPDATE points_pass
SET member_id = $2
WHERE tournament_id = $1;

-- name: EndPoints
-- Ends the pass of tournament $1: all are told of its matches.
WITH ended AS (
    DELETE FROM points_pass
    WHERE tournament_id = $1
)
UPDATE match
SET told_version = telling,
    telling = NULL
WHERE tournament_id = $1
    AND telling IS NOT NULL;
