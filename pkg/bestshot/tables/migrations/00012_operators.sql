-- +goose Up

-- A page of an administrator's list is a range of an index. Both tables are small: a season has some
-- hundred matches.
CREATE INDEX tournament_list ON tournament (status, slug);
CREATE INDEX match_list ON match (tournament_id, date, id);
-- +goose Down
SELECT 1;
