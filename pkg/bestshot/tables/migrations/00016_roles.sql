-- +goose Up

-- Jobs have roles of their own, which write what they need and nothing else: bestshot_settler settles matches and
-- questions, bestshot_notifier finds whom to tell, bestshot_keeper deletes. bestshot_worker keeps its grants: the
-- code of before logs in as it.
-- +goose StatementBegin
DO $$
DECLARE r text;
BEGIN
    FOREACH r IN ARRAY ARRAY['bestshot_settler', 'bestshot_notifier', 'bestshot_keeper'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', r);
        END IF;
        IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_iam') THEN
            EXECUTE format('GRANT rds_iam TO %I', r);
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', r);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA public TO %I', r);
    END LOOP;
END $$;
-- +goose StatementEnd

-- A table that a statement locks rows of needs UPDATE, too.
GRANT INSERT, UPDATE ON round_score, tournament_scoreboard, settlement_dlq TO bestshot_settler;
GRANT INSERT, UPDATE, DELETE ON settling, outbox TO bestshot_settler;
GRANT INSERT ON scoreboard_ledger, question_ledger, settlement TO bestshot_settler;
GRANT UPDATE ON match, tournament, question TO bestshot_settler;

GRANT INSERT, UPDATE ON reminder, reminder_pass TO bestshot_notifier;
GRANT INSERT, UPDATE, DELETE ON points_pass TO bestshot_notifier;
GRANT UPDATE (told_version, telling) ON match TO bestshot_notifier;

GRANT INSERT ON forgotten, league_finished, league_left TO bestshot_keeper;
GRANT UPDATE ON settlement, question TO bestshot_keeper;
GRANT UPDATE, DELETE ON member, guess, joker, reminder, scoreboard_ledger, tournament_scoreboard, round_score, question_answer,
    question_ledger, league, league_role, league_tournament, league_finished, tournament, tournament_round, match TO bestshot_keeper;

-- What is being deleted is hidden from every role.
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tournament', 'tournament_round', 'match', 'tournament_standing', 'league_tournament', 'execution', 'question'
    ] LOOP
        EXECUTE format('ALTER POLICY not_deleted ON %I TO PUBLIC', name);
    END LOOP;
END $$;
-- +goose StatementEnd
-- +goose Down
SELECT 1;
