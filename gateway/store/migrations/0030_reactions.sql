-- Messages that may carry a reaction saying that they are heard, steer or wait; it is replaced or removed at the end.
CREATE TABLE reactions (
  seq INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  message_id TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
