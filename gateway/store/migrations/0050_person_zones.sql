-- The time zone of each account's person, and how it became known: named by them, told by a platform or by their browser.
CREATE TABLE person_zones (
  principal TEXT PRIMARY KEY,
  zone TEXT,
  source TEXT NOT NULL,
  is_told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
