-- Tasks that an agent delegated to a sub-agent, in the foreground or the background.
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

-- Approval questions of a task need a row for its run; `kind` tells it apart, as the task resumes it, not the chat.
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'chat' CHECK (kind IN ('chat', 'task'));
