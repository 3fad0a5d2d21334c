-- A transaction writes every page that it changes, so that each index costs one or two pages a message.

-- Asked for once at each start, which reads the whole file anyway.
DROP INDEX spending_open;
-- Runs that were not shortened yet are looked for by their start, once a night.
DROP INDEX runs_whole;

-- Posts follow each other in the order in which they were queued, not by their random keys: a new one changes one page,
-- and its neighbours, which may be long, are not moved between pages.
CREATE TABLE posts (
  key TEXT NOT NULL PRIMARY KEY,
  run TEXT NOT NULL,
  chat TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
  message_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  at REAL NOT NULL,
  said_at REAL,
  unknown INTEGER NOT NULL DEFAULT 0,
  unconfirmed INTEGER NOT NULL DEFAULT 0,
  origin TEXT
) STRICT;
INSERT INTO posts (
  key, run, chat, body, state, message_id, attempts, reason, at, said_at, unknown, unconfirmed, origin
)
SELECT key, run, chat, body, state, message_id, attempts, reason, at, said_at, unknown, unconfirmed, origin
FROM outbox ORDER BY at;
DROP TABLE outbox;
ALTER TABLE posts RENAME TO outbox;
CREATE INDEX outbox_open ON outbox (at) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_chat ON outbox (chat, at);
CREATE INDEX outbox_unconfirmed ON outbox (chat, at) WHERE unconfirmed > 0;
