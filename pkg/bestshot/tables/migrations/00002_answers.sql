-- +goose Up

-- The answers to requests with an Idempotency-Key, of a day.
CREATE TABLE answer (
    member_id  uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    request    text NOT NULL,
    hash       text NOT NULL, -- of the request's body
    body       jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (member_id, request)
);
GRANT SELECT ON answer TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, DELETE ON answer TO bestshot_player;
GRANT INSERT, UPDATE, DELETE ON answer TO bestshot_worker;
-- +goose Down
SELECT 1;
