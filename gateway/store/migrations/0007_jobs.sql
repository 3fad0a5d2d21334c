-- Scheduled jobs. The table decides what is due; timers only cause it to be read.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  language TEXT NOT NULL,
  zone TEXT NOT NULL,
  rule TEXT NOT NULL,
  work TEXT NOT NULL,
  created REAL NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('draft', 'active', 'paused', 'done', 'removed')),
  pause TEXT,
  grace REAL NOT NULL,
  next_at REAL,
  tainted INTEGER NOT NULL,
  scripts TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  told_cause TEXT NOT NULL DEFAULT '',
  told_at REAL,
  instead_of TEXT NOT NULL DEFAULT '',
  given TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (next_at) WHERE state = 'active' AND next_at IS NOT NULL;
CREATE INDEX jobs_chat ON jobs (chat, created);

-- Firings: each time that a job was due, with its outcome and the delivery of its message.
CREATE TABLE firings (
  job TEXT NOT NULL,
  slot TEXT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  due REAL NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('begun', 'done', 'nothing', 'failed', 'overlapped', 'missed')),
  began REAL,
  ended REAL,
  run TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL DEFAULT '',
  untrusted INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  cause TEXT NOT NULL DEFAULT '',
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  delivery TEXT NOT NULL DEFAULT 'none' CHECK (delivery IN ('none', 'pending', 'sent', 'held', 'failed')),
  delivery_error TEXT NOT NULL DEFAULT '',
  reaction TEXT,
  PRIMARY KEY (job, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX firings_due ON firings (job, due);
CREATE INDEX firings_chat ON firings (chat, due);
CREATE INDEX firings_held ON firings (chat, due) WHERE delivery = 'held';

-- The heartbeat of a chat: its limits, and the outcome of the last check-in.
CREATE TABLE heartbeats (
  chat TEXT PRIMARY KEY,
  person TEXT NOT NULL,
  job TEXT NOT NULL UNIQUE,
  is_on INTEGER NOT NULL,
  quiet_from INTEGER,
  quiet_to INTEGER,
  quiet_chosen INTEGER NOT NULL DEFAULT 0,
  most_a_day INTEGER NOT NULL,
  snoozed_until REAL NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  last_look REAL,
  last_outcome TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

ALTER TABLE chats ADD COLUMN zone TEXT;
