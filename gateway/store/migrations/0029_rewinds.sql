-- Rows of a session that a rewind took out of the model's context; they stay in the transcript.
CREATE TABLE rewinds (
  event TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  after INTEGER NOT NULL,
  until INTEGER NOT NULL,
  exchanges INTEGER NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rewinds_session ON rewinds (session);
