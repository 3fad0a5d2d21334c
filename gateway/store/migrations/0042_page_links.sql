-- The links that sign a browser in and are open. Only other processes read them, so with a store in a file nobody does.
CREATE TABLE page_links (
  digest TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  person TEXT NOT NULL,
  expires REAL NOT NULL
) STRICT, WITHOUT ROWID;
