-- The browsers that are signed in on the page. Of the secret in a browser's cookie only the digest is kept.
CREATE TABLE browsers (
  digest TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  place TEXT NOT NULL,
  created REAL NOT NULL,
  used REAL NOT NULL
) STRICT, WITHOUT ROWID;
