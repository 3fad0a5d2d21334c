-- People known from chats, with the roles given there, and their accounts on the platforms.
CREATE TABLE people (
  added INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  role TEXT,
  is_blocked INTEGER NOT NULL,
  given_by TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
CREATE TABLE accounts (
  added INTEGER PRIMARY KEY,
  principal TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  chat TEXT
) STRICT;
CREATE INDEX accounts_person ON accounts (person);
