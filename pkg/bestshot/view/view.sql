-- name: GetRoundVersion
-- The version of the matches of round $2 of tournament $1.
SELECT version
FROM tournament_round
WHERE tournament_id = $1
    AND slug = $2;

-- name: ListMatches
-- The matches of round $2 of tournament $1, by kick-off. Members see a void match as not-defined.
SELECT
    m.id::text,
    m.date,
    CASE m.status WHEN 'void' THEN 'not-defined' ELSE m.status::text END AS status,
    h.id::text AS home_id,
    h.name AS home_name,
    m.home_score,
    a.id::text AS away_id,
    a.name AS away_name,
    m.away_score
FROM match m
JOIN team h ON h.id = m.home_team
JOIN team a ON a.id = m.away_team
WHERE m.tournament_id = $1
    AND m.round_slug = $2
ORDER BY m.date, m.id;

-- name: GetStandingsVersion
-- The version of the standings of tournament $1.
SELECT standings_version
FROM tournament
WHERE id = $1;

-- name: ListStandings
-- The standings of tournament $1, by group and position.
SELECT
    s."order",
    s.team_id::text,
    t.name,
    s.points,
    s.games,
    s.wins,
    s.draws,
    s.losses,
    s.gf,
    s.ga,
    s.group_name
FROM tournament_standing s
JOIN team t ON t.id = s.team_id
WHERE s.tournament_id = $1
ORDER BY s.group_name NULLS FIRST, s."order", s.team_id;

-- name: GetLeaderboardVersion
-- The version of the leaderboard of tournament $1.
SELECT scoreboard_version
FROM tournament
WHERE id = $1;

-- name: ListLeaderboard
-- All members in the leaderboard of tournament $1: points descending, then nickname, then id. before
-- is the points before the current round.
SELECT
    s.member_id::text,
    m.nick_name,
    s.points,
    s.points - coalesce(r.points, 0) AS before
FROM tournament_scoreboard s
JOIN member m ON m.id = s.member_id
JOIN tournament t ON t.id = s.tournament_id
LEFT JOIN round_score r ON r.tournament_id = s.tournament_id
    AND r.round_slug = t.current_round
    AND r.member_id = s.member_id
WHERE s.tournament_id = $1
ORDER BY s.points DESC, m.nick_name COLLATE "und-x-icu", s.member_id;

-- name: ListLeagueTable
-- All members of league $1 with the sums of their points in its active tournaments, in the order of
-- ListLeaderboard. before is the points before the current round of each tournament.
SELECT
    r.member_id::text,
    m.nick_name,
    coalesce(sum(s.points), 0)::int AS points,
    coalesce(sum(s.points - coalesce(o.points, 0)), 0)::int AS before
FROM league_role r
JOIN member m ON m.id = r.member_id
LEFT JOIN (
    league_tournament f
    JOIN tournament t ON t.id = f.tournament_id AND t.status = 'active'
) ON f.league_id = r.league_id
LEFT JOIN tournament_scoreboard s ON s.tournament_id = t.id
    AND s.member_id = r.member_id
LEFT JOIN round_score o ON o.tournament_id = t.id
    AND o.round_slug = t.current_round
    AND o.member_id = r.member_id
WHERE r.league_id = $1
GROUP BY r.member_id, m.nick_name
ORDER BY points DESC, m.nick_name COLLATE "und-x-icu", r.member_id;
