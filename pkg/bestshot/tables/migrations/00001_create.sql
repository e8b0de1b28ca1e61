-- +goose Up

-- A member is a user of the pool who plays.
CREATE TABLE member (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    public_id  text NOT NULL CONSTRAINT member_public_id UNIQUE, -- subject of the user's tokens
    nick_name  text NOT NULL CHECK (char_length(nick_name) BETWEEN 1 AND 40),
    renamed_at timestamptz NOT NULL DEFAULT now(),
    renames    integer NOT NULL DEFAULT 0, -- within a day of renamed_at
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A forgotten user writes nothing, also by a request that began before the deletion.
CREATE TABLE forgotten (
    public_id    text PRIMARY KEY,
    forgotten_at timestamptz NOT NULL DEFAULT now()
);

CREATE TYPE tournament_status AS ENUM ('upcoming', 'active', 'completed', 'cancelled');
CREATE TYPE match_status AS ENUM ('open', 'ended', 'not-defined', 'void');

CREATE TABLE tournament (
    id                  uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    provider            text NOT NULL,
    external_id         text NOT NULL, -- the provider's unique tournament
    season              text NOT NULL, -- the provider's season
    slug                text NOT NULL CONSTRAINT tournament_slug UNIQUE CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    label               text NOT NULL CHECK (char_length(label) BETWEEN 1 AND 80),
    logo                text, -- name in the bucket
    logo_asked_at       timestamptz,
    status              tournament_status NOT NULL DEFAULT 'upcoming',
    current_round       text, -- the last of which a match has earned points
    rule_version        integer NOT NULL DEFAULT 1,
    standings_version   bigint NOT NULL DEFAULT 0,
    standings_checked_at timestamptz,
    rounds_checked_at   timestamptz,
    scoreboard_version  bigint NOT NULL DEFAULT 0,
    created_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tournament_source UNIQUE (provider, external_id, season)
);

-- A rule says what a guess earns. Rules are never changed: a new one has a new version.
CREATE TABLE rule (
    tournament_id   uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    version         integer NOT NULL CHECK (version > 0),
    outcome         integer NOT NULL CHECK (outcome BETWEEN 0 AND 100),
    home_score      integer NOT NULL CHECK (home_score BETWEEN 0 AND 100),
    away_score      integer NOT NULL CHECK (away_score BETWEEN 0 AND 100),
    goal_difference integer NOT NULL CHECK (goal_difference BETWEEN 0 AND 100),
    exact_score     integer NOT NULL CHECK (exact_score BETWEEN 0 AND 100),
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tournament_id, version)
);

CREATE TABLE tournament_round (
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    slug          text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    "order"       integer NOT NULL,
    label         text NOT NULL,
    type          text NOT NULL CHECK (type IN ('season', 'knockout')),
    provider_path text NOT NULL, -- below the season: events/round/5/slug/final
    multiplier    integer NOT NULL DEFAULT 1 CHECK (multiplier BETWEEN 1 AND 5),
    version       bigint NOT NULL DEFAULT 0, -- of its matches
    PRIMARY KEY (tournament_id, slug)
);

CREATE TABLE team (
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    provider       text NOT NULL,
    external_id    text NOT NULL,
    name           text NOT NULL,
    badge          text, -- name in the bucket
    badge_asked_at timestamptz,
    CONSTRAINT team_source UNIQUE (provider, external_id)
);

CREATE TABLE match (
    id                    uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tournament_id         uuid NOT NULL,
    round_slug            text NOT NULL,
    provider              text NOT NULL,
    external_id           text NOT NULL,
    date                  timestamptz NOT NULL, -- kick-off
    status                match_status NOT NULL,
    provider_status       text NOT NULL,
    home_team             uuid NOT NULL REFERENCES team,
    away_team             uuid NOT NULL REFERENCES team,
    home_score            integer CHECK (home_score BETWEEN 0 AND 99), -- after extra time
    away_score            integer CHECK (away_score BETWEEN 0 AND 99),
    home_penalties        integer CHECK (home_penalties BETWEEN 0 AND 99),
    away_penalties        integer CHECK (away_penalties BETWEEN 0 AND 99),
    corrected             boolean NOT NULL DEFAULT false, -- by an administrator: the provider is not believed any more
    finished_at           timestamptz,
    last_checked_at       timestamptz NOT NULL DEFAULT now(),
    settled_version       integer NOT NULL DEFAULT 0,
    scoreboard_applied_at timestamptz,
    updated_at            timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT match_source UNIQUE (provider, external_id),
    CONSTRAINT match_opponents CHECK (home_team <> away_team),
    CONSTRAINT match_ended CHECK (status <> 'ended' OR (home_score IS NOT NULL AND away_score IS NOT NULL AND finished_at IS NOT NULL)),
    FOREIGN KEY (tournament_id, round_slug) REFERENCES tournament_round ON DELETE CASCADE
);
CREATE INDEX match_round ON match (tournament_id, round_slug, date);
CREATE INDEX match_due ON match (status, date, last_checked_at);
CREATE INDEX match_date ON match (date);
CREATE INDEX match_unsettled ON match (tournament_id, finished_at) WHERE status IN ('ended', 'void') AND scoreboard_applied_at IS NULL;

-- The key of a settlement contains finished_at: it is written once.
-- +goose StatementBegin
CREATE FUNCTION keep_finished_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.finished_at IS NOT NULL AND NEW.finished_at IS DISTINCT FROM OLD.finished_at THEN
        RAISE EXCEPTION 'finished_at of match % is written once', OLD.id;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER match_finished_at BEFORE UPDATE OF finished_at ON match FOR EACH ROW EXECUTE FUNCTION keep_finished_at();

CREATE TABLE guess (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    match_id   uuid NOT NULL REFERENCES match ON DELETE CASCADE,
    member_id  uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    home_score integer NOT NULL CHECK (home_score BETWEEN 0 AND 99),
    away_score integer NOT NULL CHECK (away_score BETWEEN 0 AND 99),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT guess_once UNIQUE (match_id, member_id)
);
CREATE INDEX guess_member ON guess (member_id);

CREATE TABLE tournament_standing (
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    team_id       uuid NOT NULL REFERENCES team,
    group_name    text,
    "order"       integer NOT NULL,
    points        integer NOT NULL,
    games         integer NOT NULL,
    wins          integer NOT NULL,
    draws         integer NOT NULL,
    losses        integer NOT NULL,
    gf            integer NOT NULL,
    ga            integer NOT NULL,
    PRIMARY KEY (tournament_id, team_id)
);

-- What a match was last settled with. The first has the key matchId#finishedAt, a
-- correction the same with its version.
CREATE TABLE settlement (
    match_id        uuid NOT NULL REFERENCES match ON DELETE CASCADE,
    version         integer NOT NULL CHECK (version > 0),
    idempotency_key text NOT NULL CONSTRAINT settlement_key UNIQUE,
    reason          text NOT NULL CHECK (reason IN ('result', 'correction', 'rule', 'void')),
    void            boolean NOT NULL,
    home_score      integer,
    away_score      integer,
    rule_version    integer NOT NULL,
    multiplier      integer NOT NULL,
    guesses         integer NOT NULL,
    applied_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (match_id, version)
);
CREATE INDEX settlement_applied ON settlement (applied_at DESC);

-- What a settlement gave a member: the difference to the settlements of the match before.
CREATE TABLE scoreboard_ledger (
    match_id      uuid NOT NULL REFERENCES match ON DELETE CASCADE,
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    version       integer NOT NULL,
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    points_earned integer NOT NULL,
    PRIMARY KEY (match_id, member_id, version)
);
CREATE INDEX ledger_member ON scoreboard_ledger (member_id, tournament_id);
CREATE INDEX ledger_tournament ON scoreboard_ledger (tournament_id);

CREATE TABLE tournament_scoreboard (
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    points        integer NOT NULL,
    PRIMARY KEY (tournament_id, member_id)
);
CREATE INDEX scoreboard_points ON tournament_scoreboard (tournament_id, points DESC);
CREATE INDEX scoreboard_member ON tournament_scoreboard (member_id);

-- The points of a round: for its winner, and for how ranks moved in it.
CREATE TABLE round_score (
    tournament_id uuid NOT NULL,
    round_slug    text NOT NULL,
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    points        integer NOT NULL,
    PRIMARY KEY (tournament_id, round_slug, member_id),
    FOREIGN KEY (tournament_id, round_slug) REFERENCES tournament_round ON DELETE CASCADE
);
CREATE INDEX round_winner ON round_score (tournament_id, round_slug, points DESC, member_id);
CREATE INDEX round_member ON round_score (member_id);

-- What a guess earns. Package score says the same in Go, for the breakdown; a test
-- compares the two.
CREATE FUNCTION guess_points(guessed_home integer, guessed_away integer, home integer, away integer, r rule, multiplier integer)
RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT multiplier * (
        CASE WHEN sign(guessed_home - guessed_away) = sign(home - away) THEN r.outcome ELSE 0 END
        + CASE WHEN guessed_home = home THEN r.home_score ELSE 0 END
        + CASE WHEN guessed_away = away THEN r.away_score ELSE 0 END
        + CASE WHEN guessed_home - guessed_away = home - away AND (home <> away OR guessed_home = home) THEN r.goal_difference ELSE 0 END
        + CASE WHEN guessed_home = home AND guessed_away = away THEN r.exact_score ELSE 0 END)
$$;

-- Messages of the queue of settlements that a transaction has to send.
CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payload    jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Messages that could not be settled, for the administrator.
CREATE TABLE settlement_dlq (
    id          text PRIMARY KEY, -- id of the message
    payload     text NOT NULL,
    reason      text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    replays     integer NOT NULL DEFAULT 0,
    replayed_at timestamptz
);

-- What administrators have asked for.
CREATE TABLE execution (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    operation     text NOT NULL,
    status        text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'failed')),
    detail        text NOT NULL DEFAULT '',
    started_at    timestamptz NOT NULL DEFAULT now(),
    ended_at      timestamptz
);
CREATE UNIQUE INDEX execution_running ON execution (tournament_id, operation) WHERE status = 'running';

CREATE TABLE league (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name       text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 40),
    code       text NOT NULL CONSTRAINT league_code UNIQUE,
    members    integer NOT NULL DEFAULT 0 CHECK (members >= 0),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE league_role (
    league_id uuid NOT NULL REFERENCES league ON DELETE CASCADE,
    member_id uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    role      text NOT NULL CHECK (role IN ('admin', 'member')),
    joined_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (league_id, member_id)
);
CREATE INDEX league_role_member ON league_role (member_id);

CREATE TABLE league_tournament (
    league_id     uuid NOT NULL REFERENCES league ON DELETE CASCADE,
    tournament_id uuid NOT NULL REFERENCES tournament ON DELETE CASCADE,
    PRIMARY KEY (league_id, tournament_id)
);

-- When a member was last reminded of a match, for each kind: how long before the kick-off.
CREATE TABLE reminder (
    member_id     uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    match_id      uuid NOT NULL REFERENCES match ON DELETE CASCADE,
    kind          text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (member_id, match_id, kind)
);
CREATE INDEX reminder_match ON reminder (match_id);

-- Wrong codes of leagues, for the limit.
CREATE TABLE wrong_code (
    member_id uuid NOT NULL REFERENCES member ON DELETE CASCADE,
    tried_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX wrong_code_member ON wrong_code (member_id, tried_at);

-- The roles of the functions. In the cloud they log in by IAM.
-- +goose StatementBegin
DO $$
DECLARE r text;
BEGIN
    FOREACH r IN ARRAY ARRAY['bestshot_reader', 'bestshot_player', 'bestshot_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', r);
        END IF;
        IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_iam') THEN
            EXECUTE format('GRANT rds_iam TO %I', r);
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', r);
    END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT ON ALL TABLES IN SCHEMA public TO bestshot_reader, bestshot_player, bestshot_worker;
GRANT INSERT, UPDATE ON member, guess, league, league_role TO bestshot_player;
GRANT UPDATE (scoreboard_version) ON tournament TO bestshot_player;
GRANT DELETE ON league, league_role, league_tournament, wrong_code TO bestshot_player;
GRANT INSERT ON league_tournament, wrong_code TO bestshot_player;
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO bestshot_worker;
-- +goose Down
SELECT 1;
