-- name: AddTournament
-- Adds tournament $1, which is active in round $2.
INSERT INTO tournament (id, provider, external_id, season, slug, label, status, current_round)
VALUES ($1, 'bench', '1', '1', 'bench', 'Bench', 'active', $2);

-- name: AddRule
-- Adds the rule of tournament $1: 3 points for the outcome.
INSERT INTO rule (tournament_id, version, outcome, home_score, away_score, goal_difference, exact_score)
VALUES ($1, 1, 3, 0, 0, 0, 0);

-- name: AddRound
-- Adds round $2 to tournament $1.
INSERT INTO tournament_round (tournament_id, slug, "order", label, type, provider_path)
VALUES ($1, $2, 1, 'Round 1', 'season', '/events/round/1');

-- name: AddTeams
-- Adds the two teams of all matches.
INSERT INTO team (provider, external_id, name)
VALUES
    ('bench', '1', 'Home'),
    ('bench', '2', 'Away');

-- name: AddMembers
-- Adds the members 1 to $1.
INSERT INTO member (id, public_id, nick_name)
SELECT ('10000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'user' || n, 'Member ' || n
FROM generate_series(1, $1::int) n;

-- name: AddPoints
-- Adds all members to the leaderboard of tournament $1, without points.
INSERT INTO tournament_scoreboard (tournament_id, member_id, points)
SELECT $1, id, 0
FROM member;

-- name: AddMatches
-- Adds the matches $3 to $4 of round $2 of tournament $1, match n with its end n seconds after $5,
-- and the goals $6 and $7. $8 is whether they are settled.
INSERT INTO match (
    id, tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team,
    home_score, away_score, finished_at, settled_version, scoreboard_applied_at
)
SELECT
    ('20000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
    $1,
    $2,
    'bench',
    n::text,
    $5,
    'ended',
    'finished/100',
    h.id,
    a.id,
    $6,
    $7,
    $5::timestamptz + make_interval(secs => n),
    CASE WHEN $8::boolean THEN 1 ELSE 0 END,
    CASE WHEN $8::boolean THEN $5::timestamptz END
FROM generate_series($3::int, $4::int) n
CROSS JOIN team h
CROSS JOIN team a
WHERE h.name = 'Home'
    AND a.name = 'Away';

-- name: AddGuesses
-- Adds a guess of each member for each of the matches $1 to $2.
INSERT INTO guess (match_id, member_id, home_score, away_score)
SELECT m.id, p.id, (p.n * 7 + m.n) % 4, (p.n * 3 + m.n) % 3
FROM (SELECT id, external_id::int AS n FROM match) m
CROSS JOIN (SELECT id, right(public_id, -4)::int AS n FROM member) p
WHERE m.n BETWEEN $1 AND $2;

-- name: AddLedger
-- Adds a row to the ledger of tournament $1 for each guess.
INSERT INTO scoreboard_ledger (match_id, member_id, version, tournament_id, points_earned)
SELECT match_id, member_id, 1, $1, 3 * (home_score % 2)
FROM guess;

-- name: SumPoints
-- Gives the members the points of the ledger, all of which are of the current round.
UPDATE tournament_scoreboard s
SET points = l.points,
    round_slug = t.current_round,
    round_points = l.points
FROM tournament t, (
    SELECT member_id, sum(points_earned) AS points
    FROM scoreboard_ledger
    GROUP BY member_id
) l
WHERE l.member_id = s.member_id
    AND t.id = s.tournament_id;

-- name: AddRoundPoints
-- Adds the points of the members in round $1, which are all their points.
INSERT INTO round_score (tournament_id, round_slug, member_id, points)
SELECT tournament_id, $1, member_id, points
FROM tournament_scoreboard;

-- name: CountLedger
-- The number of rows in the ledger.
SELECT count(*)
FROM scoreboard_ledger;

-- name: SumLedger
-- The sums of the ledger of tournament $1, by member.
SELECT member_id::text, sum(points_earned)::int
FROM scoreboard_ledger
WHERE tournament_id = $1
GROUP BY member_id;

-- name: ListLeaderboard
-- The first page of the leaderboard of tournament $1.
SELECT member_id::text, nick_name, points
FROM tournament_scoreboard
WHERE tournament_id = $1
ORDER BY -(points::bigint * 100000000 + tie), nick_name, member_id
LIMIT 101;

-- name: GetMember
-- The member at place $2 of tournament $1, counted from 0.
SELECT member_id::text, nick_name, points, tie
FROM tournament_scoreboard
WHERE tournament_id = $1
ORDER BY -(points::bigint * 100000000 + tie), nick_name, member_id
OFFSET $2
LIMIT 1;

-- name: LongestTransaction
-- How long the oldest transaction of the room goes on, in seconds.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8
FROM pg_stat_activity
WHERE application_name = 'matchday';

-- name: TouchTournament
-- Writes tournament $1, as a poll or a new nickname does.
UPDATE tournament
SET scoreboard_version = scoreboard_version
WHERE id = $1;

-- name: AddLeague
-- Adds league $2 of $3 members that follows tournament $1.
WITH added AS (
    INSERT INTO league (id, name, code, members)
    VALUES ($2, 'Bench', 'BENCH', $3)
    RETURNING id
),
followed AS (
    INSERT INTO league_tournament (league_id, tournament_id)
    SELECT id, $1
    FROM added
)
INSERT INTO league_role (league_id, member_id, role)
SELECT added.id, m.id, 'member'
FROM added
CROSS JOIN (SELECT id FROM member ORDER BY id LIMIT $3) m;

-- name: AddOpenMatch
-- Adds match $1, which takes guesses until $2, with the round and the teams of match $3.
INSERT INTO match (id, tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team)
SELECT $1, tournament_id, round_slug, provider, 'open', $2, 'open', 'notstarted/0', home_team, away_team
FROM match
WHERE id = $3;
