-- name: ListDueRounds
-- The rounds with a match that may have changed, and whether one of it is in play, or interrupted, since its
-- kick-off of less than 6 h ago:
--
--   - it has begun and not ended;
--   - it ended less than 6 h ago, so that its result may be corrected;
--   - it was to begin less than 6 h ago, and is interrupted or has no result yet;
--   - it begins within a day, or has had no date for less than 7 days: once an hour;
--   - it is still to be played: once a day.
--
-- Nobody is asked about a tournament whose matches administrators enter.
SELECT
    t.id::text AS tournament_id,
    t.provider,
    t.external_id AS tournament,
    t.season,
    o.slug,
    o.label,
    o."order",
    o.type,
    o.provider_path AS path,
    EXISTS (
        SELECT
        FROM match m
        WHERE m.tournament_id = o.tournament_id
            AND m.round_slug = o.slug
            AND NOT m.corrected
            AND m.status IN ('open', 'not-defined')
            AND m.date <= now()
            AND m.date > now() - interval '6 hours'
    ) AS in_play
FROM tournament_round o
JOIN tournament t ON t.id = o.tournament_id
WHERE t.status IN ('upcoming', 'active')
    AND t.provider <> 'manual'
    AND EXISTS (
        SELECT
        FROM match m
        WHERE m.tournament_id = o.tournament_id
            AND m.round_slug = o.slug
            AND NOT m.corrected
            AND (
                m.status = 'open'
                    AND m.date <= now()
                OR m.status = 'ended'
                    AND m.finished_at > now() - interval '6 hours'
                OR m.status = 'not-defined'
                    AND m.date <= now()
                    AND m.date > now() - interval '6 hours'
                OR m.status = 'open'
                    AND m.date < now() + interval '1 day'
                    AND m.last_checked_at <= now() - interval '1 hour'
                OR m.status = 'not-defined'
                    AND m.date > now() - interval '7 days'
                    AND m.last_checked_at <= now() - interval '1 hour'
                OR m.status IN ('open', 'not-defined')
                    AND m.last_checked_at <= now() - interval '1 day'
            )
    )
ORDER BY t.id, o."order";

-- name: ListPlayedTournaments
-- The upcoming and active tournaments. standings is whether the standings may have changed, because a
-- match has ended since the last answer. rounds is whether the rounds were not asked for within a day,
-- or within 30 minutes if a match has ended in the last 3 h: then the next round of a cup is known, and
-- may begin tomorrow. Both are false if administrators enter the matches.
SELECT
    t.id::text AS tournament_id,
    t.provider,
    t.external_id AS tournament,
    t.season,
    t.provider <> 'manual' AND (
        t.standings_checked_at IS NULL
        OR EXISTS (
            SELECT
            FROM match m
            WHERE m.tournament_id = t.id
                AND m.finished_at > t.standings_checked_at - interval '6 hours'
                AND m.finished_at > now() - interval '6 hours'
        )
    ) AS standings,
    t.provider <> 'manual' AND (
        t.rounds_checked_at IS NULL
        OR t.rounds_checked_at <= now() - interval '1 day'
        OR t.rounds_checked_at <= now() - interval '30 minutes'
            AND EXISTS (
                SELECT
                FROM match m
                WHERE m.tournament_id = t.id
                    AND m.finished_at > now() - interval '3 hours'
            )
    ) AS rounds
FROM tournament t
WHERE t.status IN ('upcoming', 'active')
ORDER BY t.id;

-- name: ListDueImages
-- At most $1 images: the logos of upcoming and active tournaments and the badges of their teams that
-- were not asked for within a day, or within 30 days if there is one. None of what administrators enter.
SELECT provider, kind, id
FROM (
    SELECT provider, 'logo' AS kind, external_id AS id, logo AS image, logo_asked_at AS asked_at
    FROM tournament
    WHERE status IN ('upcoming', 'active')
        AND provider <> 'manual'
    UNION ALL
    SELECT provider, 'badge', external_id, badge, badge_asked_at
    FROM team
    WHERE id IN (
        SELECT unnest(ARRAY[m.home_team, m.away_team])
        FROM match m
        JOIN tournament t ON t.id = m.tournament_id
        WHERE t.status IN ('upcoming', 'active')
            AND t.provider <> 'manual'
    )
) AS i
WHERE asked_at IS NULL
    OR asked_at <= now() - CASE WHEN image IS NULL THEN interval '1 day' ELSE interval '30 days' END
GROUP BY provider, kind, id
ORDER BY min(asked_at) NULLS FIRST, kind DESC, provider, id
LIMIT $1;

-- name: MarkBadgeAsked
-- Records that the badge of team $2 of provider $1 was asked for.
UPDATE team
SET badge_asked_at = now()
WHERE provider = $1
    AND external_id = $2;

-- name: MarkLogoAsked
-- Records that the logo of tournament $2 of provider $1 was asked for, for all its seasons.
UPDATE tournament
SET logo_asked_at = now()
WHERE provider = $1
    AND external_id = $2;

-- name: PutBadge
-- Gives team $2 of provider $1 the badge with name $3.
UPDATE team
SET badge = $3
WHERE provider = $1
    AND external_id = $2;

-- name: PutLogo
-- Gives all seasons of tournament $2 of provider $1 the logo with name $3.
UPDATE tournament
SET logo = $3
WHERE provider = $1
    AND external_id = $2;

-- name: LockTournament
-- Locks tournament $1, so that its feeds are stored one after the other.
SELECT true
FROM tournament
WHERE id = $1
FOR NO KEY UPDATE;

-- name: AnswerExecution
-- Records an answer to execution $1: of round $3, or '' if it asks for no rounds. It has failed if there is a
-- reason $2. The last answer ends the execution. Changes nothing if it has ended, or the round has answered.
UPDATE execution e
SET waiting = n.waiting,
    failed = n.failed,
    detail = CASE
        WHEN n.waiting = '{}' AND n.failed > 0 AND e.rounds > 0
            THEN format('%s of %s rounds failed, the first: %s', n.failed, e.rounds, n.detail)
        ELSE n.detail
    END,
    status = CASE
        WHEN n.waiting <> '{}' THEN 'running'
        WHEN n.failed > 0 THEN 'failed'
        ELSE 'done'
    END,
    ended_at = CASE WHEN n.waiting = '{}' THEN now() END
FROM (
    SELECT
        id,
        array_remove(waiting, $3::text) AS waiting,
        failed + CASE WHEN $2 = '' THEN 0 ELSE 1 END AS failed,
        CASE
            WHEN $2 = '' OR detail <> '' THEN detail
            WHEN $3 = '' THEN $2
            ELSE format('%s: %s', $3, $2)
        END AS detail
    FROM execution
    WHERE id = $1
) n
WHERE e.id = n.id
    AND e.status = 'running'
    AND (e.waiting = '{}' OR $3 = ANY(e.waiting));

-- name: ListRoundSlugs
-- The slugs of the rounds of tournament $1.
SELECT slug
FROM tournament_round
WHERE tournament_id = $1;

-- name: UpdateRound
-- Brings round $2 of tournament $1 to what the provider answers: order $3, label $4 and path $5.
UPDATE tournament_round
SET "order" = $3,
    label = $4,
    provider_path = $5
WHERE tournament_id = $1
    AND slug = $2
    AND ("order", label, provider_path) IS DISTINCT FROM ($3, $4, $5);

-- name: MarkRoundsChecked
-- Records that the provider answered the rounds of tournament $1 at $2.
UPDATE tournament
SET rounds_checked_at = $2
WHERE id = $1;

-- name: PutTeams
-- Stores the teams of provider $1 with the ids of the list $2 and the names of the list $3. Returns
-- their ids. renamed is whether a team had another name.
WITH given AS (
    SELECT *
    FROM unnest($2::text[], $3::text[]) AS g (external_id, name)
),
made AS (
    INSERT INTO team (provider, external_id, name)
    SELECT $1, external_id, name
    FROM given
    ORDER BY external_id
    ON CONFLICT ON CONSTRAINT team_source DO UPDATE
    SET name = excluded.name
    WHERE team.name <> excluded.name
    RETURNING external_id, id
)
SELECT external_id, id::text, false AS renamed
FROM made
UNION ALL
SELECT t.external_id, t.id::text, t.name <> given.name
FROM team t
JOIN given USING (external_id)
WHERE t.provider = $1;

-- name: RaiseProjectionsOfTeams
-- Raises the version of each round and of all standings that show a team of the list $1. slug is
-- NULL for standings.
WITH round AS (
    UPDATE tournament_round r
    SET version = version + 1
    WHERE EXISTS (
        SELECT
        FROM match m
        WHERE m.tournament_id = r.tournament_id
            AND m.round_slug = r.slug
            AND (m.home_team = ANY($1) OR m.away_team = ANY($1))
    )
    RETURNING tournament_id, slug, version
),
standings AS (
    UPDATE tournament t
    SET standings_version = standings_version + 1
    WHERE EXISTS (
        SELECT
        FROM tournament_standing s
        WHERE s.tournament_id = t.id
            AND s.team_id = ANY($1)
    )
    RETURNING id, standings_version
)
SELECT tournament_id::text, slug, version
FROM round
UNION ALL
SELECT id::text, NULL, standings_version
FROM standings;

-- name: GetStandingsCheckedAt
-- When the provider answered the standings of tournament $1 last; NULL if never.
SELECT standings_checked_at
FROM tournament
WHERE id = $1;

-- name: ListStandings
-- The standings of tournament $1, in no order. group_name is '' in a tournament with one table.
SELECT
    team_id::text,
    coalesce(group_name, '') AS group_name,
    "order",
    points,
    games,
    wins,
    draws,
    losses,
    gf,
    ga
FROM tournament_standing
WHERE tournament_id = $1;

-- name: DeleteStandings
-- Deletes the standings of tournament $1.
DELETE FROM tournament_standing
WHERE tournament_id = $1;

-- name: AddStanding
-- Adds a row to the standings of tournament $1.
INSERT INTO tournament_standing (
    tournament_id, team_id, group_name, "order", points, games, wins, draws, losses, gf, ga
)
VALUES ($1, $2, nullif($3, ''), $4, $5, $6, $7, $8, $9, $10, $11);

-- name: MarkStandingsChecked
-- Records that the provider answered the standings of tournament $1 at $2. Raises their version
-- unless they are the same, $3.
UPDATE tournament
SET standings_version = standings_version + CASE WHEN $3 THEN 0 ELSE 1 END,
    standings_checked_at = $2
WHERE id = $1
RETURNING standings_version;

-- name: AddRound
-- Adds round $2 to tournament $1, unless it exists.
INSERT INTO tournament_round (tournament_id, slug, "order", label, type, provider_path)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING;

-- name: LockMatches
-- Locks the matches of provider $1 with the ids of the list $2, in the order of our ids.
SELECT
    m.id::text,
    m.external_id,
    m.tournament_id::text,
    m.round_slug,
    m.home_team::text,
    m.away_team::text,
    m.date,
    m.status::text,
    m.provider_status,
    m.home_score,
    m.away_score,
    m.home_penalties,
    m.away_penalties,
    m.corrected,
    m.finished_at,
    m.last_checked_at,
    m.seen_at,
    m.began_at,
    m.started_at,
    m.kick_off_corrected,
    m.live_at
FROM match m
WHERE m.provider = $1
    AND m.external_id = ANY($2)
ORDER BY m.id
FOR NO KEY UPDATE;

-- name: LockMatchWithoutDate
-- Locks the latest match of teams $3 and $4 in round $2 of tournament $1 that has no date, and whose
-- id at the provider is not in the list $5.
SELECT
    m.id::text,
    m.external_id,
    m.tournament_id::text,
    m.round_slug,
    m.home_team::text,
    m.away_team::text,
    m.date,
    m.status::text,
    m.provider_status,
    m.home_score,
    m.away_score,
    m.home_penalties,
    m.away_penalties,
    m.corrected,
    m.finished_at,
    m.last_checked_at,
    m.seen_at,
    m.began_at,
    m.started_at,
    m.kick_off_corrected,
    m.live_at
FROM match m
WHERE m.tournament_id = $1
    AND m.round_slug = $2
    AND m.home_team = $3
    AND m.away_team = $4
    AND m.status = 'not-defined'
    AND NOT m.external_id = ANY($5)
ORDER BY m.date DESC
LIMIT 1
FOR NO KEY UPDATE;

-- name: HasNewerAnswer
-- Whether an answer about round $2 of tournament $1 that is newer than $3 was stored.
SELECT EXISTS (
    SELECT
    FROM match
    WHERE tournament_id = $1
        AND round_slug = $2
        AND last_checked_at > $3
);

-- name: GetRoundVersion
-- The version of the matches of round $2 of tournament $1.
SELECT version
FROM tournament_round
WHERE tournament_id = $1
    AND slug = $2;

-- name: RaiseRound
-- Raises the version of the matches of round $2 of tournament $1.
UPDATE tournament_round
SET version = version + 1
WHERE tournament_id = $1
    AND slug = $2
RETURNING version;

-- name: MarkMatchesChecked
-- Records that the matches of the list $1 were unchanged at $2, as far as they belong to tournament
-- $3 and no newer answer is stored.
UPDATE match
SET last_checked_at = $2
WHERE id = ANY($1)
    AND tournament_id = $3
    AND last_checked_at < $2;

-- name: PutExternalID
-- Gives match $1 another id at the provider, $2.
UPDATE match
SET external_id = $2
WHERE id = $1;

-- name: AddMatch
-- Adds a match that was checked at $10, and returns its id.
INSERT INTO match (
    tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team, last_checked_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
RETURNING id::text;

-- name: SwapGuesses
-- Swaps the sides of all guesses of match $1.
UPDATE guess
SET home_score = away_score,
    away_score = home_score,
    earlier = ARRAY(
        SELECT (stored_at, away_score, home_score)::earlier_guess
        FROM unnest(earlier)
        ORDER BY stored_at
    )
WHERE match_id = $1;

-- name: ReassignMatch
-- Moves match $1 to round $2, with the home team $3 and the away team $4. Jokers do not move to another
-- round: their members may set them again.
UPDATE match
SET round_slug = $2,
    home_team = $3,
    away_team = $4
WHERE id = $1;

-- name: MarkMatchChecked
-- Records that the provider answered about match $1 at $2, and nothing else.
UPDATE match
SET last_checked_at = $2
WHERE id = $1;

-- name: UpdateMatch
-- Brings match $1, which has not ended, to what the provider answered at $7: the kick-off $2, status
-- $3, the provider's status $4, the goals $5 and $6, the first sign of play $8, its beginning $9 and the start of
-- the first half $10. In play it has the score $11 and $12, the minute $13 and the period $14, as answered at $15;
-- else they are NULL.
UPDATE match
SET date = $2,
    status = $3,
    provider_status = $4,
    home_score = $5,
    away_score = $6,
    last_checked_at = $7,
    seen_at = $8,
    began_at = $9,
    started_at = $10,
    live_home = $11,
    live_away = $12,
    live_minute = nullif($13::int, 0),
    live_period = nullif($14, ''),
    live_at = $15,
    updated_at = now()
WHERE id = $1;

-- name: EndMatch
-- Gives match $1 the result that the provider answered at $9, the first sign of play $11, its beginning $12 and
-- the start of the first half $13. A match that had ended keeps its kick-off. It is to be settled unless the score
-- and the beginning are the same, $10.
UPDATE match
SET date = CASE WHEN status = 'ended' THEN date ELSE $2 END,
    status = 'ended',
    provider_status = $3,
    home_score = $4,
    away_score = $5,
    home_penalties = $6,
    away_penalties = $7,
    finished_at = $8,
    last_checked_at = $9,
    seen_at = $11,
    began_at = $12,
    started_at = $13,
    updated_at = now(),
    scoreboard_applied_at = CASE WHEN $10 THEN scoreboard_applied_at END
WHERE id = $1;

-- name: CreateTournament
-- Creates a tournament of provider $1, and returns its id. Changes nothing if there is one with slug
-- $4, or of the same season.
INSERT INTO tournament (provider, external_id, season, slug, label)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING id::text;

-- name: FindSameTournament
-- The tournament that CreateTournament creates with $1 to $5 and the first rule $6 to $12.
SELECT t.id::text
FROM tournament t
JOIN rule r ON r.tournament_id = t.id
WHERE r.version = 1
    AND (t.provider, t.external_id, t.season, t.slug, t.label) = ($1, $2, $3, $4, $5)
    AND (r.outcome, r.home_score, r.away_score, r.goal_difference, r.exact_score, r.tie_breaks, r.joker_factor)
        = ($6, $7, $8, $9, $10, $11, $12);

-- name: AddRule
-- Adds version $2 of the rule of tournament $1.
INSERT INTO rule (tournament_id, version, outcome, home_score, away_score, goal_difference, exact_score, tie_breaks, joker_factor)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: LockRule
-- Locks tournament $1, with its rule.
SELECT
    r.version,
    r.outcome,
    r.home_score,
    r.away_score,
    r.goal_difference,
    r.exact_score,
    r.tie_breaks,
    r.joker_factor
FROM tournament t
JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
WHERE t.id = $1
FOR NO KEY UPDATE OF t;

-- name: UpdateTournament
-- Gives tournament $1 label $2 and status $3, unless they are NULL.
UPDATE tournament
SET label = coalesce($2, label),
    status = coalesce($3::tournament_status, status)
WHERE id = $1;

-- name: PutRuleVersion
-- Makes version $2 the rule of tournament $1.
UPDATE tournament
SET rule_version = $2
WHERE id = $1;

-- name: LockMultiplier
-- Locks round $2 of tournament $1, with its multiplier.
SELECT multiplier
FROM tournament_round
WHERE tournament_id = $1
    AND slug = $2
FOR NO KEY UPDATE;

-- name: PutMultiplier
-- Gives round $2 of tournament $1 multiplier $3.
UPDATE tournament_round
SET multiplier = $3
WHERE tournament_id = $1
    AND slug = $2;

-- name: LockTournamentForDeletion
-- Locks tournament $1 before it is hidden. Returns whether it is not cancelled and has a guess.
SELECT status <> 'cancelled'
    AND EXISTS (
        SELECT
        FROM guess g
        JOIN match m ON m.id = g.match_id
        WHERE m.tournament_id = t.id
    )
FROM tournament t
WHERE id = $1
FOR UPDATE;

-- name: DeleteTournament
-- Deletes tournament $1, which is hidden, with all that is left of it.
DELETE FROM tournament
WHERE id = $1
    AND deleted_at IS NOT NULL;

-- name: GetTournament
-- Tournament $1, to ask the provider for a part of it.
SELECT
    id::text AS tournament_id,
    provider,
    external_id AS tournament,
    season,
    false AS standings,
    false AS rounds
FROM tournament
WHERE id = $1;

-- name: FailLostExecution
-- Ends the execution of operation $2 of tournament $1 that has lacked an answer for 10 minutes: it
-- blocks no other. The reason is that of ListExecutions.
UPDATE execution
SET status = 'failed',
    detail = CASE
        WHEN rounds = 0 THEN 'no answer within 10 minutes'
        ELSE format('no answer within 10 minutes for %s of %s rounds', cardinality(waiting), rounds)
    END,
    ended_at = now()
WHERE tournament_id = $1
    AND operation = $2
    AND status = 'running'
    AND started_at < now() - interval '10 minutes';

-- name: BeginExecution
-- Begins an execution of operation $2 of tournament $1, and returns its id. Changes nothing while
-- another is running.
INSERT INTO execution (tournament_id, operation)
VALUES ($1, $2)
ON CONFLICT (tournament_id, operation) WHERE status = 'running' DO NOTHING
RETURNING id::text;

-- name: AwaitRounds
-- Records that execution $1 waits for the rounds of the list $2.
UPDATE execution
SET waiting = $2,
    rounds = cardinality($2::text[])
WHERE id = $1;

-- name: ListRounds
-- The rounds of tournament $1, to ask the provider for their matches.
SELECT
    t.id::text AS tournament_id,
    t.provider,
    t.external_id AS tournament,
    t.season,
    o.slug,
    o.label,
    o."order",
    o.type,
    o.provider_path AS path
FROM tournament_round o
JOIN tournament t ON t.id = o.tournament_id
WHERE t.id = $1
ORDER BY o."order";

-- name: FailExecutionWithoutRounds
-- Ends execution $1 of a tournament whose rounds are not known.
UPDATE execution
SET status = 'failed',
    detail = 'no round is known: ask for the rounds first',
    ended_at = now()
WHERE id = $1;

-- name: GetRoundOfMatch
-- The round of match $1, to ask the provider for its matches.
SELECT
    t.id::text AS tournament_id,
    t.provider,
    t.external_id AS tournament,
    t.season,
    o.slug,
    o.label,
    o."order",
    o.type,
    o.provider_path AS path
FROM match m
JOIN tournament_round o ON o.tournament_id = m.tournament_id AND o.slug = m.round_slug
JOIN tournament t ON t.id = o.tournament_id
WHERE m.id = $1;

-- name: ListExecutions
-- The latest 100 executions of tournament $1. One that has lacked an answer for 10 minutes has failed, also
-- before FailLostExecution.
SELECT
    id::text,
    operation,
    CASE WHEN lost THEN 'failed' ELSE status END AS status,
    CASE
        WHEN NOT lost THEN detail
        WHEN rounds = 0 THEN 'no answer within 10 minutes'
        ELSE format('no answer within 10 minutes for %s of %s rounds', cardinality(waiting), rounds)
    END AS detail
FROM execution
CROSS JOIN LATERAL (SELECT status = 'running' AND started_at < now() - interval '10 minutes' AS lost) l
WHERE tournament_id = $1
ORDER BY started_at DESC, id
LIMIT 100;

-- name: TournamentExists
-- Whether tournament $1 exists: no row if not.
SELECT true
FROM tournament
WHERE id = $1;

-- name: ListAllTournaments
-- At most $3 tournaments with a status of the list $1, whose slugs are after $2.
SELECT t.id::text, t.slug, t.label, t.status::text, t.provider, t.external_id, t.season, t.current_round
FROM unnest($1::text[]) s (status)
CROSS JOIN LATERAL (
    SELECT *
    FROM tournament
    WHERE status = s.status::tournament_status
        AND slug > $2
    ORDER BY slug
    LIMIT $3
) t
ORDER BY t.slug
LIMIT $3;

-- name: ListAllMatches
-- At most $6 matches of tournament $1 after the place ($4, $5), by kick-off: with status $2 and of round
-- $3, unless those are ''. Each team is read by its key: the planner would read all teams instead.
SELECT
    m.id::text,
    m.round_slug,
    m.provider,
    m.external_id,
    m.status::text,
    m.provider_status,
    h.id::text AS home_id,
    h.name AS home_name,
    m.home_score,
    a.id::text AS away_id,
    a.name AS away_name,
    m.away_score,
    m.date,
    m.kick_off_corrected,
    m.began_at,
    m.finished_at,
    m.settled_version,
    m.status IN ('ended', 'void') AND m.scoreboard_applied_at IS NULL AS pending,
    m.corrected,
    m.corrected_by
FROM (
    SELECT *
    FROM match
    WHERE tournament_id = $1
        AND ($2 = '' OR status::text = $2)
        AND ($3 = '' OR round_slug = $3)
        AND (date, id) > ($4, $5::uuid)
    ORDER BY date, id
    LIMIT $6
) m
CROSS JOIN LATERAL (SELECT * FROM team WHERE id = m.home_team LIMIT 1) h
CROSS JOIN LATERAL (SELECT * FROM team WHERE id = m.away_team LIMIT 1) a
ORDER BY m.date, m.id;

-- name: FindEnteredMatch
-- The match with id $1 among those that administrators have entered.
SELECT id::text, date
FROM match
WHERE provider = 'manual'
    AND external_id = $1;

-- name: CountMatches
-- The number of matches of tournament $1.
SELECT count(*)::int
FROM match
WHERE tournament_id = $1;

-- name: EnterMatch
-- Adds a match for administrator $7, and returns its id: of round $2 of tournament $1, with id $3, the
-- kick-off $4, the home team $5 and the away team $6.
INSERT INTO match (
    tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team, corrected_by
)
VALUES ($1, $2, 'manual', $3, $4, 'open', 'entered', $5, $6, $7)
RETURNING id::text;

-- name: PrepareDeletion
-- Has this transaction see what is being deleted, and read ranges by indexes.
SELECT
    set_config('bestshot.deletion', 'on', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true);

-- name: HideTournament
-- Hides tournament $1, which is to be deleted, and raises the versions of its projections, so that none that
-- was read before is stored. Its slug and season are free.
WITH rounds AS (
    UPDATE tournament_round
    SET version = version + 1
    WHERE tournament_id = $1
)
UPDATE tournament
SET deleted_at = coalesce(deleted_at, now()),
    deletion_run_at = now(),
    status = 'cancelled',
    slug = 'deleted-' || id,
    season = 'deleted-' || id,
    scoreboard_version = scoreboard_version + 1,
    standings_version = standings_version + 1
WHERE id = $1;

-- name: HideMatches
-- Frees the provider's ids of the matches of tournament $1, for another tournament of the same season.
UPDATE match
SET external_id = 'deleted-' || id
WHERE tournament_id = $1;

-- name: CloseLettersOfTournament
-- Closes the messages about matches of tournament $1, which will not be settled.
UPDATE settlement_dlq
SET closed_at = now()
WHERE closed_at IS NULL
    AND match_id IN (SELECT id FROM match WHERE tournament_id = $1);

-- name: ListProjections
-- The versions of the projections of tournament $1: of its standings and its leaderboard, where slug is NULL, and
-- of the matches of its rounds.
SELECT NULL AS slug, standings_version AS version, scoreboard_version AS leaderboard
FROM tournament
WHERE id = $1
UNION ALL
SELECT slug, version, 0
FROM tournament_round
WHERE tournament_id = $1;

-- name: BeginDeletion
-- Records that the deletion of tournament $1 goes on. Changes nothing if it is not hidden.
UPDATE tournament
SET deletion_run_at = now()
WHERE id = $1
    AND deleted_at IS NOT NULL;

-- name: FindMatchToDelete
-- The first match of tournament $1: no row if there is none.
SELECT id::text
FROM match
WHERE tournament_id = $1
ORDER BY id
LIMIT 1;

-- name: DeleteMatch
-- Deletes match $2 of tournament $1, with all that is left of it.
DELETE FROM match
WHERE tournament_id = $1
    AND id = $2;

-- name: FindRoundToDelete
-- The first round of tournament $1: no row if there is none.
SELECT slug
FROM tournament_round
WHERE tournament_id = $1
ORDER BY slug
LIMIT 1;

-- name: DeleteRound
-- Deletes round $2 of tournament $1, with all that is left of it.
DELETE FROM tournament_round
WHERE tournament_id = $1
    AND slug = $2;

-- name: DeleteGuesses
-- Deletes at most $3 guesses of match $2 of tournament $1.
DELETE FROM guess
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM guess
    WHERE match_id = (SELECT id FROM match WHERE tournament_id = $1 AND id = $2)
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteLedger
-- Deletes at most $3 rows of the ledger of match $2 of tournament $1.
DELETE FROM scoreboard_ledger
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM scoreboard_ledger
    WHERE match_id = (SELECT id FROM match WHERE tournament_id = $1 AND id = $2)
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteReminders
-- Deletes at most $3 reminders of match $2 of tournament $1.
DELETE FROM reminder
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM reminder
    WHERE match_id = (SELECT id FROM match WHERE tournament_id = $1 AND id = $2)
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteRoundScores
-- Deletes the points of at most $3 members in round $2 of tournament $1.
DELETE FROM round_score
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM round_score
    WHERE tournament_id = $1
        AND round_slug = $2
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteJokers
-- Deletes the jokers of at most $3 members in round $2 of tournament $1.
DELETE FROM joker
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM joker
    WHERE tournament_id = $1
        AND round_slug = $2
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteScoreboard
-- Deletes the points of at most $3 members in tournament $1. $2 is ''.
DELETE FROM tournament_scoreboard
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM tournament_scoreboard
    WHERE tournament_id = $1
        AND $2 = ''
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteFollows
-- Deletes at most $3 rows of leagues that follow tournament $1. $2 is ''.
DELETE FROM league_tournament
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM league_tournament
    WHERE tournament_id = $1
        AND $2 = ''
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteFinished
-- Deletes at most $3 rows of leagues that have followed tournament $1. $2 is ''.
DELETE FROM league_finished
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM league_finished
    WHERE tournament_id = $1
        AND $2 = ''
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: ListDeletions
-- The tournaments that are being deleted. lost is whether nothing was deleted for 15 minutes.
SELECT id::text, deletion_run_at < now() - interval '15 minutes' AS lost
FROM tournament
WHERE deleted_at IS NOT NULL
ORDER BY id;

-- name: DeleteAnswers
-- Deletes at most $3 answers to questions of tournament $1. $2 is ''.
DELETE FROM question_answer
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM question_answer
    WHERE tournament_id = $1
        AND $2 = ''
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));

-- name: DeleteQuestionLedger
-- Deletes at most $3 rows of the ledger of questions of tournament $1. $2 is ''.
DELETE FROM question_ledger
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM question_ledger
    WHERE tournament_id = $1
        AND $2 = ''
    LIMIT $3
    FOR UPDATE SKIP LOCKED
));
