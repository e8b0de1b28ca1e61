-- +goose Up

-- started_at is when the first half began, as the provider has said while it was in play. A provider may say it in
-- the first half only. It is gone when the provider takes the play back.
ALTER TABLE match ADD COLUMN started_at timestamptz;
-- +goose Down
SELECT 1;
