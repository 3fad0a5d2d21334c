-- Runs that wait for room in a budget while others go on in their chat. Their rows up to `until` come after the row
-- `place` in what the model knows; while they wait (NULL) it does not know them.
CREATE TABLE paused_runs (
  run TEXT COLLATE "C" PRIMARY KEY, session TEXT COLLATE "C" NOT NULL, until BIGINT NOT NULL, place BIGINT
);
CREATE INDEX paused_runs_session ON paused_runs (session);
