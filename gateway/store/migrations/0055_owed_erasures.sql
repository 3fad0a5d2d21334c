-- Rows of a person that a plugin has yet to erase, as it was not there when everything else was: whose, and in which
-- chats, as lists in JSON.
CREATE TABLE owed_erasures (
  plugin TEXT NOT NULL,
  who TEXT NOT NULL,
  at REAL NOT NULL,
  direct TEXT NOT NULL,
  shared TEXT NOT NULL,
  PRIMARY KEY (plugin, who, at)
) STRICT, WITHOUT ROWID;
