-- +goose NO TRANSACTION
-- +goose Up

-- Fills the new columns of the leaderboards, for 10,000 members in a transaction. A second run fills
-- those that are left.
-- +goose StatementBegin
DO $$
DECLARE
    last uuid := '00000000-0000-0000-0000-000000000000';
    next uuid;
BEGIN
    LOOP
        next := (SELECT id FROM member WHERE id > last ORDER BY id OFFSET 9999 LIMIT 1);

        UPDATE tournament_scoreboard s
        SET nick_name = m.nick_name,
            round_slug = r.round_slug,
            round_points = coalesce(r.points, 0)
        FROM member m
        CROSS JOIN tournament t
        LEFT JOIN round_score r ON r.tournament_id = t.id
            AND r.round_slug = t.current_round
            AND r.member_id = m.id
        WHERE m.id > last
            AND (next IS NULL OR m.id <= next)
            AND s.member_id = m.id
            AND s.tournament_id = t.id
            AND s.nick_name IS NULL;

        COMMIT;
        EXIT WHEN next IS NULL;
        last := next;
    END LOOP;
END $$;
-- +goose StatementEnd
-- +goose Down
SELECT 1;
