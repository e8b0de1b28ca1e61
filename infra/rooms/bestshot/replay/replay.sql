-- name: FindMatch
-- The match with id $1 at the provider.
SELECT id::text
FROM match
WHERE external_id = $1;

-- name: FindTeams
-- The teams of match $1, the home team first.
SELECT unnest(ARRAY[home_team, away_team])::text
FROM match
WHERE id = $1;

-- name: GetGuess
-- The guess of match $1 by member $2.
SELECT home_score AS home, away_score AS away, updated_at AS at
FROM guess
WHERE match_id = $1
    AND member_id = $2;

-- name: CountUnsettled
-- The number of matches that are over and not settled.
SELECT count(*)::int
FROM match
WHERE status IN ('ended', 'void')
    AND scoreboard_applied_at IS NULL;

-- name: CountSettlements
-- The number of matches of tournament $1, of those that were settled, and of their corrections.
SELECT
    count(*)::int AS matches,
    count(*) FILTER (WHERE settled_version > 0)::int AS settled,
    coalesce(sum(greatest(settled_version - 1, 0)), 0)::int AS corrections
FROM match
WHERE tournament_id = $1;

-- name: ListPoints
-- The points of the members in the leaderboard of tournament $1.
SELECT member_id::text, points
FROM tournament_scoreboard
WHERE tournament_id = $1;

-- name: SumLedger
-- The points of the members in both ledgers of tournament $1.
SELECT member_id::text, sum(points_earned)::int
FROM (
    SELECT tournament_id, member_id, points_earned
    FROM scoreboard_ledger
    UNION ALL
    SELECT tournament_id, member_id, points_earned
    FROM question_ledger
) l
WHERE tournament_id = $1
GROUP BY member_id;

-- name: SumRoundPoints
-- The points of the members in all rounds of tournament $1.
SELECT coalesce(s.member_id, r.member_id)::text, coalesce(sum(r.points), 0)::int
FROM tournament_scoreboard s
FULL JOIN round_score r ON r.tournament_id = s.tournament_id
    AND r.member_id = s.member_id
WHERE coalesce(s.tournament_id, r.tournament_id) = $1
GROUP BY 1;
