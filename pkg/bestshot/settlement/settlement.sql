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

-- name: PrepareRange
-- Has the statements of this transaction wait for a lock for $1 at most, and look up each row of a range
-- by its key: the planner would read all members instead, of whom it expects too few.
SELECT
    set_config('lock_timeout', $1, true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('enable_seqscan', 'off', true);

-- name: PrepareRepair
-- Has the next statement of this transaction read a range of members by an index.
SELECT set_config('enable_seqscan', 'off', true);

-- name: LockTournament
-- Locks tournament $1: its settlements come one after the other, because they change the same rows. No row
-- if it was deleted.
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
    m.began_at,
    m.corrected,
    m.kick_off_corrected,
    m.corrected_by,
    m.jokers_moved,
    m.settled_version,
    t.rule_version,
    t.current_round,
    o.multiplier,
    z.void AS was_void,
    z.began_at AS was_began_at,
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

-- name: GetSettling
-- The settlement of match $1 that goes on: no row if none does.
SELECT
    version,
    reason,
    void,
    home_score,
    away_score,
    rule_version,
    multiplier,
    began_at,
    member_id::text,
    guesses
FROM settling
WHERE match_id = $1;

-- name: BeginSettling
-- Begins a settlement of match $1.
WITH begun AS (
    UPDATE match
    SET jokers_moved = false
    WHERE id = $1
        AND jokers_moved
)
INSERT INTO settling (
    match_id, version, reason, void, home_score, away_score, rule_version, multiplier, began_at, total
)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, count(*)
FROM guess
WHERE match_id = $1
RETURNING
    version,
    reason,
    void,
    home_score,
    away_score,
    rule_version,
    multiplier,
    began_at,
    member_id::text,
    guesses;

-- name: MoveSettling
-- Records that the settlement of match $1 has dealt with the guesses up to member $2: $3 more guesses, and
-- $4 more rows of the ledger.
UPDATE settling
SET member_id = $2,
    seen = seen + $3,
    guesses = guesses + $4,
    updated_at = now()
WHERE match_id = $1;

-- name: EndSettling
-- Ends the settlement of match $1.
DELETE FROM settling
WHERE match_id = $1;

-- name: BeginRound
-- Makes round $2 the current round of tournament $1, before a match of it is settled: it is the latest
-- round in which a match has earned points.
UPDATE tournament t
SET status = CASE WHEN status = 'upcoming' THEN 'active' ELSE status END,
    current_round = (
        SELECT o.slug
        FROM tournament_round o
        WHERE o.tournament_id = t.id
            AND (o.slug = $2 OR o.slug = t.current_round)
        ORDER BY o."order" DESC, o.slug DESC
        LIMIT 1
    )
WHERE id = $1
RETURNING current_round;

-- name: SettleRange
-- Gives the next members who have guessed a match their points: rows of the ledger, and the same points
-- in the scoreboards.
--
-- $1, $2   the match and its tournament
-- $3       the version of the settlement
-- $4, $5   the goals of the home and the away team
-- $6, $7   the version of the rule, and the multiplier of the round
-- $8       whether the match is void
-- $9       the slug of the round
-- $10      whether it is the current round
-- $11      when play began: a guess counts as it was before; NULL if it is not known
-- $12, $13 the member after whom the range begins, and its number of guesses
--
-- The points of the match that has the joker of a member count times joker_factor: see joker_of.
-- In a void match guesses earn nothing, and lose what they had. The first settlement has a row for
-- each guess that counts, so that its member is in the leaderboard. Later settlements have the
-- differences. Returns the number of guesses, the last member and the number of rows in the ledger.
WITH range AS MATERIALIZED (
    SELECT
        g.member_id,
        CASE WHEN coalesce(g.updated_at < $11, true) THEN g.home_score ELSE e.home_score END AS home_score,
        CASE WHEN coalesce(g.updated_at < $11, true) THEN g.away_score ELSE e.away_score END AS away_score
    FROM guess g
    LEFT JOIN LATERAL (
        SELECT home_score, away_score
        FROM unnest(g.earlier)
        WHERE g.updated_at >= $11
            AND stored_at < $11
        ORDER BY stored_at DESC
        LIMIT 1
    ) e ON true
    WHERE g.match_id = $1
        AND g.member_id > $12
    ORDER BY g.member_id
    LIMIT $13
),
last AS (
    SELECT member_id
    FROM range
    ORDER BY member_id DESC
    LIMIT 1
),
want AS (
    SELECT
        g.member_id,
        g.home_score IS NOT NULL AND NOT $8 AS counts,
        CASE WHEN $8 THEN 0 ELSE guess_points(g.home_score, g.away_score, $4, $5, r, $7 * coalesce(k.factor, 1)) END AS points,
        CASE WHEN $8 THEN 0 ELSE guess_tie(g.home_score, g.away_score, $4, $5, r) END AS tie
    FROM range g
    JOIN rule r ON r.tournament_id = $2 AND r.version = $6
    LEFT JOIN LATERAL joker_of(r, $9, $1, g.member_id) k ON true
),
earned AS (
    INSERT INTO scoreboard_ledger (match_id, member_id, version, tournament_id, points_earned, tie_earned)
    SELECT $1, want.member_id, $3, $2, want.points - coalesce(had.points, 0), want.tie - coalesce(had.tie, 0)
    FROM want
    CROSS JOIN LATERAL (
        SELECT sum(points_earned)::int AS points, sum(tie_earned)::int AS tie
        FROM scoreboard_ledger
        WHERE match_id = $1
            AND member_id = want.member_id
            AND $3::int > 1
    ) had
    WHERE had.points IS NULL AND want.counts
        OR (want.points, want.tie) <> (had.points, had.tie)
    RETURNING member_id, points_earned, tie_earned
),
round AS (
    INSERT INTO round_score AS s (tournament_id, round_slug, member_id, points)
    SELECT $2, $9, member_id, points_earned
    FROM earned
    WHERE points_earned <> 0
    ON CONFLICT (tournament_id, round_slug, member_id) DO UPDATE
    SET points = s.points + excluded.points
),
changed AS (
    UPDATE tournament_scoreboard s
    SET points = s.points + e.points_earned,
        tie = s.tie + e.tie_earned,
        round_slug = CASE WHEN $10 THEN $9 ELSE s.round_slug END,
        round_points = CASE
            WHEN NOT $10 THEN s.round_points
            WHEN s.round_slug = $9 THEN s.round_points + e.points_earned
            ELSE e.points_earned
        END,
        round_tie = CASE
            WHEN NOT $10 THEN s.round_tie
            WHEN s.round_slug = $9 THEN s.round_tie + e.tie_earned
            ELSE e.tie_earned
        END
    FROM earned e
    WHERE s.tournament_id = $2
        AND s.member_id = e.member_id
        AND (e.points_earned, e.tie_earned) <> (0, 0)
),
added AS (
    INSERT INTO tournament_scoreboard (tournament_id, member_id, points, tie, round_slug, round_points, round_tie)
    SELECT
        $2,
        e.member_id,
        e.points_earned,
        e.tie_earned,
        CASE WHEN $10 THEN $9 END,
        CASE WHEN $10 THEN e.points_earned ELSE 0 END,
        CASE WHEN $10 THEN e.tie_earned ELSE 0 END
    FROM earned e
    LEFT JOIN tournament_scoreboard s ON s.tournament_id = $2
        AND s.member_id = e.member_id
    WHERE s.member_id IS NULL
)
SELECT
    (SELECT count(*)::int FROM range) AS seen,
    (SELECT member_id::text FROM last) AS member_id,
    (SELECT count(*)::int FROM earned) AS guesses;

-- name: AddSettlement
-- Records a settlement. Its key is unique.
INSERT INTO settlement (
    match_id, version, idempotency_key, reason, void, home_score, away_score, rule_version, multiplier, guesses,
    began_at, corrected_by
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: MarkSettled
-- Records that version $2 of the settlement of match $1 is the latest.
UPDATE match
SET settled_version = $2
WHERE id = $1;

-- name: RaiseLeaderboard
-- Raises the version of the leaderboard of tournament $1.
UPDATE tournament
SET scoreboard_version = scoreboard_version + 1
WHERE id = $1;

-- name: AddMessage
-- Puts message $1 into the outbox.
INSERT INTO outbox (payload)
VALUES ($1);

-- name: ClaimUnsettledMatches
-- The matches that are over and not settled, and that nothing has changed for 15 minutes, nor a range
-- was settled of. The claim is such a change.
UPDATE match
SET updated_at = now()
WHERE status IN ('ended', 'void')
    AND scoreboard_applied_at IS NULL
    AND updated_at < now() - interval '15 minutes'
    AND NOT EXISTS (
        SELECT
        FROM settling
        WHERE match_id = match.id
            AND settling.updated_at >= now() - interval '15 minutes'
    )
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
    z.corrected_by,
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
    NULL AS corrected_by,
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
    now() AS now,
    status::text,
    kick_off_corrected,
    status IN ('ended', 'void') AND scoreboard_applied_at IS NULL AS pending
FROM match
WHERE id = $1
FOR NO KEY UPDATE;

-- name: CorrectMatch
-- Gives match $1 status $2, the goals $3 and $4, and the end $5, for administrator $6. It is not settled
-- from then on, and the provider no longer changes it.
UPDATE match
SET status = $2,
    provider_status = 'corrected',
    home_score = $3,
    away_score = $4,
    corrected = true,
    corrected_by = $6,
    finished_at = $5,
    scoreboard_applied_at = NULL,
    updated_at = now()
WHERE id = $1;

-- name: ReopenMatch
-- Has the provider decide again about match $1, for administrator $2. A void match is open until the
-- provider answers. A match that has ended keeps its result until the provider answers another. A kick-off
-- that was set is again what the provider had said; of a match that has ended it is the first sign of play
-- if there was none.
UPDATE match
SET corrected = false,
    corrected_by = $2,
    provider_status = 'reopened',
    status = CASE WHEN status = 'void' THEN 'open' ELSE status END,
    date = CASE WHEN kick_off_corrected THEN coalesce(provider_date, date) ELSE date END,
    seen_at = CASE
        WHEN NOT kick_off_corrected THEN seen_at
        WHEN status = 'ended' THEN coalesce(provider_seen_at, provider_date, date)
        ELSE provider_seen_at
    END,
    began_at = CASE
        WHEN NOT kick_off_corrected THEN began_at
        WHEN status = 'ended' THEN coalesce(provider_began_at, provider_date, date)
        ELSE provider_began_at
    END,
    kick_off_corrected = false,
    scoreboard_applied_at = CASE WHEN kick_off_corrected AND status = 'ended' THEN NULL ELSE scoreboard_applied_at END,
    updated_at = now()
WHERE id = $1
    AND (corrected OR kick_off_corrected);

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
-- At most $3 messages before the place ($1, $2) in the list, the newest first: the open ones, or those that
-- are closed, $4.
SELECT id, payload, reason, received_at, replays, replayed_at, closed_at
FROM settlement_dlq
WHERE (received_at, id) < ($1, $2)
    AND (closed_at IS NOT NULL) = $4
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

-- name: GetRepair
-- The last member that an unfinished repair of tournament $1 has dealt with: no row if there is none.
SELECT member_id::text
FROM repair
WHERE tournament_id = $1;

-- name: PutRepair
-- Records that an unfinished repair of tournament $1 has dealt with the members up to $2.
INSERT INTO repair (tournament_id, member_id)
VALUES ($1, $2)
ON CONFLICT (tournament_id) DO UPDATE
SET member_id = excluded.member_id;

-- name: EndRepair
-- Ends the repair of tournament $1.
DELETE FROM repair
WHERE tournament_id = $1;

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

-- name: RepairPoints
-- Gives the members after $2 and up to $3 in tournament $1 the points of the ledgers, in the leaderboard
-- and in its rounds. The points of questions belong to no round. Returns the number of members of whom
-- something differed.
WITH earned AS (
    SELECT l.member_id, m.round_slug, sum(l.points_earned)::int AS points, sum(l.tie_earned)::int AS tie
    FROM scoreboard_ledger l
    JOIN match m ON m.id = l.match_id
    WHERE l.tournament_id = $1
        AND l.member_id > $2
        AND l.member_id <= $3
    GROUP BY l.member_id, m.round_slug
    UNION ALL
    SELECT member_id, NULL AS round_slug, sum(points_earned)::int AS points, 0 AS tie
    FROM question_ledger
    WHERE tournament_id = $1
        AND member_id > $2
        AND member_id <= $3
    GROUP BY member_id
),
sums AS (
    SELECT
        e.member_id,
        sum(e.points)::int AS points,
        sum(e.tie)::int AS tie,
        t.current_round AS round_slug,
        coalesce(sum(e.points) FILTER (WHERE e.round_slug = t.current_round), 0)::int AS round_points,
        coalesce(sum(e.tie) FILTER (WHERE e.round_slug = t.current_round), 0)::int AS round_tie
    FROM earned e
    CROSS JOIN (SELECT current_round FROM tournament WHERE id = $1) t
    GROUP BY e.member_id, t.current_round
),
board AS (
    INSERT INTO tournament_scoreboard AS s (tournament_id, member_id, points, tie, round_slug, round_points, round_tie)
    SELECT $1, member_id, points, tie, round_slug, round_points, round_tie
    FROM sums
    ON CONFLICT (tournament_id, member_id) DO UPDATE
    SET points = excluded.points,
        tie = excluded.tie,
        round_slug = excluded.round_slug,
        round_points = excluded.round_points,
        round_tie = excluded.round_tie
    WHERE (s.points, s.tie) <> (excluded.points, excluded.tie)
        OR CASE WHEN s.round_slug = excluded.round_slug THEN s.round_points ELSE 0 END <> excluded.round_points
        OR CASE WHEN s.round_slug = excluded.round_slug THEN s.round_tie ELSE 0 END <> excluded.round_tie
    RETURNING member_id
),
board_deleted AS (
    DELETE FROM tournament_scoreboard s
    WHERE tournament_id = $1
        AND member_id > $2
        AND member_id <= $3
        AND NOT EXISTS (SELECT FROM sums WHERE sums.member_id = s.member_id)
    RETURNING member_id
),
rounds AS (
    INSERT INTO round_score AS s (tournament_id, round_slug, member_id, points)
    SELECT $1, e.round_slug, e.member_id, e.points
    FROM earned e
    LEFT JOIN round_score o ON o.tournament_id = $1
        AND o.round_slug = e.round_slug
        AND o.member_id = e.member_id
    WHERE e.round_slug IS NOT NULL
        AND e.points <> coalesce(o.points, 0)
    ON CONFLICT (tournament_id, round_slug, member_id) DO UPDATE
    SET points = excluded.points
    RETURNING member_id
),
rounds_deleted AS (
    DELETE FROM round_score s
    WHERE tournament_id = $1
        AND member_id > $2
        AND member_id <= $3
        AND points <> 0
        AND NOT EXISTS (
            SELECT
            FROM earned e
            WHERE e.member_id = s.member_id
                AND e.round_slug = s.round_slug
        )
    RETURNING member_id
)
SELECT count(*)::int
FROM (
    SELECT member_id FROM board
    UNION
    SELECT member_id FROM board_deleted
    UNION
    SELECT member_id FROM rounds
    UNION
    SELECT member_id FROM rounds_deleted
) m;

-- name: CountMembers
-- The number of members in the leaderboard of tournament $1.
SELECT coalesce(sum(members), 0)::int
FROM scoreboard_points
WHERE tournament_id = $1;

-- name: SetKickOff
-- Gives match $1 the kick-off $2 for administrator $3, and keeps what the provider had said. If it has
-- passed, play began then. If not, the match takes guesses; signs of play stay until the provider takes them
-- back. In a manual tournament there are none, and a postponed match is open again. A match that has ended
-- is to be settled.
UPDATE match
SET provider_date = CASE WHEN kick_off_corrected THEN provider_date ELSE date END,
    provider_seen_at = CASE WHEN kick_off_corrected THEN provider_seen_at ELSE seen_at END,
    provider_began_at = CASE WHEN kick_off_corrected THEN provider_began_at ELSE began_at END,
    date = $2,
    seen_at = CASE WHEN $2 <= now() THEN $2 WHEN provider <> 'manual' THEN seen_at END,
    began_at = CASE WHEN $2 <= now() THEN $2 WHEN provider <> 'manual' THEN began_at END,
    kick_off_corrected = provider <> 'manual',
    status = CASE WHEN provider = 'manual' AND status = 'not-defined' THEN 'open' ELSE status END,
    corrected_by = $3,
    scoreboard_applied_at = CASE WHEN status = 'ended' THEN NULL ELSE scoreboard_applied_at END,
    updated_at = now()
WHERE id = $1
    AND (
        (date, kick_off_corrected) <> ($2, provider <> 'manual')
        OR $2 <= now() AND (seen_at, began_at) IS DISTINCT FROM ($2, $2)
        OR provider = 'manual' AND (status = 'not-defined' OR $2 > now() AND began_at IS NOT NULL)
    );

-- name: PostponeMatch
-- Has match $1 wait for another kick-off, for administrator $2: it takes no guesses until then.
UPDATE match
SET status = 'not-defined',
    provider_status = 'postponed',
    corrected_by = $2,
    updated_at = now()
WHERE id = $1
    AND status = 'open';

-- name: CloseSettledLetters
-- Closes the messages whose match is settled.
UPDATE settlement_dlq d
SET closed_at = now()
FROM match m
WHERE d.closed_at IS NULL
    AND m.id = d.match_id
    AND m.scoreboard_applied_at IS NOT NULL;

-- name: CloseDeadLetter
-- Closes message $1, unless it is closed. No row if there is none.
UPDATE settlement_dlq
SET closed_at = coalesce(closed_at, now())
WHERE id = $1
RETURNING true;
