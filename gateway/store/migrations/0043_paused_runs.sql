-- Runs that wait for room in a budget while others go on in their chat. Their rows up to `until` come after the row
-- `place` in what the model knows; while they wait (NULL) it does not know them.
CREATE TABLE paused_runs (
  run TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  until INTEGER NOT NULL,
  place INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX paused_runs_session ON paused_runs (session);
