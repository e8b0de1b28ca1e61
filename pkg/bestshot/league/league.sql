-- name: LockMember
-- Locks the member of user $1, so that the limits of two requests at once hold, with the number of
-- leagues.
SELECT
    id::text,
    (SELECT count(*)::int FROM league_role WHERE member_id = member.id) AS leagues
FROM member
WHERE public_id = $1
FOR NO KEY UPDATE;

-- name: ListLeagues
-- The leagues of user $1, by name, or only league $2 if that is not ''.
SELECT
    l.id::text,
    l.name,
    l.code,
    r.role,
    l.members,
    ARRAY(
        SELECT tournament_id::text
        FROM league_tournament
        WHERE league_id = l.id
        ORDER BY tournament_id
    ) AS tournaments
FROM league l
JOIN league_role r ON r.league_id = l.id
JOIN member p ON p.id = r.member_id
WHERE p.public_id = $1
    AND ($2 = '' OR l.id = nullif($2, '')::uuid)
ORDER BY l.name COLLATE "und-x-icu", l.id;

-- name: CreateLeague
-- Creates a league with name $1, code $2 and one member. Changes nothing if the code is taken.
INSERT INTO league (name, code, members)
VALUES ($1, $2, 1)
ON CONFLICT ON CONSTRAINT league_code DO NOTHING
RETURNING id::text;

-- name: AddMember
-- Adds member $2 to league $1 in role $3.
INSERT INTO league_role (league_id, member_id, role)
VALUES ($1, $2, $3);

-- name: CountWrongCodes
-- The number of wrong codes that member $1 has tried in the last $2 seconds.
SELECT count(*)::int
FROM wrong_code
WHERE member_id = $1
    AND tried_at > now() - make_interval(secs => $2);

-- name: DeleteWrongCodes
-- Deletes the wrong codes of member $1 that are older than $2 seconds.
DELETE FROM wrong_code
WHERE member_id = $1
    AND tried_at <= now() - make_interval(secs => $2);

-- name: AddWrongCode
-- Records that member $1 has tried a wrong code.
INSERT INTO wrong_code (member_id)
VALUES ($1);

-- name: LockLeagueByCode
-- Locks the league with code $1. inside is whether member $2 is in it.
SELECT
    id::text,
    members,
    EXISTS (SELECT FROM league_role WHERE league_id = league.id AND member_id = $2) AS inside
FROM league
WHERE code = $1
FOR NO KEY UPDATE;

-- name: CountMemberIn
-- Counts one more member in league $1.
UPDATE league
SET members = members + 1
WHERE id = $1;

-- name: CountTournaments
-- The number of tournaments that exist of the list $1.
SELECT count(*)::int
FROM tournament
WHERE id = ANY($1::uuid[]);

-- name: LockLeague
-- Locks league $1, so that of two lists of tournaments at once one is left.
SELECT true
FROM league
WHERE id = $1
FOR NO KEY UPDATE;

-- name: UnfollowTournaments
-- Deletes all tournaments of league $1 but those of the list $2.
DELETE FROM league_tournament
WHERE league_id = $1
    AND NOT tournament_id = ANY($2::uuid[]);

-- name: FollowTournaments
-- Adds the tournaments of the list $2 to league $1.
INSERT INTO league_tournament (league_id, tournament_id)
SELECT $1, unnest($2::uuid[])
ON CONFLICT DO NOTHING;

-- name: LockLeagueForDeletion
-- Locks league $1 before a member leaves, because the league may be deleted.
SELECT true
FROM league
WHERE id = $1
FOR UPDATE;

-- name: RemoveMember
-- Removes member $2 from league $1.
DELETE FROM league_role
WHERE league_id = $1
    AND member_id = $2;

-- name: CountMemberOut
-- Counts one member less in league $1.
UPDATE league
SET members = members - 1
WHERE id = $1;

-- name: AppointAdmin
-- Makes the member who has been in league $1 longest its administrator, if the league has none.
UPDATE league_role
SET role = 'admin'
WHERE league_id = $1
    AND NOT EXISTS (
        SELECT
        FROM league_role
        WHERE league_id = $1
            AND role = 'admin'
    )
    AND member_id = (
        SELECT member_id
        FROM league_role
        WHERE league_id = $1
        ORDER BY joined_at, member_id
        LIMIT 1
    );

-- name: DeleteEmptyLeague
-- Deletes league $1 if it has no member.
DELETE FROM league
WHERE id = $1
    AND members = 0;

-- name: SetName
-- Gives league $1 name $2.
UPDATE league
SET name = $2
WHERE id = $1;

-- name: SetCode
-- Gives league $1 code $2. Changes nothing if the code is taken.
UPDATE league
SET code = $2
WHERE id = $1
    AND NOT EXISTS (SELECT FROM league WHERE code = $2);

-- name: GetRole
-- The role of member $2 in league $1. No row for a member who is not in it.
SELECT role
FROM league_role
WHERE league_id = $1
    AND member_id = $2;

-- name: SetRole
-- Gives member $2 of league $1 role $3.
UPDATE league_role
SET role = $3
WHERE league_id = $1
    AND member_id = $2;

-- name: ListHistory
-- At most $3 tournaments that ended while league $1 followed them, the latest first, or $2 alone if that is
-- not ''. None without a member of that time.
SELECT t.id::text, t.slug, t.label, t.season, h.completed_at
FROM league_history h
JOIN tournament t ON t.id = h.tournament_id
WHERE h.league_id = $1
    AND ($2 = '' OR t.id = nullif($2, '')::uuid)
    AND (
        EXISTS (
            SELECT
            FROM league_role
            WHERE league_id = $1
                AND joined_at <= h.completed_at
        )
        OR EXISTS (
            SELECT
            FROM league_left
            WHERE league_id = $1
                AND joined_at <= h.completed_at
                AND left_at > h.completed_at
        )
    )
ORDER BY h.completed_at DESC, t.id
LIMIT $3;
