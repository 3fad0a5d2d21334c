-- What people set in chats; `place` is a chat's key, that of its channel, `platform:account`, or empty for everywhere.
CREATE TABLE chat_settings (
  place TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  set_by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (place, name)
) STRICT, WITHOUT ROWID;
