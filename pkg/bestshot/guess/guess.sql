-- name: PutGuess
-- Stores the guess of match $1 by user $2, or replaces it: $3 goals of the home team, $4 of the
-- away team. Stores nothing from the kick-off on, by the clock of the database. clock_timestamp() is the
-- time when the row of the guess is locked: now() would be that of the beginning of a statement that
-- waits for the lock.
INSERT INTO guess (match_id, member_id, home_score, away_score)
SELECT m.id, p.id, $3, $4
FROM match m
JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
CROSS JOIN member p
WHERE m.id = $1
    AND p.public_id = $2
    AND m.status = 'open'
    AND m.date > clock_timestamp()
ON CONFLICT ON CONSTRAINT guess_once DO UPDATE
SET home_score = excluded.home_score,
    away_score = excluded.away_score,
    updated_at = now()
WHERE clock_timestamp() < (
    SELECT m.date
    FROM match m
    WHERE m.id = guess.match_id
);

-- name: GetGuess
-- Match $1 with the guess of member $2, if there is one. The rule and the multiplier are those of
-- the settlement; before it, those that it would have.
SELECT
    g.id::text,
    m.id::text AS match_id,
    m.date,
    m.date <= now() AS begun,
    m.status::text,
    m.home_score AS result_home,
    m.away_score AS result_away,
    g.home_score AS home,
    g.away_score AS away,
    coalesce(z.multiplier, o.multiplier) AS multiplier,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
JOIN rule r ON r.tournament_id = m.tournament_id AND r.version = coalesce(z.rule_version, t.rule_version)
LEFT JOIN guess g ON g.match_id = m.id AND g.member_id = $2
WHERE m.id = $1;

-- name: ListGuesses
-- The matches of round $2 of tournament $1, each with the guess of member $3, as GetGuess has it.
SELECT
    g.id::text,
    m.id::text AS match_id,
    m.date,
    m.date <= now() AS begun,
    m.status::text,
    m.home_score AS result_home,
    m.away_score AS result_away,
    g.home_score AS home,
    g.away_score AS away,
    coalesce(z.multiplier, o.multiplier) AS multiplier,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
JOIN rule r ON r.tournament_id = m.tournament_id AND r.version = coalesce(z.rule_version, t.rule_version)
LEFT JOIN guess g ON g.match_id = m.id AND g.member_id = $3
WHERE m.tournament_id = $1
    AND m.round_slug = $2
ORDER BY m.date, m.id;

-- name: RoundExists
-- Whether tournament $1 has round $2: no row if not.
SELECT true
FROM tournament_round
WHERE tournament_id = $1
    AND slug = $2;

-- name: IsRevealed
-- Whether others may see the guesses of match $1. A match that is called off hides them, because it
-- takes guesses again if it gets another date.
SELECT m.date <= now() AND m.status <> 'not-defined' OR m.status = 'ended'
FROM match m
WHERE m.id = $1;

-- name: ListMatchGuesses
-- At most $3 guesses of match $1 by members whose ids are after $2, as GetGuess has them. None while
-- IsRevealed is false.
SELECT
    p.id::text AS member_id,
    p.nick_name,
    g.id::text,
    m.id::text AS match_id,
    m.date,
    m.date <= now() AS begun,
    m.status::text,
    m.home_score AS result_home,
    m.away_score AS result_away,
    g.home_score AS home,
    g.away_score AS away,
    coalesce(z.multiplier, o.multiplier) AS multiplier,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
JOIN rule r ON r.tournament_id = m.tournament_id AND r.version = coalesce(z.rule_version, t.rule_version)
JOIN guess g ON g.match_id = m.id
JOIN member p ON p.id = g.member_id
WHERE m.id = $1
    AND (m.date <= now() AND m.status <> 'not-defined' OR m.status = 'ended')
    AND g.member_id > $2
ORDER BY g.member_id
LIMIT $3;

-- name: GetScore
-- The points of member $2 in tournament $1, 0 if there are none. member is whether the member
-- exists; backlog is whether a match is over and not settled.
SELECT
    EXISTS (SELECT FROM member WHERE id = $2) AS member,
    coalesce(
        (SELECT points FROM tournament_scoreboard WHERE tournament_id = t.id AND member_id = $2),
        0
    ) AS points,
    EXISTS (
        SELECT
        FROM match
        WHERE tournament_id = t.id
            AND status IN ('ended', 'void')
            AND scoreboard_applied_at IS NULL
    ) AS backlog
FROM tournament t
WHERE t.id = $1;
