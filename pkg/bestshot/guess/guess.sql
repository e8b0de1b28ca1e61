-- name: PutGuess
-- Stores the guesses of matches $1 by user $2, or replaces them: $3 goals of the home teams, $4 of the
-- away teams. The lists have the same length, and each match once. Stores nothing from the kick-off or the
-- first sign of play on, by the clock of the database. clock_timestamp() is the time when the row of the
-- guess is locked: now() would be that of the beginning of a statement that waits for the lock. A guess
-- that is replaced is kept: the last 20.
--
-- Two requests of a member lock the rows in the same order. The kick-off is compared when a row is written,
-- after those before it have waited for their locks: OFFSET 0 keeps the comparison outside of the sort.
--
-- Returns no row for a match that does not exist. member_id is NULL if there is no such member, id if
-- nothing was stored. The rest is as ListGuesses has it.
WITH stored AS (
    INSERT INTO guess (match_id, member_id, home_score, away_score, updated_at)
    SELECT o.match_id, o.member_id, o.home, o.away, clock_timestamp()
    FROM (
        SELECT m.id AS match_id, p.id AS member_id, i.home, i.away, m.date
        FROM unnest($1::uuid[], $3::int[], $4::int[]) i (match_id, home, away)
        JOIN match m ON m.id = i.match_id
        JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
        CROSS JOIN member p
        WHERE p.public_id = $2
            AND m.status = 'open'
            AND m.seen_at IS NULL
        ORDER BY m.id
        OFFSET 0
    ) o
    WHERE o.date > clock_timestamp()
    ON CONFLICT ON CONSTRAINT guess_once DO UPDATE
    SET home_score = excluded.home_score,
        away_score = excluded.away_score,
        updated_at = CASE
            WHEN (guess.home_score, guess.away_score) = (excluded.home_score, excluded.away_score) THEN guess.updated_at
            ELSE clock_timestamp()
        END,
        earlier = CASE
            WHEN (guess.home_score, guess.away_score) = (excluded.home_score, excluded.away_score) THEN guess.earlier
            ELSE guess.earlier[greatest(1, cardinality(guess.earlier) - 18):]
                || (guess.updated_at, guess.home_score, guess.away_score)::earlier_guess
        END
    WHERE clock_timestamp() < (
        SELECT m.date
        FROM match m
        WHERE m.id = guess.match_id
    )
    RETURNING id, match_id, home_score, away_score
)
SELECT
    p.id::text AS member_id,
    g.id::text,
    m.id::text AS match_id,
    m.date,
    false AS begun,
    m.status::text,
    m.home_score AS result_home,
    m.away_score AS result_away,
    g.home_score AS home,
    g.away_score AS away,
    m.began_at,
    false AS late,
    g.home_score AS counted_home,
    g.away_score AS counted_away,
    o.multiplier,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score,
    r.tie_breaks,
    r.joker_factor,
    k.factor IS NOT NULL AS joker
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
JOIN rule r ON r.tournament_id = m.tournament_id AND r.version = t.rule_version
LEFT JOIN member p ON p.public_id = $2
LEFT JOIN stored g ON g.match_id = m.id
LEFT JOIN LATERAL joker_of(r, m.round_slug, m.id, p.id) k ON true
WHERE m.id = ANY($1::uuid[]);

-- name: ListGuesses
-- The matches of round $2 of tournament $1, each with the guess of member $3, if there is one. The rule
-- and the multiplier are those of the settlement; before it, those that it would have. counted is the
-- guess as it was before play began. late is whether the member changed it later.
SELECT
    g.id::text,
    m.id::text AS match_id,
    m.date,
    m.date <= now() OR m.seen_at IS NOT NULL AS begun,
    m.status::text,
    m.home_score AS result_home,
    m.away_score AS result_away,
    g.home_score AS home,
    g.away_score AS away,
    m.began_at,
    g.updated_at >= m.began_at AS late,
    c.home_score AS counted_home,
    c.away_score AS counted_away,
    coalesce(z.multiplier, o.multiplier) AS multiplier,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score,
    r.tie_breaks,
    r.joker_factor,
    k.factor IS NOT NULL AS joker
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
JOIN rule r ON r.tournament_id = m.tournament_id AND r.version = coalesce(z.rule_version, t.rule_version)
LEFT JOIN guess g ON g.match_id = m.id AND g.member_id = $3
LEFT JOIN LATERAL counted(g, m.began_at) c ON g.id IS NOT NULL
LEFT JOIN LATERAL joker_of(r, m.round_slug, m.id, $3) k ON true
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

-- name: ListGuessers
-- At most $3 members who have guessed match $1, whose ids are after $2.
SELECT g.member_id::text
FROM guess g
WHERE g.match_id = $1
    AND g.member_id > $2
ORDER BY g.member_id
LIMIT $3;

-- name: GetBacklog
-- Whether a match of tournament $1 is over and not settled, and whether member $2 exists: no row if
-- there is no tournament.
SELECT
    EXISTS (SELECT FROM member WHERE id = $2) AS member,
    EXISTS (
        SELECT
        FROM match
        WHERE tournament_id = t.id
            AND status IN ('ended', 'void')
            AND scoreboard_applied_at IS NULL
    ) AS backlog
FROM tournament t
WHERE t.id = $1;

-- name: ListLivePoints
-- What member $2 has in tournament $1, and the matches in play, by kick-off: with the guess that counts, and
-- what it would earn if the match ended now. There is one row with a match_id of NULL if none is in play, and
-- none if there is no tournament. A match earns provisional points while others may see its guesses.
--
-- It is one statement, so that a match whose points are settled meanwhile does not count twice.
SELECT
    s.member_id IS NOT NULL AS placed,
    coalesce(s.points, 0) AS settled,
    coalesce(s.tie, 0) AS settled_tie,
    EXISTS (
        SELECT
        FROM match
        WHERE tournament_id = t.id
            AND status IN ('ended', 'void')
            AND scoreboard_applied_at IS NULL
    ) AS backlog,
    m.id::text AS match_id,
    m.live_home,
    m.live_away,
    m.live_minute,
    m.live_period,
    m.live_at,
    c.home_score AS home,
    c.away_score AS away,
    coalesce(guess_points(c.home_score, c.away_score, m.live_home, m.live_away, r, o.multiplier * coalesce(k.factor, 1)), 0) AS points,
    coalesce(guess_tie(c.home_score, c.away_score, m.live_home, m.live_away, r), 0) AS tie
FROM tournament t
JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
LEFT JOIN tournament_scoreboard s ON s.tournament_id = t.id AND s.member_id = $2
LEFT JOIN match m ON m.tournament_id = t.id
    AND t.status IN ('upcoming', 'active')
    AND m.live_at IS NOT NULL
    AND m.status = 'open'
    AND m.date <= now()
LEFT JOIN tournament_round o ON o.tournament_id = t.id AND o.slug = m.round_slug
LEFT JOIN guess g ON g.match_id = m.id AND g.member_id = $2
LEFT JOIN LATERAL counted(g, m.began_at) c ON g.id IS NOT NULL
LEFT JOIN LATERAL joker_of(r, m.round_slug, m.id, $2) k ON true
WHERE t.id = $1
ORDER BY m.date, m.id
LIMIT 100;

-- name: GetRankOfScore
-- The dense rank that score $2 would have in tournament $1 among the scores that are settled.
SELECT count(*)::int + 1
FROM scoreboard_points
WHERE tournament_id = $1
    AND score > $2;

-- name: ListGuessesOf
-- The guesses of matches $1 by members $2 that user $3 may see, as ListGuesses has them: the user's own
-- ones, and those of others while IsRevealed is true. By member, kick-off and match.
SELECT
    p.id::text AS member_id,
    p.nick_name,
    g.id::text,
    m.id::text AS match_id,
    m.date,
    m.date <= now() OR m.seen_at IS NOT NULL AS begun,
    m.status::text,
    m.home_score AS result_home,
    m.away_score AS result_away,
    g.home_score AS home,
    g.away_score AS away,
    m.began_at,
    g.updated_at >= m.began_at AS late,
    c.home_score AS counted_home,
    c.away_score AS counted_away,
    coalesce(z.multiplier, o.multiplier) AS multiplier,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score,
    r.tie_breaks,
    r.joker_factor,
    k.factor IS NOT NULL AS joker
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
LEFT JOIN settlement z ON z.match_id = m.id AND z.version = m.settled_version
JOIN rule r ON r.tournament_id = m.tournament_id AND r.version = coalesce(z.rule_version, t.rule_version)
JOIN guess g ON g.match_id = m.id AND g.member_id = ANY($2::uuid[])
LEFT JOIN LATERAL joker_of(r, m.round_slug, m.id, g.member_id) k ON true
CROSS JOIN LATERAL counted(g, m.began_at) c
JOIN member p ON p.id = g.member_id
WHERE m.id = ANY($1::uuid[])
    AND (p.public_id = $3 OR m.date <= now() AND m.status <> 'not-defined' OR m.status = 'ended')
ORDER BY g.member_id, m.date, m.id;

-- name: IsInLeague
-- Whether user $1 is in league $2: no row if not.
SELECT true
FROM league_role r
JOIN member p ON p.id = r.member_id
WHERE p.public_id = $1
    AND r.league_id = $2;

-- name: ListLeagueGuessers
-- At most $4 members of league $1 who have guessed match $2, whose ids are after $3.
SELECT r.member_id::text
FROM league_role r
WHERE r.league_id = $1
    AND r.member_id > $3
    AND EXISTS (SELECT FROM guess WHERE match_id = $2 AND member_id = r.member_id)
ORDER BY r.member_id
LIMIT $4;

-- name: PutJoker
-- Gives the joker of user $4 in round $2 of tournament $1 to match $3, of that round. Changes nothing if
-- that match, or the one that has the joker, has begun by the clock of the database. The primary key
-- makes it one a round. Those before are kept: the last 20.
--
-- Returns no row if the tournament has no such match in the round. member is false if there is no such
-- member, stored if nothing was stored.
WITH stored AS (
    INSERT INTO joker (tournament_id, round_slug, member_id, match_id, set_at)
    SELECT m.tournament_id, m.round_slug, p.id, m.id, clock_timestamp()
    FROM match m
    JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
    JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version AND r.joker_factor > 0
    CROSS JOIN member p
    WHERE m.tournament_id = $1
        AND m.round_slug = $2
        AND m.id = $3
        AND p.public_id = $4
        AND m.status = 'open'
        AND m.seen_at IS NULL
        AND m.date > clock_timestamp()
    ON CONFLICT (tournament_id, round_slug, member_id) DO UPDATE
    SET match_id = excluded.match_id,
        set_at = CASE WHEN joker.match_id = excluded.match_id THEN joker.set_at ELSE clock_timestamp() END,
        earlier = CASE
            WHEN joker.match_id = excluded.match_id THEN joker.earlier
            ELSE joker.earlier[greatest(1, cardinality(joker.earlier) - 18):]
                || (joker.match_id, joker.set_at, clock_timestamp())::earlier_joker
        END
    WHERE NOT EXISTS (
        SELECT
        FROM match m
        WHERE m.id = excluded.match_id
                AND m.date <= clock_timestamp()
            OR m.id = joker.match_id
                AND m.round_slug = joker.round_slug
                AND (m.status = 'ended' OR m.seen_at IS NOT NULL OR m.status <> 'not-defined' AND m.date <= clock_timestamp())
    )
    RETURNING member_id
)
SELECT
    r.joker_factor AS factor,
    EXISTS (SELECT FROM member WHERE public_id = $4) AS member,
    EXISTS (SELECT FROM stored) AS stored
FROM match m
JOIN tournament t ON t.id = m.tournament_id
JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
WHERE m.tournament_id = $1
    AND m.round_slug = $2
    AND m.id = $3;
