-- name: ListGroup
-- Match $2 of tournament $1, and those of the tournament that ended at $3 and are not settled.
SELECT id::text, round_slug
FROM match
WHERE tournament_id = $1
    AND (
        id = $2
        OR finished_at = $3
            AND status IN ('ended', 'void')
            AND scoreboard_applied_at IS NULL
    )
ORDER BY date, id;

-- name: LockTournament
-- Locks tournament $1: its settlements come one after the other, because they change the same rows.
SELECT true
FROM tournament
WHERE id = $1
FOR NO KEY UPDATE;

-- name: LockMatch
-- Locks match $1 of tournament $2, with its latest settlement and what the next one would use.
SELECT
    m.round_slug,
    m.status::text,
    m.home_score,
    m.away_score,
    m.finished_at,
    m.settled_version,
    t.rule_version,
    o.multiplier,
    z.void AS was_void,
    z.home_score AS was_home,
    z.away_score AS was_away,
    z.rule_version AS was_rule,
    z.multiplier AS was_multiplier
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
WHERE m.id = $1
    AND m.tournament_id = $2
FOR NO KEY UPDATE OF m;

-- name: MarkApplied
-- Marks match $1 as settled, unless it is marked.
UPDATE match
SET scoreboard_applied_at = now()
WHERE id = $1
    AND status IN ('ended', 'void')
    AND scoreboard_applied_at IS NULL;

-- name: Ledger
-- Gives members the points of a match: rows of the ledger, and the same points in the scoreboards.
--
-- $1, $2  the match and its tournament
-- $3      the version of the settlement
-- $4, $5  the goals of the home and the away team
-- $6, $7  the version of the rule, and the multiplier of the round
-- $8      whether the match is void
-- $9      the slug of the round
--
-- In a void match guesses earn nothing, and lose what they had. The first settlement has a row for
-- each guess, so that its member is in the leaderboard. Later settlements have the differences.
WITH want AS (
    SELECT g.member_id, guess_points(g.home_score, g.away_score, $4, $5, r, $7) AS points
    FROM guess g
    JOIN rule r ON r.tournament_id = $2 AND r.version = $6
    WHERE g.match_id = $1
        AND NOT $8
),
had AS (
    SELECT member_id, sum(points_earned)::int AS points
    FROM scoreboard_ledger
    WHERE match_id = $1
    GROUP BY member_id
),
earned AS (
    INSERT INTO scoreboard_ledger (match_id, member_id, version, tournament_id, points_earned)
    SELECT $1, member_id, $3, $2, coalesce(want.points, 0) - coalesce(had.points, 0)
    FROM want
    FULL JOIN had USING (member_id)
    WHERE had.points IS NULL
        OR coalesce(want.points, 0) <> had.points
    RETURNING member_id, points_earned
),
round AS (
    INSERT INTO round_score AS s (tournament_id, round_slug, member_id, points)
    SELECT $2, $9, member_id, points_earned
    FROM earned
    ON CONFLICT (tournament_id, round_slug, member_id) DO UPDATE
    SET points = s.points + excluded.points
)
INSERT INTO tournament_scoreboard AS s (tournament_id, member_id, points)
SELECT $2, member_id, points_earned
FROM earned
ON CONFLICT (tournament_id, member_id) DO UPDATE
SET points = s.points + excluded.points;

-- name: AddSettlement
-- Records a settlement. Its key is unique.
INSERT INTO settlement (
    match_id, version, idempotency_key, reason, void, home_score, away_score, rule_version, multiplier, guesses
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: MarkSettled
-- Marks match $1 as settled with version $2.
UPDATE match
SET settled_version = $2,
    scoreboard_applied_at = now()
WHERE id = $1;

-- name: RaiseLeaderboard
-- Raises the version of the leaderboard of tournament $1, after a match of round $2 was settled; $3
-- is whether the match is void. The current round becomes the latest in which a match has earned
-- points.
UPDATE tournament t
SET scoreboard_version = scoreboard_version + 1,
    status = CASE WHEN status = 'upcoming' THEN 'active' ELSE status END,
    current_round = CASE
        WHEN $3 THEN current_round
        ELSE (
            SELECT o.slug
            FROM tournament_round o
            WHERE o.tournament_id = t.id
                AND (o.slug = $2 OR o.slug = t.current_round)
            ORDER BY o."order" DESC, o.slug DESC
            LIMIT 1
        )
    END
WHERE id = $1;

-- name: AddMessage
-- Puts message $1 into the outbox.
INSERT INTO outbox (payload)
VALUES ($1);

-- name: ClaimUnsettledMatches
-- The matches that are over and not settled, and that nothing has changed for 15 minutes. The claim
-- is such a change.
UPDATE match
SET updated_at = now()
WHERE status IN ('ended', 'void')
    AND scoreboard_applied_at IS NULL
    AND updated_at < now() - interval '15 minutes'
RETURNING
    id::text,
    tournament_id::text,
    finished_at,
    provider,
    provider_status,
    now() AS now;

-- name: ReopenSettledMatches
-- The settled matches of tournament $1, or of its round $2 if that is not '', which are from then on
-- not settled.
UPDATE match
SET scoreboard_applied_at = NULL,
    updated_at = now()
WHERE tournament_id = $1
    AND ($2 = '' OR round_slug = $2)
    AND status = 'ended'
    AND settled_version > 0
RETURNING
    id::text,
    tournament_id::text,
    finished_at,
    provider,
    provider_status,
    now() AS now;

-- name: LockMessages
-- At most $1 messages of the outbox that no other transaction sends.
SELECT id, payload::text
FROM outbox
ORDER BY id
LIMIT $1
FOR UPDATE SKIP LOCKED;

-- name: DeleteMessages
-- Deletes the messages of the list $1 from the outbox.
DELETE FROM outbox
WHERE id = ANY($1);

-- name: ListSettlements
-- At most $4 settlements before the place ($1, $2, $3) in the list, the newest first.
SELECT
    z.match_id::text,
    m.tournament_id::text,
    z.version,
    z.idempotency_key,
    z.reason,
    z.home_score,
    z.away_score,
    z.guesses,
    z.applied_at AS at
FROM settlement z
JOIN match m ON m.id = z.match_id
WHERE (z.applied_at, z.match_id, z.version) < ($1, $2::uuid, $3)
ORDER BY z.applied_at DESC, z.match_id DESC, z.version DESC
LIMIT $4;

-- name: ListPending
-- At most $4 matches that are over and not settled, before the place ($1, $2, $3) in the list.
SELECT
    id::text AS match_id,
    tournament_id::text,
    settled_version AS version,
    NULL AS idempotency_key,
    NULL AS reason,
    home_score,
    away_score,
    NULL::int AS guesses,
    coalesce(finished_at, date) AS at
FROM match
WHERE status IN ('ended', 'void')
    AND scoreboard_applied_at IS NULL
    AND (coalesce(finished_at, date), id, settled_version) < ($1, $2::uuid, $3)
ORDER BY at DESC, id DESC
LIMIT $4;

-- name: LockTournamentOfMatch
-- Locks the tournament of match $1.
SELECT true
FROM tournament t
JOIN match m ON m.tournament_id = t.id
WHERE m.id = $1
FOR NO KEY UPDATE OF t;

-- name: LockMatchToCorrect
-- Locks match $1. begun is whether it may have a result; finished_at is now if it has not ended.
SELECT
    tournament_id::text,
    round_slug,
    date <= now() OR status = 'not-defined' AS begun,
    coalesce(finished_at, date_trunc('second', now())) AS finished_at,
    provider,
    now() AS now
FROM match
WHERE id = $1
FOR NO KEY UPDATE;

-- name: CorrectMatch
-- Gives match $1 status $2, the goals $3 and $4, and the end $5. It is not settled from then on, and
-- the provider no longer changes it.
UPDATE match
SET status = $2,
    provider_status = 'corrected',
    home_score = $3,
    away_score = $4,
    corrected = true,
    finished_at = $5,
    scoreboard_applied_at = NULL,
    updated_at = now()
WHERE id = $1;

-- name: RaiseRound
-- Raises the version of the matches of round $2 of tournament $1.
UPDATE tournament_round
SET version = version + 1
WHERE tournament_id = $1
    AND slug = $2
RETURNING version;

-- name: GetSettledRound
-- The round of match $1 of tournament $2, if the match is settled.
SELECT round_slug
FROM match
WHERE id = $1
    AND tournament_id = $2
    AND scoreboard_applied_at IS NOT NULL;

-- name: AddDeadLetter
-- Keeps message $1 with payload $2, which was given up for reason $3. Changes nothing if it is kept.
INSERT INTO settlement_dlq (id, payload, reason)
VALUES ($1, $2, $3)
ON CONFLICT (id) DO NOTHING;

-- name: ListDeadLetters
-- At most $3 messages before the place ($1, $2) in the list, the newest first.
SELECT id, payload, reason, received_at, replays, replayed_at
FROM settlement_dlq
WHERE (received_at, id) < ($1, $2)
ORDER BY received_at DESC, id DESC
LIMIT $3;

-- name: GetDeadLetter
-- The payload of message $1.
SELECT payload
FROM settlement_dlq
WHERE id = $1;

-- name: CountReplay
-- Counts that message $1 was sent again.
UPDATE settlement_dlq
SET replays = replays + 1,
    replayed_at = now()
WHERE id = $1;

-- name: ListActiveTournaments
-- The ids of the active tournaments.
SELECT id::text
FROM tournament
WHERE status = 'active'
ORDER BY id;

-- name: TournamentExists
-- Whether tournament $1 exists: no row if not.
SELECT true
FROM tournament
WHERE id = $1;

-- name: RepairPoints
-- Gives the members of tournament $1 the points of the ledger. Changes only those that differ.
WITH sums AS (
    SELECT member_id, sum(points_earned)::int AS points
    FROM scoreboard_ledger
    WHERE tournament_id = $1
    GROUP BY member_id
)
INSERT INTO tournament_scoreboard AS s (tournament_id, member_id, points)
SELECT $1, member_id, points
FROM sums
ON CONFLICT (tournament_id, member_id) DO UPDATE
SET points = excluded.points
WHERE s.points <> excluded.points;

-- name: DeletePointsWithoutLedger
-- Deletes the points of members who have no row in the ledger of tournament $1.
DELETE FROM tournament_scoreboard s
WHERE tournament_id = $1
    AND NOT EXISTS (
        SELECT
        FROM scoreboard_ledger l
        WHERE l.tournament_id = $1
            AND l.member_id = s.member_id
    );

-- name: RaiseRepairedLeaderboard
-- Raises the version of the leaderboard of tournament $1.
UPDATE tournament
SET scoreboard_version = scoreboard_version + 1
WHERE id = $1;

-- name: CountMembers
-- The number of members in the leaderboard of tournament $1.
SELECT count(*)::int
FROM tournament_scoreboard
WHERE tournament_id = $1;
