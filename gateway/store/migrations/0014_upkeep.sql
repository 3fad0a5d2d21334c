-- When this store was restored, and when its backup was made; messages from before the restore are not answered.
ALTER TABLE store ADD COLUMN restored REAL;
ALTER TABLE store ADD COLUMN restored_from REAL;

-- Messages from before a restore that turned up after it, to be reported to the owners.
CREATE TABLE set_aside (
  seq INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  chat TEXT NOT NULL,
  who TEXT NOT NULL,
  words TEXT NOT NULL,
  told INTEGER NOT NULL DEFAULT 0
) STRICT;

-- 1 once the run's long texts were shortened.
ALTER TABLE runs ADD COLUMN shortened INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_whole ON runs (started) WHERE shortened = 0;
