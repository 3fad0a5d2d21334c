-- Messages that may carry a reaction saying that they are heard, steer or wait; it is replaced or removed at the end.
-- Names the table of a plugin: it was the core's when stores were first made with it, and they all pass through here.
CREATE TABLE reactions (
  seq INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  message_id TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
