-- name: ListTournaments
-- At most $3 tournaments with status $1, or with any if it is '', whose slugs are after $2.
SELECT
    t.id::text,
    t.slug,
    t.label,
    t.season,
    t.status::text,
    t.current_round,
    t.logo,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score,
    r.tie_breaks,
    r.joker_factor
FROM tournament t
JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
WHERE ($1 = '' OR t.status::text = $1)
    AND t.slug > $2
ORDER BY t.slug
LIMIT $3;

-- name: GetTournament
-- Tournament $1 with its rule.
SELECT
    t.id::text,
    t.slug,
    t.label,
    t.season,
    t.status::text,
    t.current_round,
    t.logo,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score,
    r.tie_breaks,
    r.joker_factor
FROM tournament t
JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
WHERE t.id = $1;

-- name: ListRounds
-- The rounds of tournament $1, in the order in which they are played.
SELECT slug, label, type, multiplier
FROM tournament_round
WHERE tournament_id = $1
ORDER BY "order", slug;

-- name: ListWinners
-- The members with the most points in each round of tournament $1, at most ten a round. None of a
-- round in which nobody has points.
SELECT o.slug AS round_slug, w.member_id::text, m.nick_name, w.points
FROM tournament_round o
CROSS JOIN LATERAL (
    SELECT member_id, points
    FROM round_score s
    WHERE tournament_id = o.tournament_id
        AND round_slug = o.slug
        AND points > 0
        AND points = (
            SELECT max(points)
            FROM round_score
            WHERE tournament_id = o.tournament_id
                AND round_slug = o.slug
        )
    ORDER BY member_id
    LIMIT 10
) w
JOIN member m ON m.id = w.member_id
WHERE o.tournament_id = $1
ORDER BY o.slug, w.member_id;

-- name: ListTeams
-- The teams with a match in tournament $1, or a place in its standings, by name.
SELECT id::text, name, badge
FROM team
WHERE id IN (
    SELECT unnest(ARRAY[home_team, away_team])
    FROM match
    WHERE tournament_id = $1
    UNION
    SELECT team_id
    FROM tournament_standing
    WHERE tournament_id = $1
)
ORDER BY name COLLATE "und-x-icu", id;

-- name: ListMatchesOfDay
-- At most $3 matches from $2 on and before $4, in the tournaments that are played. guessed is whether user
-- $1 has guessed the match.
SELECT
    m.tournament_id::text,
    m.round_slug,
    g.id IS NOT NULL AS guessed,
    m.id::text,
    m.date,
    CASE m.status WHEN 'void' THEN 'not-defined' ELSE m.status::text END AS status,
    h.id::text AS home_id,
    h.name AS home_name,
    m.home_score,
    a.id::text AS away_id,
    a.name AS away_name,
    m.away_score,
    m.live_home,
    m.live_away,
    m.live_minute,
    m.live_period,
    m.live_at
FROM match m
JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
JOIN team h ON h.id = m.home_team
JOIN team a ON a.id = m.away_team
LEFT JOIN member p ON p.public_id = $1
LEFT JOIN guess g ON g.match_id = m.id AND g.member_id = p.id
WHERE m.date >= $2
    AND m.date < $4
ORDER BY m.date, m.id
LIMIT $3;

-- name: GetNextDeadline
-- The kick-off of the next match that takes guesses and that member $1 has not guessed, in the tournaments
-- that the member plays: those with a guess of the member, and those that a league of the member follows.
-- No row if there is none.
WITH played AS (
    SELECT x.tournament_id
    FROM guess g
    JOIN match x ON x.id = g.match_id
    WHERE g.member_id = $1
    UNION
    SELECT f.tournament_id
    FROM league_role r
    JOIN league_tournament f ON f.league_id = r.league_id
    WHERE r.member_id = $1
)
SELECT m.date
FROM match m
JOIN tournament t ON t.id = m.tournament_id AND t.status IN ('upcoming', 'active')
WHERE m.tournament_id IN (SELECT tournament_id FROM played)
    AND m.status = 'open'
    AND m.seen_at IS NULL
    AND m.date > now()
    AND NOT EXISTS (SELECT FROM guess WHERE match_id = m.id AND member_id = $1)
ORDER BY m.date
LIMIT 1;
