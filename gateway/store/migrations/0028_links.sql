-- Codes that link a second account to the person whose account asked for them.
CREATE TABLE links (
  code TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  expires REAL NOT NULL
) STRICT, WITHOUT ROWID;
