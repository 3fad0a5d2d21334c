-- Work beside the conversations: what an agent has another one do, in its answer or in the background (S3-29).
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  call TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  person TEXT NOT NULL,
  language TEXT NOT NULL,
  reply_to TEXT,
  prompt TEXT NOT NULL,
  background INTEGER NOT NULL,
  tainted INTEGER NOT NULL,
  created REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'running', 'completed', 'failed', 'cancelled', 'killed')),
  lives INTEGER NOT NULL DEFAULT 0,
  unwanted INTEGER NOT NULL DEFAULT 0,
  started REAL,
  ended REAL,
  report TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  kept TEXT NOT NULL DEFAULT '',
  untrusted INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_open ON tasks (created) WHERE state IN ('pending', 'running');
CREATE INDEX tasks_chat ON tasks (chat, created);

-- A task's own run is found by its questions, and goes on by itself after a restart.
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'chat' CHECK (kind IN ('chat', 'task'));
