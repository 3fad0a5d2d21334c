-- The one-time code that makes its sender the owner, and how often each account was wrong.
CREATE TABLE pairing (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  code TEXT NOT NULL,
  expires REAL NOT NULL,
  wrong INTEGER NOT NULL
) STRICT;
CREATE TABLE pairing_tries (
  principal TEXT PRIMARY KEY,
  wrong INTEGER NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Unknown people who wrote in a direct chat, with their first words, until an owner or admin decides.
CREATE TABLE strangers (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL UNIQUE,
  event TEXT NOT NULL,
  at REAL NOT NULL,
  state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
