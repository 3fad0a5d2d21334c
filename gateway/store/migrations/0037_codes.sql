-- Codes of /link are kept as digests. `said_by` is the account that has said the code and was asked whether to link.
DROP TABLE links;
CREATE TABLE links (
  digest TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  expires REAL NOT NULL,
  said_by TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- What came of the codes that people said, by the event, as an event may be handled twice.
CREATE TABLE code_outcomes (
  event TEXT PRIMARY KEY,
  outcome TEXT NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
