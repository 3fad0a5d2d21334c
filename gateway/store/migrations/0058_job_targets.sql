-- The other chats in which a job posts, each with whether it agreed to that.
CREATE TABLE job_targets (
  id TEXT PRIMARY KEY,
  job TEXT NOT NULL,
  chat TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('wanted', 'asked', 'open', 'refused', 'gone')),
  why TEXT NOT NULL DEFAULT '',
  UNIQUE (job, chat)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_targets_chat ON job_targets (chat);
