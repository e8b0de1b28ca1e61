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
    m.away_score,
    m.live_home,
    m.live_away,
    m.live_minute,
    m.live_period,
    m.live_at
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

-- name: GetLeaderboardState
-- The version of the leaderboard of tournament $1. updating is the share of the guesses, or of the answers
-- to a question, that a settlement has dealt with which goes on; NULL if none does.
SELECT
    scoreboard_version AS version,
    least(
        (
            SELECT min(z.seen::double precision / greatest(z.total, 1))
            FROM match m
            JOIN settling z ON z.match_id = m.id
            WHERE m.tournament_id = t.id
        ),
        (
            SELECT min(least(1, q.seen::double precision / greatest(q.total, 1)))
            FROM question q
            WHERE q.tournament_id = t.id
                AND q.seen > 0
        )
    ) AS updating
FROM tournament t
WHERE id = $1;

-- name: ListLeaderboard
-- At most $5 members of tournament $1 after the place ($2, $3, $4) in its leaderboard: the score
-- times -1, the nickname and the id. rank and rank_before are dense. rank_before is that before the
-- current round: in the first round it is the rank.
WITH ranks AS (
    SELECT score, row_number() OVER (ORDER BY score DESC)::int AS rank
    FROM scoreboard_points
    WHERE tournament_id = $1
),
ranks_before AS (
    SELECT score, row_number() OVER (ORDER BY score DESC)::int AS rank
    FROM scoreboard_before
    WHERE tournament_id = $1
),
page AS (
    SELECT
        s.member_id,
        s.nick_name,
        s.points,
        s.tie,
        score(s.points, s.tie) AS score,
        score_before(s.points, s.tie, s.round_slug, s.round_points, s.round_tie, t.current_round) AS before
    FROM tournament_scoreboard s
    CROSS JOIN (SELECT current_round FROM tournament WHERE id = $1) t
    WHERE s.tournament_id = $1
        AND (-(s.points::bigint * 100000000 + s.tie), s.nick_name, s.member_id) > ($2::bigint, $3::text, $4::uuid)
    ORDER BY -(s.points::bigint * 100000000 + s.tie), s.nick_name, s.member_id
    LIMIT $5
)
SELECT
    p.member_id::text,
    p.nick_name,
    p.points,
    p.tie,
    n.rank,
    CASE
        WHEN EXISTS (SELECT FROM ranks_before WHERE score <> 0) THEN b.rank
        ELSE n.rank
    END AS rank_before
FROM page p
JOIN ranks n ON n.score = p.score
JOIN ranks_before b ON b.score = p.before
ORDER BY p.score DESC, p.nick_name, p.member_id;

-- name: GetPlace
-- The place of member $2 in the leaderboard of tournament $1, as ListLeaderboard has it, and the number
-- of members. No row if the member is not in it.
SELECT
    s.member_id::text,
    s.nick_name,
    s.points,
    s.tie,
    (
        SELECT count(*)::int + 1
        FROM scoreboard_points h
        WHERE h.tournament_id = $1
            AND h.score > score(s.points, s.tie)
    ) AS rank,
    CASE
        WHEN EXISTS (SELECT FROM scoreboard_before WHERE tournament_id = $1 AND score <> 0) THEN (
            SELECT count(*)::int + 1
            FROM scoreboard_before h
            WHERE h.tournament_id = $1
                AND h.score > score_before(s.points, s.tie, s.round_slug, s.round_points, s.round_tie, t.current_round)
        )
        ELSE (
            SELECT count(*)::int + 1
            FROM scoreboard_points h
            WHERE h.tournament_id = $1
                AND h.score > score(s.points, s.tie)
        )
    END AS rank_before,
    (SELECT sum(members)::int FROM scoreboard_points WHERE tournament_id = $1) AS members
FROM tournament_scoreboard s
JOIN tournament t ON t.id = s.tournament_id
WHERE s.tournament_id = $1
    AND s.member_id = $2;

-- name: FindAbove
-- The member who is $5 members above the place ($2, $3, $4) in the leaderboard of tournament $1. No row
-- if there are fewer.
SELECT s.member_id::text, s.nick_name, s.points, s.tie
FROM tournament_scoreboard s
WHERE s.tournament_id = $1
    AND (-(s.points::bigint * 100000000 + s.tie), s.nick_name, s.member_id) < ($2::bigint, $3::text, $4::uuid)
ORDER BY -(s.points::bigint * 100000000 + s.tie) DESC, s.nick_name DESC, s.member_id DESC
OFFSET $5 - 1
LIMIT 1;

-- name: ListLeagueTable
-- All members of league $1 with the sums of their points in its active and completed tournaments, or
-- in tournament $2 if that is not '': points descending, then nickname, then id. before is the points before the current round of each
-- tournament that is active.
SELECT
    r.member_id::text,
    m.nick_name,
    coalesce(sum(s.points), 0)::int AS points,
    coalesce(sum(
        CASE
            WHEN t.status = 'active' AND s.round_slug = t.current_round THEN s.points - s.round_points
            ELSE s.points
        END
    ), 0)::int AS before
FROM league_role r
JOIN member m ON m.id = r.member_id
LEFT JOIN (
    league_tournament f
    JOIN tournament t ON t.id = f.tournament_id AND t.status IN ('active', 'completed')
) ON f.league_id = r.league_id
    AND ($2 = '' OR t.id = nullif($2, '')::uuid)
LEFT JOIN tournament_scoreboard s ON s.tournament_id = t.id
    AND s.member_id = r.member_id
WHERE r.league_id = $1
GROUP BY r.member_id, m.nick_name
ORDER BY points DESC, m.nick_name COLLATE "und-x-icu", r.member_id;

-- name: ListLeagueRound
-- All members of league $1 with their points in round $3 of tournament $2, in the order of
-- ListLeagueTable. before is 0: a round has no round before it.
SELECT
    r.member_id::text,
    m.nick_name,
    coalesce(o.points, 0) AS points,
    0 AS before
FROM league_role r
JOIN member m ON m.id = r.member_id
LEFT JOIN round_score o ON o.tournament_id = $2
    AND o.round_slug = $3
    AND o.member_id = r.member_id
WHERE r.league_id = $1
ORDER BY points DESC, m.nick_name COLLATE "und-x-icu", r.member_id;

-- name: ListLiveLeagueTable
-- All members of league $1 with the points that they would have if the matches in play ended now: in the
-- tournaments that it follows, in tournament $2 if that is not '', or in its round $3 if that is not ''.
-- before is the points that are settled. The order is that of ListLeagueTable. A match earns provisional
-- points while others may see its guesses. Each member's rows are read by index, so the cost is that of the
-- league, whatever the number of guesses of a match.
WITH followed AS MATERIALIZED (
    SELECT t.id, t.status, t.rule_version
    FROM league_tournament f
    JOIN tournament t ON t.id = f.tournament_id AND t.status <> 'cancelled'
    WHERE f.league_id = $1
        AND ($2 = '' OR t.id = nullif($2, '')::uuid)
),
live AS MATERIALIZED (
    SELECT m.id, m.round_slug, m.began_at, m.live_home, m.live_away, o.multiplier, r AS rule
    FROM followed t
    JOIN match m ON m.tournament_id = t.id
    JOIN tournament_round o ON o.tournament_id = t.id AND o.slug = m.round_slug
    JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
    WHERE t.status <> 'completed'
        AND m.live_at IS NOT NULL
        AND m.status = 'open'
        AND m.date <= now()
        AND ($3 = '' OR m.round_slug = $3)
    ORDER BY m.date, m.id
    LIMIT 100
),
score AS (
    SELECT
        r.member_id,
        coalesce((
            SELECT sum(s.points)
            FROM followed t
            JOIN tournament_scoreboard s ON s.tournament_id = t.id
            WHERE s.member_id = r.member_id
                AND $3 = ''
        ), (
            SELECT s.points
            FROM round_score s
            WHERE s.tournament_id = nullif($2, '')::uuid
                AND s.round_slug = $3
                AND s.member_id = r.member_id
        ), 0)::int AS settled,
        coalesce((
            SELECT sum(guess_points(
                c.home_score, c.away_score, l.live_home, l.live_away, l.rule, l.multiplier * coalesce(k.factor, 1)
            ))
            FROM live l
            JOIN guess g ON g.match_id = l.id
            CROSS JOIN LATERAL counted(g, l.began_at) c
            LEFT JOIN LATERAL joker_of(l.rule, l.round_slug, l.id, r.member_id) k ON true
            WHERE g.member_id = r.member_id
        ), 0)::int AS provisional
    FROM league_role r
    WHERE r.league_id = $1
)
SELECT s.member_id::text, m.nick_name, s.settled + s.provisional AS points, s.settled AS before
FROM score s
CROSS JOIN LATERAL (SELECT nick_name FROM member WHERE id = s.member_id LIMIT 1) m
ORDER BY points DESC, m.nick_name COLLATE "und-x-icu", s.member_id;

-- name: ListLeagueFinal
-- The members whom league $1 had when tournament $2 ended, with their points in it, in the order of
-- ListLeagueTable. before is points: nobody moves in a final table.
SELECT
    r.member_id::text,
    m.nick_name,
    coalesce(s.points, 0) AS points,
    coalesce(s.points, 0) AS before
FROM tournament t
JOIN (
    SELECT member_id, joined_at, 'infinity'::timestamptz AS left_at
    FROM league_role
    WHERE league_id = $1
    UNION ALL
    SELECT member_id, joined_at, left_at
    FROM league_left
    WHERE league_id = $1
) r ON r.joined_at <= t.completed_at AND r.left_at > t.completed_at
JOIN member m ON m.id = r.member_id
LEFT JOIN tournament_scoreboard s ON s.tournament_id = t.id
    AND s.member_id = r.member_id
WHERE t.id = $2
ORDER BY points DESC, m.nick_name COLLATE "und-x-icu", r.member_id;
