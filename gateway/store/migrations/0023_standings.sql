-- The places that people have in servers and workspaces, where groups admit people by them.
CREATE TABLE standings (
  person TEXT PRIMARY KEY,
  roles TEXT NOT NULL,
  is_full_member INTEGER NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
