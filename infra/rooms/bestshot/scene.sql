-- What the sample events name: a tournament with two matches to come, one that has begun and one that
-- has ended, members with guesses, a league, another tournament that is to be deleted, and one whose matches
-- administrators enter.

INSERT INTO member (id, public_id, nick_name)
VALUES
    ('a0000000-0000-4000-8000-000000000001', '7f6c1f0e-5d0a-4c5e-9b57-0000000ab501', 'Ann'),
    ('a0000000-0000-4000-8000-000000000002', '7f6c1f0e-5d0a-4c5e-9b57-0000000bb502', 'Bob'),
    ('a0000000-0000-4000-8000-000000000004', '7f6c1f0e-5d0a-4c5e-9b57-0000000db504', 'Lee');

INSERT INTO tournament (id, provider, external_id, season, slug, label, status)
VALUES
    ('58de2f1b-1374-4c92-bd53-23a81943de01', 'sofascore', '17', '2026', 'cup-2026', 'Cup 2026', 'active'),
    ('58de2f1b-1374-4c92-bd53-23a81943de02', 'sofascore', '17', '2025', 'cup-2025', 'Cup 2025', 'upcoming'),
    ('58de2f1b-1374-4c92-bd53-23a81943de03', 'manual', '1', '2026', 'pub-cup', 'Pub cup', 'upcoming');

INSERT INTO rule (tournament_id, version, outcome, home_score, away_score, goal_difference, exact_score, joker_factor)
SELECT id, 1, 3, 0, 0, 0, 0, 2
FROM tournament;

INSERT INTO tournament_round (tournament_id, slug, "order", label, type, provider_path)
VALUES
    ('58de2f1b-1374-4c92-bd53-23a81943de01', 'round-1', 1, 'Round 1', 'season', '/events/round/1'),
    ('58de2f1b-1374-4c92-bd53-23a81943de03', 'round-1', 1, 'Round 1', 'season', '');

INSERT INTO team (id, provider, external_id, name)
VALUES
    ('b0000000-0000-4000-8000-000000000001', 'sofascore', '1', 'Rovers'),
    ('b0000000-0000-4000-8000-000000000002', 'sofascore', '2', 'United');

INSERT INTO match (
    id, tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team,
    home_score, away_score, finished_at
)
SELECT
    id::uuid,
    '58de2f1b-1374-4c92-bd53-23a81943de01',
    'round-1',
    'sofascore',
    external,
    date::timestamptz,
    status::match_status,
    provider,
    'b0000000-0000-4000-8000-000000000001',
    'b0000000-0000-4000-8000-000000000002',
    home,
    away,
    finished::timestamptz
FROM (
    VALUES
        ('6f0e4a3c-2b1d-4c5e-8f70-000000000001', '9001', '2026-06-06T18:00Z', 'open', 'notstarted/0', NULL::int, NULL::int, NULL),
        ('6f0e4a3c-2b1d-4c5e-8f70-000000000004', '9004', '2026-06-06T19:00Z', 'open', 'notstarted/0', NULL, NULL, NULL),
        ('6f0e4a3c-2b1d-4c5e-8f70-000000000002', '9002', '2026-06-06T14:00Z', 'open', 'inprogress/6', NULL, NULL, NULL),
        ('6f0e4a3c-2b1d-4c5e-8f70-000000000003', '9003', '2026-06-06T12:00Z', 'ended', 'finished/100', 2, 1, '2026-06-06T13:50Z')
) AS m (id, external, date, status, provider, home, away, finished);

INSERT INTO guess (match_id, member_id, home_score, away_score)
VALUES
    ('6f0e4a3c-2b1d-4c5e-8f70-000000000002', 'a0000000-0000-4000-8000-000000000001', 0, 0),
    ('6f0e4a3c-2b1d-4c5e-8f70-000000000003', 'a0000000-0000-4000-8000-000000000001', 1, 0);

INSERT INTO league (id, name, code, members)
VALUES ('c1d2e3f4-0000-4000-8000-0000000b5001', 'Pub', 'PUBPUBPU', 1);

INSERT INTO league_role (league_id, member_id, role)
VALUES ('c1d2e3f4-0000-4000-8000-0000000b5001', 'a0000000-0000-4000-8000-000000000001', 'admin');

INSERT INTO question (tournament_id, slug, "order", text, points, kind, choices)
VALUES
    ('58de2f1b-1374-4c92-bd53-23a81943de01', 'top-scorer', 1, 'Who scores the most goals?', 10, 'choice', '{A. Striker}'),
    ('58de2f1b-1374-4c92-bd53-23a81943de03', 'top-scorer', 1, 'Who scores the most goals?', 10, 'choice', '{A. Striker}');

INSERT INTO question_answer (tournament_id, slug, member_id, answer, stored_at)
VALUES
    (
        '58de2f1b-1374-4c92-bd53-23a81943de01', 'top-scorer', 'a0000000-0000-4000-8000-000000000001', 'A. Striker',
        '2026-06-01T12:00Z'
    );

INSERT INTO execution (id, tournament_id, operation, status)
VALUES ('e0000000-0000-4000-8000-000000000001', '58de2f1b-1374-4c92-bd53-23a81943de01', 'matches', 'running');
