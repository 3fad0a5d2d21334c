-- Processes that share a database on PostgreSQL, the chats that each works on, and what only one of them does.
-- A store in a file has one process, so here they stay empty.
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  started REAL NOT NULL,
  beat REAL NOT NULL,
  draining INTEGER NOT NULL DEFAULT 0,
  fenced INTEGER NOT NULL DEFAULT 0,
  home TEXT NOT NULL DEFAULT '',
  settings TEXT NOT NULL DEFAULT '',
  skills TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_owners (
  chat TEXT PRIMARY KEY,
  node TEXT,
  number INTEGER NOT NULL,
  since REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_owners_node ON chat_owners (node);

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  node TEXT,
  number INTEGER NOT NULL,
  since REAL NOT NULL
) STRICT, WITHOUT ROWID;
