-- Inbound events; `done` once they are in the transcript or were dealt with otherwise.
CREATE TABLE inbox (
  seq INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  message_id TEXT,
  payload TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'done')),
  at REAL NOT NULL
) STRICT;
CREATE INDEX inbox_new ON inbox (seq) WHERE state = 'new';
CREATE INDEX inbox_chat ON inbox (chat, seq);

-- One row per run; those 'running' are resumed at the next start.
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  chat TEXT NOT NULL,
  session TEXT NOT NULL,
  person TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done')),
  reason TEXT,
  error TEXT,
  started REAL NOT NULL,
  reply_to TEXT,
  resumed INTEGER NOT NULL DEFAULT 0,
  ended REAL,
  model TEXT,
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_open ON runs (started) WHERE state = 'running';

-- All messages of all sessions in order: the source of truth about a conversation.
CREATE TABLE transcript (
  seq INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  session TEXT NOT NULL,
  run TEXT NOT NULL,
  turn INTEGER NOT NULL,
  message TEXT NOT NULL
) STRICT;
CREATE INDEX transcript_session ON transcript (session, seq);
CREATE INDEX transcript_run ON transcript (run, seq);

-- Outbound messages, stored before they are sent; a retry uses the same key.
CREATE TABLE outbox (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  chat TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
  message_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_open ON outbox (at) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_chat ON outbox (chat, at);

CREATE TABLE chats (
  chat TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  language TEXT,
  spoke INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- One row per tool call.
CREATE TABLE tool_calls (
  seq INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  message_id TEXT,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  result TEXT,
  error TEXT,
  attempts INTEGER NOT NULL,
  duration_ms INTEGER,
  at REAL NOT NULL
) STRICT;
CREATE INDEX tool_calls_session ON tool_calls (session, seq);
