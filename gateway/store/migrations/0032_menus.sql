-- The menu that was set in each private chat that has one of its own, by a digest of its commands.
-- Names the table of a plugin: it was the core's when stores were first made with it, and they all pass through here.
CREATE TABLE menus (
  chat TEXT PRIMARY KEY,
  digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
