-- +goose Up

-- The state of a match in play, as the provider said it at live_at: all are NULL of a match that is not in
-- play. They are no result. Points that come from them are computed when they are read, and never stored.
ALTER TABLE match
    ADD COLUMN live_home   integer CHECK (live_home BETWEEN 0 AND 99),
    ADD COLUMN live_away   integer CHECK (live_away BETWEEN 0 AND 99),
    ADD COLUMN live_minute integer,
    ADD COLUMN live_period text,
    ADD COLUMN live_at     timestamptz,
    ADD CONSTRAINT match_live_score CHECK (live_at IS NULL OR (live_home IS NOT NULL AND live_away IS NOT NULL));

-- The matches of a tournament in play.
CREATE INDEX match_live ON match (tournament_id) WHERE live_at IS NOT NULL;

-- A match that is over is not in play, whoever ends it: also code that does not know the columns.
-- +goose StatementBegin
CREATE FUNCTION end_play() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.live_home := NULL;
    NEW.live_away := NULL;
    NEW.live_minute := NULL;
    NEW.live_period := NULL;
    NEW.live_at := NULL;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER match_play_ended BEFORE UPDATE ON match
    FOR EACH ROW WHEN (NEW.status IN ('ended', 'void') AND NEW.live_at IS NOT NULL) EXECUTE FUNCTION end_play();

GRANT SELECT ON match TO bestshot_reader, bestshot_player, bestshot_worker;
-- +goose Down
SELECT 1;
