-- +goose NO TRANSACTION
-- +goose Up

-- Indexes are built while others read and write. One that was not finished is dropped first.
--
-- A page of the leaderboard is a range of scoreboard_board, in both directions.
DROP INDEX CONCURRENTLY IF EXISTS scoreboard_board;
CREATE INDEX CONCURRENTLY scoreboard_board
    ON tournament_scoreboard (tournament_id, (-(points::bigint * 100000000 + tie)), nick_name, member_id);
DROP INDEX CONCURRENTLY IF EXISTS scoreboard_points;
-- The ledger of a tournament is read by its matches, or by its members.
DROP INDEX CONCURRENTLY IF EXISTS ledger_tournament;
-- +goose Down
SELECT 1;
