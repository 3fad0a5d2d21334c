-- The menu that was set in each private chat that has one of its own, by a digest of its commands.
CREATE TABLE menus (
  chat TEXT PRIMARY KEY,
  digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
