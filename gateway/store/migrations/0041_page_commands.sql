-- Commands that visitors of a page give in chats that another process works on. A store in a file has one process, so
-- here the table stays empty.
CREATE TABLE page_commands (
  id TEXT PRIMARY KEY,
  event TEXT NOT NULL,
  at REAL NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0,
  answer TEXT
) STRICT, WITHOUT ROWID;
